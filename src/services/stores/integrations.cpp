#include "services/stores/integrations.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <tuple>

#include "base/utf8.h"
#include "crypto/encoding.h"
#include "identity/audit.h"
#include "services/accounts/account_lock.h"
#include "services/stores/products.h"
#include "services/webhooks/secret_rotation.h"
#include "storage/stores/account_task_store.h"
#include "storage/stores/api_key_store.h"
#include "storage/stores/credential_store.h"

namespace presetbridge::services {
namespace {

using identity::Principal;
using storage::IntegrationRow;
using storage::SecretSetBy;
using storage::Tx;

// 238 bits. has_entered_secret() knows secrets of programs of before by this length: they made all of theirs so long.
constexpr std::size_t kSecretLength = 40;
constexpr int kMaxSaves = 3;  // of mappings, while the account's login becomes other users'
// A save of mappings that has not come so far by then never does.
constexpr Millis kSaveGivenUpAfter = std::chrono::hours{1};

crypto::ValuePlace place_of(IntegrationId id) {
  return {storage::kStoreSecret, id.value};
}

// Its last four characters, whole: a secret that a shop dictates may be any text.
std::string preview_of(std::string_view secret) {
  std::size_t start = secret.size();
  for (int characters = 0; characters < 4 && start > 0; ++characters) {
    do {
      --start;
    } while (start > 0 && goes_on(secret[start]));
  }
  return "…" + std::string(secret.substr(start));
}

// Writes down what is known of the row's secret, whose preview the row has. `changed_at`: nothing where it is the store's first.
void note_secret(IntegrationRow& row, bool entered, std::optional<Timestamp> changed_at) {
  row.secret_set_by = entered ? SecretSetBy::merchant : SecretSetBy::service;
  row.secret_changed_at = changed_at;
  row.secret_noted_for = row.secret_preview;
}
bool is_secret_noted(const IntegrationRow& row) {
  return row.secret_set_by != SecretSetBy::unknown && row.secret_noted_for == row.secret_preview;
}

std::unexpected<Error> no_such_integration() {
  return fail("NOT_FOUND", "There is no such integration.");
}
std::unexpected<Error> changed_since() {
  return fail("CONFLICT", "The integration has changed since that version was read. Read it again.");
}
Error invalid(std::vector<FieldProblem> problems) {
  return {"VALIDATION_FAILED", "The request has fields that are not valid.", std::move(problems)};
}

std::optional<IntegrationRow> visible(const Principal& by, std::optional<IntegrationRow> row) {
  if (!row || row->account != by.account || row->archived_at || !by.sees(row->id)) return std::nullopt;
  return row;
}

std::vector<IntegrationView> views(Tx& tx, std::vector<IntegrationRow> rows) {
  std::vector<IntegrationId> ids;
  for (const auto& row : rows) ids.push_back(row.id);
  const auto mappings = count_mappings(tx, ids);
  // The hour under way and those before it.
  const auto since = std::chrono::floor<std::chrono::hours>(tx.now()) - std::chrono::hours{23};
  auto activity = find_store_activity(tx, ids, since);
  std::vector<IntegrationView> shown;
  for (std::size_t i = 0; i < rows.size(); ++i)
    shown.push_back({std::move(rows[i]), mappings[i], std::move(activity[i])});
  return shown;
}
IntegrationView view(Tx& tx, IntegrationRow row) {
  return std::move(views(tx, {std::move(row)}).front());
}

IntegrationRow lock_unchanged(Tx& tx, const Principal& by, IntegrationId id,
                              std::optional<std::int64_t> version) {
  auto row = visible(by, lock_integration(tx, id));
  if (!row) throw no_such_integration().error();
  if (version && *version != row->version) throw changed_since().error();
  return std::move(*row);
}

// Throws, which rolls back.
void apply(Tx& tx, IntegrationRow& row, const IntegrationChange& change) {
  if (change.owning_key && *change.owning_key && !find_api_key(tx, row.account, *change.owning_key)) {
    throw invalid({{"owningKeyId", "is not one of your API keys"}});
  }
  if (change.active) row.active = *change.active;
  if (change.owning_key) row.owning_key = *change.owning_key;
  if (change.require_api_key) row.require_api_key = *change.require_api_key;
  if (change.hold_all) row.hold_all = *change.hold_all;
  if (change.deliver_test_orders) row.deliver_test_orders = *change.deliver_test_orders;
  if (change.auto_revoke) row.auto_revoke = *change.auto_revoke;
  if (change.username_fields) row.username_fields = *change.username_fields;
}

using identity::ChangedField;

void audit(Tx& tx, IdSource& ids, const Principal& by, std::string_view action, IntegrationId id,
           std::string_view detail, std::vector<ChangedField> changes = {}) {
  identity::audit(tx, ids, by, {action, to_string(id), std::string(detail), std::move(changes)});
}

std::string text_of(bool flag) {
  return flag ? "true" : "false";
}

// As the API names and writes them; no secret is among them.
std::vector<ChangedField> changes_between(const IntegrationRow& from, const IntegrationRow& to) {
  const auto key = [](ApiKeyId id) { return id ? to_string(id) : std::string(); };
  const auto hold = [](bool all) { return std::string(all ? "all" : "none"); };
  const auto names = [](const std::vector<std::string>& all) {
    return fmt::format("{}", fmt::join(all, ", "));
  };
  return {{"name", from.name, to.name},
          {"active", text_of(from.active), text_of(to.active)},
          {"owningKeyId", key(from.owning_key), key(to.owning_key)},
          {"settings.requireApiKey", text_of(from.require_api_key), text_of(to.require_api_key)},
          {"settings.hold", hold(from.hold_all), hold(to.hold_all)},
          {"settings.deliverTestOrders", text_of(from.deliver_test_orders), text_of(to.deliver_test_orders)},
          {"settings.autoRevoke", text_of(from.auto_revoke), text_of(to.auto_revoke)},
          {"settings.usernameFields", names(from.username_fields), names(to.username_fields)}};
}

using MappingKey = std::tuple<domain::MatchType, std::string, std::string>;
MappingKey key_of(const domain::Mapping& m) {
  return {m.type, m.value, m.file_id};
}

// Deletes one batch; whether there may be more.
bool delete_batch(Tx& tx, IntegrationId id) {
  int left = storage::kMappingBatch;
  for (const auto& remains : find_mapping_remains(tx, id)) {
    left -= static_cast<int>(delete_mapping_remains(tx, remains, left));
    if (left == 0) return true;
  }
  return false;
}

}  // namespace

bool has_entered_secret(const IntegrationRow& row) {
  if (is_secret_noted(row)) return row.secret_set_by == SecretSetBy::merchant;
  return crypto::service_value_text_size(row.encrypted_secret).value_or(kSecretLength) != kSecretLength;
}

std::optional<Timestamp> secret_changed_at(const IntegrationRow& row) {
  return is_secret_noted(row) ? row.secret_changed_at : std::nullopt;
}

CheckedMappings check_mappings(const std::vector<WantedMapping>& wanted, const MappingLimits& limits,
                               const std::function<std::string(std::size_t)>& place) {
  CheckedMappings checked;
  const auto problem = [&](std::size_t index, std::string_view field, std::string text) {
    checked.problems.push_back({index, field, std::move(text)});
  };
  std::map<std::pair<domain::MatchType, std::string>, std::size_t> of_key;
  std::map<MappingKey, std::size_t> seen;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto& w = wanted[i];
    const bool delivers = w.action == domain::MappingAction::deliver;
    storage::MappingRow row{{{},
                             w.type,
                             domain::normalise_match_value(w.type, w.match_value),
                             w.action,
                             w.file_id,
                             w.kind,
                             w.file_name},
                            w.match_value,
                            w.stale,
                            {}};
    if (row.mapping.value.empty()) problem(i, "matchValue", "is empty, and would match nothing");
    if (delivers && w.file_id.empty()) problem(i, "fileId", "is required to deliver");
    if (!delivers && !w.file_id.empty()) problem(i, "fileId", "must be left out to ignore");
    if (const auto [first, added] = seen.emplace(key_of(row.mapping), i); !added) {
      problem(i, "matchValue", "says the same as " + place(first->second));
    }
    // The first that is too much, of each key.
    if (++of_key[{row.mapping.type, row.mapping.value}] == limits.of_key + 1) {
      problem(i, "matchValue", fmt::format("has more than {} mappings", limits.of_key));
    }
    checked.rows.push_back(std::move(row));
  }
  return checked;
}

