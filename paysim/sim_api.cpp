#include "sim_api.h"

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "objects.h"
#include "session_request.h"
#include "simulator.h"
#include "simulator_parts/json_fields.h"
#include "simulator_parts/percent.h"
#include "stripe_error.h"

namespace presetbridge::paysim {
namespace {

namespace json = boost::json;
using Fields = simulator_parts::JsonFields;
using simulator_parts::Problem;

constexpr std::int64_t kMostAmount = 1'000'000'000'000;

net::HttpResponse done(const json::object& body, int status = 200) {
  net::HttpResponse response;
  response.status = status;
  response.body = json::serialize(body);
  return response;
}

net::HttpResponse refused(int status, std::string_view message) {
  return done({{"error", {{"code", "rejected"}, {"message", message}}}}, status);
}

template <class Record>
Record& known(Record* record, const std::string& id) {
  if (!record) throw Problem(404, "Nothing has the id " + id + ".");
  return *record;
}

Session& session_of(Simulator& sim, const Fields& in) {
  const std::string id = in.text("session");
  return known(sim.world().session(id), id);
}

// The charge of a session, of a payment intent, or itself.
Charge& charge_of(Simulator& sim, const Fields& in) {
  const std::string id = in.text("payment");
  if (auto* charge = sim.world().charge(id)) return *charge;
  const Session* session = sim.world().session(id);
  if (!session) session = known(sim.world().intent(id), id).session;
  if (session->attempts.empty()) throw Problem(409, "Nobody has paid " + id + ".");
  return *session->attempts.back();
}

std::optional<std::int64_t> amount_of(const Fields& in) {
  if (!in.find("amount")) return std::nullopt;
  const auto amount = in.number_or("amount", 0, kMostAmount);
  if (amount == 0) throw Fields::wrong("amount", "a whole number of at least 1");
  return amount;
}

net::HttpResponse show(Simulator& sim, const Session& session) {
  return done(session_object(session, sim.world().page_url()));
}

// POST /sim/pay
net::HttpResponse pay(Simulator& sim, const Fields& in) {
  Session& session = session_of(sim, in);
  const Method method = in.flag_or("later", false) ? Method::later : Method::card;
  sim.world().pay(session, method, in.flag_or("afterExpiry", false), sim.now());
  return show(sim, session);
}

// POST /sim/decline
net::HttpResponse decline(Simulator& sim, const Fields& in) {
  Session& session = session_of(sim, in);
  sim.world().decline(session, sim.now());
  return show(sim, session);
}

// POST /sim/settle
net::HttpResponse settle(Simulator& sim, const Fields& in) {
  Session& session = session_of(sim, in);
  sim.world().settle_payment(session, in.flag_or("succeeds", true), sim.now());
  return show(sim, session);
}

// POST /sim/expire
net::HttpResponse expire(Simulator& sim, const Fields& in) {
  Session& session = session_of(sim, in);
  sim.world().expire(session, sim.now());
  return show(sim, session);
}

// POST /sim/refund
net::HttpResponse refund(Simulator& sim, const Fields& in) {
  return done(refund_object(sim.world().refund(charge_of(sim, in), amount_of(in), std::nullopt, {},
                                               in.flag_or("pending", false), sim.now())));
}

// POST /sim/refund/settle
net::HttpResponse settle_refund(Simulator& sim, const Fields& in) {
  const std::string id = in.text("refund");
  Refund& refund = known(sim.world().refund(id), id);
  sim.world().settle_refund(refund, in.flag_or("succeeds", true), sim.now());
  return done(refund_object(refund));
}

// POST /sim/dispute
net::HttpResponse dispute(Simulator& sim, const Fields& in) {
  return done(dispute_object(sim.world().dispute(charge_of(sim, in), amount_of(in),
                                                 in.text_or("reason", "fraudulent"),
                                                 in.flag_or("inquiry", false), sim.now())));
}

// POST /sim/dispute/{escalate,respond,win,lose}
net::HttpResponse change_dispute(Simulator& sim, std::string_view what, const Fields& in) {
  const std::string id = in.text("dispute");
  Dispute& dispute = known(sim.world().dispute(id), id);
  if (what == "escalate") {
    sim.world().escalate(dispute, sim.now());
  } else if (what == "respond") {
    sim.world().respond(dispute, sim.now());
  } else if (what == "win" || what == "lose") {
    sim.world().close(dispute, what == "win", sim.now());
  } else {
    throw Problem(404, "The simulator has no such call.");
  }
  return done(dispute_object(dispute));
}

void for_endpoints(const Fields& in, const std::function<void(Endpoint)>& visit) {
  const std::string name = in.text_or("endpoint", "*");
  if (name == "*") {
    for (std::size_t i = 0; i < kEndpoints; ++i) visit(static_cast<Endpoint>(i));
    return;
  }
  const auto endpoint = endpoint_named(name);
  if (!endpoint) throw Problem(400, "endpoint: the name of a call or * is wanted.");
  visit(*endpoint);
}

// PUT /sim/faults
net::HttpResponse set_faults(Simulator& sim, const Fields& in) {
  const FaultRates rates = simulator_parts::fault_rates_of(in);
  for_endpoints(in, [&](Endpoint endpoint) { sim.faults().set(endpoint, rates); });
  return done({{"ok", true}});
}

// POST /sim/faults/script
net::HttpResponse script_faults(Simulator& sim, const Fields& in) {
  const auto steps = simulator_parts::fault_steps_of(in);
  for_endpoints(in, [&](Endpoint endpoint) {
    for (const auto& step : steps) {
      if (!sim.faults().script(endpoint, step)) throw Problem(400, "There is no room for more steps.");
    }
  });
  return done({{"steps", steps.size()}});
}

std::vector<std::string> texts_of(const Fields& in, std::string_view name, std::size_t most) {
  const auto* value = in.find(name);
  if (!value->is_array() || value->get_array().size() > most) throw Fields::wrong(name, "a list of texts");
  std::vector<std::string> result;
  for (const auto& one : value->get_array()) {
    if (!one.is_string()) throw Fields::wrong(name, "a list of texts");
    result.emplace_back(one.get_string());
  }
  return result;
}

// GET /sim/webhooks
net::HttpResponse webhooks(Simulator& sim) {
  const auto& options = sim.webhooks().options();
  const auto& counts = sim.webhooks().counts();
  return done({{"url", options.url},
               {"secrets", options.secrets.size()},
               {"types", json::array(options.types.begin(), options.types.end())},
               {"pending", sim.webhooks().pending()},
               {"attempts", counts.attempts},
               {"taken", counts.taken},
               {"refused", counts.refused},
               {"givenUp", counts.given_up},
               {"dropped", counts.dropped},
               {"overflow", counts.overflow}});
}

// PUT /sim/webhooks: what is not named stays.
net::HttpResponse set_webhooks(Simulator& sim, const Fields& in) {
  constexpr std::size_t most_secrets = 8;
  constexpr std::size_t most_types = 100;
  constexpr std::size_t most_retries = 50;
  WebhookOptions options = sim.webhooks().options();
  if (const auto* url = in.find("url")) {
    options.url = url->is_string() ? std::string(url->get_string()) : "";
    const std::string problem = options.url.empty() ? "" : problem_of_endpoint(options.url);
    if (!problem.empty()) throw Problem(400, problem);
  }
  if (in.find("secrets")) options.secrets = texts_of(in, "secrets", most_secrets);
  if (in.find("types")) options.types = texts_of(in, "types", most_types);
  if (!options.url.empty() && options.secrets.empty()) throw Problem(400, "secrets: at least one is wanted.");
  if (const auto* retries = in.find("retryAfterMs")) {
    if (!retries->is_array() || retries->get_array().size() > most_retries) {
      throw Fields::wrong("retryAfterMs", "a list of whole numbers");
    }
    options.retry_after.clear();
    for (const auto& one : retries->get_array()) {
      const json::value wrapped = json::object{{"retryAfterMs", one}};
      options.retry_after.push_back(Fields(wrapped).millis("retryAfterMs"));
    }
  }
  sim.webhooks().configure(std::move(options));
  return webhooks(sim);
}

// PUT /sim/webhooks/faults
net::HttpResponse set_webhook_faults(Simulator& sim, const Fields& in) {
  WebhookOptions options = sim.webhooks().options();
  auto& faults = options.faults;
  faults.drop = in.probability("drop");
  faults.duplicate = in.probability("duplicate");
  faults.reorder = in.probability("reorder");
  faults.lose_answer = in.probability("loseAnswer");
  faults.delay_min = in.millis("delayMinMs");
  faults.delay_max = std::max(faults.delay_min, in.millis("delayMaxMs"));
  sim.webhooks().configure(std::move(options));
  return done({{"ok", true}});
}

// POST /sim/webhooks/resend: one event, or all that are remembered.
net::HttpResponse resend(Simulator& sim, const Fields& in) {
  const std::string id = in.text_or("event", "");
  std::size_t sent = 0;
  for (const auto& event : sim.world().events()) {
    if (!id.empty() && event->id != id) continue;
    sim.webhooks().resend(event);
    ++sent;
  }
  if (!id.empty() && sent == 0) throw Problem(404, "There is no event " + id + ".");
  return done({{"sent", sent}});
}

// GET /sim/books
net::HttpResponse books(Simulator& sim) {
  sim.world().settle(sim.now());
  json::object result;
  for (const auto& [currency, book] : sim.world().books()) {
    result[currency] = json::object{{"taken", book.taken},
                                    {"refunded", book.refunded},
                                    {"withdrawn", book.withdrawn},
                                    {"reinstated", book.reinstated},
                                    {"net", book.net()}};
  }
  return done({{"books", std::move(result)}});
}

json::object payment_row(const Session& session) {
  json::object row{{"session", session.id},
                   {"clientReferenceId", session.asked.client_reference_id.value_or("")},
                   {"currency", session.asked.currency},
                   {"amount", session.amount},
                   {"status", to_string(session.status)},
                   {"paid", session.paid},
                   {"paymentIntent", session.intent}};
  std::int64_t refunded = 0;
  std::int64_t withdrawn = 0;
  std::int64_t reinstated = 0;
  for (const auto* charge : session.attempts) {
    refunded += charge->refunded;
    for (const auto* dispute : charge->disputes) {
      if (!dispute->withdrawal.empty()) withdrawn += dispute->amount;
      if (!dispute->reinstatement.empty()) reinstated += dispute->amount;
    }
  }
  row["refunded"] = refunded;
  row["withdrawn"] = withdrawn;
  row["reinstated"] = reinstated;
  return row;
}

// GET /sim/payments?after=&limit=: every session, the oldest first.
net::HttpResponse payments(Simulator& sim, const net::HttpRequest& request) {
  sim.world().settle(sim.now());
  const auto number = [&](std::string_view name, std::size_t otherwise) {
    const std::string text = simulator_parts::query_value(request.query, name);
    std::size_t value = otherwise;
    const auto* end = text.data() + text.size();
    if (!text.empty() && std::from_chars(text.data(), end, value).ptr != end) {
      throw Fields::wrong(name, "a whole number");
    }
    return value;
  };
  constexpr std::size_t most = 1'000;
  const auto& all = sim.world().sessions();
  const auto from = std::min(number("after", 0), all.size());
  const auto end = from + std::min({number("limit", most), most, all.size() - from});
  json::array rows;
  for (auto i = from; i < end; ++i) rows.push_back(payment_row(all[i]));
  return done({{"payments", std::move(rows)}, {"next", end}, {"more", end < all.size()}});
}

// GET /sim/counts
net::HttpResponse counts(Simulator& sim) {
  json::object calls;
  for (std::size_t i = 0; i < kEndpoints; ++i) {
    json::object by_status;
    std::int64_t all = 0;
    for (const auto& [status, count] : sim.counts()[i]) {
      all += count;
      by_status[status == 0 ? "dropped" : std::to_string(status)] = count;
    }
    calls[to_string(static_cast<Endpoint>(i))] =
        json::object{{"count", all}, {"byStatus", std::move(by_status)}};
  }
  return done({{"sessions", sim.world().sessions().size()},
               {"charges", sim.world().charges().size()},
               {"refunds", sim.world().refunds().size()},
               {"disputes", sim.world().disputes().size()},
               {"delayed", sim.delayed()},
               {"calls", std::move(calls)}});
}

net::HttpResponse clock(Simulator& sim) {
  return done({{"now", to_iso8601(sim.now())}, {"shiftedMs", sim.shifted().count()}});
}

// POST /sim/clock: forward alone.
net::HttpResponse shift_clock(Simulator& sim, const Fields& in) {
  constexpr std::int64_t longest_ms = 366LL * 24 * 3'600 * 1'000;
  sim.shift(Millis{in.number_or("advanceMs", 0, longest_ms)});
  sim.world().settle(sim.now());
  return clock(sim);
}

net::HttpResponse answer_or_throw(Simulator& sim, const net::HttpRequest& request) {
  const std::string_view path = request.path;
  if (request.method == "GET") {
    if (path == "/sim/webhooks") return webhooks(sim);
    if (path == "/sim/books") return books(sim);
    if (path == "/sim/payments") return payments(sim, request);
    if (path == "/sim/counts") return counts(sim);
    if (path == "/sim/clock") return clock(sim);
    throw Problem(404, "The simulator has no such call.");
  }
  const json::value body = request.body.empty() ? json::object() : json::parse(request.body);
  const Fields in(body);
  const std::string what = request.method + " " + request.path;
  if (what == "POST /sim/pay") return pay(sim, in);
  if (what == "POST /sim/decline") return decline(sim, in);
  if (what == "POST /sim/settle") return settle(sim, in);
  if (what == "POST /sim/expire") return expire(sim, in);
  if (what == "POST /sim/refund") return refund(sim, in);
  if (what == "POST /sim/refund/settle") return settle_refund(sim, in);
  if (what == "POST /sim/dispute") return dispute(sim, in);
  constexpr std::string_view of_dispute = "POST /sim/dispute/";
  if (what.starts_with(of_dispute)) return change_dispute(sim, what.substr(of_dispute.size()), in);
  if (what == "PUT /sim/webhooks") return set_webhooks(sim, in);
  if (what == "PUT /sim/webhooks/faults") return set_webhook_faults(sim, in);
  if (what == "POST /sim/webhooks/resend") return resend(sim, in);
  if (what == "PUT /sim/faults") return set_faults(sim, in);
  if (what == "POST /sim/faults/script") return script_faults(sim, in);
  if (what == "POST /sim/clock") return shift_clock(sim, in);
  if (what == "DELETE /sim/faults") {
    sim.faults().clear();
    return done({{"ok", true}});
  }
  if (what == "POST /sim/reset") {
    sim.reset();
    return done({{"ok", true}});
  }
  throw Problem(404, "The simulator has no such call.");
}

}  // namespace

net::HttpResponse answer_sim(Simulator& simulator, const net::HttpRequest& request) {
  try {
    return answer_or_throw(simulator, request);
  } catch (const Problem& problem) {
    return refused(problem.status, problem.what());
  } catch (const StripeError& error) {
    return refused(error.status == 400 ? 409 : error.status, error.what());
  } catch (const std::exception& broken) {
    return refused(400, broken.what());
  }
}

}  // namespace presetbridge::paysim
