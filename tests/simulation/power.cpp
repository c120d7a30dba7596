#include "power.h"

#include <stdexcept>
#include <utility>

#include "memory_files.h"

namespace presetbridge::simulation {

using storage::Database;
using storage::DbError;

class Power::Machine final : public Database {
 public:
  Machine(Power& power, std::unique_ptr<Database> database) : power_(power), database_(std::move(database)) {}

  Durability commit(const storage::TxFn& fn) override {
    check();
    if (power_.left_ != 1 || power_.paused_ > 0) {
      const auto durability = database_->commit(fn);
      if (power_.left_ > 1 && power_.paused_ == 0 && durability == Durability::on_its_way) --power_.left_;
      return durability;
    }
    // All before it is synced: whoever commits syncs before the next one.
    before_ = content_of(power_.path_);
    const auto durability = database_->commit(fn);
    fails_ = durability == Durability::on_its_way;
    return durability;
  }
  void sync() override {
    check();
    if (!std::exchange(fails_, false)) return database_->sync();
    power_.left_ = 0;
    power_.failed_ = true;
    power_.fails_();
    database_.reset();
    replace_content(power_.path_, std::move(before_));
    auto opened = storage::open_sqlite({.path = power_.path_, .lock_file = {}}, *power_.clock_);
    if (!opened) throw std::runtime_error(opened.error().message);
    database_ = std::move(*opened);
    check();
  }
  void read(const storage::TxFn& fn) override {
    check();
    database_->read(fn);
  }
  std::string_view engine() const override { return database_->engine(); }

 private:
  void check() const {
    if (power_.failed_ && power_.inspections_ == 0)
      throw DbError(DbError::Kind::unavailable, "the power failed");
  }

  Power& power_;
  std::unique_ptr<Database> database_;
  DatabaseContent before_;  // the commit that fails
  bool fails_ = false;
};

storage::testing::WrapDatabase Power::wrap() {
  return [this](std::unique_ptr<Database> database) {
    return std::make_unique<Machine>(*this, std::move(database));
  };
}

void Power::use(std::string path, const Clock& clock, std::function<void()> fails) {
  path_ = std::move(path);
  clock_ = &clock;
  fails_ = std::move(fails);
}

}  // namespace presetbridge::simulation
