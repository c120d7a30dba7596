// Where a transaction does the work of many: a fault, and whose work it is of, so that that work is set aside
// and the others go on.
#pragma once

#include <exception>
#include <expected>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "base/task.h"
#include "services/worker/worker_ports.h"
#include "storage/database.h"

namespace presetbridge::services {

// What was thrown while a unit of work was at one `Place`. For write_at(): the database itself must never see
// it, as it decides by the type of what was thrown whether the unit runs again.
template <class Place>
class FaultAt : public std::exception {
 public:
  // Of the exception that is being handled.
  explicit FaultAt(Place place) : place_(std::move(place)), cause_(std::current_exception()) {}

  const Place& place() const { return place_; }
  [[noreturn]] void rethrow_cause() const { std::rethrow_exception(cause_); }
  const char* what() const noexcept override { return "one of many pieces of work has failed"; }

 private:
  Place place_;
  std::exception_ptr cause_;
};

// How a write failed, and where; Place{}: at nobody's work.
template <class Place>
struct FailedWrite {
  Error error;
  Place at;
};

// AsyncDatabase::write() on the worker's scheduler, of a function that throws FaultAt<Place>. Errors: those of
// the cause, as AsyncDatabase has them.
template <class Place, class Fn, class T = std::invoke_result_t<Fn&, storage::Tx&>>
Task<std::expected<T, FailedWrite<Place>>> write_at(const WorkerPorts& ports, Fn fn) {
  Place at{};
  const auto unit = [&fn, &at](storage::Tx& tx) -> T {
    at = {};
    try {
      return fn(tx);
    } catch (const FaultAt<Place>& fault) {
      at = fault.place();
      fault.rethrow_cause();
    }
  };
  auto done = co_await ports.async_db.write(ports.scheduler, unit);
  if (!done) co_return std::unexpected(FailedWrite<Place>{std::move(done).error(), at});
  if constexpr (std::is_void_v<T>) {
    co_return std::expected<T, FailedWrite<Place>>{};
  } else {
    co_return *std::move(done);
  }
}

}  // namespace presetbridge::services
