#include "cloud/agent_protocol.h"

#include <utility>

#include "cloud/contract.h"
#include "cloud/packed_fields.h"

namespace presetbridge::cloud {
namespace {

enum Type : std::uint8_t { sealed_login = 1, plain_login = 2, session_reply = 3, error_reply = 4 };

constexpr std::int64_t no_retry_after = -1;

}  // namespace

crypto::Bytes encode(const AgentRequest& request) {
  FieldWriter out;
  if (const auto* sealed = std::get_if<SealedRecord>(&request.login)) {
    out.u8(sealed_login)
        .u64(request.id)
        .i64(sealed->account.value)
        .i64(sealed->version)
        .bytes(sealed->record);
  } else {
    const auto& plain = std::get<CloudLogin>(request.login);
    out.u8(plain_login).u64(request.id).bytes(plain.email).bytes(plain.password.reveal());
  }
  return out.take();
}

crypto::Bytes encode(const AgentReply& reply) {
  FieldWriter out;
  if (reply.result) {
    const Session& session = *reply.result;
    out.u8(session_reply).u64(reply.id).bytes(session.token).bytes(session.user_id).bytes(session.username);
    out.i64(to_unix_ms(session.expires_at));
  } else {
    const CloudError& error = reply.result.error();
    out.u8(error_reply).u64(reply.id).u8(static_cast<std::uint8_t>(error.kind)).bytes(error.message);
    out.i64(error.retry_after ? error.retry_after->count() : no_retry_after);
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
    sealed.account.value = in.i64();
    sealed.version = in.i64();
    const auto record = in.bytes();
    if (!in.done() || record.empty() || record.size() > max_sealed_record) return std::nullopt;
    sealed.record.assign(record.begin(), record.end());
    request.login = std::move(sealed);
    return request;
  }
  if (type == plain_login) {
    const auto email = in.text();
    const auto password = in.text();
    if (!in.done() || email.empty() || email.size() > max_email || password.empty() ||
        password.size() > max_password) {
      return std::nullopt;
    }
    request.login = CloudLogin{std::string(email), crypto::SecretString(password)};
    return request;
  }
  return std::nullopt;
}

std::optional<AgentReply> decode_agent_reply(crypto::ByteView packet) {
  FieldReader in(packet);
  const auto type = in.u8();
  AgentReply reply;
  reply.id = in.u64();
  if (type == session_reply) {
    Session session;
    session.token = in.text();
    session.user_id = in.text();
    session.username = in.text();
    session.expires_at = from_unix_ms(in.i64());
    if (!in.done() || session.token.empty() || session.user_id.empty()) return std::nullopt;
    reply.result = std::move(session);
    return reply;
  }
  if (type == error_reply) {
    const auto kind = in.u8();
    CloudError error{static_cast<CloudError::Kind>(kind), std::string(in.text()), false, std::nullopt};
    const auto retry_after = in.i64();
    if (!in.done() || kind > static_cast<std::uint8_t>(CloudError::Kind::malformed)) return std::nullopt;
    if (retry_after < no_retry_after || retry_after > max_retry_after.count()) return std::nullopt;
    if (retry_after >= 0) error.retry_after = Millis{retry_after};
    reply.result = std::unexpected(std::move(error));
    return reply;
  }
  return std::nullopt;
}

}  // namespace presetbridge::cloud
