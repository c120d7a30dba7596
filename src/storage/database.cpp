#include "storage/database.h"

#include <utility>

#include "storage/stores/change_store.h"
#include "storage/tx_driver.h"

namespace presetbridge::storage {

// PostgreSQL lets a transaction whose statement failed do nothing more; SQLite would go on.
template <class F>
std::invoke_result_t<const F&> Tx::guarded(const F& run) {
  if (failure_) throw DbError(*failure_);
  try {
    return run();
  } catch (const DbError& e) {
    failure_ = e;
    throw;
  }
}

template <class F>
std::invoke_result_t<const F&> Tx::many(std::size_t width, std::span<const Param> flat, const F& run) {
  return guarded([&] {
    if (width == 0 || flat.size() % width != 0)
      throw DbError(DbError::Kind::misuse, "the parameters of many rows are not a multiple of the width");
    return flat.empty() ? std::invoke_result_t<const F&>() : run();
  });
}

bool Tx::others_write() const {
  return driver_.others_write();
}

std::int64_t Tx::exec_params(const Sql& sql, std::span<const Param> params) {
  return guarded([&] { return driver_.exec(sql, params); });
}

void Tx::query_params(const Sql& sql, std::span<const Param> params, const RowFn& fn) {
  guarded([&] { driver_.query(sql, params, fn); });
}

void Tx::exec_many(const Sql& sql, std::size_t width, std::span<const Param> flat) {
  many(width, flat, [&] { driver_.exec_many(sql, width, flat); });
}

std::vector<bool> Tx::insert_each(const Sql& sql, std::size_t width, std::span<const Param> flat) {
  return many(width, flat, [&] { return driver_.insert_each(sql, width, flat); });
}

std::int64_t Tx::update_each(const Sql& sql, std::size_t width, std::span<const Param> flat) {
  return many(width, flat, [&] { return driver_.update_each(sql, width, flat); });
}

void Tx::query_each(const Sql& sql, std::size_t width, std::span<const Param> flat, const EachRowFn& fn) {
  many(width, flat, [&] { driver_.query_each(sql, width, flat, fn); });
}

void Tx::exec_script(std::string_view text) {
  guarded([&] { driver_.exec_script(text); });
}

void Tx::lock_schema() {
  guarded([&] { driver_.lock_schema(); });
}

void Tx::add_wake(const Wake& wake, std::int64_t id, std::initializer_list<std::optional<Timestamp>> times) {
  auto& [statement, rows] = wakes_[wake.rank];
  statement = wake;
  auto& earliest = rows[id];
  earliest.resize(wake.times);
  auto* at = earliest.data();
  for (const auto& time : times) {
    if (time && (!*at || *time < **at)) *at = time;
    ++at;
  }
}

void Tx::add(const Tally& tally, const TallyKey& key, std::int64_t amount) {
  tally_ = tally;
  sums_[key] += amount;
}

void Tx::run_wakes() {
  for (const auto& [rank, wakes] : wakes_) {
    const auto& [wake, rows] = wakes;
    std::vector<Param> flat;
    for (const auto& [id, times] : rows) {
      flat.emplace_back(id);
      flat.insert(flat.end(), times.begin(), times.end());
    }
    update_each(wake.sql, 1 + wake.times, flat);
  }
  wakes_.clear();
}

void Tx::run_sums() {
  std::vector<Param> flat;
  for (const auto& [key, amount] : sums_) {
    if (amount == 0) continue;
    flat.insert(flat.end(), key.begin(), key.end());
    flat.emplace_back(amount);
  }
  if (!flat.empty()) exec_many(tally_.sql, std::tuple_size_v<TallyKey> + 1, flat);
  sums_.clear();
}

void Tx::conclude() {
  guarded([&] {
    run_wakes();
    run_sums();
    // Last of all: of two transactions that have come so far neither waits for the other.
    if (!changes_.empty()) write_changes(*this, std::exchange(changes_, {}), news_.changes);
  });
}

}  // namespace presetbridge::storage
