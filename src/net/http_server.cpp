#include "net/http_server.h"

#include <algorithm>
#include <boost/asio/post.hpp>

#include "base/wakeup.h"
#include "net/asio_core.h"
#include "net/client_address.h"
#include "net/http_session.h"

namespace presetbridge::net {

namespace {

constexpr Millis kAcceptPause{100};  // after an error such as "too many open files", which repeats at once
constexpr std::chrono::minutes kLogAgain{1};

// Whom closing a connection of ours helps.
bool out_of_files(const error_code& error) {
  return error == boost::system::errc::too_many_files_open ||
         error == boost::system::errc::too_many_files_open_in_system;
}

std::unexpected<Error> listen_failed(const HttpServerOptions& options, const std::string& why) {
  return fail("LISTEN_FAILED",
              "Cannot listen on " + options.address + " port " + std::to_string(options.port) + ": " + why);
}

}  // namespace

struct HttpServer::State {
  State(Runtime& r, HttpHandler& handler, Random& random, Log& log, HttpServerOptions options)
      : runtime(r),
        shared(std::make_shared<ServerShared>(handler, random, log, std::move(options))),
        acceptor(r.core(0).io) {
    for (int i = 0; i < r.cores(); ++i) cores.push_back(std::make_shared<SessionCore>(shared, r.core(i)));
  }

  static Task<void> accept_all(std::shared_ptr<State> self);
  static Task<bool> make_room(std::shared_ptr<State> self, std::optional<IpAddress> network);
  static Task<bool> close_longest_idle(std::shared_ptr<State> self, std::optional<IpAddress> network,
                                       int limit);
  std::optional<IpAddress> limited_network(const TcpSocket& socket) const;
  bool has_its_share(const IpAddress& network);
  void count(const std::optional<IpAddress>& network);
  void log_fault(const error_code& error);
  void refuse(TcpSocket socket);

