#include "app/metrics/metric_families.h"

#include <algorithm>
#include <array>
#include <utility>

#include "app/version.h"
#include "domain/delivery.h"

namespace presetbridge::app {
namespace {

constexpr auto kHelp = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"presetbridge_backlog",
     "Orders, deliveries and events that wait or are under way, by stage; the oldest 100000 at most."},
    {"presetbridge_backlog_counted_timestamp_seconds", "When the backlog was counted last."},
    {"presetbridge_backlog_oldest_age_seconds", "Age of the oldest entry of the backlog, by stage."},
    {"presetbridge_build_info", "1, with the version and the commit of this program."},
    {"presetbridge_cloud_accounts_paused", "Cloud accounts whose work is paused, by reason."},
    {"presetbridge_cloud_call_failures_total",
     "Calls of deliveries to the cloud platform that did not succeed, logins included."},
    {"presetbridge_cloud_calls_total", "Calls of deliveries to the cloud platform."},
    {"presetbridge_cloud_platform_up", "Whether the cloud platform answers this node."},
    {"presetbridge_credential_agent_up", "Whether the credential agent runs."},
    {"presetbridge_deliveries_ended_total", "Ends of deliveries, by outcome and resolution code."},
    {"presetbridge_dispatcher_faults_total", "Work of the webhook dispatcher that met a fault of ours."},
    {"presetbridge_http_request_seconds", "Time to answer, by route."},
    {"presetbridge_http_requests_total", "Answers of routes, by route and status."},
    {"presetbridge_keys_in_use",
     "Keys at rest in use, by kind: 2 while one is rotated and the old one not dropped."},
    {"presetbridge_keys_left",
     "Records on an old key, as the last complete scan of a rotation counted them, by key."},
    {"presetbridge_keys_resealed_total", "Records that were sealed anew under another key, by key."},
    {"presetbridge_live_changes_total", "Changes sent to readers of accounts' events, each counted once."},
    {"presetbridge_live_readers", "Readers of events, of accounts and of buyers."},
    {"presetbridge_live_readers_dropped_total", "Readers that did not take what was sent to them in time."},
    {"presetbridge_live_resets_total", "Readers that were sent reset, and so fetch everything anew."},
    {"presetbridge_mails_total", "Attempts to send a mail, by outcome: sent, failed (sent later), given_up."},
    {"presetbridge_metrics_dropped_total",
     "Observations that were dropped because the limit of series was reached."},
    {"presetbridge_nodes_seen", "Nodes of this database that were seen in the last minutes, by role."},
    {"presetbridge_orders_accepted_total", "Order webhooks answered with 202, by kind."},
    {"presetbridge_payment_webhooks_refused_total",
     "Webhooks of the payment processor answered with 401 or 400, by reason."},
    {"presetbridge_payments_money_total",
     "Money of purchases, in the currency's smallest unit: paid, taken_back (refunds, disputes), "
     "given_back."},
    {"presetbridge_purchases_pending_old", "Purchases that have been pending for more than an hour."},
    {"presetbridge_purchases_total", "Changes of purchases, by the state that they changed to."},
    {"presetbridge_receivers_not_answering",
     "Subscriptions whose receiver gave this node no answer at the last attempt."},
    {"presetbridge_storage_in_trouble", "Whether the storage fails this node's writes or reads."},
    {"presetbridge_webhook_sends_total", "Attempts at outbound webhooks, by outcome."},
    {"presetbridge_webhooks_refused_total", "Order webhooks answered with 401 or 400, by reason."},
    {"presetbridge_worker_faults_total", "Work of the delivery worker that met a fault of ours."},
});

void show_deliveries(MetricsRegistry& metrics) {
  const auto show = [&](std::string_view outcome, std::string_view code) {
    metrics.count("presetbridge_deliveries_ended_total", {{"outcome", outcome}, {"code", code}}, 0);
  };
  for (const auto* outcome : {"completed", "invalidated", "in_review"}) show(outcome, "none");
  show("in_review", "order_too_large");
  for (const auto code : domain::kResolutionCodeNames) {
    if (!code.empty()) show("failed", code);
  }
}

