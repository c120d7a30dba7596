// What was committed outlives the process that committed it (spec 2.5), and what was not leaves no trace.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <stdexcept>

#include "engine.h"

namespace presetbridge::storage::conformance {
namespace {

constexpr Sql insert{"INSERT INTO thing(id) VALUES($1)"};
constexpr Sql all_ids{"SELECT id FROM thing ORDER BY id"};

class Pipe {
 public:
  Pipe() {
    if (pipe(ends_.data()) != 0) throw std::runtime_error("no pipe");
  }
  ~Pipe() {
    for (const int end : ends_) close(end);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void send(std::int64_t value) const {
    if (write(ends_[1], &value, sizeof value) != sizeof value) _exit(3);
  }
  // Waits for it.
  std::int64_t receive() const {
    std::int64_t value = -1;
    if (read(ends_[0], &value, sizeof value) != sizeof value) throw std::runtime_error("the pipe broke");
    return value;
  }

 private:
  std::array<int, 2> ends_{};
};

class DurabilityTest : public ::testing::TestWithParam<EngineKind> {
 protected:
  // Runs `work` in a process of its own and kills it once `enough` has returned.
  void run_and_kill(const std::function<void(Database&)>& work, const std::function<void()>& enough) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      try {
        const auto database = engine_->open();
        work(*database);
      } catch (...) {
      }
      _exit(2);  // it is meant to be killed before this
    }
    enough();
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself";
  }

  std::vector<std::int64_t> ids() {
    std::vector<std::int64_t> found;
    engine_->open()->read(
        [&](Tx& tx) { tx.query(all_ids, [&](const Row& row) { found.push_back(row.int64(0)); }); });
    return found;
  }

  std::unique_ptr<Engine> engine_ = GetParam().make();
};

INSTANTIATE_TEST_SUITE_P(Engines, DurabilityTest, ::testing::ValuesIn(all_engines()),
                         [](const auto& info) { return engine_name(info); });

TEST_P(DurabilityTest, WhatWasCommittedOutlivesAKilledProcess) {
  constexpr std::int64_t acknowledged = 40;
  const Pipe async_db;
  run_and_kill(
      [&](Database& database) {
        database.write(
            [](Tx& tx) { tx.exec_script("CREATE TABLE thing(id <int> NOT NULL PRIMARY KEY) <table>;"); });
        for (std::int64_t id = 1;; ++id) {
          database.write([&](Tx& tx) { tx.exec(insert, id); });
          async_db.send(id);
        }
      },
      [&] {
        while (async_db.receive() < acknowledged) {
        }
      });
  const auto found = ids();
  ASSERT_GE(found.size(), static_cast<std::size_t>(acknowledged));
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], static_cast<std::int64_t>(i) + 1);
}

TEST_P(DurabilityTest, WhatWasNotCommittedIsGoneAfterAKill) {
  const Pipe wrote;
  const Pipe never;
  run_and_kill(
      [&](Database& database) {
        database.write(
            [](Tx& tx) { tx.exec_script("CREATE TABLE thing(id <int> NOT NULL PRIMARY KEY) <table>;"); });
        database.write([](Tx& tx) { tx.exec(insert, 1); });
        database.write([&](Tx& tx) {
          for (std::int64_t id = 2; id < 5'000; ++id) tx.exec(insert, id);
          wrote.send(1);
          never.receive();
        });
      },
      [&] { wrote.receive(); });
  EXPECT_THAT(ids(), ::testing::ElementsAre(1));
}

}  // namespace
}  // namespace presetbridge::storage::conformance
