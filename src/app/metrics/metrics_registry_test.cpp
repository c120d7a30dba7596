#include "app/metrics/metrics_registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace presetbridge::app {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(MetricsRegistry, ShowsCountersGaugesAndHistograms) {
  MetricsRegistry metrics;
  metrics.count("orders_total", {{"provider", "generic"}});
  metrics.count("orders_total", {{"provider", "generic"}}, 2);
  metrics.count("orders_total", {{"provider", "provider_a"}});
  metrics.set("queue", 7);
  metrics.set("queue", 5);
  metrics.observe("seconds", 0.002);
  metrics.observe("seconds", 100);
  const auto text = metrics.text();
  EXPECT_THAT(text, HasSubstr("# TYPE orders_total counter\n"));
  EXPECT_THAT(text, HasSubstr("orders_total{provider=\"generic\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("orders_total{provider=\"provider_a\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("queue 5\n"));
  EXPECT_THAT(text, HasSubstr("seconds_bucket{le=\"0.0025\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("seconds_bucket{le=\"+Inf\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("seconds_count 2\n"));
}

TEST(MetricsRegistry, SaysWhatEachMetricCounts) {
  MetricsRegistry metrics;
  metrics.count("presetbridge_webhook_sends_total", {{"outcome", "succeeded"}});
  metrics.observe("presetbridge_http_request_seconds", 1);
  EXPECT_THAT(
      metrics.text(),
      HasSubstr("# HELP presetbridge_webhook_sends_total Attempts at outbound webhooks, by outcome.\n"));
  EXPECT_THAT(metrics.text(),
              HasSubstr("# HELP presetbridge_http_request_seconds Time to answer, by route.\n"));
}

TEST(MetricsRegistry, LabelsInAnotherOrderAreTheSameSeries) {
  MetricsRegistry metrics;
  metrics.count("a_total", {{"x", "1"}, {"y", "2"}});
  metrics.count("a_total", {{"y", "2"}, {"x", "1"}});
  EXPECT_THAT(metrics.text(), HasSubstr("a_total{x=\"1\",y=\"2\"} 2\n"));
}

TEST(MetricsRegistry, LabelsThatRunTogetherAreDifferentSeries) {
  MetricsRegistry metrics;
  metrics.count("a_total", {{"x", "1y"}});
  metrics.count("a_total", {{"x1", "y"}});
  EXPECT_THAT(metrics.text(), HasSubstr("a_total{x=\"1y\"} 1\n"));
  EXPECT_THAT(metrics.text(), HasSubstr("a_total{x1=\"y\"} 1\n"));
}

TEST(MetricsRegistry, AHostileLabelStaysInsideItsQuotes) {
  MetricsRegistry metrics;
  metrics.count("a_total", {{"x", "\"} 5\nb_total 1"}});
  EXPECT_THAT(metrics.text(), Not(HasSubstr("\nb_total")));
}

TEST(MetricsRegistry, WhatPrometheusWouldRefuseIsDroppedAndCounted) {
  MetricsRegistry metrics;
  metrics.count("no name");
  metrics.count("a_total", {{"no label", "x"}});
  metrics.count("b");
  metrics.set("b", 1);  // a counter of that name is there
  EXPECT_THAT(metrics.text(), HasSubstr("presetbridge_metrics_dropped_total 3\n"));
}

TEST(MetricsRegistry, SeriesWithoutEndDoNotEatTheMemory) {
  MetricsRegistry metrics(10);
  for (int i = 0; i < 1'000; ++i) metrics.count("a_total", {{"x", std::to_string(i)}});
  metrics.count("a_total", {{"x", "3"}});
  const auto text = metrics.text();
  EXPECT_THAT(text, HasSubstr("presetbridge_metrics_dropped_total 990\n"));
  EXPECT_THAT(text, HasSubstr("a_total{x=\"3\"} 2\n"));
  EXPECT_THAT(text, Not(HasSubstr("x=\"10\"")));
}

TEST(MetricsRegistry, CountsFromManyThreadsAreAllThere) {
  MetricsRegistry metrics;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&metrics] {
      for (int i = 0; i < 10'000; ++i) metrics.count("a_total", {{"x", std::to_string(i % 10)}});
    });
  }
  threads.clear();
  for (int i = 0; i < 10; ++i)
    EXPECT_THAT(metrics.text(), HasSubstr("a_total{x=\"" + std::to_string(i) + "\"} 4000\n"));
}

}  // namespace
}  // namespace presetbridge::app
