// The outcome of one delivery attempt, as it is recorded (spec 10.4).
#pragma once

#include "net/http_client.h"
#include "storage/stores/dispatch_store.h"

namespace presetbridge::services {

// Fills in what the outcome decides: http_status, duration, outcome, answer (or why there is none), status,
// due_at, deactivate_for, or `released`. `ended_at`: when the attempt ended; `result.attempts` counts it. The
// outcome's codes: `succeeded`, `http_error` (an answer that is no success), `denied`, `invalid`,
// `unresolved`, `connect`, `tls`, `timeout`, `lost`.
void conclude_attempt(storage::DispatchResult& result, const net::HttpResult& http, Timestamp ended_at);

// Concludes an attempt that could not be signed: nothing was sent, and it is retried as if the receiver had
// been away (`unsigned`).
void conclude_unsigned(storage::DispatchResult& result, Timestamp ended_at);

}  // namespace presetbridge::services
