#include "services/dispatcher/send_outcome.h"

#include "domain/send_schedule.h"
#include "services/dispatcher/kept_answer.h"

namespace presetbridge::services {
namespace {

using domain::SendFailure;
using domain::SendVerdict;
using net::HttpFailure;
using storage::SendStatus;

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

void apply(storage::SendResult& result, SendVerdict verdict, Timestamp ended_at) {
  result.due_at = ended_at;
  switch (verdict) {
    case SendVerdict::success:
      result.status = SendStatus::succeeded;
      return;
    case SendVerdict::gone:
      result.deactivate_for = "receiver_gone";
      [[fallthrough]];
    case SendVerdict::permanent:
      result.status = SendStatus::failed;
      return;
    case SendVerdict::retry:
      const auto next = domain::next_send(static_cast<int>(result.attempts), ended_at);
      result.status = next ? SendStatus::pending : SendStatus::exhausted;
      result.due_at = next.value_or(ended_at);
  }
}

}  // namespace

void conclude_send(storage::SendResult& result, const net::HttpResult& http, Timestamp ended_at) {
  result.duration = http.duration;
  if (const auto* answer = http.answer()) {
    const auto verdict = domain::classify_send(SendFailure::none, answer->status);
    result.http_status = answer->status;
    result.outcome = verdict == SendVerdict::success ? "succeeded" : "http_error";
    result.answer = kept_answer(answer->body);
    for (const auto& [name, value] : answer->headers) {
      if (name == "content-type")
        result.content_type = kept_answer(std::string_view(value).substr(0, kMostContentType));
    }
    return apply(result, verdict, ended_at);
  }
  const auto& [kind, message] = *http.failure();
  result.released = kind == HttpFailure::Kind::aborted;
  result.outcome = name_of(kind);
  result.answer = kept_answer(message);
  const bool hopeless = kind == HttpFailure::Kind::denied || kind == HttpFailure::Kind::invalid;
  apply(result, domain::classify_send(hopeless ? SendFailure::denied : SendFailure::transport, 0), ended_at);
}

void conclude_unsigned(storage::SendResult& result, Timestamp ended_at) {
  result.outcome = "unsigned";
  result.of_ours = true;
  result.answer = "the event could not be signed";
  apply(result, SendVerdict::retry, ended_at);
}

}  // namespace presetbridge::services