void show_backlog(MetricsRegistry& metrics) {
  metrics.set("presetbridge_backlog", 0, {{"stage", "intake"}});
  for (const auto* stage : {"queued", "processing", "waiting_for_friendship", "in_review", "webhook"}) {
    metrics.set("presetbridge_backlog", 0, {{"stage", stage}});
    metrics.set("presetbridge_backlog_oldest_age_seconds", 0, {{"stage", stage}});
  }
  metrics.set("presetbridge_backlog_counted_timestamp_seconds", 0);
}

}  // namespace

std::string_view help_of(std::string_view metric) {
  const auto found = std::ranges::find(kHelp, metric, &std::pair<std::string_view, std::string_view>::first);
  return found == kHelp.end() ? std::string_view() : found->second;
}

void show_families(MetricsRegistry& metrics) {
  metrics.set("presetbridge_build_info", 1, {{"version", kVersion}, {"commit", kCommit}});
  // The route that shows the metrics has no answer yet at its first request.
  metrics.count("presetbridge_http_requests_total", {{"route", "/metrics"}, {"status", "200"}}, 0);
  metrics.show("presetbridge_http_request_seconds", {{"route", "/metrics"}});
  for (const auto* kind : {"delivery", "duplicate", "ignored"})
    metrics.count("presetbridge_orders_accepted_total", {{"kind", kind}}, 0);
  for (const auto* reason : {"signature", "payload"})
    metrics.count("presetbridge_webhooks_refused_total", {{"reason", reason}}, 0);
  for (const auto* reason : {"signature", "time", "payload", "mode"})
    metrics.count("presetbridge_payment_webhooks_refused_total", {{"reason", reason}}, 0);
  for (const auto* state : {"paid", "failed", "expired", "refunded", "disputed"})
    metrics.count("presetbridge_purchases_total", {{"state", state}}, 0);
  metrics.set("presetbridge_purchases_pending_old", 0);
  // Others come with the packs that are sold (payment_parts.h).
  for (const auto* kind : {"paid", "taken_back", "given_back"})
    metrics.count("presetbridge_payments_money_total", {{"currency", "eur"}, {"kind", kind}}, 0);
  for (const auto* outcome : {"succeeded", "http_error", "invalid", "denied", "unresolved", "connect", "tls",
                              "timeout", "lost", "aborted", "unsigned"})
    metrics.count("presetbridge_webhook_sends_total", {{"outcome", outcome}}, 0);
  for (const auto* outcome : {"sent", "failed", "given_up"})
    metrics.count("presetbridge_mails_total", {{"outcome", outcome}}, 0);
  for (const auto* reason : {"rate_limited", "outage", "login_refused"})
    metrics.set("presetbridge_cloud_accounts_paused", 0, {{"reason", reason}});
  for (const auto* role : {"api", "worker", "dispatcher"})
    metrics.set("presetbridge_nodes_seen", 0, {{"role", role}});
  for (const auto* what : {"writes", "reads"})
    metrics.set("presetbridge_storage_in_trouble", 0, {{"what", what}});
  for (const auto* total : {"presetbridge_cloud_calls_total", "presetbridge_cloud_call_failures_total",
                            "presetbridge_worker_faults_total", "presetbridge_dispatcher_faults_total",
                            "presetbridge_live_changes_total", "presetbridge_live_readers_dropped_total",
                            "presetbridge_live_resets_total"})
    metrics.count(total, {}, 0);
  for (const auto* key : {"vault", "service"}) {
    metrics.set("presetbridge_keys_left", 0, {{"key", key}});
    metrics.count("presetbridge_keys_resealed_total", {{"key", key}}, 0);
  }
  for (const auto* key : {"vault", "service", "issuer", "links"})
    metrics.set("presetbridge_keys_in_use", 1, {{"key", key}});
  metrics.set("presetbridge_cloud_platform_up", 1);
  metrics.set("presetbridge_credential_agent_up", 0);
  metrics.set("presetbridge_receivers_not_answering", 0);
  show_deliveries(metrics);
  show_backlog(metrics);
}

}  // namespace presetbridge::app
