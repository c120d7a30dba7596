// The past of a demonstration: the parts of the service (as src/app/service/parts.h makes them), the
// simulated platform and the simulated bank, on one thread and on a clock that only advance() moves. What
// they leave in the data folder is what the service would have left.
#pragma once

#include <memory>
#include <string>

#include "app/config/config.h"
#include "base/error.h"
#include "neighbours.h"
#include "net/http.h"

namespace presetbridge::demo {

enum class Neighbour { bridge, cloud, bank };

class Past {
 public:
  // In a process without threads, with an empty data folder, or one that a service of this configuration has
  // served. Time begins at `start`. The errors of app::lay_foundation().
  static Expected<std::unique_ptr<Past>> begin(const app::Config& config, Timestamp start,
                                               std::uint64_t seed);
  // Ends all parts in order; the folder is the service's then.
  ~Past();
  Past(const Past&) = delete;

  // The answer to a request as a client of that one would get it. No time passes, but all that is due is
  // done.
  net::HttpResponse ask(Neighbour whom, net::HttpRequest request);
  // Does all that falls due until then, in order.
  void advance(Millis by);
  Timestamp now() const;
  // As the operator does from the command line.
  Expected<std::int64_t> grant(AccountId account, std::int64_t credits, std::string note);

  Receivers& receivers();
  // Calls of the platform that do not reach it (InProcess::instead).
  InProcess::Instead& platform_trouble();

 private:
  struct Parts;
  explicit Past(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace presetbridge::demo
