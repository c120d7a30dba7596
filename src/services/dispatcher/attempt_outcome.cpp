#include "services/dispatcher/attempt_outcome.h"

#include "domain/attempt_schedule.h"
#include "services/dispatcher/stored_answer.h"

namespace presetbridge::services {
namespace {

using domain::AttemptFailure;
using domain::AttemptVerdict;
using net::HttpFailure;
using storage::DispatchStatus;

constexpr std::size_t kMostContentType = 100;  // bytes

std::string_view name_of(HttpFailure::Kind kind) {
  switch (kind) {
    case HttpFailure::Kind::invalid:
      return "invalid";
    case HttpFailure::Kind::denied:
      return "denied";
    case HttpFailure::Kind::unresolved:
      return "unresolved";
    case HttpFailure::Kind::connect:
      return "connect";
    case HttpFailure::Kind::tls:
      return "tls";
    case HttpFailure::Kind::timeout:
      return "timeout";
    case HttpFailure::Kind::lost:
      return "lost";
    case HttpFailure::Kind::aborted:
      return "aborted";
  }
  return "lost";
}

void apply(storage::DispatchResult& result, AttemptVerdict verdict, Timestamp ended_at) {
  result.due_at = ended_at;
  switch (verdict) {
    case AttemptVerdict::success:
      result.status = DispatchStatus::succeeded;
      return;
    case AttemptVerdict::gone:
      result.deactivate_for = "receiver_gone";
      [[fallthrough]];
    case AttemptVerdict::permanent:
      result.status = DispatchStatus::failed;
      return;
    case AttemptVerdict::retry:
      const auto next = domain::next_attempt(static_cast<int>(result.attempts), ended_at);
      result.status = next ? DispatchStatus::pending : DispatchStatus::exhausted;
      result.due_at = next.value_or(ended_at);
  }
}

}  // namespace

void conclude_attempt(storage::DispatchResult& result, const net::HttpResult& http, Timestamp ended_at) {
  result.duration = http.duration;
  if (const auto* answer = http.answer()) {
    const auto verdict = domain::classify_attempt(AttemptFailure::none, answer->status);
    result.http_status = answer->status;
    result.outcome = verdict == AttemptVerdict::success ? "succeeded" : "http_error";
    result.answer = stored_answer(answer->body);
    for (const auto& [name, value] : answer->headers) {
      if (name == "content-type")
        result.content_type = stored_answer(std::string_view(value).substr(0, kMostContentType));
    }
    return apply(result, verdict, ended_at);
  }
  const auto& [kind, message] = *http.failure();
  result.released = kind == HttpFailure::Kind::aborted;
  result.outcome = name_of(kind);
  result.answer = stored_answer(message);
  const bool hopeless = kind == HttpFailure::Kind::denied || kind == HttpFailure::Kind::invalid;
  apply(result, domain::classify_attempt(hopeless ? AttemptFailure::denied : AttemptFailure::transport, 0),
        ended_at);
}

void conclude_unsigned(storage::DispatchResult& result, Timestamp ended_at) {
  result.outcome = "unsigned";
  result.of_ours = true;
  result.answer = "the event could not be signed";
  apply(result, AttemptVerdict::retry, ended_at);
}

}  // namespace presetbridge::services
