// A fixture for the tests of the login of an account and of the presets that it opens.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "api/merchant_api_testing.h"
#include "storage/stores/account_task_store.h"

namespace presetbridge::api::testing {

class CredentialsApi : public MerchantApiTest {
 protected:
  std::vector<storage::AccountTaskKind> tasks() {
    std::vector<storage::AccountTaskKind> kinds;
    write([&](storage::Tx& tx) {
      for (const auto& task : find_account_tasks(tx, 50)) kinds.push_back(task.kind);
    });
    return kinds;
  }
  bool has_account_task(storage::AccountTaskKind kind) {
    const auto all = tasks();
    return std::ranges::find(all, kind) != all.end();
  }
  Answer save() { return send(me_, "PUT", "/api/credentials", login()); }
  Answer cloud_login(const identity::Principal& by, std::string email, std::string password) {
    return send(by, "POST", "/api/auth/login",
                json::object{{"credentials", json::object{{"email", email}, {"password", password}}}});
  }
};

}  // namespace presetbridge::api::testing
