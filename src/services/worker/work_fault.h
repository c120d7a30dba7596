// Faults of transactions that do the work of many: whose work threw, so that it is postponed and the others
// go on.
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

// Carries an exception, and the `Work` at which it was thrown, from a unit of work to write_work(). It must
// not reach the database, which decides by the type of the exception whether the unit runs again.
template <class Work>
class WorkFault : public std::exception {
 public:
  // Takes the exception that is being handled.
  explicit WorkFault(Work work) : work_(std::move(work)), cause_(std::current_exception()) {}

  const Work& work() const { return work_; }
  [[noreturn]] void rethrow_cause() const { std::rethrow_exception(cause_); }
  const char* what() const noexcept override { return "the work of one of many has failed"; }

 private:
  Work work_;
  std::exception_ptr cause_;
};

// A write that failed, and the work at which it did. Work{}: nobody knows at whose.
template <class Work>
struct FailedWrite {
  Error error;
  Work work;
};

// AsyncDatabase::write() on the worker's scheduler, of a function that may throw WorkFault<Work>. Errors are
// those of the cause, as AsyncDatabase::write() gives them.
template <class Work, class Fn, class T = std::invoke_result_t<Fn&, storage::Tx&>>
Task<std::expected<T, FailedWrite<Work>>> write_work(const WorkerPorts& ports, Fn fn) {
  Work work{};
  const auto unit = [&fn, &work](storage::Tx& tx) -> T {
    work = {};
    try {
      return fn(tx);
    } catch (const WorkFault<Work>& fault) {
      work = fault.work();
      fault.rethrow_cause();
    }
  };
  auto done = co_await ports.async_db.write(ports.scheduler, unit);
  if (!done) co_return std::unexpected(FailedWrite<Work>{std::move(done).error(), work});
  if constexpr (std::is_void_v<T>) {
    co_return std::expected<T, FailedWrite<Work>>{};
  } else {
    co_return *std::move(done);
  }
}

}  // namespace presetbridge::services