std::vector<const storage::MappingRow*> match_saved(std::vector<storage::MappingRow>& wanted,
                                                    const std::vector<storage::MappingRow>& saved) {
  std::map<MappingKey, const storage::MappingRow*> known;
  for (const auto& mapping : saved) known.emplace(key_of(mapping.mapping), &mapping);
  std::vector<const storage::MappingRow*> rows;
  rows.reserve(wanted.size());
  for (auto& mapping : wanted) {
    const auto found = known.find(key_of(mapping.mapping));
    const auto* const row = rows.emplace_back(found == known.end() ? nullptr : found->second);
    mapping.stale = mapping.stale && row != nullptr && row->stale;
    if (mapping.stale) mapping.made_for = row->made_for;
  }
  return rows;
}

Expected<std::vector<storage::MappingRow>> checked_mappings(const std::vector<WantedMapping>& wanted,
                                                            const MappingLimits& limits) {
  if (wanted.size() > limits.of_store) {
    return std::unexpected(
        invalid({{"mappings", fmt::format("must have at most {} elements", limits.of_store)}}));
  }
  const auto place = [](std::size_t i) { return fmt::format("mappings[{}]", i); };
  auto checked = check_mappings(wanted, limits, place);
  if (checked.problems.empty()) return std::move(checked.rows);
  std::vector<FieldProblem> problems;
  for (auto& [index, field, text] : checked.problems)
    problems.push_back({fmt::format("{}.{}", place(index), field), std::move(text)});
  return std::unexpected(invalid(std::move(problems)));
}

