// Limits how many calls run at one time, in all and to one host; the other calls wait. Hosts take turns, so a
// slow host with many waiting calls delays no other host (spec 10.6). The resolver uses it, too: its calls
// are look-ups of names, and the owner of a look-up counts as its host. Pure; a call is a number here.
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
  CallQueue(int calls, int calls_per_host) : most_(calls), most_per_host_(calls_per_host) {}

  // Adds a waiting call; next() returns it later.
  void wait(const std::string& host, CallId call);
  // A call that may start now; it counts as running until ended(). Nothing: no call may start.
  std::optional<CallId> next();
  void ended(const std::string& host);
  // Removes a waiting call.
  void gave_up(const std::string& host, CallId call);

  std::size_t waiting() const { return waiting_; }
  std::size_t waiting(const std::string& host) const;

 private:
  struct Host {
    std::set<CallId> waiting;
    int running = 0;
    bool has_turn = false;
  };
  using Hosts = std::unordered_map<std::string, Host>;
  void give_turn(Hosts::value_type& host);
  void forget_if_done(const std::string& name);

  const int most_;
  const int most_per_host_;
  int running_ = 0;
  std::size_t waiting_ = 0;
  Hosts hosts_;
  std::deque<Hosts::value_type*> turns_;
};

}  // namespace presetbridge::net
