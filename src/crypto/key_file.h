// Reading and writing of key files, for vault_keys.h and service_cipher.h, whose errors these are. A file is
// lines of words between single spaces, the first word naming the kind of line.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "crypto/secret.h"

namespace presetbridge::crypto {

// Who may read the file besides its owner.
enum class KeyFileAccess { secret, readable_by_all };

// The new file and its directory entry are on disk when these return.
Expected<void> create_key_file(const std::filesystem::path& path, std::string_view text,
                               KeyFileAccess access);
Expected<void> replace_key_file(const std::filesystem::path& path, std::string_view text,
                                KeyFileAccess access);

// At most 64 KiB. A secret file that anybody but its owner may read or write is refused.
Expected<SecretString> read_key_file(const std::filesystem::path& path, KeyFileAccess access);

// The words behind `kind` of each line; KEY_FILE_INVALID unless every line is `kind` and `words` words more,
// and there is a line. The views point into `text`; `path` is for the message.
Expected<std::vector<std::vector<std::string_view>>> parse_key_lines(const std::filesystem::path& path,
                                                                     std::string_view text,
                                                                     std::string_view kind,
                                                                     std::size_t words);

std::unexpected<Error> key_file_invalid(const std::filesystem::path& path);

}  // namespace presetbridge::crypto
