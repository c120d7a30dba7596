// The messages between the service and its credential agent: one packet of a SOCK_SEQPACKET socket a
// message. Requests may be answered in any order; an answer carries its request's id. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "cloud/cloud.h"
#include "cloud/cloud_login.h"
#include "crypto/bytes.h"
#include "crypto/sealed_record.h"

namespace presetbridge::cloud {

inline constexpr std::size_t kMaxAgentPacket = 16 * 1024;
inline constexpr std::size_t kMaxSealedRecord = 4 * 1024;

struct SealedRecord {
  AccountId account;
  std::int64_t version = 0;
  crypto::Bytes record;  // 1 to kMaxSealedRecord bytes
};

// The same record sealed to another key that the agent holds: never to one that the asker brings, which could
// be its own (spec 5.4).
struct ResealRequest {
  SealedRecord record;
  crypto::VaultKeyId to{};
};
// Which keys the vault's file has now.
struct HeldKeysRequest {};

struct AgentRequest {
  std::uint64_t id = 0;
  std::variant<SealedRecord, CloudLogin, ResealRequest, HeldKeysRequest> what;
};

struct ResealedRecord {
  crypto::Bytes record;  // 1 to kMaxSealedRecord bytes
};
struct HeldKeys {
  std::vector<crypto::VaultKeyId> ids;  // newest first, at most kMaxHeldKeys; none: it opens no stored login
};
inline constexpr std::size_t kMaxHeldKeys = 64;

struct AgentReply {
  using Result = std::variant<CloudResult<Session>, ResealedRecord, HeldKeys>;
  std::uint64_t id = 0;
  Result result = CloudResult<Session>();  // an error of any request is a CloudError
};

// The packet of a CloudLogin holds the password: wipe it.
crypto::Bytes encode(const AgentRequest& request);
crypto::Bytes encode(const AgentReply& reply);
// Nothing for a packet that is not what encode() makes within the limits above.
std::optional<AgentRequest> decode_agent_request(crypto::ByteView packet);
std::optional<AgentReply> decode_agent_reply(crypto::ByteView packet);

}  // namespace presetbridge::cloud
