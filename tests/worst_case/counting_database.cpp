#include "counting_database.h"

#include <algorithm>

#include "storage/tx_driver.h"

namespace presetbridge::worst_case {
namespace {

using storage::Blob;
using storage::Database;
using storage::Param;
using storage::Row;
using storage::Sql;
using storage::Tx;
using storage::TxDriver;
using storage::TxFn;

class CountingRow final : public Row {
 public:
  CountingRow(const Row& row, Work& work) : row_(row), work_(work) {}
  bool is_null(int column) const override { return row_.is_null(column); }
  std::int64_t int64(int column) const override { return row_.int64(column); }
  std::string_view text(int column) const override {
    const auto text = row_.text(column);
    work_.bytes_read += std::ssize(text);
    return text;
  }
  Blob bytes(int column) const override {
    const auto bytes = row_.bytes(column);
    work_.bytes_read += std::ssize(bytes);
    return bytes;
  }

 private:
  const Row& row_;
  Work& work_;
};

class CountingDriver final : public TxDriver {
 public:
  CountingDriver(Tx& tx, Work& work) : tx_(tx), work_(work) {}

  bool others_write() const override { return tx_.others_write(); }
  std::int64_t exec(const Sql& sql, std::span<const Param> params) override {
    const auto changed = tx_.exec_params(sql, params);
    wrote(changed, params);
    return changed;
  }
  void query(const Sql& sql, std::span<const Param> params, const RowFn& fn) override {
    ++work_.statements;
    tx_.query_params(sql, params, [&](const Row& row) {
      ++work_.rows_read;
      fn(CountingRow(row, work_));
    });
  }
  void exec_many(const Sql& sql, std::size_t width, std::span<const Param> flat) override {
    wrote(rows_of(flat, width), flat);
    tx_.exec_many(sql, width, flat);
  }
  std::vector<bool> insert_each(const Sql& sql, std::size_t width, std::span<const Param> flat) override {
    wrote(rows_of(flat, width), flat);
    return tx_.insert_each(sql, width, flat);
  }
  std::int64_t update_each(const Sql& sql, std::size_t width, std::span<const Param> flat) override {
    wrote(rows_of(flat, width), flat);
    return tx_.update_each(sql, width, flat);
  }
  void query_each(const Sql& sql, std::size_t width, std::span<const Param> flat,
                  const EachRowFn& fn) override {
    ++work_.statements;
    tx_.query_each(sql, width, flat, [&](std::size_t n, const Row& row) {
      ++work_.rows_read;
      fn(n, CountingRow(row, work_));
    });
  }
  void exec_script(std::string_view text) override { tx_.exec_script(text); }
  void lock_schema() override { tx_.lock_schema(); }

  // Counts the transaction, which is about to be committed.
  void end() {
    if (written_ > 0) ++work_.transactions;
    work_.largest_transaction = std::max(work_.largest_transaction, written_);
  }

 private:
  // The number of rows of parameters, whether or not each of them changes a row.
  static std::int64_t rows_of(std::span<const Param> flat, std::size_t width) {
    return std::ssize(flat) / static_cast<std::int64_t>(width);
  }
  // Counts a statement that writes, unless it has no parameters and wrote nothing.
  void wrote(std::int64_t rows, std::span<const Param> params) {
    if (rows > 0 || !params.empty()) ++work_.statements;
    work_.rows_written += rows;
    written_ += rows;
    for (const auto& param : params) {
      if (const auto* text = std::get_if<std::string_view>(&param.value())) {
        work_.bytes_written += std::ssize(*text);
      } else if (const auto* bytes = std::get_if<Blob>(&param.value())) {
        work_.bytes_written += std::ssize(*bytes);
      }
    }
  }

  Tx& tx_;
  Work& work_;
  std::int64_t written_ = 0;
};

class CountingDatabase final : public Database {
 public:
  CountingDatabase(std::unique_ptr<Database> database, Work& work)
      : database_(std::move(database)), work_(work) {}

  Durability commit(const TxFn& fn) override {
    return database_->commit([&](Tx& tx) { run(tx, fn); });
  }
  void sync() override { database_->sync(); }
  void read(const TxFn& fn) override {
    database_->read([&](Tx& tx) { run(tx, fn); });
  }
  void give_up() override { database_->give_up(); }
  std::string_view engine() const override { return database_->engine(); }

 private:
  void run(Tx& tx, const TxFn& fn) {
    CountingDriver driver(tx, work_);
    Tx counted(driver, tx.now());
    fn(counted);
    counted.conclude();  // so that wake-ups and sums are counted; `tx` itself has none
    driver.end();
  }

  std::unique_ptr<Database> database_;
  Work& work_;
};

}  // namespace

std::unique_ptr<Database> count_work(std::unique_ptr<Database> database, Work& work) {
  return std::make_unique<CountingDatabase>(std::move(database), work);
}

}  // namespace presetbridge::worst_case
