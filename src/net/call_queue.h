// Whose turn it is: bounds how many calls run at one time, in all and to one host, and lets the others wait.
// Hosts take turns, so a slow one with many waiting calls holds up nobody else (spec 10.6). The resolver's calls
// are look-ups, and their owners stand in the place of hosts. Pure; calls are numbers here.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

namespace presetbridge::net {

using CallId = std::uint64_t;  // grows: the smallest waiting one of a host is its next

class CallQueue {
 public:
  CallQueue(int calls, int calls_per_host) : most_(calls), most_per_host_(calls_per_host) {}

  // The call waits from now on; next() gives it out.
  void wait(const std::string& host, CallId call);
  // A call that may start now and counts as running until ended(); nothing if none may.
  std::optional<CallId> next();
  void ended(const std::string& host);
  // A waiting call does so no more.
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
