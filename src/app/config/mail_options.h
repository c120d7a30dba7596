// How mail is sent, as the settings and the data directory say (spec 7.2). The password of mail.user is the file
// mail.password of the data directory: one line, readable by its owner alone.
#pragma once

#include <vector>

#include "app/config/config.h"
#include "app/config/data_directory.h"
#include "base/error.h"
#include "net/smtp_client.h"

namespace presetbridge::app {

// The problems of the settings mail.*.
std::vector<FieldProblem> check_mail(const Config& config);

// Reads the options from settings that have mail.url and no problem. KEY_FILE_…: mail.user is set, and its file is
// missing, cannot be read, or can be read by others.
Expected<net::SmtpOptions> mail_options(const Config& config, const DataDirectory& directory);

}  // namespace presetbridge::app
