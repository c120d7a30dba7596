// Names to addresses. The port, and the system's resolver behind it in a bounded pool of threads (getaddrinfo
// blocks, for as long as its configuration says).
#pragma once

#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/time.h"
#include "net/ip_address.h"

namespace presetbridge::net {

// Addresses in the order to be tried; empty: nothing was found.
using Addresses = std::vector<IpAddress>;

class Resolver {
 public:
  virtual ~Resolver() = default;
  // Calls `done` once, on any thread, possibly before returning; when the program ends, perhaps never:
  // whoever asks keeps a deadline of its own. `owner` is any key of the account that chose the name; empty: the
  // service itself. Thread-safe.
  virtual void resolve(std::string host, std::string owner, std::function<void(Addresses)> done) = 0;
};

struct SystemResolverOptions {
  int threads = 8;
  // The most known names that wait for a thread, and the most other names; more are answered with nothing at once.
  int queued = 10'000;
  Millis keep{30'000};  // how long an answer is given again without asking
  // The most known names. The name with the oldest answer goes first: an owner's own, if its share is used up.
  std::size_t max_stored = 4'096;
  std::function<Addresses(const std::string&)> look_up;  // for tests; null: getaddrinfo
};

// Asks once for a name that several callers want at one time. Names that had an answer before are known, until two
// look-ups in a row give none. They come first, and have half of the threads for themselves: names whose servers are
// silent keep only the other half waiting.
//
// Owners take turns, so an owner of many silent names delays its own names only (spec 8.6). One owner has at most an
// eighth (and at least one) of each of these: the threads, for its known names; the threads, for its other names; the
// known names that wait; the other names that wait; the names that are kept. A name that several owners ask for takes
// the first of their turns. Each name of the service itself counts as an owner.
class SystemResolver final : public Resolver {
 public:
  explicit SystemResolver(SystemResolverOptions options = {});
  // Does not wait for a lookup that hangs: its thread ends by itself, its answer goes nowhere.
  ~SystemResolver() override;
  void resolve(std::string host, std::string owner, std::function<void(Addresses)> done) override;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace presetbridge::net
