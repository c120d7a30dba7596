#include "cloud/agent_server.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <utility>

#include "base/background_tasks.h"

namespace presetbridge::cloud {
namespace {

using Kind = CloudError::Kind;

std::unexpected<CloudError> refuse(Kind kind, const char* message) {
  return std::unexpected(CloudError{kind, message, false, std::nullopt});
}

void send_reply(int fd, const AgentReply& reply) {
  const auto packet = encode(reply);
  // A service that is gone needs no answer; serve() sees its end.
  [[maybe_unused]] const auto sent = ::send(fd, packet.data(), packet.size(), MSG_NOSIGNAL | MSG_EOR);
}

}  // namespace

// Work that the executor never ran may be destroyed after the server.
class AgentServer::Place {
 public:
  explicit Place(std::shared_ptr<std::atomic<std::size_t>> taken) : taken_(std::move(taken)) { ++*taken_; }
  Place(Place&&) noexcept = default;
  Place& operator=(Place&&) = delete;
  ~Place() { give_back(); }
  void give_back() {
    if (const auto taken = std::move(taken_)) --*taken;
  }

 private:
  std::shared_ptr<std::atomic<std::size_t>> taken_;
};

CloudResult<CloudLogin> AgentServer::open_record(const SealedRecord& sealed) {
  const crypto::RecordPlace place{sealed.account, sealed.version};
  if (!keys_) return refuse(Kind::credentials_unreadable, "This credential agent opens no stored logins.");
  auto text = keys_->open(place, sealed.record);
  // The vault's keys may have been rotated since they were read (spec 5.4).
  if (!text && text.error().code == "UNKNOWN_VAULT_KEY" && read_keys()) {
    text = keys_->open(place, sealed.record);
  }
  if (!text) {
    return refuse(Kind::credentials_unreadable,
                  text.error().code == "UNKNOWN_VAULT_KEY"
                      ? "The stored login is sealed to a vault key that the credential agent does not hold."
                      : "The stored login was altered and cannot be read.");
  }
  auto login = decode_cloud_login(text->reveal());
  if (!login) return refuse(Kind::credentials_unreadable, "The stored login is not one.");
  return std::move(*login);
}

bool AgentServer::read_keys() {
  auto read = crypto::read_vault_private_keys(options_.key_file);
  if (!read) {
    ports_.log.warn("the credential agent cannot read its keys again", {{"error", read.error().message}});
    return false;
  }
  keys_ = std::move(*read);
  return true;
}

AgentReply::Result AgentServer::reseal(const ResealRequest& wanted) {
  const auto refused = [](const char* why) {
    return CloudResult<Session>(refuse(Kind::credentials_unreadable, why));
  };
  if (!keys_) return refused("This credential agent opens no stored logins.");
  const auto held = [&] {
    return std::ranges::find(keys_->keys(), wanted.to, [](const auto& key) { return key.public_key().id(); });
  };
  if (held() == keys_->keys().end()) read_keys();
  const auto to = held();
  if (to == keys_->keys().end()) return refused("The credential agent does not hold the key to seal to.");
  auto record = keys_->reseal(random_, {wanted.record.account, wanted.record.version}, wanted.record.record,
                              to->public_key());
  if (!record) return refused("The stored login cannot be opened.");
  return ResealedRecord{std::move(*record)};
}

AgentReply::Result AgentServer::held_keys() {
  if (!keys_) return HeldKeys{};
  if (!read_keys())
    return CloudResult<Session>(refuse(Kind::unavailable, "The key file of the vault cannot be read."));
  HeldKeys held;
  for (const auto& key : keys_->keys()) {
    if (held.ids.size() < kMaxHeldKeys) held.ids.push_back(key.public_key().id());
  }
  return held;
}

Task<AgentReply::Result> AgentServer::result_of(AgentRequest request) {
  if (const auto* wanted = std::get_if<ResealRequest>(&request.what)) co_return reseal(*wanted);
  if (std::holds_alternative<HeldKeysRequest>(request.what)) co_return held_keys();
  auto* const sent = std::get_if<CloudLogin>(&request.what);
  auto login =
      sent ? CloudResult<CloudLogin>(std::move(*sent)) : open_record(std::get<SealedRecord>(request.what));
  if (!login) co_return CloudResult<Session>(std::unexpected(login.error()));
  co_return co_await ports_.cloud.log_in(ports_.executor, std::move(*login));
}

Task<void> AgentServer::answer(AgentRequest request, Place place) {
  AgentReply reply{request.id,
                   CloudResult<Session>(refuse(Kind::unavailable, "The credential agent met a fault."))};
  try {
    reply.result = co_await result_of(std::move(request));
  } catch (...) {
    ports_.log.error("a login in the credential agent met a fault",
                     {{"error", fault_text(std::current_exception())}});
  }
  // Before the answer: whoever has it may ask again at once.
  place.give_back();
  send_reply(fd_, reply);
}

bool AgentServer::serve() {
  std::array<std::byte, kMaxAgentPacket> buffer;
  while (true) {
    const auto size = ::recv(fd_, buffer.data(), buffer.size(), MSG_TRUNC);
    if (size == 0) return true;
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return errno == ECONNRESET;
    if (static_cast<std::size_t>(size) > buffer.size()) return false;
    auto request = decode_agent_request(crypto::ByteView(buffer).first(static_cast<std::size_t>(size)));
    crypto::wipe(std::span(buffer));
    if (!request) return false;
    if (*in_flight_ >= options_.max_concurrent) {
      send_reply(fd_,
                 {request->id, CloudResult<Session>(refuse(Kind::busy, "Too many cloud logins at once."))});
      continue;
    }
    ports_.executor.post([this, owned = std::move(*request), place = Place(in_flight_)]() mutable {
      spawn(answer(std::move(owned), std::move(place)), [](const Outcome<void>&) {});
    });
  }
}

}  // namespace presetbridge::cloud
