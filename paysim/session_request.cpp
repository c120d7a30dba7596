#include "session_request.h"

#include <algorithm>
#include <chrono>

#include "base/ascii.h"
#include "net/address_guard.h"
#include "stripe_error.h"

namespace presetbridge::paysim {
namespace {

// Stripe's limits; the least amount, which depends on the currency there, is that of usd.
constexpr std::int64_t kLeastAmount = 50;
constexpr std::int64_t kMostAmount = 99'999'999;
constexpr std::int64_t kMostQuantity = 999'999;
constexpr std::size_t kMostItems = 100;
constexpr Millis kShortestLife = std::chrono::minutes{30};
constexpr Millis kLongestLife = std::chrono::hours{24};

// ISO 4217 codes in which Stripe takes money.
constexpr std::string_view kCurrencies =
    "aed afn all amd ang aoa ars aud awg azn bam bbd bdt bgn bhd bif bmd bnd bob brl bsd bwp byn bzd cad cdf "
    "chf clp cny cop crc cve czk djf dkk dop dzd egp etb eur fjd fkp gbp gel gip gmd gnf gtq gyd hkd hnl htg "
    "huf idr ils inr isk jmd jod jpy kes kgs khr kmf krw kwd kyd kzt lak lbp lkr lrd lsl mad mdl mga mkd mmk "
    "mnt mop mur mvr mwk mxn myr mzn nad ngn nio nok npr nzd omr pab pen pgk php pkr pln pyg qar ron rsd rub "
    "rwf sar sbd scr sek sgd shp sle sos srd std szl thb tjs tnd top try ttd twd tzs uah ugx usd uyu uzs vnd "
    "vuv wst xaf xcd xof xpf yer zar zmw";

std::string currency_of(FormFields& in) {
  std::string currency = lowered(in.required_text("currency"));
  const bool code = currency.size() == 3 && std::ranges::all_of(currency, [](char c) { return c >= 'a'; });
  if (!code || kCurrencies.find(currency) == std::string_view::npos) {
    throw invalid("Invalid currency.", in.path_of("currency"));
  }
  return currency;
}

// Where a browser is sent.
std::string page(FormFields& in, std::string_view name, std::string url) {
  std::string visited = url;
  constexpr std::string_view mark = "{CHECKOUT_SESSION_ID}";
  for (auto at = visited.find(mark); at != std::string::npos; at = visited.find(mark)) {
    visited.replace(at, mark.size(), "cs_test_id");
  }
  if (!net::check_url(visited, net::AddressPolicy::configured)) {
    throw invalid("Not a valid URL", in.path_of(name), "url_invalid");
  }
  return url;
}

LineItem item_of(FormFields in, std::string& currency) {
  auto price = in.object("price_data");
  if (!price) {
    throw invalid("Missing required param: " + in.path_of("price_data") + ".", in.path_of("price_data"),
                  "parameter_missing");
  }
  const std::string own = currency_of(*price);
  if (!currency.empty() && currency != own) {
    throw invalid("All line items have the same currency.", price->path_of("currency"));
  }
  currency = own;
  auto product = price->object("product_data");
  if (!product) {
    throw invalid("Missing required param: " + price->path_of("product_data") + ".",
                  price->path_of("product_data"), "parameter_missing");
  }
  LineItem item;
  item.name = product->required_text("name", 250);
  item.description = product->text("description", 500);
  product->metadata("metadata");  // of a product, which no call shows
  product->done();
  item.unit_amount = price->required_number("unit_amount", 0, kMostAmount);
  price->one_of("tax_behavior", {"unspecified"});
  price->done();
  item.quantity = in.required_number("quantity", 1, kMostQuantity);
  in.done();
  return item;
}

void check_amount(const NewSession& asked) {
  std::int64_t amount = 0;
  for (const auto& item : asked.items) amount += item.unit_amount * item.quantity;
  if (amount < kLeastAmount) {
    throw invalid("The Checkout Session's total amount due must be at least 50 minor units.", "line_items",
                  "amount_too_small");
  }
  if (amount > kMostAmount) {
    throw invalid("The Checkout Session's total amount due is at most 99999999 minor units.", "line_items",
                  "amount_too_large");
  }
}

Timestamp expiry_of(FormFields& in, Timestamp now) {
  const auto asked = in.number("expires_at", 0, 10'000'000'000);
  if (!asked) return now + kLongestLife;
  const auto at = from_unix_ms(*asked * 1'000);
  // Whole seconds: what a client cut off its own clock is no fault of its.
  constexpr Millis cut{1'000};
  if (at + cut < now + kShortestLife || at > now + kLongestLife + cut) {
    throw invalid("The `expires_at` timestamp must be from 30 minutes to 24 hours from now.", "expires_at");
  }
  return at;
}

}  // namespace

NewSession read_session_request(FormFields& in, Timestamp now) {
  NewSession asked;
  const std::string mode = in.required_text("mode");
  if (mode != "payment") throw invalid("This simulator has the mode `payment` alone.", "mode");
  in.one_of("ui_mode", {"hosted", "hosted_page"});
  if (auto adaptive = in.object("adaptive_pricing")) {
    adaptive->one_of("enabled", {"false"});
    adaptive->done();
  }
  for (auto& item : in.objects("line_items", kMostItems)) {
    asked.items.push_back(item_of(item, asked.currency));
  }
  if (asked.items.empty()) {
    throw invalid("Missing required param: line_items.", "line_items", "parameter_missing");
  }
  check_amount(asked);
  asked.success_url = page(in, "success_url", in.required_text("success_url"));
  if (auto cancel = in.text("cancel_url")) asked.cancel_url = page(in, "cancel_url", std::move(*cancel));
  asked.client_reference_id = in.text("client_reference_id", 200);
  asked.customer_email = in.text("customer_email", 512);
  asked.locale = in.text("locale", 10);
  asked.submit_type = in.one_of("submit_type", {"auto", "pay"});
  asked.payment_method_types = in.texts("payment_method_types", 20);
  for (const auto& type : asked.payment_method_types) {
    if (type != "card" && type != "sepa_debit") {
      throw invalid("This simulator has card and sepa_debit.", "payment_method_types");
    }
  }
  asked.metadata = in.metadata("metadata");
  if (auto payment = in.object("payment_intent_data")) {
    asked.payment_metadata = payment->metadata("metadata");
    asked.payment_description = payment->text("description", 1'000);
    payment->done();
  }
  asked.expires_at = expiry_of(in, now);
  return asked;
}

}  // namespace presetbridge::paysim
