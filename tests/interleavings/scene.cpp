#include "scene.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "storage/schema/migrations.h"
#include "storage/stores/change_store.h"
#include "storage/stores/integration_store.h"
#include "storage/stores/subscription_store.h"

namespace presetbridge::interleavings {
namespace {

using storage::Sql;
using storage::Tx;

constexpr Timestamp kStart = from_unix_ms(1'790'000'000'000);

std::string actor_name(int actor) {
  return fmt::format("actor{}", actor);
}

std::unique_ptr<storage::Database> open(const std::string& url, const std::string& name, const Clock& clock) {
  auto options = storage::testing::patient(url + "&application_name=" + name);
  options.writers = 1;
  options.readers = 1;
  auto opened = storage::open_postgres(std::move(options), &clock);
  if (!opened) throw std::runtime_error(opened.error().message);
  return std::move(*opened);
}

}  // namespace

Stage::Stage() : stepper([this](int actor) { return waits_for_lock(actor); }) {
  // Two that wait for each other are broken up at once; who looks for a lock's holder is asked more often.
  server_.run(
      "DO $$ BEGIN EXECUTE 'ALTER DATABASE ' || current_database() || ' SET deadlock_timeout = 10'; END $$");
  desk_ = open(server_.url(), "desk", clock);
  migrate(*desk_).value();
  for (int actor = 0; actor < kActors; ++actor) {
    stepped_[static_cast<std::size_t>(actor)] =
        stepper.step(open(server_.url(), actor_name(actor), clock), actor, clock);
  }
  static constexpr Sql kTables{
      "SELECT CAST(tablename AS TEXT) FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename"};
  desk_->read([&](Tx& tx) {
    tables_.clear();
    tx.query(kTables, [&](const storage::Row& row) { tables_.push_back(row.string(0)); });
  });
  // What a migration writes stays.
  std::erase_if(tables_, [&](const std::string& table) {
    return server_.run(fmt::format("SELECT count(*) FROM {}", table)) != "0";
  });
}

bool Stage::waits_for_lock(int actor) {
  static constexpr Sql kWaits{
      "SELECT CAST(COALESCE(max(cardinality(pg_blocking_pids(pid))), 0) AS BIGINT)"
      " FROM pg_stat_activity WHERE application_name = $1 AND state = 'active'"};
  bool waits = false;
  desk_->read([&](Tx& tx) {
    waits = tx.one(kWaits, actor_name(actor), [](const storage::Row& row) { return row.flag(0); }).value();
  });
  return waits;
}

void Stage::clear() {
  clock.set(kStart);
  // Emptying a table anew costs more than deleting a few rows, and keeps none of what they were.
  constexpr int kEachSo = 100;
  std::string script;
  if (++cleared_ % kEachSo == 0) {
    script = fmt::format("TRUNCATE {};", fmt::join(tables_, ", "));
  } else {
    script = "SET LOCAL session_replication_role = replica;";  // in any order
    for (const auto& table : tables_) script += fmt::format("DELETE FROM {};", table);
  }
  desk_->write([&](Tx& tx) { tx.exec_script(script); });
}

services::WorkerOptions Scene::options(const Merchant& merchant) {
  return {.jobs_per_minute = merchant.jobs_per_minute,
          .poll = std::chrono::minutes{1},
          .maintenance = Millis{30'000}};
}

Scene::Scene(Stage& its_stage, const Merchant& merchant) : stage(its_stage), options_(options(merchant)) {
  account = desk.ids.make<AccountId>();
  integration = desk.ids.make<IntegrationId>();
  subscription = desk.ids.make<SubscriptionId>();
  desk.database.write([&](Tx& tx) {
    tx.exec_script(
        fmt::format("INSERT INTO accounts (id, name, created_at, granted) VALUES ({}, 'Merchant', 0, {});",
                    account.value, merchant.credits));
    CloudAccountId cloud_account;
    if (merchant.login) {
      cloud_account = find_or_insert_cloud_account(tx, "m-1", "merchant", CloudAccountId{desk.ids.next()});
      update_standing(tx, account, {storage::CredentialsStatus::valid, 1, cloud_account});
      put_credentials(tx, {.account = account, .version = 1, .masked_email = "m***@x", .saved_at = tx.now()},
                      std::vector<std::byte>(8));
    }
    insert_integration(
        tx, {.id = integration,
             .account = account,
             .name = "Store",
             .provider = domain::Provider::provider_a,
             .encrypted_secret = world.cipher.encrypt({"integrations.secret", integration.value}, "secret"),
             .secret_preview = "…ret",
             .created_at = tx.now()});
    std::vector<storage::MappingRow> mappings;
    for (int i = 1; i <= 3; ++i) {
      const std::string n = std::to_string(i);
      mappings.push_back({{desk.ids.make<MappingId>(), domain::MatchType::sku, "sku-" + n,
                           domain::MappingAction::deliver, "file-" + n, "preset", "File " + n},
                          "sku-" + n,
                          false});
    }
    replace_mappings(tx, integration, mappings);
    storage::SubscriptionRow row{.id = subscription, .account = account, .url = "https://shop.example/"};
    row.encrypted_secret = std::vector<std::byte>(3);
    insert_subscription(tx, row);
    watch_account(tx, account, 1, tx.now() + std::chrono::hours{24});
  });
}

domain::OrderEvent Scene::order(const std::string& id, const std::string& user, std::vector<std::string> skus,
                                int minute) {
  domain::OrderEvent event{.provider = domain::Provider::provider_a,
                           .order_id = id,
                           .order_number = "#" + id,
                           .email = "buyer@example.com",
                           .raw_username = user,
                           .username = user};
  for (std::size_t i = 0; i < skus.size(); ++i)
    event.lines.push_back({.line_id = "L" + std::to_string(i + 1), .sku = skus[i]});
  event.updated_at = kStart - std::chrono::hours{1} + std::chrono::minutes{minute};
  return event;
}

domain::OrderEvent Scene::refund(const std::string& id, const std::string& refund,
                                 std::vector<domain::RefundLine> lines) {
  domain::OrderEvent event{
      .kind = domain::OrderEvent::Kind::refund, .provider = domain::Provider::provider_a, .order_id = id};
  event.refunds = {{refund, std::move(lines)}};
  return event;
}

domain::OrderEvent Scene::cancelled(const std::string& id, int minute) {
  domain::OrderEvent event{.kind = domain::OrderEvent::Kind::stop,
                           .provider = domain::Provider::provider_a,
                           .order_id = id,
                           .payment = domain::Payment::cancelled};
  event.updated_at = kStart - std::chrono::hours{1} + std::chrono::minutes{minute};
  return event;
}

void Scene::accepted(domain::OrderEvent event) {
  const auto id = event.order_id;
  deliveries_[id] = desk.accept(integration, std::move(event)).delivery.value();
}

void Scene::delivered(domain::OrderEvent event) {
  accepted(std::move(event));
  settle();
}

void Scene::settle() {
  desk.start_worker();
  desk.pass(Millis{25});
  if (!desk.stop_worker()) faults.emplace_back("the desk's worker does not end");
}

void Scene::make_sweep_due() {
  static constexpr Sql kDue{"UPDATE cloud_accounts SET sweep_due_at = $1, ready_at = $1"};
  desk.database.write([](Tx& tx) { tx.exec(kDue, tx.now()); });
}

void Scene::hold_at(Node& node, const std::string& call, FakeCloud::Fate fate) {
  bool held = false;
  world.cloud.before = [&held, call, fate](const std::string& made, const std::string&) {
    return made == call && !std::exchange(held, true) ? fate : FakeCloud::Fate::answer;
  };
  node.start_worker();
  node.pass(Millis{25});
  world.cloud.before = nullptr;
  if (world.cloud.held() == 0) faults.push_back("no job is held at " + call);
}

void Scene::set_integration(const std::function<void(storage::IntegrationRow&)>& change) {
  desk.database.write([&](Tx& tx) {
    auto row = lock_integration(tx, integration).value();
    change(row);
    update_integration(tx, row);
  });
}

PurchaseId Scene::paid_purchase(std::int64_t credits) {
  const auto id = desk.ids.make<PurchaseId>();
  const std::string session = FakeProcessor::session_of(to_string(id));
  desk.database.write([&](Tx& tx) {
    storage::PurchaseRow row{.id = id,
                             .account = account,
                             .actor = "system",
                             .created_at = tx.now(),
                             .pack_id = "small",
                             .pack_name = "Credits",
                             .credits = credits,
                             .amount = 1'000,
                             .currency = "eur",
                             .expires_at = tx.now() + std::chrono::hours{1}};
    insert_purchase(tx, row);
    row.session = session;
    update_purchase(tx, row);
  });
  desk.await(world.processor.open_checkout(desk.scheduler, {.purchase = to_string(id),
                                                            .account = to_string(account),
                                                            .name = "Credits",
                                                            .amount = 1'000,
                                                            .currency = "eur"}));
  world.processor.pay(session);
  return id;
}

void Scene::rest(Millis time) {
  world.cloud.before = nullptr;
  for (auto& node : nodes) {
    if (node.worker && !node.stop_worker()) faults.emplace_back("a worker does not end");
  }
  if (!desk.worker) desk.start_worker();
  desk.scheduler.advance(time);
}

}  // namespace presetbridge::interleavings
