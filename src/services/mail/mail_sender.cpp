#include "services/mail/mail_sender.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "identity/mail_links.h"
#include "services/mail/mail_text.h"
#include "storage/stores/identity_store.h"

namespace presetbridge::services {

using storage::MailLinkRow;
using storage::Tx;

namespace {

constexpr Millis kFirstPause{30'000};
constexpr Millis kLongestPause = std::chrono::minutes{30};
constexpr Millis kLatest = std::chrono::hours{4};

}  // namespace

std::optional<Timestamp> next_mail_attempt(std::int64_t attempts, Timestamp now, Timestamp created_at,
                                           Timestamp expires_at) {
  const auto doublings = std::clamp<std::int64_t>(attempts - 1, 0, 10);
  const auto next = now + std::min(kLongestPause, kFirstPause * (std::int64_t{1} << doublings));
  if (next >= expires_at || next > created_at + kLatest) return std::nullopt;
  return next;
}

MailSender::MailSender(Ports ports, std::string base_url, Pace pace)
    : ports_(ports),
      base_url_(std::move(base_url)),
      pace_(pace),
      tasks_(ports_.scheduler, {.log = ports_.log, .message = "the sending of mails has ended by a fault"}) {}

void MailSender::start() {
  tasks_.start_loop(loop(), "mail loop");
}

void MailSender::stop(Callback stopped) {
  tasks_.stop(std::move(stopped));
}

Task<void> MailSender::loop() {
  while (!tasks_.stopping()) {
    if (!co_await send_next() && !tasks_.stopping()) co_await tasks_.wait(pace_.poll);
  }
}

Task<bool> MailSender::send_next() {
  const auto any = co_await ports_.async_db.read(ports_.scheduler, [](Tx& tx) { return any_mail_due(tx); });
  if (!any || !*any) co_return false;
  struct Due {
    std::optional<MailLinkRow> link;
    std::optional<std::string> to;  // nothing: nobody is to get it any more
    Timestamp now;
  };
  const auto due = co_await ports_.async_db.write(ports_.scheduler, [this](Tx& tx) {
    Due found{.link = claim_due_mail(tx, tx.now() + pace_.lease), .to = {}, .now = tx.now()};
    if (!found.link) return found;
    const auto& link = *found.link;
    const auto user = link.stands(found.now) ? find_user(tx, link.user) : std::nullopt;
    if (user && identity::hash_of_email(user->email) == link.email_hash) found.to = user->email;
    if (!found.to) record_mail_failed(tx, link.id, link.attempts, std::nullopt);
    return found;
  });
  if (!due || !due->link) co_return false;
  if (!due->to) co_return true;
  const auto& link = *due->link;
  auto [subject, text] = mail_text(link.purpose, base_url_, ports_.tokens.token_of(link.id, link.purpose));
  net::OutgoingMail mail{.to = *due->to,
                         .subject = std::move(subject),
                         .text = std::move(text),
                         .message_id = to_string(link.id),
                         .date = due->now};
  auto result = co_await ports_.transport.send(ports_.scheduler, std::move(mail));
  co_await record(link, std::move(result));
  co_return true;
}

Task<void> MailSender::record(MailLinkRow link, net::MailResult result) {
  using Kind = net::MailFailure::Kind;
  const bool aborted = result && result->kind == Kind::aborted;
  std::optional<Timestamp> again;
  const auto recorded = co_await ports_.async_db.write(ports_.scheduler, [&](Tx& tx) {
    again = std::nullopt;
    if (!result) return record_mail_sent(tx, link.id, link.attempts);
    if (aborted) again = tx.now();
    if (result->kind == Kind::unavailable)
      again = next_mail_attempt(link.attempts, tx.now(), link.created_at, link.expires_at);
    return record_mail_failed(tx, link.id, link.attempts, again);
  });
  if (!recorded || !*recorded || aborted) co_return;
  const bool given_up = result && !again;
  ports_.metrics.count("presetbridge_mails_total", {{"outcome", !result    ? "sent"
                                                                : given_up ? "given_up"
                                                                           : "failed"}});
  if (!result) co_return;
  ports_.log.warn(given_up ? "a mail was given up" : "a mail could not be sent, and is sent later",
                  {{"mail", to_string(link.id)},
                   {"purpose", to_string(link.purpose)},
                   {"attempts", link.attempts},
                   {"error", result->message}});
}

}  // namespace presetbridge::services
