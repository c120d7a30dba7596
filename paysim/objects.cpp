#include "objects.h"

#include <boost/json.hpp>
#include <chrono>

namespace presetbridge::paysim {
namespace {

namespace json = boost::json;

constexpr std::string_view kBuyer = "buyer@paysim.test";

std::int64_t seconds(Timestamp time) {
  return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
}

json::value or_null(const std::optional<std::string>& text) {
  return text ? json::value(*text) : json::value(nullptr);
}

json::value id_or_null(const std::string& id) {
  return id.empty() ? json::value(nullptr) : json::value(id);
}

json::object object_of(const Metadata& metadata) {
  json::object result;
  for (const auto& [key, value] : metadata) result[key] = value;
  return result;
}

json::array array_of(const std::vector<std::string>& texts) {
  return json::array(texts.begin(), texts.end());
}

json::array method_types(const Session& session) {
  if (session.asked.payment_method_types.empty()) return {"card", "sepa_debit"};
  return array_of(session.asked.payment_method_types);
}

json::value address() {
  return {{"city", nullptr},  {"country", "DE"},        {"line1", nullptr},
          {"line2", nullptr}, {"postal_code", nullptr}, {"state", nullptr}};
}

json::value customer_details(const Session& session) {
  if (session.status != SessionStatus::complete) return nullptr;
  return {{"address", address()},
          {"business_name", nullptr},
          {"email", session.asked.customer_email.value_or(std::string(kBuyer))},
          {"individual_name", nullptr},
          {"name", "Buyer"},
          {"phone", nullptr},
          {"tax_exempt", "none"},
          {"tax_ids", json::array()}};
}

json::object price_object(const Session& session, const LineItem& item) {
  return {{"id", item.price_id},
          {"object", "price"},
          {"active", false},
          {"billing_scheme", "per_unit"},
          {"created", seconds(session.created)},
          {"currency", session.asked.currency},
          {"custom_unit_amount", nullptr},
          {"livemode", false},
          {"lookup_key", nullptr},
          {"metadata", json::object()},
          {"nickname", nullptr},
          {"product", item.product_id},
          {"recurring", nullptr},
          {"tax_behavior", "unspecified"},
          {"tiers_mode", nullptr},
          {"transform_quantity", nullptr},
          {"type", "one_time"},
          {"unit_amount", item.unit_amount},
          {"unit_amount_decimal", std::to_string(item.unit_amount)}};
}

json::value method_details(const Charge& charge) {
  if (charge.method == Method::later) {
    return {{"sepa_debit",
             {{"bank_code", nullptr},
              {"branch_code", nullptr},
              {"country", "DE"},
              {"fingerprint", nullptr},
              {"last4", "3000"},
              {"mandate", nullptr}}},
            {"type", "sepa_debit"}};
  }
  return {
      {"card",
       {{"amount_authorized", charge.status == ChargeStatus::failed ? json::value(nullptr) : charge.amount},
        {"authorization_code", nullptr},
        {"brand", "visa"},
        {"checks", nullptr},
        {"country", "DE"},
        {"electronic_commerce_indicator", nullptr},
        {"exp_month", 12},
        {"exp_year", 2099},
        {"fingerprint", nullptr},
        {"funding", "credit"},
        {"installments", nullptr},
        {"last4", charge.status == ChargeStatus::failed ? "0002" : "4242"},
        {"mandate", nullptr},
        {"network", "visa"},
        {"network_transaction_id", nullptr},
        {"regulated_status", nullptr},
        {"three_d_secure", nullptr},
        {"transaction_link_id", nullptr},
        {"wallet", nullptr}}},
      {"type", "card"}};
}

// Of a failed charge.
constexpr std::string_view failure_code_of(const Charge& charge) {
  return charge.method == Method::card ? "card_declined" : "payment_intent_payment_attempt_failed";
}
constexpr std::string_view failure_message_of(const Charge& charge) {
  return charge.method == Method::card ? "The card was declined." : "The bank did not pay.";
}

json::object outcome(const Charge& charge) {
  const bool failed = charge.status == ChargeStatus::failed;
  return {{"advice_code", nullptr},
          {"network_advice_code", nullptr},
          {"network_decline_code", nullptr},
          {"network_status", failed ? "declined_by_network" : "approved_by_network"},
          {"reason", failed ? json::value("generic_decline") : json::value(nullptr)},
          {"risk_level", "normal"},
          {"seller_message", failed ? failure_message_of(charge) : "Payment complete."},
          {"type", failed ? "issuer_declined" : "authorized"}};
}

std::string_view intent_status(const Intent& intent) {
  if (intent.session->attempts.empty()) return "requires_payment_method";
  switch (intent.session->attempts.back()->status) {
    case ChargeStatus::pending:
      return "processing";
    case ChargeStatus::succeeded:
      return "succeeded";
    case ChargeStatus::failed:
      return intent.session->status == SessionStatus::expired ? "canceled" : "requires_payment_method";
  }
  return "requires_payment_method";
}

json::value last_error(const Intent& intent) {
  if (intent.session->attempts.empty()) return nullptr;
  const Charge& latest = *intent.session->attempts.back();
  if (latest.status != ChargeStatus::failed) return nullptr;
  return {{"charge", latest.id},
          {"code", failure_code_of(latest)},
          {"message", failure_message_of(latest)},
          {"type", latest.method == Method::card ? "card_error" : "invalid_request_error"}};
}

json::object movement(const std::string& id, const Dispute& dispute, std::int64_t amount, Timestamp at) {
  return {{"id", id},
          {"object", "balance_transaction"},
          {"amount", amount},
          {"available_on", seconds(at)},
          {"balance_type", "payments"},
          {"created", seconds(at)},
          {"currency", dispute.charge->intent->session->asked.currency},
          {"description", amount < 0 ? "Withdrawn for a dispute" : "Brought back after a dispute"},
          {"exchange_rate", nullptr},
          {"fee", 0},
          {"fee_details", json::array()},
          {"net", amount},
          {"reporting_category", amount < 0 ? "dispute" : "dispute_reversal"},
          {"source", dispute.id},
          {"status", "available"},
          {"type", "adjustment"}};
}

json::object no_evidence() {
  json::object evidence;
  for (const auto* name : {"access_activity_log",
                           "billing_address",
                           "cancellation_policy",
                           "cancellation_policy_disclosure",
                           "cancellation_rebuttal",
                           "customer_communication",
                           "customer_email_address",
                           "customer_name",
                           "customer_purchase_ip",
                           "customer_signature",
                           "duplicate_charge_documentation",
                           "duplicate_charge_explanation",
                           "duplicate_charge_id",
                           "product_description",
                           "receipt",
                           "refund_policy",
                           "refund_policy_disclosure",
                           "refund_refusal_explanation",
                           "service_date",
                           "service_documentation",
                           "shipping_address",
                           "shipping_carrier",
                           "shipping_date",
                           "shipping_documentation",
                           "shipping_tracking_number",
                           "uncategorized_file",
                           "uncategorized_text"}) {
    evidence[name] = nullptr;
  }
  evidence["enhanced_evidence"] = json::object();
  return evidence;
}

}  // namespace

std::string pay_path(const Session& session) {
  return "/c/pay/" + session.id;
}
std::string receipt_path(const Charge& charge) {
  return "/receipts/" + charge.id;
}

const Charge* charge_of(const Session& session) {
  if (session.attempts.empty() || session.attempts.back()->status == ChargeStatus::failed) return nullptr;
  return session.attempts.back();
}

json::object session_object(const Session& session, std::string_view page_url) {
  const auto& asked = session.asked;
  const bool open = session.status == SessionStatus::open;
  return {{"id", session.id},
          {"object", "checkout.session"},
          {"adaptive_pricing", {{"enabled", false}}},
          {"after_expiration", nullptr},
          {"allow_promotion_codes", nullptr},
          {"allowed_payment_method_types", nullptr},
          {"amount_subtotal", session.amount},
          {"amount_total", session.amount},
          {"automatic_tax",
           {{"enabled", false}, {"liability", nullptr}, {"provider", nullptr}, {"status", nullptr}}},
          {"billing_address_collection", nullptr},
          {"cancel_url", or_null(asked.cancel_url)},
          {"client_reference_id", or_null(asked.client_reference_id)},
          {"client_secret", nullptr},
          {"collected_information", nullptr},
          {"consent", nullptr},
          {"consent_collection", nullptr},
          {"created", seconds(session.created)},
          {"currency", asked.currency},
          {"currency_conversion", nullptr},
          {"custom_fields", json::array()},
          {"custom_text",
           {{"after_submit", nullptr},
            {"shipping_address", nullptr},
            {"submit", nullptr},
            {"terms_of_service_acceptance", nullptr}}},
          {"customer", nullptr},
          {"customer_account", nullptr},
          {"customer_creation", "if_required"},
          {"customer_details", customer_details(session)},
          {"customer_email", or_null(asked.customer_email)},
          {"discounts", json::array()},
          {"expires_at", seconds(asked.expires_at)},
          {"integration_identifier", nullptr},
          {"invoice", nullptr},
          {"invoice_creation", nullptr},
          {"livemode", false},
          {"locale", or_null(asked.locale)},
          {"managed_payments", nullptr},
          {"metadata", object_of(asked.metadata)},
          {"mode", "payment"},
          {"origin_context", nullptr},
          {"payment_intent", id_or_null(session.intent)},
          {"payment_link", nullptr},
          {"payment_method_collection", "if_required"},
          {"payment_method_configuration_details", nullptr},
          {"payment_method_options", json::object()},
          {"payment_method_types", method_types(session)},
          {"payment_status", session.paid ? "paid" : "unpaid"},
          {"permissions", nullptr},
          {"recovered_from", nullptr},
          {"saved_payment_method_options", nullptr},
          {"setup_intent", nullptr},
          {"shipping_address_collection", nullptr},
          {"shipping_cost", nullptr},
          {"shipping_options", json::array()},
          {"status", to_string(session.status)},
          {"submit_type", or_null(asked.submit_type)},
          {"subscription", nullptr},
          {"success_url", asked.success_url},
          {"total_details", {{"amount_discount", 0}, {"amount_shipping", 0}, {"amount_tax", 0}}},
          {"ui_mode", "hosted_page"},
          {"url", open ? json::value(std::string(page_url) + pay_path(session)) : json::value(nullptr)},
          {"wallet_options", nullptr}};
}

json::object line_items_object(const Session& session) {
  json::array data;
  for (const auto& item : session.asked.items) {
    const std::int64_t amount = item.unit_amount * item.quantity;
    data.push_back(json::object{{"id", item.id},
                                {"object", "item"},
                                {"adjustable_quantity", nullptr},
                                {"amount_discount", 0},
                                {"amount_subtotal", amount},
                                {"amount_tax", 0},
                                {"amount_total", amount},
                                {"currency", session.asked.currency},
                                {"description", item.name},
                                {"metadata", json::object()},
                                {"price", price_object(session, item)},
                                {"quantity", item.quantity}});
  }
  return list_object(std::move(data), false, "/v1/checkout/sessions/" + session.id + "/line_items");
}

json::object intent_object(const Intent& intent) {
  const Session& session = *intent.session;
  const bool received = session.paid;
  const auto* latest = session.attempts.empty() ? nullptr : session.attempts.back();
  return {{"id", intent.id},
          {"object", "payment_intent"},
          {"allowed_payment_method_types", nullptr},
          {"amount", session.amount},
          {"amount_capturable", 0},
          {"amount_received", received ? session.amount : 0},
          {"application", nullptr},
          {"application_fee_amount", nullptr},
          {"automatic_payment_methods", nullptr},
          {"canceled_at", nullptr},
          {"cancellation_reason", nullptr},
          {"capture_method", "automatic_async"},
          {"client_secret", nullptr},
          {"confirmation_method", "automatic"},
          {"created", seconds(intent.created)},
          {"currency", session.asked.currency},
          {"customer", nullptr},
          {"customer_account", nullptr},
          {"description", or_null(session.asked.payment_description)},
          {"excluded_payment_method_types", nullptr},
          {"last_payment_error", last_error(intent)},
          {"latest_charge", latest ? json::value(latest->id) : json::value(nullptr)},
          {"livemode", false},
          {"managed_payments", nullptr},
          {"metadata", object_of(session.asked.payment_metadata)},
          {"next_action", nullptr},
          {"on_behalf_of", nullptr},
          {"payment_method", nullptr},
          {"payment_method_configuration_details", nullptr},
          {"payment_method_options", json::object()},
          {"payment_method_types", method_types(session)},
          {"payment_record", nullptr},
          {"processing", nullptr},
          {"receipt_email", nullptr},
          {"review", nullptr},
          {"setup_future_usage", nullptr},
          {"shipping", nullptr},
          {"source", nullptr},
          {"statement_descriptor", nullptr},
          {"statement_descriptor_suffix", nullptr},
          {"status", intent_status(intent)},
          {"transfer_data", nullptr},
          {"transfer_group", nullptr}};
}

json::object charge_object(const Charge& charge, std::string_view page_url) {
  const Session& session = *charge.intent->session;
  const bool failed = charge.status == ChargeStatus::failed;
  const bool paid = charge.status == ChargeStatus::succeeded;
  return {{"id", charge.id},
          {"object", "charge"},
          {"amount", charge.amount},
          {"amount_captured", paid ? charge.amount : 0},
          {"amount_refunded", charge.refunded},
          {"application", nullptr},
          {"application_fee", nullptr},
          {"application_fee_amount", nullptr},
          {"balance_transaction", nullptr},
          {"billing_details",
           {{"address", address()},
            {"email", session.asked.customer_email.value_or(std::string(kBuyer))},
            {"name", "Buyer"},
            {"phone", nullptr},
            {"tax_id", nullptr}}},
          {"calculated_statement_descriptor", "PAYSIM"},
          {"captured", paid},
          {"created", seconds(charge.created)},
          {"currency", session.asked.currency},
          {"customer", nullptr},
          {"description", or_null(session.asked.payment_description)},
          {"disputed", !charge.disputes.empty()},
          {"failure_balance_transaction", nullptr},
          {"failure_code", failed ? json::value(failure_code_of(charge)) : json::value(nullptr)},
          {"failure_message", failed ? json::value(failure_message_of(charge)) : json::value(nullptr)},
          {"fraud_details", json::object()},
          {"livemode", false},
          {"metadata", object_of(session.asked.payment_metadata)},
          {"on_behalf_of", nullptr},
          {"outcome", outcome(charge)},
          {"paid", paid},
          {"payment_intent", charge.intent->id},
          {"payment_method", nullptr},
          {"payment_method_details", method_details(charge)},
          {"receipt_email", nullptr},
          {"receipt_number", nullptr},
          {"receipt_url",
           failed ? json::value(nullptr) : json::value(std::string(page_url) + receipt_path(charge))},
          {"refunded", charge.refunded == charge.amount},
          {"review", nullptr},
          {"shipping", nullptr},
          {"source", nullptr},
          {"source_transfer", nullptr},
          {"statement_descriptor", nullptr},
          {"statement_descriptor_suffix", nullptr},
          {"status", to_string(charge.status)},
          {"transfer_data", nullptr},
          {"transfer_group", nullptr}};
}

json::object refund_object(const Refund& refund) {
  json::object result{{"id", refund.id},
                      {"object", "refund"},
                      {"amount", refund.amount},
                      {"balance_transaction", nullptr},
                      {"charge", refund.charge->id},
                      {"created", seconds(refund.created)},
                      {"currency", refund.charge->intent->session->asked.currency},
                      {"customer", nullptr},
                      {"customer_account", nullptr},
                      {"destination_details", {{"card", {{"type", "refund"}}}, {"type", "card"}}},
                      {"metadata", object_of(refund.metadata)},
                      {"payment_intent", refund.charge->intent->id},
                      {"payment_method", nullptr},
                      {"reason", or_null(refund.reason)},
                      {"receipt_number", nullptr},
                      {"source_transfer_reversal", nullptr},
                      {"status", to_string(refund.status)},
                      {"transfer_reversal", nullptr}};
  if (refund.status == RefundStatus::failed) result["failure_reason"] = "expired_or_canceled_card";
  if (refund.status == RefundStatus::pending) result["pending_reason"] = "processing";
  return result;
}

json::object dispute_object(const Dispute& dispute) {
  json::array movements;
  if (!dispute.withdrawal.empty()) {
    movements.push_back(movement(dispute.withdrawal, dispute, -dispute.amount, dispute.created));
  }
  if (!dispute.reinstatement.empty()) {
    movements.push_back(movement(dispute.reinstatement, dispute, dispute.amount, dispute.reinstated));
  }
  constexpr std::chrono::days to_respond{7};
  const bool inquiry = dispute.status == DisputeStatus::warning_needs_response ||
                       dispute.status == DisputeStatus::warning_under_review;
  return {{"id", dispute.id},
          {"object", "dispute"},
          {"amount", dispute.amount},
          {"balance_transactions", std::move(movements)},
          {"charge", dispute.charge->id},
          {"created", seconds(dispute.created)},
          {"currency", dispute.charge->intent->session->asked.currency},
          {"enhanced_eligibility_types", json::array()},
          {"evidence", no_evidence()},
          {"evidence_details",
           {{"due_by", seconds(dispute.created + to_respond)},
            {"enhanced_eligibility", json::object()},
            {"has_evidence", dispute.status == DisputeStatus::under_review},
            {"past_due", false},
            {"submission_count", dispute.status == DisputeStatus::under_review ? 1 : 0},
            {"submission_method", "manual"}}},
          {"intended_submission_method", nullptr},
          {"is_charge_refundable", inquiry},
          {"livemode", false},
          {"metadata", json::object()},
          {"payment_intent", dispute.charge->intent->id},
          {"reason", dispute.reason},
          {"status", to_string(dispute.status)}};
}

json::object event_object(const Event& event, json::object object, std::string_view api_version) {
  return {{"id", event.id},
          {"object", "event"},
          {"api_version", api_version},
          {"created", seconds(event.created)},
          {"data", {{"object", std::move(object)}}},
          {"livemode", false},
          {"pending_webhooks", 1},
          {"request", {{"id", nullptr}, {"idempotency_key", nullptr}}},
          {"type", event.type}};
}

json::object list_object(json::array data, bool more, std::string_view url) {
  return {{"object", "list"}, {"data", std::move(data)}, {"has_more", more}, {"url", url}};
}

}  // namespace presetbridge::paysim
