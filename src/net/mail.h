// The port for mail: one plain text to one address. Implemented over libcurl's SMTP in smtp_client.h; faked in tests.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/executor.h"
#include "base/task.h"
#include "base/time.h"

namespace presetbridge::net {

inline constexpr std::size_t kLongestMailText = 16'384;

struct OutgoingMail {
  std::string to;          // is_mail_address()
  std::string subject;     // ASCII without controls, 200 bytes at most
  std::string text;        // UTF-8; lines end with '\n'
  std::string message_id;  // what stands before the @ of Message-ID: letters, digits, '_' and '-'
  Timestamp date;
};

struct MailFailure {
  enum class Kind {
    invalid,      // not a mail that can be sent: nothing was tried
    refused,      // the server refuses this address or mail for good
    unavailable,  // it may go later: no connection, no TLS, wrong login, a temporary refusal, a timeout
    aborted,      // this side shut down
  };
  Kind kind = Kind::unavailable;
  std::string message;  // for the operator's log; holds no address and nothing of the text
};
using MailResult = std::optional<MailFailure>;  // nothing: the server has taken it

// Thread-safe. Every send() completes, at the latest at its deadline or at shutdown.
class MailTransport {
 public:
  virtual ~MailTransport() = default;
  // The task resumes on `executor`.
  virtual Task<MailResult> send(Executor& executor, OutgoingMail mail) = 0;
};

// Whether it can be written into an envelope and a header as it is: something on both sides of one '@', 254 bytes at
// most, without controls, spaces, and the marks that have a meaning there. Narrower than RFC 5321: without quotes.
bool is_mail_address(std::string_view text);

}  // namespace presetbridge::net
