#include "net/http_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/write.hpp>
#include <ctime>
#include <exception>
#include <ranges>
#include <vector>

#include "base/ascii.h"
#include "net/asio_core.h"

namespace presetbridge::net {

namespace {

constexpr Refusal kTooSlow{408, "REQUEST_TIMEOUT", "The request did not arrive in time."};
constexpr std::size_t kFirstRead = 2 * 1024;     // what an idle connection costs
constexpr std::size_t kLongestRead = 64 * 1024;  // of a body
constexpr Millis kLingerDeadline{2'000};

bool acceptable_request_id(std::string_view id) {
  return !id.empty() && id.size() <= 64 && std::ranges::all_of(id, [](char c) {
    return is_alphanumeric(c) || c == '.' || c == '_' || c == '-';
  });
}

Millis sweep_interval(const HttpServerOptions& o) {
  const auto shortest = std::min(
      {o.header_deadline, o.body_deadline, o.idle_deadline, o.write_deadline, o.stream_write_deadline});
  return std::clamp(shortest / 4, Millis{5}, Millis{500});
}

std::string numeric_address(const TcpSocket& socket) {
  error_code error;
  const auto peer = socket.remote_endpoint(error);
  return error ? std::string() : peer.address().to_string();
}

}  // namespace

SessionCore::SessionCore(std::shared_ptr<ServerShared> shared, Runtime::Core& core)
    : shared_(std::move(shared)),
      core_(core),
      sweep_timer_(core.io),
      sweep_every_(sweep_interval(shared_->options)) {}

void SessionCore::start(TcpSocket socket, std::optional<IpAddress> network) {
  auto session = std::make_shared<HttpSession>(shared_from_this(), std::move(socket), network);
  sessions_.insert(session.get());
  if (draining()) session->close();
  if (!sweeping_) sweep();
  auto& started = *session;
  spawn(started.run(), [self = shared_from_this(), session = std::move(session)](Outcome<void> outcome) {
    self->finished(*session, outcome.exception);
  });
}

void SessionCore::finished(HttpSession& session, std::exception_ptr exception) {
  session.close();
  sessions_.erase(&session);
  if (exception) {
    try {
      std::rethrow_exception(exception);
    } catch (const std::exception& e) {
      shared_->log.error("a connection ended by an exception", {{"error", e.what()}});
    } catch (...) {
      shared_->log.error("a connection ended by an exception");
    }
  }
  if (sessions_.empty()) sweep_timer_.cancel();
  const std::scoped_lock lock(shared_->mutex);
  --shared_->connections;
  if (session.network()) {
    const auto known = shared_->of_networks.find(*session.network());
    if (--known->second == 0) shared_->of_networks.erase(known);
  }
  shared_->ended.notify_all();
}

void SessionCore::drain() {
  for (auto* session : sessions_) {
    if (session->idle()) session->close();
    session->end_stream(BodyStream::End::stopping);
  }
}

std::optional<SteadyTime> SessionCore::longest_idle(const std::optional<IpAddress>& network) const {
  std::optional<SteadyTime> first;
  for (const auto* session : sessions_) {
    if (!session->idle() || (network && session->network() != network)) continue;
    if (!first || session->deadline() < *first) first = session->deadline();
  }
  return first;
}

int SessionCore::close_longest_idle(const std::optional<IpAddress>& network, int most) {
  std::vector<HttpSession*> idle;
  for (auto* session : sessions_) {
    if (session->idle() && (!network || session->network() == network)) idle.push_back(session);
  }
  const auto count = std::min<std::ptrdiff_t>(most, std::ssize(idle));
  std::ranges::partial_sort(idle, idle.begin() + count, {}, &HttpSession::deadline);
  for (auto* session : idle | std::views::take(count)) session->close();
  return static_cast<int>(count);
}

void SessionCore::close_all() {
  for (auto* session : sessions_) session->close();
}

void SessionCore::sweep() {
  sweeping_ = true;
  sweep_timer_.expires_after(sweep_every_);
  sweep_timer_.async_wait([self = shared_from_this()](error_code) {
    const auto now = std::chrono::steady_clock::now();
    for (auto* session : self->sessions_) session->check_deadline(now);
    self->sweeping_ = false;
    if (!self->sessions_.empty()) self->sweep();
  });
}

std::string SessionCore::make_request_id() {
  constexpr std::size_t bytes = 16;
  if (chance_left_ < bytes) {
    shared_->random.fill(chance_);
    chance_left_ = chance_.size();
  }
  constexpr std::string_view digits = "0123456789abcdef";
  std::string id;
  id.reserve(2 * bytes);
  for (std::size_t i = 0; i < bytes; ++i) {
    const auto byte = std::to_integer<unsigned>(chance_[--chance_left_]);
    id += digits[byte >> 4];
    id += digits[byte & 15];
  }
  return id;
}

std::string_view SessionCore::date() {
  const std::time_t now = std::time(nullptr);
  if (now != date_second_ || date_.empty()) {
    std::tm utc{};
    gmtime_r(&now, &utc);
    std::array<char, 40> text{};
    date_.assign(text.data(), std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &utc));
    date_second_ = now;
  }
  return date_;
}

HttpSession::HttpSession(std::shared_ptr<SessionCore> core, TcpSocket socket,
                         std::optional<IpAddress> network)
    : core_(std::move(core)),
      options_(core_->shared().options),
      socket_(std::move(socket)),
      remote_address_(numeric_address(socket_)),
      network_(network) {}

void HttpSession::close() {
  error_code ignored;
  socket_.close(ignored);
}

void HttpSession::expire_after(Millis delay) {
  deadline_ = std::chrono::steady_clock::now() + delay;
}

void HttpSession::check_deadline(SteadyTime now) {
  if (now < deadline_) return;
  deadline_ = SteadyTime::max();
  expired_ = true;
  error_code ignored;
  socket_.cancel(ignored);
}

Task<void> HttpSession::run() {
  Next next = Next::again;
  while (next == Next::again) next = co_await serve_one();
  if (next == Next::linger) co_await linger();
}

Task<HttpSession::Next> HttpSession::serve_one() {
  RequestReader reader({options_.header_bytes, options_.header_fields, options_.body_bytes});
  std::optional<Refusal> refusal;
  switch (co_await read_request(reader, refusal)) {
    case Read::closed:
      co_return Next::close;
    case Read::refused: {
      const std::string id = core_->make_request_id();
      const bool head = reader.request().method == "HEAD";
      co_await answer(error_response(refusal->status, refusal->code, refusal->message),
                      {.request_id = id, .date = core_->date(), .head = head, .keep_alive = false});
      co_return Next::linger;
    }
    case Read::complete:
      break;
  }
  HttpRequest& request = reader.request();
  const auto sent_id = request.headers.get("x-request-id");
  request.id = sent_id && acceptable_request_id(*sent_id) ? std::string(*sent_id) : core_->make_request_id();
  request.remote_address = remote_address_;
  request.executor = &core_->executor();
  const std::string id = request.id;
  const bool head = request.method == "HEAD";
  const bool too_large = request.body_too_large;

  HttpResponse response;
  std::string thrown;
  try {
    response = co_await core_->shared().handler.handle(std::move(request));
  } catch (const std::exception& e) {
    thrown = e.what();
  } catch (...) {
    thrown = "not a std::exception";
  }
  if (!thrown.empty()) {
    core_->shared().log.error("a request's handler threw", {{"request_id", id}, {"error", thrown}});
    response = error_response(500, "INTERNAL_ERROR", "The server failed to answer this request.");
  }
  if (response.drop_connection) co_return Next::close;
  const bool keep_alive = reader.keep_alive() && !core_->draining() && !response.stream;
  const bool http10 = !reader.http11();
  const auto stream = head || !status_has_body(response.status) ? nullptr : response.stream;
  const bool written = co_await answer(
      std::move(response),
      {.request_id = id, .date = core_->date(), .head = head, .keep_alive = keep_alive, .http10 = http10});
  if (!written) co_return Next::close;
  if (stream) co_await send_stream(stream, !http10);
  if (keep_alive) co_return Next::again;
  // To close on bytes that were not read would take the answer from the client again.
  co_return too_large || buffer_.size() > 0 ? Next::linger : Next::close;
}

Task<HttpSession::Read> HttpSession::read_request(RequestReader& reader, std::optional<Refusal>& refusal) {
  idle_ = true;
  expire_after(options_.idle_deadline);
  for (;;) {
    if (buffer_.size() > 0) {
      const bool in_header = !reader.header_read();
      const auto bytes = buffer_.cdata();
      const auto progress = reader.read({static_cast<const char*>(bytes.data()), bytes.size()});
      buffer_.consume(progress.consumed);
      // Empty lines are no request that could be late.
      if (idle_ && (reader.begun() || buffer_.size() > 0)) {
        idle_ = false;
        expire_after(options_.header_deadline);
      }
      if (progress.refusal) {
        refusal = progress.refusal;
        co_return Read::refused;
      }
      if (reader.complete()) break;
      if (in_header && reader.header_read()) {
        if (reader.expects_continue() && buffer_.size() == 0) {
          if (!co_await write("HTTP/1.1 100 Continue\r\n\r\n", {})) co_return Read::closed;
        }
        expire_after(options_.body_deadline);
        if (buffer_.size() > 0) continue;
      }
    }
    if (idle_) {
      if (core_->draining()) co_return Read::closed;  // drain() may have passed while the answer was written
      if (buffer_.capacity() > kLongestRead) buffer_.shrink_to_fit();
    }
    if (!co_await fill(reader.header_read() ? reader.body_left() : 0)) {
      if (!expired_ || idle_) co_return Read::closed;
      refusal = kTooSlow;
      co_return Read::refused;
    }
  }
  deadline_ = SteadyTime::max();  // the handler has limits of its own
  co_return Read::complete;
}

Task<bool> HttpSession::fill(std::size_t expected) {
  const auto space = buffer_.prepare(std::clamp(expected, kFirstRead, kLongestRead));
  const auto read = co_await io<std::size_t>([this, space](auto done) {
    socket_.async_read_some(asio::buffer(space.data(), space.size()), std::move(done));
  });
  buffer_.commit(read.value);
  co_return !read.error && !expired_;
}

Task<bool> HttpSession::answer(HttpResponse response, ResponseFraming framing) {
  auto header = header_text(response, framing);
  if (!header) {
    core_->shared().log.error("an answer's header cannot be sent", {{"request_id", framing.request_id}});
    response = error_response(500, "INTERNAL_ERROR", "The server failed to answer this request.");
    header = header_text(response, framing);
  }
  const bool body = !framing.head && status_has_body(response.status);
  co_return co_await write(*header, body ? std::string_view(response.body) : std::string_view());
}

void HttpSession::end_stream(BodyStream::End why) {
  if (stream_) stream_->end(why);
}

Task<void> HttpSession::send_stream(std::shared_ptr<BodyStream> stream, bool chunked) {
  error_code ignored;
  socket_.set_option(asio::socket_base::send_buffer_size(options_.stream_buffer_bytes), ignored);
  stream_ = std::move(stream);
  if (core_->draining()) end_stream(BodyStream::End::stopping);  // drain() may have passed
  watch_peer();
  bool written = true;
  while (written) {
    deadline_ = SteadyTime::max();  // the stream has heartbeats of its own
    auto chunk = co_await stream_->next();
    if (!chunk) break;
    std::string size;
    if (chunked) {
      size = fmt::format("{:x}\r\n", chunk->size());
      *chunk += "\r\n";
    }
    written = co_await write(size, *chunk, options_.stream_write_deadline);
  }
  if (!written) end_stream(expired_ ? BodyStream::End::slow : BodyStream::End::closed);
  if (written && chunked && !peer_gone_) co_await write("0\r\n\r\n", {});
  stream_.reset();
}

// Without it nobody would notice for a heartbeat or two that the client is gone.
void HttpSession::watch_peer() {
  socket_.async_wait(TcpSocket::wait_read, [self = shared_from_this()](error_code error) {
    if (error || !self->stream_) return;
    char next = 0;
    const auto got = self->socket_.receive(asio::buffer(&next, 1), asio::socket_base::message_peek, error);
    if (!error && got > 0) return;  // a further request, which is not answered any more
    self->peer_gone_ = true;
    self->end_stream(BodyStream::End::closed);
  });
}

Task<bool> HttpSession::write(std::string_view header, std::string_view body, Millis deadline) {
  expired_ = false;
  expire_after(deadline);
  const std::array<asio::const_buffer, 2> both{asio::buffer(header), asio::buffer(body)};
  const auto written = co_await io<std::size_t>(
      [this, &both](auto done) { asio::async_write(socket_, both, std::move(done)); });
  co_return !written.error && !expired_;
}

Task<void> HttpSession::linger() {
  error_code ignored;
  socket_.shutdown(TcpSocket::shutdown_send, ignored);
  expired_ = false;
  expire_after(kLingerDeadline);
  do {
    buffer_.clear();
  } while (co_await fill(kLongestRead));
}

}  // namespace presetbridge::net
