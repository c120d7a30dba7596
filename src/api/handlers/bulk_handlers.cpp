#include "api/handlers/bulk_handlers.h"

#include <algorithm>

#include "api/json_body.h"
#include "api/optional_json.h"

namespace presetbridge::api {
namespace {

using domain::MerchantAction;
using services::DeliveriesChosen;

constexpr std::size_t kMostValues = 50;  // of one member, as in a list's query
constexpr TextRule kOrderId{.max = 255, .exact = true};
constexpr std::size_t kLongestSearch = 100;
constexpr TextRule kFileId{.max = 200, .exact = true};

// The values of a member, each once; none if the member is absent or wrong. An empty list is wrong.
template <class T, class Parse>
std::vector<T> several(JsonFields& fields, std::string_view name, Parse parse, std::string_view what) {
  const auto texts = fields.optional_texts(name, kMostValues, {.exact = true});
  if (!texts) return {};
  if (texts->empty()) fields.problem(name, "names none");
  std::vector<T> values;
  for (const auto& text : *texts) {
    const std::optional<T> value = parse(text);
    if (!value) {
      fields.problem(name, "has one that is not " + std::string(what));
      return {};
    }
    if (std::ranges::find(values, *value) == values.end()) values.push_back(*value);
  }
  return values;
}

// Reads a filter. Each member narrows it; a program that leaves a member out by mistake must not act on all
// deliveries, so `all` alone selects them.
storage::DeliveryFilter read_filter(JsonFields fields) {
  storage::DeliveryFilter filter;
  fields.refuse_null({"status", "resolutionCode", "reviewReason", "integrationId", "orderId", "q", "fileId",
                      "dryRun", "refunded", "createdFrom", "createdTo", "updatedFrom", "updatedTo", "all"},
                     "leave it out where it filters nothing");
  const auto all = fields.optional_flag("all");
  if (fields.size() == 0) fields.problem("all", "must be true where nothing is filtered");
  if (all == false) fields.problem("all", "can only be true");
  if (all == true && fields.size() > 1) fields.problem("all", "goes alone");
  filter.statuses = several<domain::DeliveryStatus>(fields, "status", domain::parse_delivery_status,
                                                    "a status of deliveries");
  const auto code = [](std::string_view text) {
    return text.empty() ? std::nullopt : domain::parse_resolution_code(text);
  };
  filter.codes = several<domain::ResolutionCode>(fields, "resolutionCode", code, "a resolution code");
  filter.reviews = several<domain::ReviewReason>(fields, "reviewReason", domain::parse_review_reason,
                                                 "a reason of a review");
  auto stores =
      several<IntegrationId>(fields, "integrationId", parse_id<IntegrationKind>, "a valid id int_…");
  if (!stores.empty()) filter.integrations = std::move(stores);
  filter.order_key = fields.optional_text("orderId", kOrderId).value_or("");
  filter.search = fields.optional_search("q", kLongestSearch).value_or("");
  filter.file_id = fields.optional_text("fileId", kFileId).value_or("");
  filter.dry_run = fields.optional_flag("dryRun");
  filter.refunded = fields.optional_flag("refunded");
  filter.created_from = fields.optional_time("createdFrom");
  filter.created_to = fields.optional_time("createdTo");
  filter.updated_from = fields.optional_time("updatedFrom");
  filter.updated_to = fields.optional_time("updatedTo");
  return filter;
}

DeliveriesChosen read_chosen(JsonFields& fields) {
  DeliveriesChosen chosen{
      .ids =
          fields.optional_ids<DeliveryId>("ids", services::kMostBulkIds).value_or(std::vector<DeliveryId>()),
      .filter = {},
      .as_of = fields.optional_time("asOf")};
  if (fields.has("filter")) chosen.filter = read_filter(fields.object("filter"));
  if (fields.has("ids") == fields.has("filter")) {
    fields.problem("ids", "or a filter is needed, and not both");
  } else if (fields.has("ids") && chosen.ids.empty()) {
    fields.problem("ids", "names no delivery");
  }
  return chosen;
}

json::object plan_json(const services::BulkDeliveriesPlan& plan) {
  json::array excluded;
  for (const auto& [code, count] : plan.excluded)
    excluded.push_back(json::object{{"code", code}, {"count", count}});
  return {{"total", plan.total},          {"totalIsExact", plan.total_is_exact},
          {"eligible", plan.eligible},    {"excluded", std::move(excluded)},
          {"credits", plan.cost.credits}, {"creditsIsExact", plan.cost.exact}};
}

Task<Reply> ask(BulkDeps deps, Call call) {
  auto body = JsonBody::parse(call.request);
  if (!body) co_return std::unexpected(body.error());
  auto& fields = **body;
  services::DeliveryActions::BulkAction asked;
  const auto action = fields.choice("action", {"retry", "approve", "invalidate"});
  if (action == "approve") asked.action = MerchantAction::approve;
  if (action == "invalidate") asked.action = MerchantAction::invalidate;
  auto reason = fields.optional_text("reason", {.max = 500, .lines = true});
  if (action == "invalidate" && !fields.has("reason")) fields.problem("reason", "is required to invalidate");
  if (!action.empty() && action != "invalidate" && fields.has("reason"))
    fields.problem("reason", "goes with invalidate alone");
  asked.reason = std::move(reason).value_or("");
  auto chosen = read_chosen(fields);
  const bool dry_run = fields.optional_flag("dryRun").value_or(false);
  if (auto error = body->problems()) co_return std::unexpected(*error);
  const auto plan = co_await deps.deliveries.ask(call.executor(), call.principal, std::move(chosen),
                                                 std::move(asked), dry_run);
  if (!plan) co_return std::unexpected(plan.error());
  if (dry_run) co_return json_response(200, plan_json(*plan));
  co_return json_response(202, bulk_json(plan->job));
}

Task<Reply> show(BulkDeps deps, Call call) {
  const auto id = call.id<BulkJobId>("job");
  if (!id) co_return std::unexpected(id.error());
  const auto job = co_await deps.jobs.get(call.executor(), call.principal, *id);
  if (!job) co_return std::unexpected(job.error());
  co_return json_response(200, bulk_json(*job));
}

}  // namespace

json::object bulk_json(const storage::BulkJobRow& job) {
  return {{"id", to_string(job.id)},
          {"action", job.action},
          {"total", job.total},
          {"totalIsExact", job.total_is_exact},
          {"eligible", job.eligible.value_or(job.total)},
          {"excluded", json::parse(job.excluded)},
          {"done", job.done},
          {"failedCount", job.failed},
          {"failed", json::parse(job.failures)},
          {"createdAt", to_iso8601(job.created_at)},
          {"finishedAt", time_or_null(job.finished_at)},
          {"fault", text_or_null(job.fault)}};
}

void add_bulk_routes(Router& router, BulkDeps deps) {
  router.add("POST", "/api/deliveries/bulk", Access::needs(Permission::deliveries_write), with(deps, ask));
  router.add("GET", "/api/bulk/{job}", Access::needs(Permission::deliveries_read), with(deps, show));
}

}  // namespace presetbridge::api
