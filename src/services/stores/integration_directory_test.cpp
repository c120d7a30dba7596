#include "services/stores/integration_directory.h"

#include <gtest/gtest.h>

#include <map>

#include "services/testing.h"
#include "storage/stores/integration_store.h"

namespace presetbridge::services {
namespace {

using services::testing::World;

class CountedReads final : public storage::Database {
 public:
  CountedReads(std::unique_ptr<storage::Database> real, int& reads) : real_(std::move(real)), reads_(reads) {}
  Durability commit(const storage::TxFn& fn) override { return real_->commit(fn); }
  void sync() override { real_->sync(); }
  void read(const storage::TxFn& fn) override {
    ++reads_;
    real_->read(fn);
  }
  std::string_view engine() const override { return real_->engine(); }

 private:
  std::unique_ptr<storage::Database> real_;
  int& reads_;
};

class IntegrationDirectoryTest : public ::testing::Test {
 protected:
  IntegrationDirectoryTest() { world_.scheduler.run(); }

  void ask(IntegrationDirectory& directory, IntegrationId id, const std::string& name) {
    spawn(directory.find(world_.scheduler, id), [this, name](auto outcome) {
      const auto& found = *outcome.value;
      answered_.push_back(name);
      answers_[name] = !found ? found.error().code : *found ? "found" : "none";
    });
  }
  // Runs `asks`, and what each answer makes them ask, while the storage is busy; then all that they began.
  // Returns how many transactions read.
  int reads_of(std::function<void()> asks) {
    const int before = reads_;
    world_.async_db.submit_first_read(
        [](storage::Tx&) {},
        [&](const std::exception_ptr&, storage::Completions&) {
          asks();
          world_.async_db.submit_first_read(
              [](storage::Tx&) {},
              [&](const std::exception_ptr&, storage::Completions&) { world_.scheduler.run(); });
        });
    world_.scheduler.run();
    return reads_ - before - 2;
  }
  bool asks_anew(IntegrationDirectory& directory, IntegrationId id) {
    return reads_of([&] { ask(directory, id, "again"); }) > 0;
  }
  IntegrationId add_store(AccountId account) {
    const IntegrationId id{world_.ids.next()};
    world_.write([&](storage::Tx& tx) {
      auto row = *find_integration(tx, world_.integration);
      row.encrypted_secret = world_.cipher.encrypt({"integrations.secret", id.value}, "s");
      row.id = id;
      row.account = account;
      insert_integration(tx, row);
    });
    return id;
  }

