// What stores, merchants and the service do to each other's orders: the use cases that are paired. Order 1 is
// Ann's, as a rule; "the other" is order 2.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "scene.h"

namespace presetbridge::interleavings {

struct UseCase {
  std::string name;
  std::function<void(Scene&, Node&)> run;  // on the node, stepped
};

domain::OrderEvent ann(const std::string& id = "1", std::vector<std::string> skus = {"sku-1"},
                       int minute = 1);
UseCase accept(const std::string& name, const domain::OrderEvent& event);
UseCase accept();
UseCase accept_another();
UseCase edit();
UseCase cancel();
UseCase refund(const std::string& line);
UseCase pay_again();
UseCase withdraw_payment();
UseCase high_risk();
UseCase corrected();
UseCase erasure();
UseCase work(const std::string& name = "work");
// The call that the node's job was held at is answered, and the job goes on to its end.
UseCase answer(const std::string& call);
UseCase approve();
UseCase reopen();
UseCase complete();
UseCase retry(const std::string& name, std::optional<std::string> user);
UseCase retry();
UseCase rename(const std::string& user);
UseCase invalidate();
UseCase revoke();
UseCase reprocess();
UseCase grant();
UseCase rename_second();
// Somebody has paid for ten credits; whoever hears of it asks.
UseCase settle_purchase();
// The processor's webhook tells of its payment.
UseCase notice();
// The operator gives back until so much has gone back in all.
UseCase give_back(std::int64_t total);
UseCase save_login(const std::string& user);
UseCase remove_login();
UseCase check_login();
// Now sku-1 is file-2.
UseCase save_mappings();
UseCase both(const UseCase& first, const UseCase& then);

}  // namespace presetbridge::interleavings
