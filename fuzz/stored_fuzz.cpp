#include <algorithm>
#include <array>
#include <cstring>

#include "domain/delivery.h"
#include "domain/job_class.h"
#include "domain/mapping.h"
#include "domain/order.h"
#include "domain/rate_window.h"
#include "domain/trouble.h"
#include "identity/principal.h"
#include "require.h"
#include "services/intake/payload.h"
#include "splice.h"

namespace {

using namespace presetbridge;
using namespace presetbridge::domain;

constexpr Timestamp kNow = from_unix_ms(1'790'000'000'000);

void try_order(std::string_view text) {
  const auto state = decode_order_state(text);
  if (!state) {
    REQUIRE(state.error().code == "INTERNAL_ERROR");
    return;
  }
  const auto again = decode_order_state(encode(*state));
  REQUIRE(again && *again == *state);
  const PaidQuantities paid(*state);
  for (const auto& line : state->lines) REQUIRE(paid.of(line) >= 0);
}

void try_trouble(std::string_view text) {
  const auto trouble = decode_account_trouble(text);
  if (!trouble) return;
  REQUIRE(encode(*trouble) == text);
  REQUIRE(failing_in_outage(*trouble).size() <= 3 * kCallKindNames.size());
  REQUIRE(next_sweep_at(*trouble, kNow) >= kNow);
  REQUIRE(next_job_at(*trouble, kNow) >= next_sweep_at(*trouble, kNow));
  REQUIRE(sweep_again_at(*trouble, kNow) > kNow);
  if (const auto since = given_up(*trouble, kNow)) REQUIRE(lasts(*trouble, *since));
  const auto failed = after_failure(*trouble, {}, CallKind::share, DeliveryId{1}, kNow, 1);
  REQUIRE(decode_account_trouble(encode(failed.account)) == failed.account);
}

void try_window(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  auto window = RateWindow::decode(5, Millis{60'000}, bytes);
  if (!window) return;
  REQUIRE(std::ranges::equal(window->encode(), bytes));
  const auto free = window->next_free(kNow);
  const auto admission = window->admit(kNow);
  REQUIRE(free && *free >= kNow && *free <= kNow + Millis{60'000});
  REQUIRE(admission.allowed == (*free == kNow));
  REQUIRE(admission.remaining >= 0 && admission.remaining <= 5);
  REQUIRE(admission.reset_after >= Millis{0} && admission.reset_after <= Millis{60'000});
  REQUIRE(RateWindow::decode(5, Millis{60'000}, window->encode()));
}

void try_turns(std::string_view text) {
  std::int64_t stored = 0;
  std::memcpy(&stored, text.data(), std::min(text.size(), sizeof stored));
  auto turns = JobTurns::decode(stored);
  REQUIRE(JobTurns::decode(turns.encode()) == turns);
  REQUIRE(turns.choose(JobClassSet{}.set()).has_value());
}

void try_words(std::string_view text) {
  if (const auto actor = parse_actor(text)) REQUIRE(to_string(*actor) == text);
  if (const auto word = parse_delivery_status(text)) REQUIRE(to_string(*word) == text);
  if (const auto word = parse_item_status(text)) REQUIRE(to_string(*word) == text);
  if (const auto word = parse_resolution_code(text)) REQUIRE(to_string(*word) == text);
  if (const auto word = parse_event_type(text)) REQUIRE(to_string(*word) == text);
  if (const auto word = parse_invalidated_by(text)) REQUIRE(to_string(*word) == text);
  if (const auto word = parse_pending_action_kind(text)) REQUIRE(to_string(*word) == text);
  for (const auto type : {MatchType::variant_id, MatchType::sku, MatchType::product_id, MatchType::title}) {
    const auto value = normalise_match_value(type, text);
    REQUIRE(normalise_match_value(type, value) == value);
  }
}

// A damaged row never grants more.
void try_grants(std::string_view text) {
  const auto permissions = identity::PermissionSet::from_text(text);
  REQUIRE(!permissions.has(identity::Permission::account));
  REQUIRE(identity::PermissionSet::from_text(permissions.to_text()) == permissions);
  const auto scope = identity::IntegrationScope::from_text(text);
  REQUIRE(scope.all() == text.empty());
  REQUIRE(identity::IntegrationScope::from_text(scope.to_text()) == scope);
}

void try_payload(std::string_view text) {
  constexpr std::size_t most = 64 * 1024;
  const auto bytes = std::as_bytes(std::span(text));
  if (const auto body = services::decompress_payload(bytes, most)) REQUIRE(body->size() <= most);
  const auto stored = services::compress_payload(text);
  REQUIRE(stored);
  const auto body = services::decompress_payload(*stored, most);
  REQUIRE(body && *body == text);
  REQUIRE(text.empty() || !services::decompress_payload(*stored, text.size() - 1));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  try_order(text);
  try_trouble(text);
  try_window(text);
  try_turns(text);
  try_words(text);
  try_grants(text);
  try_payload(text);
  // Damage to a payload as it is kept.
  FuzzedDataProvider input(data, size);
  const auto body = input.ConsumeRandomLengthString(300);
  const auto stored = services::compress_payload(body);
  REQUIRE(stored);
  const auto damaged = fuzz::spliced(input, {reinterpret_cast<const char*>(stored->data()), stored->size()});
  const auto read = services::decompress_payload(std::as_bytes(std::span(damaged)), 1'000);
  REQUIRE(!read || read->size() <= 1'000);
  return 0;
}
