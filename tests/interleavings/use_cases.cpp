#include "use_cases.h"

#include "services/payments/purchases.h"
#include "services/payments/refunds.h"

namespace presetbridge::interleavings {
namespace {

// A refusal is an answer as good as any; trouble is not.
template <class T, class E>
void done(Scene& scene, const std::expected<T, E>& result) {
  if (result) return;
  const Error& error = [&]() -> const Error& {
    if constexpr (requires { result.error().error; }) {
      return result.error().error;
    } else {
      return result.error();
    }
  }();
  if (error.code == "INTERNAL_ERROR" || error.code == "STORAGE_UNAVAILABLE" || error.code == "OVERLOADED")
    scene.faults.push_back(error.code + ": " + error.message);
}

}  // namespace

// ---------------------------------------------------------------- stores

domain::OrderEvent ann(const std::string& id, std::vector<std::string> skus, int minute) {
  return Scene::order(id, "Ann", std::move(skus), minute);
}
UseCase accept(const std::string& name, const domain::OrderEvent& event) {
  return {name, [event](Scene& scene, Node& node) { node.accept(scene.integration, event); }};
}
UseCase accept() {
  return accept("accept", ann());
}
UseCase accept_another() {
  return accept("accept another", ann("2", {"sku-1", "sku-2"}));
}
UseCase edit() {
  return accept("an edit", ann("1", {"sku-1", "sku-2", "sku-3"}, 2));
}
UseCase cancel() {
  return accept("a cancellation", Scene::cancelled("1", 3));
}
UseCase refund(const std::string& line) {
  return accept("a refund of " + line, Scene::refund("1", "r-" + line, {{line, 1}}));
}
UseCase pay_again() {
  return accept("paid again", ann("1", {"sku-1"}, 4));
}
UseCase withdraw_payment() {
  auto event = ann("1", {"sku-1", "sku-2"}, 3);
  event.payment = domain::Payment::awaiting_payment;
  return accept("the payment is withdrawn", event);
}
UseCase high_risk() {
  return accept("a high risk", {.kind = domain::OrderEvent::Kind::risk,
                                .provider = domain::Provider::provider_a,
                                .order_id = "1",
                                .high_risk = true});
}
UseCase corrected() {
  return accept("the store corrects the name", ann("1", {"sku-1"}, 2));
}
UseCase erasure() {
  domain::OrderEvent event{.kind = domain::OrderEvent::Kind::customer_redact,
                           .provider = domain::Provider::provider_a};
  event.order_ids = {"1"};
  return accept("an erasure", event);
}

// ---------------------------------------------------------------- the worker

UseCase work(const std::string& name) {
  return {name, [](Scene&, Node& node) { node.work(); }};
}
UseCase answer(const std::string& call) {
  return {call + " is answered", [](Scene& scene, Node& node) {
            scene.world.cloud.release();
            node.pass(Millis{25});
          }};
}

// ---------------------------------------------------------------- merchants

using Act = Task<Expected<services::DeliveryView>> (services::DeliveryActions::*)(Executor&,
                                                                                  identity::Principal,
                                                                                  DeliveryId);
UseCase act(const std::string& name, Act how) {
  return {name, [how](Scene& scene, Node& node) {
            done(scene,
                 node.await((node.actions.*how)(node.scheduler, scene.merchant(), scene.delivery("1"))));
          }};
}
UseCase approve() {
  return act("approve", &services::DeliveryActions::approve);
}
UseCase reopen() {
  return act("reopen", &services::DeliveryActions::reopen);
}
UseCase complete() {
  return act("complete", &services::DeliveryActions::complete);
}
UseCase retry(const std::string& name, std::optional<std::string> user) {
  return {name, [user](Scene& scene, Node& node) {
            done(scene,
                 node.await(node.actions.retry(node.scheduler, scene.merchant(), scene.delivery("1"), user)));
          }};
}
UseCase retry() {
  return retry("retry", {});
}
UseCase rename(const std::string& user) {
  return retry("retry as " + user, user);
}
UseCase invalidate() {
  return {"invalidate", [](Scene& scene, Node& node) {
            done(scene, node.await(node.actions.invalidate(node.scheduler, scene.merchant(),
                                                           scene.delivery("1"), "fraud")));
          }};
}
UseCase revoke() {
  return {"revoke", [](Scene& scene, Node& node) {
            done(scene,
                 node.await(node.actions.revoke(node.scheduler, scene.merchant(), scene.delivery("1"))));
          }};
}
UseCase reprocess() {
  return {"reprocess", [](Scene& scene, Node& node) {
            done(scene, node.await(node.orders.reprocess(node.scheduler, scene.merchant(),
                                                         OrderId{scene.delivery("1").value})));
          }};
}
UseCase grant() {
  return {"grant", [](Scene& scene, Node& node) {
            done(scene, node.await(node.credits.grant(node.scheduler, scene.account, 5, "", "op")));
          }};
}
UseCase rename_second() {
  return {"retry the other as Ann", [](Scene& scene, Node& node) {
            done(scene, node.await(node.actions.retry(node.scheduler, scene.merchant(), scene.delivery("2"),
                                                      std::string("Ann"))));
          }};
}
UseCase settle_purchase() {
  return {"settle a purchase", [](Scene& scene, Node& node) {
            done(scene, node.await(node.settlement.settle(node.scheduler, scene.purchase)));
          }};
}
UseCase notice() {
  return {"a webhook of a purchase", [](Scene& scene, Node& node) {
            services::Purchases purchases(node.async_db, node.ids, &node.settlement, {});
            done(scene, node.await(purchases.noticed(node.scheduler,
                                                     scene.world.processor.sent_notices.back().notice)));
          }};
}
UseCase give_back(std::int64_t total) {
  return {"give back " + std::to_string(total), [total](Scene& scene, Node& node) {
            services::Refunds refunds(node.async_db, node.ids, node.settlement);
            done(scene, node.await(refunds.give_back(node.scheduler, {scene.purchase, total, "op"})));
          }};
}
UseCase save_login(const std::string& user) {
  return {"save a login of " + user, [user](Scene& scene, Node& node) {
            done(scene, node.await(node.vault.save(node.scheduler, scene.merchant(), user + "@example.com",
                                                   crypto::SecretString("secret"))));
          }};
}
UseCase remove_login() {
  return {"remove the login", [](Scene& scene, Node& node) {
            done(scene, node.await(node.vault.remove(node.scheduler, scene.merchant())));
          }};
}
UseCase check_login() {
  return {"check the login", [](Scene& scene, Node& node) {
            done(scene, node.await(node.vault.check_due(node.scheduler, 10)));
          }};
}
UseCase save_mappings() {
  return {"save mappings", [](Scene& scene, Node& node) {
            done(scene,
                 node.await(node.integrations.replace_mappings(
                     node.scheduler, scene.merchant(), scene.integration, {},
                     {{.match_value = "sku-1", .file_id = "file-2", .kind = "preset", .file_name = "2"},
                      {.match_value = "sku-2", .file_id = "file-2", .kind = "preset", .file_name = "2"}})));
          }};
}
UseCase both(const UseCase& first, const UseCase& then) {
  return {first.name + ", then " + then.name, [first, then](Scene& scene, Node& node) {
            first.run(scene, node);
            then.run(scene, node);
          }};
}

}  // namespace presetbridge::interleavings
