// The loop that sends the mails that are due (spec 7.2). A mail's row is written with its cause, and claimed for each attempt: a
// crash loses no mail, and may send one twice. An attempt that failed is made again after a growing pause, until the link is too old or
// the mail is four hours late; then it is given up, with a line in the log.
#pragma once

#include <string>

#include "base/background_tasks.h"
#include "base/executor.h"
#include "base/log.h"
#include "base/metrics.h"
#include "net/mail.h"
#include "services/mail/mail_tokens.h"
#include "storage/commit/async_database.h"
#include "storage/stores/mail_store.h"

namespace presetbridge::services {

// How long after its `attempts`th attempt the next one is made, of a mail that was written at `created_at` and is good
// until `expires_at`; nothing: it is given up.
std::optional<Timestamp> next_mail_attempt(std::int64_t attempts, Timestamp now, Timestamp created_at,
                                           Timestamp expires_at);

// Lives on `scheduler`, where all of it but wake() is called. Nodes may do it at once: a mail is claimed by who
// sends it.
class MailSender {
 public:
  // All outlive this.
  struct Ports {
    Scheduler& scheduler;
    storage::AsyncDatabase& async_db;
    const MailTokens& tokens;
    net::MailTransport& transport;
    Log& log;
    Metrics& metrics;
  };
  struct Pace {
    static constexpr Millis kLease{180'000};
    Millis poll{5'000};
    Millis lease = kLease;  // of an attempt: longer than the transport takes for one
  };
  // `base_url`: of the service, without a slash at its end.
  MailSender(Ports ports, std::string base_url) : MailSender(ports, std::move(base_url), Pace{}) {}
  MailSender(Ports ports, std::string base_url, Pace pace);

  void start();
  // `stopped` is called once, when the attempt under way has ended.
  void stop(Callback stopped);
  // Any thread: a mail may be due.
  void wake() { tasks_.wake(); }

 private:
  Task<void> loop();
  // Whether there may be more.
  Task<bool> send_next();
  Task<void> record(storage::MailLinkRow link, net::MailResult result);

  const Ports ports_;
  const std::string base_url_;
  const Pace pace_;
  BackgroundTasks tasks_;
};

}  // namespace presetbridge::services
