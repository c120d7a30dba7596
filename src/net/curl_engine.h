// Private to net/: libcurl's multi interface on one core. All sockets of libcurl sit in one epoll descriptor,
// which is itself watched by the core's io_context, and all of its timers in one timer: the core pays for a
// turn of many calls, not for each.
#pragma once

#include <array>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>
#include <vector>

#include "net/asio_core.h"
#include "net/call_queue.h"
#include "net/curl_call.h"

namespace presetbridge::net {

class CurlEngine : public std::enable_shared_from_this<CurlEngine> {
 public:
  CurlEngine(Runtime::Core& core, Resolver& resolver, CurlClientOptions options);
  ~CurlEngine();
  CurlEngine(const CurlEngine&) = delete;
  CurlEngine& operator=(const CurlEngine&) = delete;

  // Once.
  void start();
  // Thread-safe. The call's waiter is resumed on its executor when its result stands.
  void submit(CurlCall& call);
  // On the core. Ends everything; what is submitted later ends at once.
  void shut_down();

 private:
  struct MultiDeleter {
    void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
  };
  using CurlMulti = std::unique_ptr<CURLM, MultiDeleter>;
  // One multi handle, and so one pool of connections, for each policy: a kept connection is not checked
  // again.
  struct Lane {
    CurlEngine* engine = nullptr;
    std::uint64_t index = 0;
    CurlMulti multi;
    SteadyTime due = SteadyTime::max();
  };
  struct Resolved {
    CallId call;
    Addresses addresses;
  };

  static int on_socket(CURL*, curl_socket_t socket, int what, void* lane, void* known);
  static int on_timer(CURLM*, long timeout_ms, void* lane);

  void turn();
  void take_submitted();
  void begin(CurlCall& call);
  void take_resolved();
  void admit(CurlCall& call, Addresses addresses);
  void expire();
  void launch_next();
  void launch(CurlCall& call);
  void read_sockets();
  void run_timers();
  void reap();
  void finish(CurlCall& call);
  void flush();
  void arm_timer();
  void watch_sockets();
  void wake();
  Lane& lane(AddressPolicy policy);

  Runtime::Core& core_;
  Resolver& resolver_;
  const CurlClientOptions options_;

  std::mutex mutex_;  // guards submitted_, resolved_, woken_ and stopped_, which the core alone sets
  std::vector<CurlCall*> submitted_;
  std::vector<Resolved> resolved_;
  bool woken_ = false;
  bool stopped_ = false;

  // Used on the core alone:
  int epoll_ = -1;
  asio::posix::basic_stream_descriptor<IoExecutor> sockets_;
  SteadyTimer timer_;
  SteadyTime armed_ = SteadyTime::max();
  std::array<Lane, 3> lanes_;
  std::vector<CurlEasy> spare_;
  CallQueue queue_;
  CallId last_id_ = 0;
  std::unordered_map<CallId, CurlCall*> calls_;
  std::set<std::pair<SteadyTime, CallId>> deadlines_;  // of calls that libcurl does not have yet
  std::vector<CurlCall*> finished_;                    // to be given back at the end of the turn
  SteadyTime now_;
};

}  // namespace presetbridge::net
