#include "pairs.h"

#include <iterator>

#include "storage/stores/account_task_store.h"

namespace presetbridge::interleavings {
namespace {

using Fate = FakeCloud::Fate;
using Prepare = std::function<void(Scene&)>;
using storage::Tx;

constexpr int kOne = 0;  // the node of Pair::one
constexpr int kTwo = 1;

// ---------------------------------------------------------------- what is there before

Prepare held(int node, const std::string& call, Fate fate, std::vector<domain::OrderEvent> orders) {
  return [=](Scene& scene) {
    for (const auto& event : orders) scene.accepted(event);
    scene.hold_at(scene.nodes[static_cast<std::size_t>(node)], call, fate);
  };
}
Prepare in_turn(std::vector<Prepare> parts) {
  return [parts](Scene& scene) {
    for (const auto& part : parts) part(scene);
  };
}
Prepare queued(const domain::OrderEvent& event) {
  return [event](Scene& scene) { scene.accepted(event); };
}
Prepare delivered(const domain::OrderEvent& event) {
  return [event](Scene& scene) { scene.delivered(event); };
}
Prepare settings(std::function<void(storage::IntegrationRow&)> change) {
  return [change](Scene& scene) { scene.set_integration(change); };
}
Prepare auto_revoke() {
  return settings([](auto& row) { row.auto_revoke = true; });
}
Prepare nobody_accepts() {
  return [](Scene& scene) { scene.world.cloud.auto_accept = false; };
}
Prepare by(const UseCase& use) {
  return [use](Scene& scene) { use.run(scene, scene.desk); };
}
Prepare worker_on(int node) {
  return [node](Scene& scene) { scene.nodes[static_cast<std::size_t>(node)].start_worker(); };
}
Prepare missing_file() {
  return [](Scene& scene) { scene.world.cloud.unknown_files = {"file-1"}; };
}
Prepare missing_user(const std::string& name) {
  return [name](Scene& scene) { scene.world.cloud.unknown_users = {name}; };
}
Prepare paid() {
  return [](Scene& scene) { scene.purchase = scene.paid_purchase(10); };
}
Prepare granted() {
  return in_turn({paid(), by(settle_purchase())});
}
// All of it was granted, and is given back.
Prepare refunded() {
  return [](Scene& scene) {
    granted()(scene);
    scene.world.processor.give_back(FakeProcessor::session_of(to_string(scene.purchase)), 1'000);
  };
}
// Ann has been asked, and has accepted; a sweep is due that will tell of it.
Prepare accepted_by_ann() {
  return in_turn({nobody_accepts(), delivered(ann()), worker_on(kTwo), [](Scene& scene) {
                    scene.world.cloud.accept("u-ann");
                    scene.make_sweep_due();
                  }});
}
// A login that was saved while the platform was away.
Prepare unchecked_login() {
  return [](Scene& scene) {
    scene.desk.database.write([&](Tx& tx) {
      auto standing = lock_standing(tx, scene.account).value();
      standing.status = storage::CredentialsStatus::unchecked;
      update_standing(tx, scene.account, standing);
      auto record = find_credentials(tx, scene.account).value();
      record.check_due_at = tx.now();
      update_credentials(tx, record);
    });
  };
}
// The node has seen these account tasks once, when they might not begin yet: somebody was at work with an order.
Prepare account_tasks_seen(int node, std::vector<storage::AccountTaskKind> kinds) {
  return [=](Scene& scene) {
    scene.desk.database.write([&](Tx& tx) {
      for (const auto kind : kinds) add_account_task(tx, scene.account, kind);
    });
    static constexpr storage::Sql kAtWork{"SELECT id FROM orders WHERE id = 0 <for_update>"};
    scene.desk.database.write([&](Tx& tx) {
      tx.query(kAtWork, [](const storage::Row&) {});
      scene.nodes[static_cast<std::size_t>(node)].start_worker();
    });
  };
}
Prepare late(Millis by) {
  return [by](Scene& scene) { scene.stage.clock.advance(by); };
}

void add(std::vector<Pair>& all, std::vector<Pair> more) {
  std::ranges::move(more, std::back_inserter(all));
}

// ---------------------------------------------------------------- the pairs

std::vector<Pair> of_orders() {
  return {
      {.one = accept(), .two = accept("accept the same", ann())},
      {.one = accept(), .two = accept_another()},
      {.one = accept("accept two files", ann("1", {"sku-1", "sku-2"})),
       .two = accept("a late cancellation", Scene::cancelled("1", 3))},
      {.one = accept(), .two = grant(), .merchant = {.credits = 0}},
      {.one = accept(), .two = both(grant(), work()), .merchant = {.credits = 0}},
      {.one = accept(), .two = save_login("m-1"), .merchant = {.login = false}},
      {.one = accept(), .two = both(save_login("m-1"), work()), .merchant = {.login = false}},
      {.one = accept(), .two = remove_login()},
      {.one = accept(), .two = both(remove_login(), work())},
      {.one = accept(), .two = both(save_login("m-2"), work()), .may_mix = true},
      {.one = accept(), .two = save_mappings()},
      {.one = accept(), .two = both(check_login(), work()), .prepare = unchecked_login()},
      {.one = accept(),
       .two = both(check_login(), work("a node that has seen the account task before")),
       .prepare =
           in_turn({unchecked_login(), account_tasks_seen(kTwo, {storage::AccountTaskKind::reroute})})},
      {.one = edit(), .two = refund("L1"), .prepare = queued(ann())},
      {.one = edit(), .two = cancel(), .prepare = delivered(ann())},
      {.one = refund("L1"),
       .two = refund("L2"),
       .prepare = in_turn({auto_revoke(), delivered(ann("1", {"sku-1", "sku-2"}))})},
      {.one = cancel(), .two = pay_again(), .prepare = in_turn({auto_revoke(), delivered(ann())})},
      {.one = accept_another(), .two = erasure(), .prepare = delivered(ann())},
      {.one = edit(), .two = erasure(), .prepare = delivered(ann())},
      {.one = corrected(), .two = erasure(), .prepare = queued(ann())},
      {.one = edit(), .two = grant(), .prepare = queued(ann()), .merchant = {.credits = 0}},
      {.one = edit(), .two = save_mappings(), .prepare = queued(ann())},
      {.one = accept("accept of a customer", ann("2", {"sku-1"})),
       .two = cancel(),
       .prepare = in_turn({auto_revoke(), delivered(ann())})},
  };
}

std::vector<Pair> of_merchants() {
  return {
      {.one = retry(), .two = rename("Bob"), .prepare = in_turn({nobody_accepts(), delivered(ann())})},
      {.one = rename("Bob"), .two = erasure(), .prepare = in_turn({nobody_accepts(), delivered(ann())})},
      {.one = reopen(), .two = erasure(), .prepare = delivered(ann())},
      {.one = invalidate(), .two = edit(), .prepare = queued(ann())},
      {.one = approve(),
       .two = cancel(),
       .prepare = in_turn({settings([](auto& row) { row.hold_all = true; }), queued(ann())})},
      {.one = approve(),
       .two = remove_login(),
       .prepare = in_turn({settings([](auto& row) { row.hold_all = true; }), queued(ann())})},
      {.one = complete(), .two = edit(), .prepare = in_turn({nobody_accepts(), delivered(ann())})},
      {.one = reopen(), .two = edit(), .prepare = delivered(ann())},
      {.one = revoke(), .two = accept_another(), .prepare = delivered(ann())},
      {.one = revoke(), .two = reopen(), .prepare = delivered(ann())},
      {.one = reprocess(), .two = save_mappings(), .prepare = in_turn({missing_file(), delivered(ann())})},
      {.one = reprocess(), .two = edit(), .prepare = delivered(ann())},
      {.one = retry(), .two = grant(), .prepare = queued(ann()), .merchant = {.credits = 0}},
      {.one = grant(),
       .two = settle_purchase(),
       .prepare = in_turn({queued(ann()), paid()}),
       .merchant = {.credits = 0}},
      {.one = settle_purchase(),
       .two = settle_purchase(),
       .prepare = in_turn({queued(ann()), paid()}),
       .merchant = {.credits = 0}},
      {.one = settle_purchase(), .two = settle_purchase(), .prepare = refunded(), .merchant = {.credits = 5}},
      {.one = notice(), .two = settle_purchase(), .prepare = refunded()},
      {.one = give_back(500), .two = give_back(500), .prepare = granted()},
      {.one = give_back(500), .two = give_back(700), .prepare = granted(), .may_mix = true},
      {.one = give_back(500), .two = settle_purchase(), .prepare = granted()},
      {.one = give_back(500),
       .two = grant(),
       .prepare = in_turn({granted(), queued(ann())}),
       .merchant = {.credits = 0}},
      {.one = save_login("m-1"), .two = remove_login(), .prepare = queued(ann())},
      {.one = save_login("m-2"), .two = save_mappings(), .prepare = queued(ann()), .may_mix = true},
      {.one = save_login("m-1"),
       .two = check_login(),
       .prepare = in_turn({unchecked_login(), queued(ann())})},
      {.one = rename("Bob"),
       .two = accept("Bob orders, too", Scene::order("2", "Bob", {"sku-1"})),
       .prepare = in_turn({nobody_accepts(), delivered(ann())})},
      {.one = accept("the store names Bob", Scene::order("1", "Bob", {"sku-1"}, 2)),
       .two = rename_second(),
       .prepare =
           in_turn({nobody_accepts(), delivered(ann()), delivered(Scene::order("2", "Bob", {"sku-1"}))}),
       .may_meet = true},
      {.one = rename("Bob"),
       .two = rename_second(),
       .prepare =
           in_turn({nobody_accepts(), delivered(ann()), delivered(Scene::order("2", "Bob", {"sku-1"}))}),
       .may_meet = true},
      {.one = save_login("m-1"), .two = save_login("m-2"), .prepare = queued(ann()), .may_mix = true},
      {.one = approve(), .two = pay_again(), .prepare = in_turn({queued(ann()), by(withdraw_payment())})},
      {.one = grant(),
       .two = settle_purchase(),
       .prepare = in_turn({refunded(), queued(ann())}),
       .merchant = {.credits = 0}},
  };
}

std::vector<Pair> of_jobs() {
  using Orders = std::vector<domain::OrderEvent>;
  const Orders one{ann()};
  const Orders two_files{ann("1", {"sku-1", "sku-2"})};
  const auto sharing = [](const Orders& orders) { return held(kOne, "share", Fate::hold_done, orders); };
  const auto finding = held(kOne, "find_user", Fate::hold, one);
  const auto asking = in_turn({nobody_accepts(), held(kOne, "request", Fate::hold_done, one)});
  const auto share = answer("a share");
  // The process with the job is gone.
  const auto lost_by_desk = [](Scene& scene) {
    scene.accepted(ann("1", {"sku-1", "sku-2"}));
    scene.hold_at(scene.desk, "share", Fate::hold_done);
    scene.desk.lose_worker();
    scene.stage.clock.advance(Millis{45'000});
  };
  const auto lost = lost_by_desk;
  return {
      {.one = work(), .two = accept_another(), .prepare = in_turn({worker_on(kOne), queued(ann())})},
      {.one = work(),
       .two = work("work elsewhere"),
       .prepare = in_turn({worker_on(kOne), worker_on(kTwo), queued(ann())})},
      {.one = work(),
       .two = work("work elsewhere, both within a limit"),
       .prepare = in_turn(
           {worker_on(kOne), worker_on(kTwo), queued(ann()), queued(Scene::order("2", "Bob", {"sku-1"}))}),
       .merchant = {.jobs_per_minute = 1}},
      {.one = work(),
       .two = invalidate(),
       .prepare = in_turn({worker_on(kOne), queued(ann("1", {"sku-1", "sku-2"}))}),
       .may_mix = true},
      {.one = work(),
       .two = cancel(),
       .prepare = in_turn({worker_on(kOne), queued(ann("1", {"sku-1", "sku-2"}))}),
       .may_mix = true},
      {.one = work(),
       .two = remove_login(),
       .prepare = in_turn({worker_on(kOne), queued(ann("1", {"sku-1", "sku-2"}))}),
       .may_mix = true},
      {.one = share, .two = accept_another(), .prepare = sharing(one)},
      {.one = share,
       .two = accept("accept of another buyer", Scene::order("2", "Bob", {"sku-1"})),
       .prepare = sharing(one)},
      {.one = share, .two = invalidate(), .prepare = sharing(two_files), .may_mix = true},
      {.one = share, .two = reopen(), .prepare = sharing(two_files), .may_mix = true},
      {.one = share, .two = rename("Bob"), .prepare = sharing(two_files), .may_mix = true},
      {.one = share, .two = edit(), .prepare = sharing(one), .may_mix = true},
      {.one = share, .two = cancel(), .prepare = sharing(two_files), .may_mix = true},
      {.one = share,
       .two = refund("L2"),
       .prepare = in_turn({auto_revoke(), sharing(two_files)}),
       .may_mix = true},
      {.one = share,
       .two = refund("L1"),
       .prepare = in_turn({auto_revoke(), sharing(two_files)}),
       .may_mix = true},
      {.one = share, .two = erasure(), .prepare = sharing(two_files), .may_mix = true},
      {.one = share, .two = grant(), .prepare = sharing(two_files), .merchant = {.credits = 1}},
      {.one = share, .two = both(grant(), work()), .prepare = sharing(two_files), .merchant = {.credits = 1}},
      {.one = share,
       .two = settle_purchase(),
       .prepare = in_turn({paid(), sharing(two_files)}),
       .merchant = {.credits = 1}},
      {.one = share, .two = save_login("m-2"), .prepare = sharing(two_files), .may_mix = true},
      {.one = share, .two = both(save_login("m-2"), work()), .prepare = sharing(two_files), .may_mix = true},
      {.one = share, .two = remove_login(), .prepare = sharing(two_files), .may_mix = true},
      {.one = share,
       .two = work("a take-over"),
       .prepare = in_turn({sharing(two_files), late(Millis{45'000})})},
      {.one = answer("a share that is not done"),
       .two = work("a take-over"),
       .prepare = in_turn({held(kOne, "share", Fate::hold, two_files), late(Millis{45'000})})},
      {.one = share,
       .two = save_mappings(),
       .prepare = in_turn({missing_file(), held(kOne, "share", Fate::hold, one)})},
      {.one = share,
       .two = both(save_mappings(), work()),
       .prepare = in_turn({missing_file(), held(kOne, "share", Fate::hold, one)})},
      {.one = answer("find_user"),
       .two = rename("Ann"),
       .prepare = in_turn({missing_user("Anm"),
                           held(kOne, "find_user", Fate::hold, {Scene::order("1", "Anm", {"sku-1"})})})},
      {.one = answer("find_user"),
       .two = corrected(),
       .prepare = in_turn({missing_user("Anm"),
                           held(kOne, "find_user", Fate::hold, {Scene::order("1", "Anm", {"sku-1"})})})},
      {.one = answer("find_user"), .two = accept_another(), .prepare = finding},
      {.one = answer("find_user"),
       .two = accept("accept by another name", Scene::order("2", "Annie", {"sku-1"})),
       .prepare = in_turn({[](Scene& scene) { scene.world.cloud.other_ids["Annie"] = "u-ann"; },
                           held(kOne, "find_user", Fate::hold, one)})},
      {.one = answer("find_user"), .two = remove_login(), .prepare = finding, .may_mix = true},
      {.one = answer("find_user"), .two = erasure(), .prepare = finding, .may_mix = true},
      {.one = work(),
       .two = erasure(),
       .prepare = in_turn({worker_on(kOne), queued(ann("1", {"sku-1", "sku-2"}))}),
       .may_mix = true},
      {.one = answer("a friend request"), .two = accept_another(), .prepare = asking},
      {.one = answer("a friend request"), .two = rename("Bob"), .prepare = asking, .may_mix = true},
      {.one = answer("a friend request"), .two = cancel(), .prepare = asking},
      {.one = answer("a friend request"), .two = erasure(), .prepare = asking, .may_mix = true},
      {.one = answer("a friend request"),
       .two = work("a sweep"),
       .prepare = in_turn({asking, worker_on(kTwo),
                           [](Scene& scene) {
                             scene.world.cloud.change("u-ann", cloud::FriendshipState::declined);
                             scene.make_sweep_due();
                           }})},
      {.one = share,
       .two = answer("another share"),
       .prepare = in_turn({sharing(one), held(kTwo, "share", Fate::hold_done,
                                              {Scene::order("2", "Bob", {"sku-1", "sku-2"})})}),
       .merchant = {.credits = 2}},
      {.one = share, .two = withdraw_payment(), .prepare = sharing(two_files), .may_mix = true},
      {.one = share, .two = high_risk(), .prepare = sharing(two_files), .may_mix = true},
      {.one = share,
       .two = settle_purchase(),
       .prepare = in_turn({refunded(), sharing(two_files)}),
       .merchant = {.credits = 0},
       .may_mix = true},
      {.one = invalidate(), .two = work("a take-over"), .prepare = lost, .may_mix = true},
      {.one = rename("Bob"), .two = work("a take-over"), .prepare = lost, .may_mix = true},
      {.one = accept_another(), .two = work("a take-over"), .prepare = lost},
      {.one = work("a take-over elsewhere"), .two = work("a take-over"), .prepare = lost_by_desk},
  };
}

// A login that is refused while another is saved; the platform refuses the first from now on.
Prepare refused_login() {
  return [](Scene& scene) {
    scene.nodes[kOne].start_worker();
    scene.world.agent.refused = {1};
    scene.accepted(ann());
  };
}

std::vector<Pair> of_sweeps_and_account_tasks() {
  const auto declined = in_turn({nobody_accepts(), delivered(ann()), worker_on(kTwo), [](Scene& scene) {
                                   scene.world.cloud.change("u-ann", cloud::FriendshipState::declined);
                                   scene.make_sweep_due();
                                 }});
  const auto two_report =
      in_turn({nobody_accepts(), delivered(ann()), delivered(Scene::order("2", "Bob", {"sku-1"})),
               worker_on(kTwo), [](Scene& scene) {
                 scene.world.cloud.accept("u-ann");
                 scene.world.cloud.accept("u-bob");
                 scene.make_sweep_due();
               }});
  const auto poor = in_turn({queued(ann()), queued(ann("2", {"sku-2"})), by(grant())});
  const auto no_login = in_turn({queued(ann()), by(save_login("m-1"))});
  const auto moved = in_turn({nobody_accepts(), delivered(ann()), by(save_login("m-2"))});
  const auto task = [](const std::string& of) { return work("the account task of " + of); };
  return {
      {.one = accept_another(), .two = work("a sweep"), .prepare = accepted_by_ann()},
      {.one = rename("Bob"), .two = work("a sweep"), .prepare = accepted_by_ann(), .may_mix = true},
      {.one = cancel(), .two = work("a sweep"), .prepare = accepted_by_ann(), .may_mix = true},
      {.one = erasure(), .two = work("a sweep"), .prepare = accepted_by_ann(), .may_mix = true},
      {.one = save_login("m-2"), .two = work("a sweep"), .prepare = accepted_by_ann(), .may_mix = true},
      {.one = remove_login(), .two = work("a sweep"), .prepare = accepted_by_ann(), .may_mix = true},
      {.one = rename("Bob"),
       .two = work("a sweep that tells of both"),
       .prepare = two_report,
       .may_mix = true},
      {.one = retry(), .two = work("a sweep that tells of a refusal"), .prepare = declined, .may_mix = true},
      {.one = accept_another(),
       .two = work("a sweep that tells of a refusal"),
       .prepare = declined,
       .may_mix = true},
      {.one = work(), .two = save_login("m-1"), .prepare = refused_login()},
      {.one = work(), .two = both(save_login("m-1"), work()), .prepare = refused_login()},
      {.one = accept("accept a third", ann("3", {"sku-3"})),
       .two = task("credits"),
       .prepare = poor,
       .merchant = {.credits = 0}},
      {.one = invalidate(),
       .two = task("credits"),
       .prepare = poor,
       .merchant = {.credits = 0},
       .may_mix = true},
      {.one = edit(), .two = task("credits"), .prepare = poor, .merchant = {.credits = 0}, .may_mix = true},
      {.one = grant(), .two = task("credits"), .prepare = poor, .merchant = {.credits = 0}},
      {.one = task("credits"),
       .two = work("the same elsewhere"),
       .prepare = poor,
       .merchant = {.credits = 0}},
      {.one = remove_login(),
       .two = task("credits"),
       .prepare = poor,
       .merchant = {.credits = 0},
       .may_mix = true},
      {.one = accept_another(),
       .two = task("a first login"),
       .prepare = no_login,
       .merchant = {.login = false},
       .may_mix = true},
      {.one = remove_login(),
       .two = task("a first login"),
       .prepare = no_login,
       .merchant = {.login = false},
       .may_mix = true},
      {.one = retry(), .two = task("a first login"), .prepare = no_login, .merchant = {.login = false}},
      {.one = accept_another(), .two = task("another login"), .prepare = moved, .may_mix = true},
      {.one = invalidate(), .two = task("another login"), .prepare = moved, .may_mix = true},
      {.one = save_login("m-1"), .two = task("another login"), .prepare = moved, .may_mix = true},
      {.one = retry(),
       .two = task("mappings"),
       .prepare = in_turn({missing_file(), delivered(ann()), by(save_mappings())})},
      {.one = save_mappings(),
       .two = task("mappings"),
       .prepare = in_turn({missing_file(), delivered(ann()), by(save_mappings())})},
      {.one = cancel(),
       .two = task("mappings"),
       .prepare = in_turn({missing_file(), delivered(ann()), by(save_mappings())}),
       .may_mix = true},
      {.one = accept_another(),
       .two = task("a login that is gone"),
       .prepare = in_turn({queued(ann()), by(remove_login())})},
      {.one = pay_again(),
       .two = work("a revocation"),
       .prepare = in_turn({auto_revoke(), delivered(ann()), by(cancel())}),
       .may_mix = true},
      {.one = accept_another(),
       .two = work("a revocation"),
       .prepare = in_turn({auto_revoke(), delivered(ann()), by(cancel())}),
       .may_mix = true},
  };
}

}  // namespace

std::vector<Pair> pairs() {
  std::vector<Pair> all;
  add(all, of_orders());
  add(all, of_merchants());
  add(all, of_jobs());
  add(all, of_sweeps_and_account_tasks());
  return all;
}

}  // namespace presetbridge::interleavings
