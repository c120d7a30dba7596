#include "services/accounts/key_admissions.h"

#include <algorithm>
#include <utility>

#include "storage/stores/activity_store.h"

namespace presetbridge::services {

using identity::Principal;
using storage::Tx;

Expected<Principal> holder_of(const storage::ApiKeyRow& row, Timestamp now) {
  if (!row.active) return fail("FORBIDDEN", "The API key is inactive.");
  if (row.expires_at && *row.expires_at <= now) return fail("FORBIDDEN", "The API key has expired.");
  Principal p;
  p.account = row.account;
  p.key = row.id;
  p.permissions = identity::PermissionSet::from_text(row.permissions);
  p.integrations = identity::IntegrationScope::from_text(row.integration_ids);
  return p;
}

std::unexpected<Error> unknown_key() {
  return fail("UNAUTHORIZED", "The API key is missing or not valid.");
}

Task<KeyCheck> KeyAdmissions::admit(Executor& executor, crypto::Sha256 hash) {
  auto answer =
      co_await suspend<Answer>(executor, [this, hash](Resume resume) { ask(hash, std::move(resume)); });
  if (answer.check.rate && !answer.check.rate->allowed)
    co_await limited_.count(executor, answer.account, answer.key, answer.at);
  co_return std::move(answer.check);
}

void KeyAdmissions::ask(crypto::Sha256 hash, Resume resume) {
  std::optional<Answer> answer;
  {
    const std::lock_guard lock(mutex_);
    answer = find_refusal(hash, clock_.now());
    if (!answer) {
      auto& waiting = waiting_[hash];
      if (waiting.size() == kMostWaiting) {
        answer = Answer{{fail("OVERLOADED", "The service is busy. Try again in a moment."), std::nullopt}};
      } else {
        waiting.push_back(std::move(resume));
        if (waiting.size() > 1) return;
      }
    }
  }
  if (answer) {
    resume(std::move(*answer));
  } else {
    begin(hash, 1);
  }
}

void KeyAdmissions::begin(const crypto::Sha256& hash, std::size_t requests) {
  auto unit = std::make_shared<Unit>();
  const auto began = clock_.now();
  const auto changes = changes_.load();
  async_db_.submit(
      [this, hash, requests, unit](Tx& tx) { *unit = run(tx, hash, requests); },
      [this, hash, requests, unit, began, changes](const std::exception_ptr& thrown, storage::Completions&) {
        end(hash, requests, *unit, began, changes, thrown);
      });
}

KeyAdmissions::Unit KeyAdmissions::run(Tx& tx, const crypto::Sha256& hash, std::size_t requests) const {
  Unit unit{.answers = {}, .unreadable = {}, .read_at = clock_.now()};
  const auto key = storage::lock_api_key_by_hash(tx, hash);
  if (!key) {
    unit.answers.push_back({{unknown_key(), std::nullopt}});
    return unit;
  }
  const auto& row = key->row;
  const auto answer = [&](Expected<Principal> principal, std::optional<domain::Admission> rate) {
    unit.answers.push_back({{std::move(principal), rate}, row.account, row.id, tx.now()});
  };
  const auto holder = holder_of(row, tx.now());
  if (!holder) {
    answer(holder, std::nullopt);
    return unit;
  }
  auto window = domain::RateWindow::decode(row.rate_limit, window_, key->rate_log);
  if (!window) {
    unit.unreadable = row.id;
    window = domain::RateWindow::full(row.rate_limit, window_, tx.now());
    storage::replace_api_key_rate_log(tx, row.id, window->encode());
  }
  std::int64_t admitted = 0;
  while (unit.answers.size() < requests) {
    const auto admission = window->admit(tx.now());
    if (!admission.allowed) {
      answer(fail("RATE_LIMIT_EXCEEDED", "Rate limit exceeded"), admission);
      break;
    }
    answer(holder, admission);
    ++admitted;
  }
  if (admitted > 0) {
    storage::record_api_key_requests(tx, row.id, admitted, window->encode());
    count_activity(tx, {row.account, {}, row.id}, storage::Activity::requests, admitted, tx.now());
  }
  return unit;
}

void KeyAdmissions::end(const crypto::Sha256& hash, std::size_t requests, const Unit& unit, Timestamp began,
                        std::uint64_t changes, const std::exception_ptr& thrown) {
  if (!thrown && unit.unreadable) {
    log_.error("the rate log of an API key could not be read; it counts as full from now on",
               {{"key", to_string(*unit.unreadable)}});
  }
  std::vector<std::pair<Resume, Answer>> answered;
  std::size_t next = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto now = clock_.now();
    auto& waiting = waiting_[hash];
    const auto take = [&](Answer answer) {
      answered.emplace_back(std::move(waiting.front()), std::move(answer));
      waiting.pop_front();
    };
    if (thrown) {
      const KeyCheck check{std::unexpected(storage::explain(thrown)), std::nullopt};
      while (!waiting.empty()) take({check});
    } else {
      for (std::size_t i = 0; i < requests; ++i) take(unit.answers[std::min(i, unit.answers.size() - 1)]);
      const auto& last = unit.answers.back();
      if (!last.check.principal && last.key && changes == changes_.load()) {
        const auto held = last.check.rate ? std::min(last.check.rate->retry_after, kRemembered) : kRemembered;
        // The clock may have been set back since the unit began.
        remember({hash, last, unit.read_at, std::min(began, unit.read_at) + held}, now);
      }
      for (auto known = find_refusal(hash, now); known && !waiting.empty();) take(*known);
    }
    next = std::min(waiting.size(), kMostInUnit);
    if (next == 0) waiting_.erase(hash);
  }
  for (auto& [resume, answer] : answered) resume(std::move(answer));
  if (next > 0) begin(hash, next);
}

std::optional<KeyAdmissions::Answer> KeyAdmissions::find_refusal(const crypto::Sha256& hash, Timestamp now) {
  const auto found = by_hash_.find(hash);
  if (found == by_hash_.end()) return std::nullopt;
  const auto refusal = found->second;
  // Before `read_at` the clock was set back.
  if (now < refusal->read_at || now >= refusal->until) {
    refusals_.erase(refusal);
    by_hash_.erase(found);
    return std::nullopt;
  }
  refusals_.splice(refusals_.begin(), refusals_, refusal);
  Answer answer = refusal->answer;
  const auto passed = now - refusal->read_at;
  answer.at += passed;
  if (answer.check.rate) {
    answer.check.rate->reset_after -= passed;
    answer.check.rate->retry_after -= passed;
  }
  return answer;
}

void KeyAdmissions::remember(Refusal refusal, Timestamp now) {
  const auto drop_last = [this] {
    by_hash_.erase(refusals_.back().hash);
    refusals_.pop_back();
  };
  while (!refusals_.empty() && refusals_.back().until <= now) drop_last();
  if (const auto known = by_hash_.find(refusal.hash); known != by_hash_.end()) {
    refusals_.erase(known->second);
    by_hash_.erase(known);
  }
  refusals_.push_front(std::move(refusal));
  by_hash_.emplace(refusals_.front().hash, refusals_.begin());
  if (refusals_.size() > kMostRemembered) drop_last();
}

void KeyAdmissions::forget(ApiKeyId key) {
  const std::lock_guard lock(mutex_);
  ++changes_;
  std::erase_if(by_hash_, [&](const auto& entry) {
    const auto refusal = entry.second;
    if (refusal->answer.key != key) return false;
    refusals_.erase(refusal);
    return true;
  });
}

}  // namespace presetbridge::services
