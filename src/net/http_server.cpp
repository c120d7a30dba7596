#include "net/http_server.h"

#include <boost/asio/post.hpp>

#include "base/wakeup.h"
#include "net/asio_core.h"
#include "net/http_session.h"

namespace presetbridge::net {

namespace {

constexpr Millis accept_pause{100};  // after an error such as "too many open files", which repeats at once

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
  void refuse(TcpSocket socket);

  Runtime& runtime;
  std::shared_ptr<ServerShared> shared;
  std::vector<std::shared_ptr<SessionCore>> cores;
  TcpAcceptor acceptor;  // on core 0
  std::uint16_t port = 0;
  bool stopped = false;
};

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
      self->shared->log.warn("cannot accept a connection", {{"error", accepted.error.message()}});
      co_await sleep_for(self->runtime.scheduler(0), accept_pause);
      continue;
    }
    error_code ignored;
    socket.set_option(asio::ip::tcp::no_delay(true), ignored);
    if (self->shared->connections.load() >= self->shared->options.connections) {
      self->refuse(std::move(socket));
      continue;
    }
    ++self->shared->connections;
    asio::post(core.io, [to = self->cores[turn], connection = std::move(socket)]() mutable {
      to->start(std::move(connection));
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
  on_each_core(&SessionCore::close_idle);
  auto& shared = *state_->shared;
  {
    std::unique_lock lock(shared.mutex);
    shared.ended.wait_for(lock, drain, [&] { return shared.connections.load() == 0; });
  }
  on_each_core(&SessionCore::close_all);
}

}  // namespace presetbridge::net
