// Limits how many calls run at one time, in all and to one host; the other calls wait. Hosts take turns, so a
// slow host with many waiting calls delays no other host (spec 10.6). The resolver uses it, too: its calls
// are look-ups of names, and the owner of a look-up counts as its host. A call is a number here.
// Not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

namespace presetbridge::net {

using CallId = std::uint64_t;  // each new call has a higher one; a host's lowest waiting call is its next

class CallQueue {
 public:
  // At most `calls` run at one time, and `calls_per_host` to one host; both at least 1.
  CallQueue(int calls, int calls_per_host) : most_(calls), most_per_host_(calls_per_host) {}

  // Adds a waiting call with a new id; next() returns it later.
  void wait(const std::string& host, CallId call);
  // Takes a call that may start now; it counts as running until ended(). Nothing: no call may start.
  std::optional<CallId> next();
  // A call to `host` that next() returned has ended: once for each.
  void ended(const std::string& host);
  // Removes a waiting call; a call that does not wait stays as it is.
  void gave_up(const std::string& host, CallId call);

  // The number of waiting calls, in all or to one host.
  std::size_t waiting() const { return waiting_; }
  std::size_t waiting(const std::string& host) const;

 private:
  struct Host {
    std::set<CallId> waiting;
    int running = 0;
    bool has_turn = false;  // it is in turns_
  };
  using Hosts = std::unordered_map<std::string, Host>;
  // Adds the host to turns_, unless it is there, has no waiting call or runs as many as it may.
  void give_turn(Hosts::value_type& host);
  // Removes the host, which exists, if it has no calls and no turn.
  void forget_if_done(const std::string& name);

  const int most_;
  const int most_per_host_;
  int running_ = 0;
  std::size_t waiting_ = 0;
  Hosts hosts_;
  std::deque<Hosts::value_type*> turns_;  // entries of hosts_, which stay where they are
};

}  // namespace presetbridge::net