Task<Expected<IssuedIntegration>> Integrations::create(Executor& executor, Principal by,
                                                       NewIntegration wanted) {
  if (!by.integrations.all()) {
    co_return fail("FORBIDDEN", "A key that is limited to some integrations cannot add one.");
  }
  const auto secret = wanted.secret ? *wanted.secret : crypto::random_base62(random_, kSecretLength);
  auto made = co_await async_db_.write(executor, [&](Tx& tx) {
    lock_account_of(tx, by);
    if (count_integrations(tx, by.account) >= max_integrations) {
      throw Error{"LIMIT_REACHED",
                  fmt::format("An account has at most {} integrations; archive one first.", max_integrations),
                  {}};
    }
    IntegrationRow row;
    row.id = ids_.make<IntegrationId>();
    row.account = by.account;
    row.name = wanted.name;
    row.provider = wanted.provider;
    row.encrypted_secret = cipher_.encrypt(place_of(row.id), secret);
    row.secret_preview = preview_of(secret);
    note_secret(row, wanted.secret.has_value(), std::nullopt);
    row.created_at = tx.now();
    apply(tx, row, wanted.settings);
    insert_integration(tx, row);
    audit(tx, ids_, by, "integration.created", row.id, to_string(row.provider));
    return view(tx, std::move(row));
  });
  if (!made) co_return std::unexpected(made.error());
  directory_.forget(made->row.id);
  co_return IssuedIntegration{std::move(*made), secret};
}

Task<Expected<storage::Page<IntegrationView>>> Integrations::list(Executor& executor, Principal by,
                                                                  IntegrationFilter filter,
                                                                  storage::PageRequest page) {
  co_return co_await async_db_.read(executor, [&](Tx& tx) {
    const auto wanted = [&](const IntegrationRow& row) {
      return by.sees(row.id) && (!filter.provider || row.provider == *filter.provider) &&
             (!filter.active || row.active == *filter.active);
    };
    // Read on until the page is full; an account has at most max_integrations that are not archived.
    std::vector<IntegrationRow> rows;
    IntegrationId before{page.before};
    bool more = true;
    for (int scanned = 0; more && static_cast<int>(rows.size()) < page.fetch();) {
      // The row that shows that there is a next page is read again.
      if (scanned > max_integrations) {
        storage::Page<IntegrationView> short_page{views(tx, std::move(rows)), before.value};
        return short_page;
      }
      auto batch = filter.archived ? list_archived_integrations(tx, by.account, before, page.fetch())
                                   : list_integrations(tx, by.account, before, page.fetch());
      more = static_cast<int>(batch.size()) == page.fetch();
      scanned += static_cast<int>(batch.size());
      for (auto& row : batch) {
        before = row.id;
        if (wanted(row) && static_cast<int>(rows.size()) < page.fetch()) rows.push_back(std::move(row));
      }
    }
    auto shown = make_page(std::move(rows), page, [](const IntegrationRow& row) { return row.id.value; });
    return storage::Page<IntegrationView>{views(tx, std::move(shown.rows)), shown.next};
  });
}

