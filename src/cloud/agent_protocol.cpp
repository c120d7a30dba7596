#include "cloud/agent_protocol.h"

#include <algorithm>
#include <utility>

#include "cloud/contract.h"
#include "cloud/packed_fields.h"

namespace presetbridge::cloud {
namespace {

enum Type : std::uint8_t {
  sealed_login = 1,
  plain_login = 2,
  session_reply = 3,
  error_reply = 4,
  reseal = 5,
  held_keys = 6,
  resealed_reply = 7,
  held_keys_reply = 8,
};

constexpr std::int64_t kNoRetryAfter = -1;

void write(FieldWriter& out, const SealedRecord& sealed) {
  out.i64(sealed.account.value).i64(sealed.version).bytes(sealed.record);
}

void read(FieldReader& in, SealedRecord& sealed) {
  sealed.account.value = in.i64();
  sealed.version = in.i64();
  const auto record = in.bytes();
  sealed.record.assign(record.begin(), record.end());
}

bool fits(crypto::ByteView record) {
  return !record.empty() && record.size() <= kMaxSealedRecord;
}

template <class Result>
std::optional<AgentReply> reply_of(std::uint64_t id, Result result) {
  return AgentReply{id, std::move(result)};
}

}  // namespace

crypto::Bytes encode(const AgentRequest& request) {
  FieldWriter out;
  if (const auto* sealed = std::get_if<SealedRecord>(&request.what)) {
    write(out.u8(sealed_login).u64(request.id), *sealed);
  } else if (const auto* plain = std::get_if<CloudLogin>(&request.what)) {
    out.u8(plain_login).u64(request.id).bytes(plain->email).bytes(plain->password.reveal());
  } else if (const auto* other = std::get_if<ResealRequest>(&request.what)) {
    write(out.u8(reseal).u64(request.id), other->record);
    out.bytes(other->to);
  } else {
    out.u8(held_keys).u64(request.id);
  }
  return out.take();
}

crypto::Bytes encode(const AgentReply& reply) {
  FieldWriter out;
  if (const auto* resealed = std::get_if<ResealedRecord>(&reply.result)) {
    out.u8(resealed_reply).u64(reply.id).bytes(resealed->record);
    return out.take();
  }
  if (const auto* held = std::get_if<HeldKeys>(&reply.result)) {
    out.u8(held_keys_reply).u64(reply.id).u64(held->ids.size());
    for (const auto& id : held->ids) out.bytes(id);
    return out.take();
  }
  const auto& opened = std::get<CloudResult<Session>>(reply.result);
  if (opened) {
    const Session& session = *opened;
    out.u8(session_reply).u64(reply.id).bytes(session.token).bytes(session.user_id).bytes(session.username);
    out.i64(to_unix_ms(session.expires_at));
  } else {
    const CloudError& error = opened.error();
    out.u8(error_reply).u64(reply.id).u8(static_cast<std::uint8_t>(error.kind)).bytes(error.message);
    out.i64(error.retry_after ? error.retry_after->count() : kNoRetryAfter);
  }
  return out.take();
}

std::optional<AgentRequest> decode_agent_request(crypto::ByteView packet) {
  FieldReader in(packet);
  const auto type = in.u8();
  AgentRequest request;
  request.id = in.u64();
  if (type == sealed_login) {
    SealedRecord sealed;
    read(in, sealed);
    if (!in.done() || !fits(sealed.record)) return std::nullopt;
    request.what = std::move(sealed);
    return request;
  }
  if (type == reseal) {
    ResealRequest wanted;
    read(in, wanted.record);
    const auto to = in.bytes();
    if (!in.done() || !fits(wanted.record.record) || to.size() != wanted.to.size()) return std::nullopt;
    std::ranges::copy(to, wanted.to.begin());
    request.what = std::move(wanted);
    return request;
  }
  if (type == held_keys) {
    if (!in.done()) return std::nullopt;
    request.what = HeldKeysRequest{};
    return request;
  }
  if (type == plain_login) {
    const auto email = in.text();
    const auto password = in.text();
    if (!in.done() || email.empty() || email.size() > kMaxEmail || password.empty() ||
        password.size() > kMaxPassword) {
      return std::nullopt;
    }
    request.what = CloudLogin{std::string(email), crypto::SecretString(password)};
    return request;
  }
  return std::nullopt;
}

std::optional<AgentReply> decode_agent_reply(crypto::ByteView packet) {
  FieldReader in(packet);
  const auto type = in.u8();
  const auto id = in.u64();
  if (type == session_reply) {
    Session session;
    session.token = in.text();
    session.user_id = in.text();
    session.username = in.text();
    session.expires_at = from_unix_ms(in.i64());
    if (!in.done() || session.token.empty() || session.user_id.empty()) return std::nullopt;
    return reply_of(id, CloudResult<Session>(std::move(session)));
  }
  if (type == error_reply) {
    const auto kind = in.u8();
    CloudError error{static_cast<CloudError::Kind>(kind), std::string(in.text()), false, std::nullopt};
    const auto retry_after = in.i64();
    if (!in.done() || kind >= domain::kCallFailures) return std::nullopt;
    if (retry_after < kNoRetryAfter || retry_after > kMaxRetryAfter.count()) return std::nullopt;
    if (retry_after >= 0) error.retry_after = Millis{retry_after};
    return reply_of(id, CloudResult<Session>(std::unexpected(std::move(error))));
  }
  if (type == resealed_reply) {
    const auto record = in.bytes();
    if (!in.done() || !fits(record)) return std::nullopt;
    return reply_of(id, ResealedRecord{{record.begin(), record.end()}});
  }
  if (type == held_keys_reply) {
    const auto count = in.u64();
    if (count > kMaxHeldKeys) return std::nullopt;
    HeldKeys held;
    held.ids.resize(count);
    for (auto& one : held.ids) {
      const auto bytes = in.bytes();
      if (bytes.size() != one.size()) return std::nullopt;
      std::ranges::copy(bytes, one.begin());
    }
    if (!in.done()) return std::nullopt;
    return reply_of(id, std::move(held));
  }
  return std::nullopt;
}

}  // namespace presetbridge::cloud
