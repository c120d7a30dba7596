#include "services/operation/node_number.h"

#include <gtest/gtest.h>

#include "identity/testing.h"
#include "storage/stores/node_store.h"

namespace presetbridge::services {
namespace {

using storage::Tx;

class NodeNumberTest : public ::testing::Test {
 protected:
  NodeNumberTest() {
    world_.db->write([&](Tx& tx) {
      number_ = take_node_number(tx, "us", tx.now() + kNodeNumberLife).value();
      // All others are somebody's, so that ours is the one to be taken next.
      for (int i = 1; i < storage::kMostNodes; ++i)
        take_node_number(tx, "others", tx.now() + std::chrono::days{1});
    });
    node_ = std::make_unique<NodeNumber>(world_.scheduler, world_.async_db, world_.log, number_, "us",
                                         "api,worker", [this] { ++lost_; });
  }
  ~NodeNumberTest() override {
    bool stopped = false;
    node_->stop([&] { stopped = true; });
    world_.scheduler.run();
    EXPECT_TRUE(stopped);
  }
  std::optional<int> take() {
    std::optional<int> number;
    world_.db->write([&](Tx& tx) { number = take_node_number(tx, "another", tx.now() + kNodeNumberLife); });
    return number;
  }

  identity::testing::World world_;
  int number_ = -1;
  int lost_ = 0;
  std::unique_ptr<NodeNumber> node_;
};

TEST_F(NodeNumberTest, IsNobodyElsesForAsLongAsTheNodeLives) {
  node_->start();
  world_.scheduler.advance(std::chrono::hours{3});
  EXPECT_EQ(take(), std::nullopt);
  EXPECT_EQ(lost_, 0);
}

TEST_F(NodeNumberTest, IsAnothersWhenItWasNotRenewedAndThatIsReportedOnce) {
  world_.scheduler.advance(kNodeNumberLife);
  ASSERT_EQ(take(), number_);
  node_->start();
  world_.scheduler.advance(std::chrono::hours{1});
  EXPECT_EQ(lost_, 1);
}

}  // namespace
}  // namespace presetbridge::services
