#include "services/mail/mail_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"
#include "crypto/encoding.h"

namespace presetbridge::services {

namespace {

constexpr std::size_t kLongestName = 100;
constexpr std::size_t kBytesOfWord = 45;  // with its frame, an encoded word has 75 characters at most

}  // namespace

MailText mail_text(storage::MailPurpose purpose, std::string_view base_url, std::string_view token) {
  if (purpose == storage::MailPurpose::reset)
    return {"Set a new password",
            fmt::format("Somebody asked for a new password for your account at {0}.\n\n"
                        "To set one, open this link. It works for an hour, and once.\n\n"
                        "{0}/reset#{1}\n\n"
                        "If it was not you, ignore this mail. Your password stays as it is.\n",
                        base_url, token)};
  return {"Confirm your e-mail address",
          fmt::format("This e-mail address was given for an account at {0}.\n\n"
                      "To confirm that it is yours, open this link. It works for 7 days, and once.\n\n"
                      "{0}/verify#{1}\n\n"
                      "If you do not know of an account, ignore this mail.\n",
                      base_url, token)};
}

std::optional<std::string> mailbox(std::string_view name, std::string_view address) {
  const auto is_control = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  };
  if (name.size() > kLongestName || !is_utf8(name) || std::ranges::any_of(name, is_control))
    return std::nullopt;
  if (name.empty()) return std::string(address);
  std::string words;
  if (std::ranges::all_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x80; })) {
    for (const char c : name) {
      if (c == '"' || c == '\\') words += '\\';
      words += c;
    }
    return fmt::format("\"{}\" <{}>", words, address);
  }
  while (!name.empty()) {
    const auto word = cut_utf8(name, kBytesOfWord);
    words += fmt::format("=?UTF-8?B?{}?= ", crypto::base64_encode(word));
    name.remove_prefix(word.size());
  }
  return fmt::format("{}<{}>", words, address);
}

}  // namespace presetbridge::services
