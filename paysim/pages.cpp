#include "pages.h"

#include <algorithm>

#include "net/address_guard.h"
#include "objects.h"
#include "stripe_error.h"

namespace presetbridge::paysim {
namespace {

constexpr std::string_view kPayPages = "/c/pay/";
constexpr std::string_view kReceipts = "/receipts/";
constexpr std::string_view kStylePath = "/style.css";

constexpr std::string_view kStyle =
    R"(body { margin: 0; background: #f4f4f2; color: #1c1c1a; font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 30rem; margin: 3rem auto; padding: 1.5rem; background: #fff; border: 1px solid #d8d8d4; border-radius: .5rem; }
.notice { background: #fff3cd; padding: .5rem .75rem; border-radius: .25rem; }
.alert { background: #fde2e1; padding: .5rem .75rem; border-radius: .25rem; }
h1 { font-size: 1.25rem; }
table { width: 100%; border-collapse: collapse; }
td { padding: .25rem 0; vertical-align: top; overflow-wrap: anywhere; }
td + td { text-align: right; white-space: nowrap; padding-left: 1rem; }
small { display: block; color: #5c5c57; }
tr.total td { border-top: 1px solid #d8d8d4; font-weight: 600; }
button, .cancel { display: block; width: 100%; box-sizing: border-box; margin-top: .5rem; padding: .6rem; border: 1px solid #8a8a84; border-radius: .25rem; background: #fff; color: inherit; font: inherit; text-align: center; text-decoration: none; cursor: pointer; }
button.pay { background: #1f5f3f; border-color: #1f5f3f; color: #fff; }
)";

// Where a browser may go on to after it posted a form: Chromium holds redirects to form-action, too.
std::string origin_of(const std::string& url) {
  const auto checked = net::check_url(url, net::AddressPolicy::configured);
  if (!checked) return {};
  const bool v6 = checked->host.contains(':');
  return std::string(checked->https ? "https://" : "http://") + (v6 ? "[" : "") + checked->host +
         (v6 ? "]" : "") + ":" + std::to_string(checked->port);
}

net::HttpResponse page(int status, const std::string& title, const std::string& body,
                       const std::string& form_target = "") {
  net::HttpResponse response;
  response.status = status;
  response.content_type = "text/html; charset=utf-8";
  response.headers.add("Content-Security-Policy",
                       "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'; "
                       "form-action " +
                           (form_target.empty() ? "'none'" : "'self' " + form_target));
  response.headers.add("X-Content-Type-Options", "nosniff");
  response.headers.add("Referrer-Policy", "no-referrer");
  response.headers.add("Cache-Control", "no-store");
  response.body =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
      escaped(title) + "</title>\n<link rel=\"stylesheet\" href=\"" + std::string(kStylePath) +
      "\">\n</head>\n<body>\n<main>\n"
      "<p class=\"notice\">A simulator for tests: no money moves here.</p>\n" +
      body + "</main>\n</body>\n</html>\n";
  return response;
}

net::HttpResponse note(int status, const std::string& title, const std::string& text) {
  return page(status, title, "<h1>" + escaped(title) + "</h1>\n<p>" + escaped(text) + "</p>\n");
}

net::HttpResponse redirect(const std::string& url) {
  net::HttpResponse response;
  response.status = 303;
  response.content_type = "text/plain";
  response.headers.add("Location", url);
  response.headers.add("Cache-Control", "no-store");
  return response;
}

std::string with_id(std::string url, const Session& session) {
  constexpr std::string_view mark = "{CHECKOUT_SESSION_ID}";
  for (auto at = url.find(mark); at != std::string::npos; at = url.find(mark, at + session.id.size())) {
    url.replace(at, mark.size(), session.id);
  }
  return url;
}

std::string bought(const Session& session) {
  std::string rows = "<table>\n";
  for (const auto& item : session.asked.items) {
    rows +=
        "<tr><td>" + escaped(item.name) + (item.quantity > 1 ? " × " + std::to_string(item.quantity) : "");
    if (item.description) rows += "<small>" + escaped(*item.description) + "</small>";
    rows += "</td><td>" + money(item.unit_amount * item.quantity, session.asked.currency) + "</td></tr>\n";
  }
  return rows + "<tr class=\"total\"><td>Total</td><td>" + money(session.amount, session.asked.currency) +
         "</td></tr>\n</table>\n";
}

std::string button(std::string_view act, std::string_view label, std::string_view kind = "") {
  return "<button name=\"act\" value=\"" + std::string(act) + "\"" +
         (kind.empty() ? "" : " class=\"" + std::string(kind) + "\"") + ">" + std::string(label) +
         "</button>\n";
}

bool takes(const Session& session, std::string_view type) {
  const auto& types = session.asked.payment_method_types;
  return types.empty() || std::ranges::find(types, type) != types.end();
}

net::HttpResponse payment_page(const Session& session, bool declined) {
  std::string body = "<h1>Pay " + money(session.amount, session.asked.currency) + "</h1>\n" + bought(session);
  if (declined) body += "<p class=\"alert\" role=\"alert\">The card was declined.</p>\n";
  body += "<form method=\"post\" action=\"" + pay_path(session) + "\">\n";
  if (takes(session, "card")) body += button("pay", "Pay", "pay");
  if (takes(session, "sepa_debit")) body += button("later", "Pay later");
  if (takes(session, "card")) body += button("fail", "Fail");
  body += "</form>\n";
  if (session.asked.cancel_url) {
    body += "<a class=\"cancel\" href=\"" + escaped(with_id(*session.asked.cancel_url, session)) +
            "\">Cancel</a>\n";
  }
  return page(declined ? 402 : 200, "Payment", body, origin_of(with_id(session.asked.success_url, session)));
}

net::HttpResponse ended_page(const Session& session) {
  if (session.status == SessionStatus::expired) {
    return note(410, "This session has expired", "Begin again where you came from.");
  }
  return page(200, "Payment",
              "<h1>" + std::string(session.paid ? "Paid" : "The payment is under way") + "</h1>\n" +
                  bought(session) + "<a class=\"cancel\" href=\"" +
                  escaped(with_id(session.asked.success_url, session)) + "\">Go on</a>\n");
}

std::string act_of(const net::HttpRequest& request) {
  const Parameter form = parse_form(request.body);
  FormFields in(form);
  auto act = in.required_text("act", 10);
  in.done();
  return act;
}

net::HttpResponse session_page(World& world, Session& session, const net::HttpRequest& request,
                               Timestamp now) {
  world.settle(now);
  if (request.method == "POST" && session.status == SessionStatus::open) {
    const std::string act = act_of(request);
    if (act == "fail") {
      world.decline(session, now);
      return payment_page(session, true);
    }
    if (act != "pay" && act != "later") throw invalid("act is pay, later or fail.", "act");
    world.pay(session, act == "pay" ? Method::card : Method::later, false, now);
    return redirect(with_id(session.asked.success_url, session));
  }
  return session.status == SessionStatus::open ? payment_page(session, false) : ended_page(session);
}

net::HttpResponse receipt_page(const Charge& charge) {
  const Session& session = *charge.intent->session;
  std::string body = "<h1>Receipt</h1>\n" + bought(session) + "<p>Charge " + charge.id + " is " +
                     std::string(to_string(charge.status)) + ".</p>\n";
  if (charge.refunded > 0)
    body += "<p>Refunded: " + money(charge.refunded, session.asked.currency) + "</p>\n";
  return page(200, "Receipt", body);
}

net::HttpResponse style_sheet() {
  net::HttpResponse response;
  response.content_type = "text/css; charset=utf-8";
  response.headers.add("X-Content-Type-Options", "nosniff");
  response.headers.add("Cache-Control", "public, max-age=300");
  response.body = kStyle;
  return response;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string money(std::int64_t amount, std::string_view currency) {
  constexpr std::string_view without_cents =
      "bif clp djf gnf jpy kmf krw mga pyg rwf ugx vnd vuv xaf xof xpf";
  constexpr std::string_view with_thousandths = "bhd jod kwd omr tnd";
  std::size_t digits = 2;
  if (without_cents.contains(currency)) digits = 0;
  if (with_thousandths.contains(currency)) digits = 3;
  std::string text = std::to_string(amount);
  if (digits > 0) {
    if (text.size() <= digits) text.insert(0, digits + 1 - text.size(), '0');
    text.insert(text.size() - digits, ".");
  }
  text += ' ';
  for (const char c : currency) text += c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  return text;
}

bool is_page(std::string_view path) {
  return path.starts_with(kPayPages) || path.starts_with(kReceipts) || path == kStylePath;
}

net::HttpResponse answer_page(World& world, const net::HttpRequest& request, Timestamp now) {
  const std::string_view path = request.path;
  if (request.method != "GET" && !(request.method == "POST" && path.starts_with(kPayPages))) {
    return note(405, "Not so", "A page is read with GET.");
  }
  if (path == kStylePath) return style_sheet();
  try {
    if (path.starts_with(kPayPages)) {
      if (auto* session = world.session(path.substr(kPayPages.size()))) {
        return session_page(world, *session, request, now);
      }
    } else if (const auto* charge = world.charge(path.substr(kReceipts.size()))) {
      return receipt_page(*charge);
    }
  } catch (const StripeError& error) {
    return note(error.status, "This cannot be done", error.what());
  }
  return note(404, "Nothing is here", "This page was made for another run of the simulator, or never.");
}

}  // namespace presetbridge::paysim
