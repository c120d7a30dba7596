#include "api/bulk_handlers.h"

#include "api/optional_json.h"

namespace presetbridge::api {
namespace {

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
          {"done", job.done},
          {"failedCount", job.failed},
          {"failed", json::parse(job.failures)},
          {"createdAt", to_iso8601(job.created_at)},
          {"finishedAt", time_or_null(job.finished_at)}};
}

void add_bulk_routes(Router& router, BulkDeps deps) {
  router.add("GET", "/api/bulk/{job}", Access::needs(Permission::deliveries_read), with(deps, show));
}

}  // namespace presetbridge::api
