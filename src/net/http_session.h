// Private to net/: one connection of the server.
#pragma once

#include <array>
#include <atomic>
#include <boost/beast/core/flat_buffer.hpp>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>

#include "base/clock.h"
#include "base/log.h"
#include "net/asio_core.h"
#include "net/http_server.h"
#include "net/ip_address.h"
#include "net/request_reader.h"
#include "net/response_text.h"

namespace presetbridge::net {

class HttpSession;

// Shared by the connections of a server.
struct ServerShared {
  HttpHandler& handler;
  Random& random;
  Log& log;
  const HttpServerOptions options;
  std::atomic<int> connections{0};
  std::map<IpAddress, int> of_networks;  // of these, by network where it is limited
  std::atomic<bool> draining{false};     // idle connections are closed, others after their answer
  std::mutex mutex;                      // guards of_networks; held to wait for `ended`
  std::condition_variable ended;         // a connection did
};

// Shared by the connections of one core; used on that core alone.
class SessionCore : public std::enable_shared_from_this<SessionCore> {
 public:
  SessionCore(std::shared_ptr<ServerShared> shared, Runtime::Core& core);

  // Takes a connection that ServerShared::connections counts already, and of_networks under `network`.
  void start(TcpSocket socket, std::optional<IpAddress> network);
  // Closes idle connections, and ends streams.
  void drain();
  // When the idle connection that will be the first to reach its deadline does so: it has been idle longest.
  // Of `network`, or of all.
  std::optional<SteadyTime> longest_idle(const std::optional<IpAddress>& network) const;
  // Closes so many of them, those that have been idle longest first; returns how many there were.
  int close_longest_idle(const std::optional<IpAddress>& network, int most);
  void close_all();

  ServerShared& shared() { return *shared_; }
  Scheduler& executor() { return core_; }
  bool draining() const { return shared_->draining.load(std::memory_order_relaxed); }
  std::string make_request_id();
  std::string_view date();

 private:
  void finished(HttpSession& session, std::exception_ptr exception);
  void sweep();

  std::shared_ptr<ServerShared> shared_;
  Runtime::Core& core_;
  std::unordered_set<HttpSession*> sessions_;
  // One timer for the deadlines of all connections: a timer an operation would cost more than the operation.
  SteadyTimer sweep_timer_;
  const Millis sweep_every_;
  bool sweeping_ = false;
  std::array<std::byte, 1024> chance_{};  // request ids are made of it; one call of Random fills many
  std::size_t chance_left_ = 0;
  std::time_t date_second_ = 0;
  std::string date_;
};

class HttpSession : public std::enable_shared_from_this<HttpSession> {
 public:
  HttpSession(std::shared_ptr<SessionCore> core, TcpSocket socket, std::optional<IpAddress> network);
  // Serves the connection to its end.
  Task<void> run();

  void check_deadline(SteadyTime now);
  bool idle() const { return idle_ && socket_.is_open(); }
  SteadyTime deadline() const { return deadline_; }
  const std::optional<IpAddress>& network() const { return network_; }
  void close();
  // If there is one.
  void end_stream(BodyStream::End why);

 private:
  enum class Next { again, close, linger };
  Task<Next> serve_one();
  enum class Read { complete, refused, closed };
  Task<Read> read_request(RequestReader& reader, std::optional<Refusal>& refusal);
  Task<bool> fill(std::size_t expected);
  Task<bool> answer(HttpResponse response, ResponseFraming framing);
  // The chunks of the stream, until it ends or the client is gone, or does not read.
  Task<void> send_stream(std::shared_ptr<BodyStream> stream, bool chunked);
  void watch_peer();
  Task<bool> write(std::string_view header, std::string_view body) {
    return write(header, body, options_.write_deadline);
  }
  Task<bool> write(std::string_view header, std::string_view body, Millis deadline);
  Task<void> linger();
  void expire_after(Millis delay);

  const std::shared_ptr<SessionCore> core_;
  const HttpServerOptions& options_;
  TcpSocket socket_;
  const std::string remote_address_;
  const std::optional<IpAddress> network_;
  boost::beast::flat_buffer buffer_;
  SteadyTime deadline_ = SteadyTime::max();
  bool idle_ = true;
  bool expired_ = false;
  std::shared_ptr<BodyStream> stream_;  // while it is sent
  bool peer_gone_ = false;              // while there was one
};

}  // namespace presetbridge::net
