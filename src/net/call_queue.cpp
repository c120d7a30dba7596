#include "net/call_queue.h"

namespace presetbridge::net {

void CallQueue::give_turn(Hosts::value_type& host) {
  if (host.second.has_turn || host.second.waiting.empty() || host.second.running >= most_per_host_) return;
  host.second.has_turn = true;
  turns_.push_back(&host);
}

void CallQueue::forget_if_done(const std::string& name) {
  const auto at = hosts_.find(name);
  const Host& host = at->second;
  if (host.waiting.empty() && host.running == 0 && !host.has_turn) hosts_.erase(at);
}

void CallQueue::wait(const std::string& host, CallId call) {
  auto& entry = *hosts_.try_emplace(host).first;
  entry.second.waiting.insert(call);
  ++waiting_;
  give_turn(entry);
}

std::optional<CallId> CallQueue::next() {
  while (running_ < most_ && !turns_.empty()) {
    auto& entry = *turns_.front();
    Host& host = entry.second;
    turns_.pop_front();
    host.has_turn = false;
    if (host.waiting.empty()) {  // its calls gave up before its turn
      forget_if_done(entry.first);
      continue;
    }
    const CallId call = *host.waiting.begin();
    host.waiting.erase(host.waiting.begin());
    --waiting_;
    ++host.running;
    ++running_;
    give_turn(entry);
    return call;
  }
  return std::nullopt;
}

void CallQueue::ended(const std::string& host) {
  auto& entry = *hosts_.find(host);
  --entry.second.running;
  --running_;
  give_turn(entry);
  forget_if_done(host);
}

std::size_t CallQueue::waiting(const std::string& host) const {
  const auto at = hosts_.find(host);
  return at == hosts_.end() ? 0 : at->second.waiting.size();
}

void CallQueue::gave_up(const std::string& host, CallId call) {
  const auto at = hosts_.find(host);
  if (at == hosts_.end()) return;
  waiting_ -= at->second.waiting.erase(call);
  forget_if_done(host);
}

}  // namespace presetbridge::net