Task<Expected<IntegrationView>> Integrations::get(Executor& executor, Principal by, IntegrationId id) {
  co_return co_await async_db_.read(executor, [&](Tx& tx) -> Expected<IntegrationView> {
    auto row = visible(by, find_integration(tx, id));
    if (!row) return no_such_integration();
    return view(tx, std::move(*row));
  });
}

Task<Expected<IntegrationView>> Integrations::change(Executor& executor, Principal by, IntegrationId id,
                                                     IntegrationChange change) {
  auto changed = co_await async_db_.write(executor, [&](Tx& tx) -> Expected<IntegrationView> {
    auto row = visible(by, lock_integration(tx, id));
    if (!row) return no_such_integration();
    const auto before = *row;
    if (change.name) row->name = *change.name;
    apply(tx, *row, change);
    if (*row == before) return view(tx, std::move(*row));
    update_integration(tx, *row);
    const auto action = row->active == before.active ? "integration.changed"
                        : row->active                ? "integration.activated"
                                                     : "integration.deactivated";
    audit(tx, ids_, by, action, id, "", changes_between(before, *row));
    return view(tx, std::move(*row));
  });
  if (changed) directory_.forget(id);
  co_return changed;
}

Task<Expected<void>> Integrations::archive(Executor& executor, Principal by, IntegrationId id) {
  auto archived = co_await async_db_.write(executor, [&](Tx& tx) -> Expected<void> {
    auto row = visible(by, lock_integration(tx, id));
    if (!row) return no_such_integration();
    row->archived_at = tx.now();
    update_integration(tx, *row);
    audit(tx, ids_, by, "integration.archived", id, row->name);
    return {};
  });
  if (archived) directory_.forget(id);
  co_return archived;
}

Task<Expected<IssuedIntegration>> Integrations::rotate_secret(Executor& executor, Principal by,
                                                              IntegrationId id,
                                                              std::optional<std::string> wanted,
                                                              Millis overlap) {
  const auto secret = wanted ? *wanted : crypto::random_base62(random_, kSecretLength);
  overlap = std::clamp(overlap, Millis{0}, max_overlap);
  auto rotated = co_await async_db_.write(executor, [&](Tx& tx) -> Expected<IntegrationView> {
    auto row = visible(by, lock_integration(tx, id));
    if (!row) return no_such_integration();
    const bool same = wanted && has_secret(*row, cipher_, place_of(id), secret);
    const auto changed_at = same ? secret_changed_at(*row) : tx.now();
    if (same && overlap > Millis{0}) {
      if (is_secret_noted(*row) && row->secret_set_by == SecretSetBy::merchant)
        return view(tx, std::move(*row));
      note_secret(*row, true, changed_at);
      update_integration(tx, *row);
      audit(tx, ids_, by, "integration.secret_entered", id, "");
      return view(tx, std::move(*row));
    }
    services::rotate_secret(*row, cipher_.encrypt(place_of(id), secret), overlap, tx.now());
    row->secret_preview = preview_of(secret);
    note_secret(*row, wanted.has_value(), changed_at);
    update_integration(tx, *row);
    audit(tx, ids_, by, "integration.secret_rotated", id,
          fmt::format("overlap of {} s", overlap.count() / 1000));
    return view(tx, std::move(*row));
  });
  if (!rotated) co_return std::unexpected(rotated.error());
  directory_.forget(id);
  co_return IssuedIntegration{std::move(*rotated), secret};
}