  Runtime& runtime;
  std::shared_ptr<ServerShared> shared;
  std::vector<std::shared_ptr<SessionCore>> cores;
  TcpAcceptor acceptor;  // on core 0
  std::uint16_t port = 0;
  bool stopped = false;
  // The acceptor's faults since the last log line, and the time from which the next one is logged.
  std::int64_t unlogged = 0;
  SteadyTime log_again_at;
};

// The network that a connection counts for; nothing where it is not limited.
std::optional<IpAddress> HttpServer::State::limited_network(const TcpSocket& socket) const {
  if (shared->options.connections_per_network == 0) return std::nullopt;
  error_code error;
  const auto peer = socket.remote_endpoint(error);
  const auto address = error ? std::nullopt : IpAddress::from_sockaddr(*peer.data());
  if (!address) return std::nullopt;
  const auto known = address->unmapped();
  const auto holds = [&](const IpNetwork& one) { return one.contains(known); };
  if (std::ranges::any_of(shared->options.shared_networks, holds)) return std::nullopt;
  return client_network(known);
}

bool HttpServer::State::has_its_share(const IpAddress& network) {
  const std::scoped_lock lock(shared->mutex);
  const auto known = shared->of_networks.find(network);
  return known != shared->of_networks.end() && known->second >= shared->options.connections_per_network;
}

void HttpServer::State::count(const std::optional<IpAddress>& network) {
  ++shared->connections;
  if (!network) return;
  const std::scoped_lock lock(shared->mutex);
  ++shared->of_networks[*network];
}

// On the acceptor's core. Several go at once, so that a flood of connections does not have them all looked
// through for each.
Task<bool> HttpServer::State::close_longest_idle(std::shared_ptr<State> self,
                                                 std::optional<IpAddress> network, int limit) {
  auto& here = self->runtime.scheduler(0);
  std::shared_ptr<SessionCore> core_of_first;
  int index_of_first = 0;
  std::optional<SteadyTime> first;
  for (int i = 0; i < self->runtime.cores(); ++i) {
    const auto core = self->cores[static_cast<std::size_t>(i)];
    const auto idle = co_await suspend<std::optional<SteadyTime>>(here, [&](auto resume) {
      self->runtime.scheduler(i).post(
          [core, network, resume]() mutable { resume(core->longest_idle(network)); });
    });
    if (!idle || (first && *first <= *idle)) continue;
    first = idle;
    core_of_first = core;
    index_of_first = i;
  }
  if (!first) co_return false;
  const int most = 1 + limit / 256;
  co_return co_await suspend<int>(here, [&](auto resume) {
    self->runtime.scheduler(index_of_first).post([core_of_first, network, most, resume]() mutable {
      resume(core_of_first->close_longest_idle(network, most));
    });
  }) > 0;
}

Task<bool> HttpServer::State::make_room(std::shared_ptr<State> self, std::optional<IpAddress> network) {
  const auto& options = self->shared->options;
  if (network && self->has_its_share(*network))
    co_return co_await close_longest_idle(self, network, options.connections_per_network);
  if (self->shared->connections.load() < options.connections) co_return true;
  co_return co_await close_longest_idle(self, std::nullopt, options.connections);
}

void HttpServer::State::log_fault(const error_code& error) {
  ++unlogged;
  const auto now = std::chrono::steady_clock::now();
  if (now < log_again_at) return;
  shared->log.warn("cannot accept connections", {{"error", error.message()}, {"times", unlogged}});
  unlogged = 0;
  log_again_at = now + kLogAgain;
}

Task<void> HttpServer::State::accept_all(std::shared_ptr<State> self) {
  for (std::size_t turn = 0;; turn = (turn + 1) % self->cores.size()) {
    auto& core = self->runtime.core(static_cast<int>(turn));
    TcpSocket socket(core.io);
    const auto accepted = co_await io<int>([&](auto done) {
      self->acceptor.async_accept(socket,
                                  [done = std::move(done)](error_code error) mutable { done(error); });
    });
    if (!self->acceptor.is_open()) co_return;
    if (accepted.error) {
      const bool no_file = out_of_files(accepted.error);
      // Linux returns this error before it checks whether a client waits: without one no connection is
      // closed.
      if (no_file) {
        co_await io<int>([&](auto done) {
          self->acceptor.async_wait(TcpAcceptor::wait_read,
                                    [done = std::move(done)](error_code error) mutable { done(error); });
        });
        if (!self->acceptor.is_open()) co_return;
      }
      self->log_fault(accepted.error);
      if (no_file && co_await close_longest_idle(self, std::nullopt, 0)) continue;
      co_await sleep_for(self->runtime.scheduler(0), kAcceptPause);
      continue;
    }
    error_code ignored;
    socket.set_option(asio::ip::tcp::no_delay(true), ignored);
    const auto network = self->limited_network(socket);
    if (!co_await make_room(self, network)) {
      self->refuse(std::move(socket));
      continue;
    }
    self->count(network);
    asio::post(core.io, [to = self->cores[turn], connection = std::move(socket), network]() mutable {
      to->start(std::move(connection), network);
    });
  }
}

void HttpServer::State::refuse(TcpSocket socket) {
  HttpResponse response = error_response(503, "OVERLOADED", "The server has too many connections.");
  response.headers.add("Retry-After", "1");
  const std::string id = cores[0]->make_request_id();
  const auto text =
      *header_text(response, {.request_id = id, .date = cores[0]->date(), .keep_alive = false}) +
      response.body;
  // The empty send buffer of a new connection takes it at once, or the client goes without.
  error_code ignored;
  socket.non_blocking(true, ignored);
  socket.write_some(asio::buffer(text), ignored);
  socket.shutdown(TcpSocket::shutdown_send, ignored);
}

HttpServer::HttpServer(Runtime& runtime, HttpHandler& handler, Random& random, Log& log,
                       HttpServerOptions options)
    : state_(std::make_shared<State>(runtime, handler, random, log, std::move(options))) {}

HttpServer::~HttpServer() {
  stop(Millis{0});
}

Expected<void> HttpServer::listen() {
  const auto& options = state_->shared->options;
  error_code error;
  const auto address = asio::ip::make_address(options.address, error);
  if (error) return listen_failed(options, "not a numeric address");
  const asio::ip::tcp::endpoint endpoint(address, options.port);
  auto& acceptor = state_->acceptor;
  acceptor.open(endpoint.protocol(), error);
  // Reuse lets a restarted server bind while old connections still time out; it does not let two servers
  // share the port.
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (!error) state_->port = acceptor.local_endpoint(error).port();
  if (error) {
    const std::string why = error.message();
    acceptor.close(error);
    return listen_failed(options, why);
  }
  state_->runtime.scheduler(0).post([state = state_] {
    spawn(State::accept_all(state), [state](Outcome<void> outcome) {
      if (outcome.exception) state->shared->log.error("the server accepts no more connections");
    });
  });
  return {};
}

std::uint16_t HttpServer::port() const {
  return state_->port;
}

int HttpServer::connections() const {
  return state_->shared->connections.load();
}

void HttpServer::stop(Millis drain) {
  if (std::exchange(state_->stopped, true)) return;
  auto& runtime = state_->runtime;
  runtime.run_on(0, [this] {
    error_code ignored;
    state_->acceptor.close(ignored);
  });
  const auto on_each_core = [&](void (SessionCore::*what)()) {
    for (int i = 0; i < runtime.cores(); ++i) {
      runtime.run_on(i, [&] { (*state_->cores[static_cast<std::size_t>(i)].*what)(); });
    }
  };
  state_->shared->draining = true;
  on_each_core(&SessionCore::drain);
  auto& shared = *state_->shared;
  {
    std::unique_lock lock(shared.mutex);
    shared.ended.wait_for(lock, drain, [&] { return shared.connections.load() == 0; });
  }
  on_each_core(&SessionCore::close_all);
}

}  // namespace presetbridge::net
