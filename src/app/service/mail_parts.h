// The mails of the running service (spec 7.2): what people do by the links in them, and their sending. Without mail.url
// there are none.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>

#include "api/handlers/auth_handlers.h"
#include "identity/email_proofs.h"
#include "net/runtime.h"
#include "net/smtp_client.h"
#include "services/keys/link_keys.h"
#include "services/mail/mail_sender.h"
#include "services/mail/mail_tokens.h"

namespace presetbridge::app {

class MailParts {
 public:
  // All outlive this.
  struct Ports {
    Scheduler& scheduler;  // of the sending
    storage::AsyncDatabase& async_db;
    identity::BuiltInIssuer& issuer;
    identity::PasswordWorkers& passwords;
    services::LinkKeys& links;
    IdSource& ids;
    const Clock& clock;
    Log& log;
    Metrics& metrics;
    std::function<void()> mail_came;        // a mail is due: wake() here, and on other nodes
    std::function<std::string()> base_url;  // of the service, once it listens
  };
  // Else another node would try a mail again that is under way.
  static_assert(net::SmtpOptions::kDeadline + net::SmtpOptions::kReply < services::MailSender::Pace::kLease);
  // `on`: whether there are mails. `smtp`: of a node that sends them.
  MailParts(Ports ports, bool on, std::optional<net::SmtpOptions> smtp)
      : ports_(std::move(ports)), tokens_(ports_.async_db, ports_.links) {
    if (on)
      proofs_.emplace(identity::EmailProofs::Deps{ports_.async_db, ports_.issuer, ports_.passwords,
                                                  ports_.ids, ports_.clock, ports_.mail_came});
    if (smtp) client_.emplace(std::move(*smtp));
  }

  // The parts that the routes need; nothing: no mail is sent.
  std::optional<api::MailDeps> routes() {
    if (!proofs_) return std::nullopt;
    return api::MailDeps{*proofs_, tokens_};
  }
  // On the scheduler's core, as stop().
  void start() {
    if (!client_) return;
    sender_.emplace(services::MailSender::Ports{ports_.scheduler, ports_.async_db, tokens_, *client_,
                                                ports_.log, ports_.metrics},
                    ports_.base_url());
    sender_->start();
    started_ = true;
  }
  void stop(Callback stopped) {
    if (!sender_) return stopped();
    sender_->stop(std::move(stopped));
  }
  // Any thread, at any time.
  void wake() {
    if (started_) sender_->wake();
  }
  // Ends the mail under way.
  void cut_off() {
    if (client_) client_->stop();
  }

 private:
  const Ports ports_;
  services::MailTokens tokens_;
  std::optional<identity::EmailProofs> proofs_;
  std::optional<net::SmtpClient> client_;
  std::optional<services::MailSender> sender_;
  std::atomic<bool> started_ = false;  // sender_ is made, and stays as it is
};

}  // namespace presetbridge::app