Task<Expected<MappingSet>> Integrations::mappings(Executor& executor, Principal by, IntegrationId id) {
  co_return co_await async_db_.read(executor, [&](Tx& tx) -> Expected<MappingSet> {
    const auto row = visible(by, find_integration(tx, id));
    if (!row) return no_such_integration();
    return MappingSet{row->version, find_mappings(tx, id)};
  });
}

Task<Expected<MappingSet>> Integrations::replace_mappings(Executor& executor, Principal by, IntegrationId id,
                                                          std::optional<std::int64_t> version,
                                                          std::vector<WantedMapping> wanted) {
  auto rows = checked_mappings(wanted, limits_);
  auto old = co_await async_db_.read(executor, [&](Tx& tx) -> Expected<std::vector<storage::MappingRow>> {
    const auto row = visible(by, find_integration(tx, id));
    if (!row) return no_such_integration();
    if (version && *version != row->version) return changed_since();
    return find_mappings(tx, id);
  });
  if (!old) co_return std::unexpected(old.error());
  if (!rows) co_return std::unexpected(rows.error());
  const auto saved = match_saved(*rows, *old);
  for (std::size_t i = 0; i < saved.size(); ++i)
    (*rows)[i].mapping.id = saved[i] == nullptr ? ids_.make<MappingId>() : saved[i]->mapping.id;
  for (int save = 0; save < kMaxSaves; ++save) {
    auto done = co_await save_mappings(executor, by, id, version, *rows);
    co_await delete_remains(executor, id);
    if (!done) co_return std::unexpected(done.error());
    if (!*done) continue;
    directory_.forget(id);
    changed_();
    co_await match_products(async_db_, executor, id);
    co_return std::move(**done);
  }
  co_return fail("CONFLICT", "The cloud login changed while the mappings were being saved. Save them again.");
}

Task<Expected<std::optional<MappingSet>>> Integrations::save_mappings(
    Executor& executor, const Principal& by, IntegrationId id, std::optional<std::int64_t> version,
    const std::vector<storage::MappingRow>& rows) {
  const std::span<const storage::MappingRow> all(rows);
  const std::size_t batch = storage::kMappingBatch;
  storage::MappingSave save;
  const auto end = [&](Tx& tx) -> std::optional<MappingSet> {
    const auto row = lock_unchanged(tx, by, id, version);
    if (!use_mappings(tx, save, std::ssize(rows))) return std::nullopt;
    add_account_task(tx, by.account, storage::AccountTaskKind::resume_mappings);
    audit(tx, ids_, by, "integration.mappings_replaced", id, fmt::format("{} mappings", rows.size()));
    delete_batch(tx, id);
    MappingSet set{row.version + 1, rows};
    std::ranges::sort(set.mappings, {}, [](const auto& m) { return m.mapping.id; });
    return set;
  };
  auto begun = co_await async_db_.write(executor, [&](Tx& tx) -> std::optional<MappingSet> {
    lock_unchanged(tx, by, id, version);
    save = begin_mappings(tx, id, tx.now() + kSaveGivenUpAfter);
    stage_mappings(tx, save, all.first(std::min(batch, all.size())));
    return all.size() <= batch ? end(tx) : std::nullopt;
  });
  if (!begun || *begun) co_return begun;
  Expected<std::optional<MappingSet>> saved;
  for (std::size_t done = batch; done < all.size() && saved; done += batch) {
    const auto next = all.subspan(done, std::min(batch, all.size() - done));
    if (auto staged = co_await async_db_.write(executor, [&](Tx& tx) { stage_mappings(tx, save, next); });
        !staged) {
      saved = std::unexpected(staged.error());
    }
  }
  if (saved) saved = co_await async_db_.write(executor, end);
  if (saved && *saved) co_return saved;
  (void)co_await async_db_.write(
      executor, [&](Tx& tx) { give_up_mappings(tx, save); });  // else when their time is over
  co_return saved;
}

Task<void> Integrations::delete_remains(Executor& executor, IntegrationId id) {
  Expected<bool> more = true;
  while (more && *more)
    more = co_await async_db_.write(executor, [&](Tx& tx) { return delete_batch(tx, id); });
}

}  // namespace presetbridge::services
