// MailTransport over libcurl's SMTP: one mail after another, each over a connection of its own.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "net/mail.h"

namespace presetbridge::net {

// The server that a text names: smtp://HOST[:PORT] or smtps://HOST[:PORT]. smtps:// begins with TLS (port 465 if none is
// named). smtp:// begins without it (587), and must change to it by STARTTLS; a server on this machine need not.
struct SmtpServer {
  std::string url;  // with the port
  bool loopback = false;
};
// Nothing for another text, such as one with a user or a path.
std::optional<SmtpServer> parse_smtp_url(std::string_view text);

struct SmtpOptions {
  static constexpr std::chrono::seconds kDeadline{90};
  static constexpr std::chrono::seconds kReply{60};

  SmtpServer server;
  std::string user;  // empty: without a login
  // Called for each mail, so that between them the password lies in the caller's memory alone.
  std::function<std::string()> password;
  std::string from;             // is_mail_address()
  std::string from_header;      // the same with a name, ready for the header; without controls
  std::string ca_file;          // PEM; trusted instead of the system's authorities. Empty: the system's
  Millis deadline = kDeadline;  // of one mail
  // For one reply of the server, in whole seconds. A relay may scan a mail before it answers, and one that is not
  // waited for gets the mail again. The farewell to a silent server takes as long, beyond the deadline.
  std::chrono::seconds reply = kReply;
};

// Has a thread of its own. Certificates are verified, that of a server on this machine too.
class SmtpClient final : public MailTransport {
 public:
  explicit SmtpClient(SmtpOptions options);
  // Stops. Does not wait for a server that keeps the thread waiting for its last word. Executors of mails that were sent
  // outlive it.
  ~SmtpClient() override;

  Task<MailResult> send(Executor& executor, OutgoingMail mail) override;
  // Connects, changes to TLS and signs in; mails nothing.
  Task<MailResult> check(Executor& executor);
  // Ends the mail under way, those that wait and every later one as `aborted`. Thread-safe.
  void stop();

 private:
  struct State;
  const std::shared_ptr<State> state_;
};

}  // namespace presetbridge::net
