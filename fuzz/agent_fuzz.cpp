#include "cloud/agent_protocol.h"

#include <algorithm>
#include <sstream>
#include <vector>

#include "cloud/contract.h"
#include "cloud/credential_agent.h"
#include "require.h"
#include "splice.h"

namespace {

using namespace presetbridge;
using namespace presetbridge::cloud;

// Whatever is read is exactly what encode() would have written: one packet for one message.
void require_one_form(crypto::ByteView packet) {
  if (const auto request = decode_agent_request(packet)) {
    REQUIRE(std::ranges::equal(encode(*request), packet));
    if (const auto* sealed = std::get_if<SealedRecord>(&request->what)) {
      REQUIRE(!sealed->record.empty() && sealed->record.size() <= kMaxSealedRecord);
    } else if (const auto* reseal = std::get_if<ResealRequest>(&request->what)) {
      REQUIRE(!reseal->record.record.empty() && reseal->record.record.size() <= kMaxSealedRecord);
    } else if (const auto* plain = std::get_if<CloudLogin>(&request->what)) {
      REQUIRE(!plain->email.empty() && plain->email.size() <= kMaxEmail);
      REQUIRE(!plain->password.empty() && plain->password.size() <= kMaxPassword);
    }
  }
  if (const auto reply = decode_agent_reply(packet)) {
    REQUIRE(std::ranges::equal(encode(*reply), packet));
    REQUIRE(!decode_agent_request(packet));
    const auto* session = std::get_if<CloudResult<Session>>(&reply->result);
    if (const auto* resealed = std::get_if<ResealedRecord>(&reply->result)) {
      REQUIRE(!resealed->record.empty() && resealed->record.size() <= kMaxSealedRecord);
    } else if (const auto* held = std::get_if<HeldKeys>(&reply->result)) {
      REQUIRE(held->ids.size() <= kMaxHeldKeys);
    } else if (*session) {
      REQUIRE(!(*session)->token.empty() && !(*session)->user_id.empty());
    } else {
      const auto& error = session->error();
      REQUIRE(error.kind <= CloudError::Kind::malformed);
      REQUIRE(!error.retry_after ||
              (*error.retry_after >= Millis{0} && *error.retry_after <= kMaxRetryAfter));
    }
  }
  if (const auto login = decode_cloud_login(crypto::text_of(packet))) {
    const auto again = encode_cloud_login(login->email, login->password.reveal());
    REQUIRE(again && again->reveal() == crypto::text_of(packet));
  }
}

crypto::Bytes any_message(FuzzedDataProvider& input) {
  const auto id = input.ConsumeIntegral<std::uint64_t>();
  const auto text = [&input](std::size_t least, std::size_t most) {
    auto result = input.ConsumeRandomLengthString(most);
    return result.size() < least ? std::string("x") : result;
  };
  switch (input.ConsumeIntegralInRange(0, 7)) {
    case 0: {
      AgentRequest request{
          id,
          SealedRecord{{input.ConsumeIntegral<std::int64_t>()}, input.ConsumeIntegral<std::int64_t>(), {}}};
      const auto record = text(1, kMaxSealedRecord);
      const crypto::ByteView view(record);
      std::get<SealedRecord>(request.what).record.assign(view.begin(), view.end());
      const auto packet = encode(request);
      REQUIRE(decode_agent_request(packet));
      return packet;
    }
    case 1: {
      AgentRequest request{id, CloudLogin{text(1, kMaxEmail), crypto::SecretString(text(1, kMaxPassword))}};
      const auto packet = encode(request);
      REQUIRE(decode_agent_request(packet));
      return packet;
    }
    case 2: {
      const AgentReply reply{
          id, CloudResult<Session>(Session{text(1, kMaxToken), text(1, kMaxText), text(0, kMaxText),
                                           from_unix_ms(input.ConsumeIntegral<std::int64_t>())})};
      const auto packet = encode(reply);
      REQUIRE(decode_agent_reply(packet));
      return packet;
    }
    case 3: {
      CloudError error{
          static_cast<CloudError::Kind>(input.ConsumeIntegralInRange(0, domain::kCallFailures - 1)),
          text(0, kMaxText), false, std::nullopt};
      if (input.ConsumeBool()) {
        error.retry_after = Millis{input.ConsumeIntegralInRange<std::int64_t>(0, kMaxRetryAfter.count())};
      }
      const auto packet = encode(AgentReply{id, CloudResult<Session>(std::unexpected(std::move(error)))});
      REQUIRE(decode_agent_reply(packet));
      return packet;
    }
    case 4: {
      ResealRequest wanted{
          {{input.ConsumeIntegral<std::int64_t>()}, input.ConsumeIntegral<std::int64_t>(), {}}, {}};
      const auto record = text(1, kMaxSealedRecord);
      const crypto::ByteView view(record);
      wanted.record.record.assign(view.begin(), view.end());
      const auto packet = encode(AgentRequest{id, std::move(wanted)});
      REQUIRE(decode_agent_request(packet));
      return packet;
    }
    case 5: {
      const auto packet = encode(AgentRequest{id, HeldKeysRequest{}});
      REQUIRE(decode_agent_request(packet));
      return packet;
    }
    case 6: {
      const HeldKeys held{
          std::vector<crypto::VaultKeyId>(input.ConsumeIntegralInRange<std::size_t>(0, kMaxHeldKeys))};
      const auto packet = encode(AgentReply{id, held});
      REQUIRE(decode_agent_reply(packet));
      return packet;
    }
    default: {
      const auto login = encode_cloud_login(text(1, kMaxEmail), text(1, kMaxPassword));
      REQUIRE(login && decode_cloud_login(login->reveal()));
      const crypto::ByteView view(login->reveal());
      return {view.begin(), view.end()};
    }
  }
}

// The words of the agent's command line: understood or refused, and said again the same.
void try_arguments(std::string_view text) {
  std::vector<std::string> words;
  std::istringstream lines{std::string(text)};
  for (std::string word; words.size() < 20 && std::getline(lines, word);) words.push_back(word);
  const auto options = parse_agent_arguments(words);
  if (!options) return;
  const auto said = agent_arguments(*options);
  const auto again = parse_agent_arguments(said);
  REQUIRE(again && agent_arguments(*again) == said);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  require_one_form(bytes);
  try_arguments(bytes);
  FuzzedDataProvider input(data, size);
  const auto message = any_message(input);
  require_one_form(message);
  require_one_form(fuzz::spliced(input, crypto::text_of(message)));
  return 0;
}
