#include "services/vault/worker_calls.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <utility>

namespace presetbridge::services {
namespace {

namespace json = boost::json;
using cloud::CloudError;
using storage::Tx;
using storage::WorkerCall;
using storage::WorkerCallKind;

constexpr std::size_t kMostText = 8 << 20;  // bytes of the files' texts in an answer

// The possible failures of a login.
constexpr std::array<std::pair<CloudError::Kind, std::string_view>, 5> kFailures{
    {{CloudError::Kind::login_refused, "login_refused"},
     {CloudError::Kind::credentials_unreadable, "credentials_unreadable"},
     {CloudError::Kind::session_refused, "session_refused"},
     {CloudError::Kind::unavailable, "unavailable"},
     {CloudError::Kind::busy, "busy"}}};

std::unexpected<Error> nobody_answered() {
  return fail("WORKER_UNAVAILABLE",
              "This node may not open stored logins, and no worker node has answered in time.");
}

std::string encode_error(const Error& error) {
  return json::serialize(json::object{{"error", {{"code", error.code}, {"message", error.message}}}});
}

std::string text_of(const json::value& value) {
  return std::string(value.as_string());
}

// Decodes a stored answer: returns the Error in it, else the result of `read`. INTERNAL_ERROR if it cannot be
// read.
template <class T, class Read>
Expected<T> decode(std::string_view answer, Read read) {
  try {
    const auto value = json::parse(answer);
    const auto& object = value.as_object();
    if (const auto* error = object.if_contains("error"))
      return fail(text_of(error->at("code")), text_of(error->at("message")));
    return read(object);
  } catch (const std::exception&) {
    return fail("INTERNAL_ERROR", "The answer of a worker node cannot be read.");
  }
}

}  // namespace

std::string encode_answer(const Expected<PresetFiles>& files) {
  if (!files) return encode_error(files.error());
  json::array list;
  std::size_t size = 0;
  for (const auto& file : **files) {
    size += file.id.size() + file.kind.size() + file.name.size();
    if (size > kMostText) break;
    list.push_back(json::array{file.id, file.kind, file.name});
  }
  return json::serialize(json::object{{"files", std::move(list)}});
}

std::string encode_answer(const Expected<CheckedLogin>& login) {
  if (!login) return encode_error(login.error());
  const CheckedLogin& checked = *login;
  if (checked) return json::serialize(json::object{{"user", json::array{checked->id, checked->username}}});
  const auto* failure = std::ranges::find(kFailures, checked.error().kind,
                                          &std::pair<CloudError::Kind, std::string_view>::first);
  return json::serialize(json::object{
      {"failure", failure == kFailures.end() ? std::string_view("unavailable") : failure->second}});
}

Expected<PresetFiles> decode_files(std::string_view answer) {
  return decode<PresetFiles>(answer, [](const json::object& object) {
    auto files = std::make_shared<std::vector<cloud::CloudFile>>();
    for (const auto& file : object.at("files").as_array())
      files->push_back({text_of(file.at(0)), text_of(file.at(1)), text_of(file.at(2))});
    return PresetFiles(std::move(files));
  });
}

Expected<CheckedLogin> decode_login(std::string_view answer) {
  return decode<CheckedLogin>(answer, [](const json::object& object) -> CheckedLogin {
    if (const auto* user = object.if_contains("user"))
      return cloud::CloudUser{text_of(user->at(0)), text_of(user->at(1))};
    const auto* failure = std::ranges::find(kFailures, std::string_view(object.at("failure").as_string()),
                                            &std::pair<CloudError::Kind, std::string_view>::second);
    return std::unexpected(
        CloudError{failure == kFailures.end() ? CloudError::Kind::unavailable : failure->first,
                   "A worker node checked the login and reported this failure.",
                   false,
                   {}});
  });
}

// ---------------------------------------------------------------- asking

Task<Expected<PresetFiles>> AskedStoredLogins::files_of_login(Executor& executor, AccountId account,
                                                              std::int64_t version) {
  const auto answer = co_await ask(
      executor, {.kind = WorkerCallKind::files_of_login, .account = account, .login_version = version});
  if (!answer) co_return std::unexpected(answer.error());
  co_return decode_files(*answer);
}

Task<Expected<PresetFiles>> AskedStoredLogins::files_of_session(Executor& executor,
                                                                crypto::Bytes token_hash) {
  const auto answer = co_await ask(
      executor, {.kind = WorkerCallKind::files_of_session, .session_hash = std::move(token_hash)});
  if (!answer) co_return std::unexpected(answer.error());
  co_return decode_files(*answer);
}

Task<Expected<CheckedLogin>> AskedStoredLogins::check_login(Executor& executor, AccountId account,
                                                            std::int64_t version) {
  const auto answer = co_await ask(
      executor, {.kind = WorkerCallKind::check_login, .account = account, .login_version = version});
  if (!answer) co_return std::unexpected(answer.error());
  co_return decode_login(*answer);
}

Task<Expected<std::string>> AskedStoredLogins::ask(Executor& executor, WorkerCall call) {
  using Answer = Expected<std::string>;
  co_return co_await suspend<Answer>(executor, [this, call = std::move(call)](auto resume) mutable {
    home_.post([this, call = std::move(call), resume]() mutable {
      spawn(asked(std::move(call)), [resume](Outcome<Answer> outcome) mutable {
        resume(outcome.value ? std::move(*outcome.value)
                             : fail("INTERNAL_ERROR", "A worker node could not be asked."));
      });
    });
  });
}

Task<Expected<std::string>> AskedStoredLogins::asked(WorkerCall call) {
  if (stopping_) co_return nobody_answered();
  call.id = ids_.next();
  const Timestamp until = clock_.now() + patience;
  call.expires_at = until;
  Wakeup wakeup(home_);
  waiting_.insert(&wakeup);
  struct Leave {
    std::set<Wakeup*>& waiting;
    Wakeup* wakeup;
    ~Leave() { waiting.erase(wakeup); }
  };
  const Leave leave{waiting_, &wakeup};
  std::optional<Expected<std::string>> answer;  // nothing: not yet
  if (auto written = co_await async_db_.write(home_, [&](Tx& tx) { insert_worker_call(tx, call); }); !written)
    answer = std::unexpected(written.error());
  else
    notify_();
  while (!answer && !stopping_) {
    auto found = co_await async_db_.read(home_, [&](Tx& tx) { return find_worker_answer(tx, call.id); });
    if (!found) {
      answer = std::unexpected(found.error());
    } else if (*found) {
      answer = std::move(**found);
    } else {
      const auto left = until - clock_.now();
      if (left <= Millis{0}) break;
      co_await wakeup.wait(std::min(left, poll));
    }
  }
  // A call that is left behind is deleted when it has expired.
  if (!stopping_) co_await async_db_.write(home_, [&](Tx& tx) { delete_worker_call(tx, call.id); });
  co_return answer ? *std::move(answer) : nobody_answered();
}

void AskedStoredLogins::wake() {
  home_.post([this] { notify(); });
}
void AskedStoredLogins::stop() {
  stopping_ = true;
  notify();
}
void AskedStoredLogins::notify() {
  for (auto* wakeup : waiting_) wakeup->notify();
}

// ---------------------------------------------------------------- answering

void WorkerCallServer::start() {
  tasks_.start_loop(loop(), "loop of calls");
}

void WorkerCallServer::stop(Callback stopped) {
  tasks_.stop(std::move(stopped));
}

Task<void> WorkerCallServer::loop() {
  while (!tasks_.stopping()) {
    const int room = most_at_once - tasks_.jobs();
    bool more = false;
    const auto any =
        co_await async_db_.read(scheduler_, [](Tx& tx) { return any_worker_calls(tx, tx.now()); });
    if (any && *any && room > 0) {
      auto calls = co_await async_db_.write(scheduler_,
                                            [room](Tx& tx) { return take_worker_calls(tx, tx.now(), room); });
      if (!calls && !storage::is_logged(calls.error()))
        log_.warn("calls of other nodes could not be taken", {{"error", calls.error().message}});
      more = calls && static_cast<int>(calls->size()) == room;
      for (std::size_t i = 0; calls && i < calls->size(); ++i) {
        tasks_.start_job(answer(std::move((*calls)[i])), "call",
                         [this](const std::exception_ptr&) { tasks_.wake(); });
      }
    }
    if (!more && !tasks_.stopping()) co_await tasks_.wait(poll_);
  }
}

Task<void> WorkerCallServer::answer(WorkerCall call) {
  std::string text;
  switch (call.kind) {
    case WorkerCallKind::files_of_login:
      text = encode_answer(co_await stored_.files_of_login(scheduler_, call.account, call.login_version));
      break;
    case WorkerCallKind::files_of_session:
      text = encode_answer(co_await stored_.files_of_session(scheduler_, std::move(call.session_hash)));
      break;
    case WorkerCallKind::check_login:
      text = encode_answer(co_await stored_.check_login(scheduler_, call.account, call.login_version));
      break;
  }
  const auto written =
      co_await async_db_.write(scheduler_, [&](Tx& tx) { answer_worker_call(tx, call.id, text); });
  if (written) notify_();
}

}  // namespace presetbridge::services
