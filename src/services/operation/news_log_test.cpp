#include "services/operation/news_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "identity/testing.h"

namespace presetbridge::services {
namespace {

using ::testing::ElementsAre;

class Counter final : public Metrics {
 public:
  void count(std::string_view name, Labels labels, double) noexcept override {
    std::string text(name);
    for (const auto& [label, value] : labels) text.append(" ").append(label).append("=").append(value);
    counted.push_back(text);
  }
  void set(std::string_view, double, Labels) noexcept override {}
  void observe(std::string_view, double, Labels) noexcept override {}
  std::vector<std::string> counted;
};

class NewsLogTest : public ::testing::Test {
 protected:
  identity::testing::RecordingLog log_;
  Counter metrics_;
  NewsLog news_log_{log_, metrics_};
};

TEST_F(NewsLogTest, EachEndOfAnOrderIsALineWithItsIds) {
  using Kind = storage::OrderNews::Kind;
  news_log_.write({.orders = {{Kind::repeated, {1}, "A-1", {2}, {3}, "completed"},
                              {Kind::accepted, {4}, "A-2", {2}, {3}, "queued"},
                              {Kind::ignored, {5}, "A-3", {2}, {3}, "no_mapped_items"},
                              {Kind::accepted, {6}, "A-4", {2}, {3}, "failed"},
                              {Kind::ignored, {}, "", {2}, {3}, "ignored_topic"}},
                   .deliveries = {},
                   .platform = {}});
  EXPECT_EQ(log_.text,
            "an order was accepted orderId=A-2 order=ord_0000000000004 delivery=del_0000000000004 "
            "account=acc_0000000000002 integration=int_0000000000003 status=queued\n"
            "an order was accepted orderId=A-4 order=ord_0000000000006 delivery=del_0000000000006 "
            "account=acc_0000000000002 integration=int_0000000000003 status=failed\n"
            "an order was ignored orderId=A-3 order=ord_0000000000005 delivery= "
            "account=acc_0000000000002 integration=int_0000000000003 reason=no_mapped_items\n"
            "an order was ignored orderId= order= delivery= account=acc_0000000000002 "
            "integration=int_0000000000003 reason=ignored_topic\n"
            "an order came again orderId=A-1 order=ord_0000000000001 delivery= account=acc_0000000000002 "
            "integration=int_0000000000003 outcome=completed\n");
}

TEST_F(NewsLogTest, EachEndOfADeliveryIsALineAndIsCounted) {
  using domain::Cause;
  using domain::DeliveryStatus;
  using domain::ResolutionCode;
  news_log_.write(
      {.orders = {},
       .deliveries =
           {{{4}, "A-2", {2}, {3}, DeliveryStatus::completed, ResolutionCode::none, Cause::nothing_left_owed},
            {{6},
             "A-4",
             {2},
             {3},
             DeliveryStatus::failed,
             ResolutionCode::username_missing,
             Cause::known_cause}},
       .platform = {}});
  EXPECT_EQ(log_.text,
            "a delivery ended delivery=del_0000000000004 orderId=A-2 order=ord_0000000000004 "
            "account=acc_0000000000002 integration=int_0000000000003 status=completed code=none "
            "cause=nothing_left_owed\n"
            "a delivery ended delivery=del_0000000000006 orderId=A-4 order=ord_0000000000006 "
            "account=acc_0000000000002 integration=int_0000000000003 status=failed code=username_missing "
            "cause=known_cause\n");
  EXPECT_THAT(metrics_.counted,
              ElementsAre("presetbridge_deliveries_ended_total outcome=completed code=none",
                          "presetbridge_deliveries_ended_total outcome=failed code=username_missing"));
}

TEST_F(NewsLogTest, ACloudAccountThatIsPausedAndGoesOnIsALineEach) {
  news_log_.write({.orders = {}, .deliveries = {}, .platform = {{{7}, "outage"}, {{7}, {}}}});
  EXPECT_EQ(log_.text,
            "work of a cloud account is paused: the cloud platform is in trouble "
            "cloudAccount=cla_0000000000007 trouble=outage\n"
            "work of a cloud account goes on cloudAccount=cla_0000000000007\n");
}

}  // namespace
}  // namespace presetbridge::services
