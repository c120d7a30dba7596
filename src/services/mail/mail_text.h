// The words of mails (spec 7.2), and how a sender's name is written into a header.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "storage/stores/mail_store.h"

namespace presetbridge::services {

struct MailText {
  std::string subject;
  std::string text;
};
// `base_url`: of the service, without a slash at its end. `token` stands behind # in the link, and reaches no log.
MailText mail_text(storage::MailPurpose purpose, std::string_view base_url, std::string_view token);

// The sender of a mail as a header has it (RFC 5322, RFC 2047). Nothing: the name is no UTF-8, has controls, or is longer than
// 100 bytes.
std::optional<std::string> mailbox(std::string_view name, std::string_view address);

}  // namespace presetbridge::services
