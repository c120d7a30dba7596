// The routes of the account's cloud login, /api/credentials (spec 5.1), of checks of other cloud logins,
// POST /api/auth/login, and of presets, /api/presets (spec 4.3, 4.4).
#pragma once

#include "api/router.h"
#include "services/presets/preset_uses.h"
#include "services/presets/presets.h"
#include "services/vault/cloud_logins.h"
#include "services/vault/vault.h"

namespace presetbridge::api {

struct CredentialsDeps {
  services::Vault& vault;
};
void add_credentials_routes(Router& router, CredentialsDeps deps);

struct LoginDeps {
  services::CloudLogins& logins;
};
void add_login_routes(Router& router, LoginDeps deps);

struct PresetsDeps {
  services::Presets& presets;
  services::PresetUses& uses;
};
void add_presets_routes(Router& router, PresetsDeps deps);

}  // namespace presetbridge::api
