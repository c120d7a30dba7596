// The port that an engine implements for the statements of an open transaction. Tx (database.h) is its only
// caller: it holds all that does not depend on the engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "storage/database.h"

namespace presetbridge::storage {

// Called by one thread, between BEGIN and COMMIT. Each function does what Tx promises of the one that calls it, and
// throws DbError. After a statement that failed there are no further calls in its transaction. `flat` is one or
// more whole rows of `width` parameters.
class TxDriver {
 public:
  using RowFn = Tx::RowFn;
  using EachRowFn = Tx::EachRowFn;

  virtual ~TxDriver() = default;
  // Constant.
  virtual bool others_write() const = 0;
  virtual std::int64_t exec(const Sql& sql, std::span<const Param> params) = 0;
  virtual void query(const Sql& sql, std::span<const Param> params, const RowFn& fn) = 0;
  virtual void exec_many(const Sql& sql, std::size_t width, std::span<const Param> flat) = 0;
  virtual std::vector<bool> insert_each(const Sql& sql, std::size_t width, std::span<const Param> flat) = 0;
  virtual std::int64_t update_each(const Sql& sql, std::size_t width, std::span<const Param> flat) = 0;
  virtual void query_each(const Sql& sql, std::size_t width, std::span<const Param> flat,
                          const EachRowFn& fn) = 0;
  virtual void exec_script(std::string_view text) = 0;
  virtual void lock_schema() = 0;
};

}  // namespace presetbridge::storage
