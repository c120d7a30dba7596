#include "app/verbs/admin_verbs.h"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "app/admin/admin_channel.h"
#include "app/verbs/operator_name.h"
#include "app/verbs/outcome.h"
#include "app/verbs/terminal_password.h"
#include "domain/credits.h"

namespace presetbridge::app {
namespace {

int run_admin(const Config& config, const boost::json::object& request) {
  const auto done = administrate(config, request);
  if (!done) {
    for (const auto& [field, problem] : done.error().details)
      std::fprintf(stderr, "presetbridge: %s %s\n", field.c_str(), problem.c_str());
    return failed(done.error());
  }
  std::printf("%s\n", boost::json::serialize(*done).c_str());
  return 0;
}

}  // namespace

void add_admin_verbs(CLI::App& app, ConfigFlags& flags, std::function<int()>& run) {
  auto* admin = app.add_subcommand("admin",
                                   "Commands of the operator, to the running service, or on the data "
                                   "directory where none runs. They print JSON");
  admin->require_subcommand(1);
  const auto add = [&](const std::string& name, const char* help, bool password) {
    auto* verb = admin->add_subcommand(name, help);
    flags.add_to(*verb);
    auto request = std::make_shared<boost::json::object>();
    (*request)["command"] = name;
    (*request)["operator"] = operator_name();
    verb->callback([&run, &flags, request, password] {
      run = [&flags, request, password] {
        const auto config = flags.load_or_report({"cloud.url"});
        if (!config) return kWrongUse;
        if (password) {
          auto typed = ask_password("New password", true);
          if (!typed) return kWrongUse;
          (*request)["password"] = std::move(*typed);
        }
        return run_admin(*config, *request);
      };
    });
    return std::pair{verb, request};
  };
  // The verb's callback owns its request.
  const auto text = [](auto& verb, const char* name, const char* help) {
    const char* key = name + std::strspn(name, "-");
    return verb.first->template add_option_function<std::string>(
        name, [request = verb.second.get(), key](const std::string& value) { (*request)[key] = value; },
        help);
  };
  const auto number = [](auto& verb, const char* name, const char* help) {
    const char* key = name + std::strspn(name, "-");
    return verb.first->template add_option_function<std::int64_t>(
        name, [request = verb.second.get(), key](std::int64_t value) { (*request)[key] = value; }, help);
  };
  auto create =
      add("create-account",
          "Make an account and its owner; asks for the password, or reads it from standard input", true);
  text(create, "email", "The owner's e-mail address")->required();
  text(create, "--name", "The account's name");
  auto list = add("list-accounts", "Accounts, newest first", false);
  text(list, "--cursor", "nextCursor of the page before");
  auto disable =
      add("disable-account",
          "Refuse an account's people and keys; its stores' orders are stored, and not delivered", false);
  text(disable, "account", "acc_…")->required();
  text(disable, "--reason", "Reason for the audit log");
  auto enable = add("enable-account", "Undo disable-account", false);
  text(enable, "account", "acc_…")->required();
  auto keys = add("list-keys", "An account's API keys, newest first", false);
  text(keys, "account", "acc_…")->required();
  text(keys, "--cursor", "nextCursor of the page before");
  auto find = add("find-order", "An order and its delivery", false);
  text(find, "order", "ord_…, del_…; with --account also number, store's order id, @username or e-mail")
      ->required();
  text(find, "--account", "Orders of this account: acc_…");
  auto grant = add("grant-credits", "Give credits to an account", false);
  text(grant, "account", "acc_…")->required();
  number(grant, "credits", "Number of credits")
      ->required()
      ->check(CLI::Range(std::int64_t{1}, domain::kMostGranted));
  text(grant, "--note", "Note for the ledger");
  auto purchases = add("purchases", "Purchases of credits, newest first", false);
  text(purchases, "--account", "Purchases of this account: acc_…");
  text(purchases, "--state", "Purchases in this state")
      ->check(CLI::IsMember({"pending", "paid", "failed", "expired", "refunded", "disputed"}));
  text(purchases, "--cursor", "nextCursor of the page before");
  auto reconcile =
      add("reconcile", "Have the running service ask the payment processor about purchases", false);
  text(reconcile, "--purchase", "Ask about this purchase now: pur_…");
  number(reconcile, "--days", "Read the processor's notices of so many days again")->check(CLI::Range(1, 30));
  auto refund = add("refund", "Give a purchase's money back through the payment processor", false);
  text(refund, "purchase", "pur_…")->required();
  // A service of before knows no total, and would give back all: it does not know this command.
  refund.first
      ->add_option_function<std::int64_t>(
          "--total",
          [request = refund.second.get()](std::int64_t total) {
            (*request)["command"] = "refund-total";
            (*request)["total"] = total;
          },
          "Sum that is refunded in all, earlier refunds included, in the currency's smallest unit (default: "
          "everything)")
      ->check(CLI::PositiveNumber);
  auto reset =
      add("reset-password", "Set a new password; asks for it, or reads it from standard input", true);
  text(reset, "email", "E-mail address of the person")->required();
  auto limit = add("set-rate-limit", "Set how many requests an hour a key may make", false);
  text(limit, "key", "key_…")->required();
  number(limit, "limit", "Requests an hour")->required();
}

}  // namespace presetbridge::app