  int reads_ = 0;
  World world_{World::unlimited(), 1'000, [this](std::unique_ptr<storage::Database> database) {
                 return std::make_unique<CountedReads>(std::move(database), reads_);
               }};
  std::map<std::string, std::string> answers_;
  std::vector<std::string> answered_;
};

// Spec 8.6: what nobody has costs the database a bounded number of reads at a time, and refuses no store.
TEST_F(IntegrationDirectoryTest, MadeUpIdsAreLookedUpTogetherAndAStoreIsFoundAmongThem) {
  const auto reads = reads_of([&] {
    for (int i = 0; i < 2'000; ++i)
      ask(world_.directory, IntegrationId{world_.ids.next()}, "made up " + std::to_string(i));
    ask(world_.directory, world_.integration, "store");
  });
  EXPECT_EQ(answers_["store"], "found");
  EXPECT_EQ(answers_["made up 0"], "none");
  EXPECT_EQ(answers_["made up 1999"], "none");
  EXPECT_EQ(answers_.size(), 2'001U);
  EXPECT_EQ(reads, 5) << "four of 512 ids, and the store";
  EXPECT_FALSE(asks_anew(world_.directory, world_.integration));
}

TEST_F(IntegrationDirectoryTest, MoreThanMayWaitAreRefusedAndThoseAfterThemAreHeard) {
  reads_of([&] {
    for (std::size_t i = 0; i <= IntegrationVersions::kMostWaiting; ++i)
      ask(world_.directory, IntegrationId{world_.ids.next()}, std::to_string(i));
  });
  EXPECT_EQ(answers_[std::to_string(IntegrationVersions::kMostWaiting - 1)], "none");
  EXPECT_EQ(answers_[std::to_string(IntegrationVersions::kMostWaiting)], "OVERLOADED");
  reads_of([&] { ask(world_.directory, world_.integration, "store"); });
  EXPECT_EQ(answers_["store"], "found");
}

TEST_F(IntegrationDirectoryTest, AStoreIsHeardTheMomentItIsMadeAndGoneOnceItIsArchived) {
  const IntegrationId id{world_.ids.next()};
  reads_of([&] { ask(world_.directory, id, "before"); });
  world_.write([&](storage::Tx& tx) {
    auto row = *find_integration(tx, world_.integration);
    row.encrypted_secret = world_.cipher.encrypt({"integrations.secret", id.value}, "s");
    row.id = id;
    insert_integration(tx, row);
  });
  reads_of([&] { ask(world_.directory, id, "made"); });
  world_.write([&](storage::Tx& tx) {
    auto row = *lock_integration(tx, id);
    row.archived_at = tx.now();
    update_integration(tx, row);
  });
  world_.database.clock.advance(Millis{2'000});
  reads_of([&] { ask(world_.directory, id, "archived"); });
  EXPECT_EQ(answers_["before"], "none");
  EXPECT_EQ(answers_["made"], "found");
  EXPECT_EQ(answers_["archived"], "none");
  EXPECT_EQ(world_.directory.weight(), 0U);
}

TEST_F(IntegrationDirectoryTest, CopiesThatWereUsedLongestAgoGoWhereTheyWeighTooMuch) {
  std::vector<IntegrationId> stores;
  for (int i = 0; i < 4; ++i) stores.push_back(add_store(world_.account));
  const auto put = [&](IntegrationId id, int mappings) {
    world_.write([&](storage::Tx& tx) {
      std::vector<storage::MappingRow> rows;
      for (int i = 0; i < mappings; ++i) {
        const auto value = std::string(100, 'v') + std::to_string(i);
        rows.push_back({.mapping = {.id = MappingId{world_.ids.next()}, .value = value, .file_id = "f"},
                        .match_value = value});
      }
      replace_mappings(tx, id, rows);
    });
  };
  for (const auto id : stores) put(id, 100);
  reads_of([&] { ask(world_.directory, stores[0], "0"); });
  const auto one = world_.directory.weight();
  EXPECT_GT(one, 100U * 300) << "value, its key and what is around them";
  EXPECT_LT(one, 100U * 1'000);

  IntegrationDirectory small(world_.async_db, world_.cipher, world_.database.clock, nullptr,
                             one * 3 + one / 2);
  for (const int i : {0, 1, 2, 0, 3})
    reads_of([&] { ask(small, stores[static_cast<std::size_t>(i)], "of four"); });
  EXPECT_LE(small.weight(), one * 3 + one / 2);
  EXPECT_FALSE(asks_anew(small, stores[0])) << "it was used since";
  EXPECT_FALSE(asks_anew(small, stores[2]));
  EXPECT_FALSE(asks_anew(small, stores[3]));
  EXPECT_TRUE(asks_anew(small, stores[1]));

  IntegrationDirectory tiny(world_.async_db, world_.cipher, world_.database.clock, nullptr, 1);
  for (const int i : {0, 1})
    reads_of([&] { ask(tiny, stores[static_cast<std::size_t>(i)], "of a tiny one"); });
  EXPECT_FALSE(asks_anew(tiny, stores[1])) << "the newest stays";
  EXPECT_EQ(tiny.weight(), one);
}

// One merchant with many large stores keeps nobody waiting, and many orders of one read it once.
TEST_F(IntegrationDirectoryTest, StoresAreReadOneAtATimeAnAccountAndTogetherForAllWhoWait) {
  const auto other = world_.add_tenant("m-2");
  std::vector<IntegrationId> mine;
  for (int i = 0; i < 5; ++i) mine.push_back(add_store(world_.account));
  const auto reads = reads_of([&] {
    for (int round = 0; round < 3; ++round) {
      for (std::size_t i = 0; i < mine.size(); ++i)
        ask(world_.directory, mine[i], "mine " + std::to_string(i));
    }
    ask(world_.directory, other.integration, "theirs");
  });
  EXPECT_EQ(answered_.size(), 16U);
  EXPECT_LE(std::ranges::find(answered_, "theirs") - answered_.begin(), 4)
      << "after one store of the other account";
  // The versions, the first store twice (who asked while it was read), and each of the others once.
  EXPECT_EQ(reads, 1 + 2 + 4 + 1);
}

class DirectoryTest : public ::testing::Test {
 protected:
  std::shared_ptr<const IntegrationSnapshot> find(IntegrationId id,
                                                  Millis max_age = IntegrationDirectory::kMaxAge) {
    return world.await(directory.find(world.scheduler, id, max_age)).value();
  }
  // As another node does it.
  void set_secret(const std::string& secret) {
    world.write([&](storage::Tx& tx) {
      auto row = *lock_integration(tx, world.integration);
      row.encrypted_secret = world.cipher.encrypt({"integrations.secret", world.integration.value}, secret);
      update_integration(tx, row);
    });
  }

  World world;
  IntegrationDirectory directory{world.async_db, world.cipher, world.database.clock, nullptr};
};

TEST_F(DirectoryTest, AStoreThatHasChangedIsReadAnewWhereThatIsKnown) {
  ASSERT_EQ(find(world.integration)->secret, "secret");
  set_secret("another");
  directory.forget(world.integration);
  EXPECT_EQ(find(world.integration)->secret, "another");
  set_secret("third");
  EXPECT_EQ(find(world.integration)->secret, "another");
}

TEST_F(DirectoryTest, ADoubtedCopyIsReadAgainButNotForEachDoubt) {
  const auto first = find(world.integration);
  set_secret("another");
  EXPECT_EQ(find(world.integration, IntegrationDirectory::kDoubted), first) << "it was read just now";
  world.scheduler.advance(IntegrationDirectory::kDoubted);
  EXPECT_EQ(find(world.integration), first);
  const auto newer = find(world.integration, IntegrationDirectory::kDoubted);
  EXPECT_EQ(newer->secret, "another");
  set_secret("third");
  EXPECT_EQ(find(world.integration, IntegrationDirectory::kDoubted), newer)
      << "a hostile sender costs no more";
  world.scheduler.advance(IntegrationDirectory::kDoubted);
  const auto third = find(world.integration, IntegrationDirectory::kDoubted);
  EXPECT_EQ(third->secret, "third");
  world.scheduler.advance(IntegrationDirectory::kDoubted);
  EXPECT_EQ(find(world.integration, IntegrationDirectory::kDoubted), third) << "nothing has changed";
}

}  // namespace
}  // namespace presetbridge::services
