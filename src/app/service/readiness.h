// Whether the service can take an order now, which GET /readyz reports to a balancer (spec 12.3).
#pragma once

#include "api/handlers/meta_handlers.h"
#include "base/executor.h"
#include "base/task.h"
#include "cloud/agent_client.h"
#include "storage/commit/async_database.h"

namespace presetbridge::app {

// Answers on `executor`, within two seconds; the database is tried on `home`. All outlive the task.
Task<api::Readiness> readiness(Executor& executor, Scheduler& home, storage::AsyncDatabase& async_db,
                               const cloud::AgentProcess& agent);

}  // namespace presetbridge::app
