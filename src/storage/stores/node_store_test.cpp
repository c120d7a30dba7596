#include "storage/stores/node_store.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "storage/testing.h"

namespace presetbridge::storage {
namespace {

class NodeStoreTest : public ::testing::TestWithParam<testing::Engine> {
 protected:
  std::optional<int> take(const std::string& owner, Millis time = Millis{1'000}) {
    std::optional<int> number;
    db_->write([&](Tx& tx) { number = take_node_number(tx, owner, tx.now() + time); });
    return number;
  }
  // Takes all numbers, the last for `life` and each one before it a millisecond longer.
  void take_all(Millis life) {
    db_->write([&](Tx& tx) {
      for (int i = 0; i < kMostNodes; ++i) {
        ASSERT_EQ(take_node_number(tx, "node", tx.now() + life + Millis{kMostNodes - 1 - i}), i);
      }
    });
  }
  bool keep(int number, const std::string& owner) {
    bool extended = false;
    db_->write([&](Tx& tx) { extended = keep_node_number(tx, number, owner, tx.now() + Millis{1'000}); });
    return extended;
  }

  testing::MigratedDatabase db_{GetParam()};
};

TEST_P(NodeStoreTest, NobodyGetsANumberThatAnotherHas) {
  std::set<int> numbers;
  for (int i = 0; i < 10; ++i) numbers.insert(take("node-" + std::to_string(i)).value());
  EXPECT_EQ(numbers.size(), 10U);
  EXPECT_TRUE(numbers.contains(0));
}

TEST_P(NodeStoreTest, ANumberIsTakenAgainWhenAllWereUsedAndTheOneFreeForLongestFirst) {
  take_all(Millis{10'000});
  EXPECT_EQ(take("late"), std::nullopt);
  db_.clock.advance(Millis{10'000});
  EXPECT_EQ(take("late"), kMostNodes - 1);
  EXPECT_EQ(take("later"), std::nullopt);
  EXPECT_FALSE(keep(kMostNodes - 1, "node"));
  EXPECT_TRUE(keep(kMostNodes - 1, "late"));
  db_.clock.advance(Millis{1});
  EXPECT_EQ(take("later"), kMostNodes - 2) << "what has run out; the other was kept";
}

TEST_P(NodeStoreTest, TheKeysOfANodeAreItsOwnAndNotThoseOfWhoHadItsNumber) {
  ASSERT_EQ(take("first"), 0);
  const auto seen = [&] {
    std::vector<SeenNode> nodes;
    db_->write([&](Tx& tx) { nodes = seen_nodes(tx, tx.now() - Millis{100}); });
    return nodes;
  };
  EXPECT_TRUE(seen().empty()) << "it has not told that it is there";
  ASSERT_TRUE(keep(0, "first"));
  EXPECT_EQ(seen().at(0).keys, "");
  const auto note = [&](const std::string& owner, const std::string& keys) {
    db_->write([&](Tx& tx) { note_node_keys(tx, 0, owner, keys, "here"); });
  };
  note("first", "vault:a*");
  note("another", "vault:b*");
  EXPECT_EQ(seen().at(0).keys, "vault:a*");
  EXPECT_EQ(seen().at(0).place, "here");
  const auto since = seen().at(0).keys_at;
  db_.clock.advance(Millis{50});
  note("first", "vault:a*");
  EXPECT_EQ(seen().at(0).keys_at, since) << "they are so since then";
  note("first", "vault:c*");
  EXPECT_EQ(seen().at(0).keys_at, since + Millis{50});

  // A node of an older program, which notes none, takes the number.
  db_->write([](Tx& tx) { tx.exec({"UPDATE nodes SET owner = 'second' WHERE number = 0"}); });
  ASSERT_TRUE(keep(0, "second"));
  EXPECT_EQ(seen().at(0).keys, "");
  note("second", "vault:c*");
  EXPECT_EQ(seen().at(0).keys, "vault:c*");
  db_.clock.advance(Millis{101});
  EXPECT_TRUE(seen().empty());
}

TEST_P(NodeStoreTest, ANumberGivenBackIsFree) {
  take_all(Millis{10'000});
  db_->write([](Tx& tx) {
    give_node_number_back(tx, 7, "node");
    give_node_number_back(tx, 8, "another");
  });
  EXPECT_EQ(take("late"), 7);
  EXPECT_EQ(take("later"), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Engines, NodeStoreTest, ::testing::ValuesIn(testing::kEngines),
                         [](const auto& info) { return testing::engine_name(info); });

}  // namespace
}  // namespace presetbridge::storage
