#include "app/config/mail_options.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "crypto/key_file.h"
#include "crypto/random.h"
#include "crypto/secret.h"
#include "net/mail.h"
#include "services/mail/mail_text.h"

namespace presetbridge::app {
namespace {

constexpr std::size_t kLongestUser = 255;

bool is_one_line(std::string_view text) {
  return std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

}  // namespace

std::vector<FieldProblem> check_mail(const Config& config) {
  std::vector<FieldProblem> problems;
  if (config.mail_url.empty()) {
    if (!config.mail_user.empty() || !config.mail_from.empty() || !config.mail_from_name.empty() ||
        !config.mail_ca_file.empty())
      problems.push_back({"mail.url", "is needed with the other settings of mail"});
    return problems;
  }
  if (!net::parse_smtp_url(config.mail_url))
    problems.push_back(
        {"mail.url", "must be smtp:// or smtps://, a host and perhaps a port, and nothing else"});
  if (config.mail_user.size() > kLongestUser || !is_one_line(config.mail_user))
    problems.push_back({"mail.user", "must be 255 bytes at most, without controls"});
  if (!net::is_mail_address(config.mail_from)) problems.push_back({"mail.from", "must be an e-mail address"});
  if (!services::mailbox(config.mail_from_name, config.mail_from))
    problems.push_back({"mail.from_name", "must be 100 bytes of UTF-8 at most, without controls"});
  return problems;
}

Expected<net::SmtpOptions> mail_options(const Config& config, const DataDirectory& directory) {
  net::SmtpOptions options{.server = net::parse_smtp_url(config.mail_url).value(),
                           .user = config.mail_user,
                           .password = {},
                           .from = config.mail_from,
                           .from_header = services::mailbox(config.mail_from_name, config.mail_from).value(),
                           .ca_file = config.mail_ca_file};
  if (config.mail_user.empty()) return options;
  crypto::initialise();  // secrets are kept in its memory
  const auto text = crypto::read_key_file(directory.mail_password, crypto::KeyFileAccess::secret);
  if (!text) return std::unexpected(text.error());
  auto line = text->reveal();
  while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
  if (line.empty() || !is_one_line(line))
    return fail("KEY_FILE_INVALID",
                directory.mail_password.string() + " must hold one line: the password of mail.user.");
  options.password = [secret = std::make_shared<const crypto::SecretString>(line)] {
    return std::string(secret->reveal());
  };
  return options;
}

}  // namespace presetbridge::app
