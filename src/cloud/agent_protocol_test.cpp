#include "cloud/agent_protocol.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "cloud/credential_agent.h"

namespace presetbridge::cloud {
namespace {

TEST(AgentProtocol, ASealedLoginComesOutAsItWentIn) {
  const crypto::Bytes record(3, std::byte{7});
  const auto request = decode_agent_request(encode(AgentRequest{9, SealedRecord{AccountId{5}, 3, record}}));
  ASSERT_TRUE(request);
  EXPECT_EQ(request->id, 9U);
  const auto& sealed = std::get<SealedRecord>(request->what);
  EXPECT_EQ(sealed.account.value, 5);
  EXPECT_EQ(sealed.version, 3);
  EXPECT_EQ(sealed.record, record);
}

TEST(AgentProtocol, APlainLoginComesOutAsItWentIn) {
  const auto request =
      decode_agent_request(encode(AgentRequest{1, CloudLogin{"a@b.test", crypto::SecretString("p w")}}));
  ASSERT_TRUE(request);
  EXPECT_EQ(std::get<CloudLogin>(request->what).email, "a@b.test");
}

TEST(AgentProtocol, ASessionAndEachErrorComeOutAsTheyWentIn) {
  const Session session{"token", "m-1", "shop", from_unix_ms(1'790'000'000'123)};
  const auto good = decode_agent_reply(encode(AgentReply{4, CloudResult<Session>(session)}));
  ASSERT_TRUE(good);
  EXPECT_EQ(good->id, 4U);
  const auto& opened = std::get<CloudResult<Session>>(good->result);
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->token, "token");
  EXPECT_EQ(opened->expires_at, session.expires_at);

  const CloudError error{CloudError::Kind::login_refused, "wrong", false, Millis{1'500}};
  const auto bad = decode_agent_reply(encode(AgentReply{5, CloudResult<Session>(std::unexpected(error))}));
  ASSERT_TRUE(bad);
  const auto& refused = std::get<CloudResult<Session>>(bad->result);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, CloudError::Kind::login_refused);
  EXPECT_EQ(refused.error().message, "wrong");
  EXPECT_EQ(refused.error().retry_after, Millis{1'500});
}

TEST(AgentProtocol, WhatTurnsKeysComesOutAsItWentIn) {
  const crypto::VaultKeyId key{std::byte{1}, std::byte{2}};
  const auto wanted = decode_agent_request(
      encode(AgentRequest{7, ResealRequest{{AccountId{5}, 3, crypto::Bytes(4, std::byte{9})}, key}}));
  ASSERT_TRUE(wanted);
  const auto& reseal = std::get<ResealRequest>(wanted->what);
  EXPECT_EQ(reseal.record.account.value, 5);
  EXPECT_EQ(reseal.record.version, 3);
  EXPECT_EQ(reseal.record.record, crypto::Bytes(4, std::byte{9}));
  EXPECT_EQ(reseal.to, key);

  const auto asked = decode_agent_request(encode(AgentRequest{8, HeldKeysRequest{}}));
  ASSERT_TRUE(asked);
  EXPECT_TRUE(std::holds_alternative<HeldKeysRequest>(asked->what));

  const auto resealed = decode_agent_reply(encode(AgentReply{7, ResealedRecord{crypto::Bytes(5)}}));
  ASSERT_TRUE(resealed);
  EXPECT_EQ(std::get<ResealedRecord>(resealed->result).record, crypto::Bytes(5));
  const auto held = decode_agent_reply(encode(AgentReply{8, HeldKeys{{key, {}}}}));
  ASSERT_TRUE(held);
  EXPECT_EQ(std::get<HeldKeys>(held->result).ids, (std::vector<crypto::VaultKeyId>{key, {}}));
  EXPECT_FALSE(decode_agent_reply(encode(AgentReply{8, HeldKeys{std::vector<crypto::VaultKeyId>(65)}})));
  EXPECT_FALSE(decode_agent_reply(encode(AgentReply{7, ResealedRecord{}})));
}

TEST(AgentProtocol, EveryCutOrLengthenedPacketIsRefused) {
  auto packet = encode(AgentRequest{1, CloudLogin{"a@b.test", crypto::SecretString("pw")}});
  for (std::size_t size = 0; size < packet.size(); ++size) {
    EXPECT_FALSE(decode_agent_request(crypto::ByteView(packet).first(size))) << size;
  }
  packet.push_back(std::byte{0});
  EXPECT_FALSE(decode_agent_request(packet));
}

TEST(AgentProtocol, NoPacketBreaksADecoder) {
  EXPECT_TRUE(rc::check([](std::vector<std::uint8_t> raw, std::uint8_t type) {
    if (!raw.empty()) raw[0] = type % 10;
    const auto bytes = std::as_bytes(std::span(raw));
    decode_agent_request(bytes);
    decode_agent_reply(bytes);
  }));
}

TEST(AgentArguments, ComeOutAsTheyWentIn) {
  AgentOptions options;
  options.cloud.base_url = "https://cloud.test";
  options.cloud.paths.login = "/enter";
  options.cloud.timeout = Millis{1'234};
  options.key_file = "/keys/vault";
  options.max_concurrent = 7;
  const auto read = parse_agent_arguments(agent_arguments(options));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->cloud.base_url, options.cloud.base_url);
  EXPECT_EQ(read->cloud.paths.login, options.cloud.paths.login);
  EXPECT_EQ(read->cloud.timeout, options.cloud.timeout);
  EXPECT_EQ(read->key_file, options.key_file);
  EXPECT_EQ(read->max_concurrent, 7U);
  options.key_file.clear();
  const auto without = parse_agent_arguments(agent_arguments(options));
  ASSERT_TRUE(without);
  EXPECT_EQ(without->key_file, "");
}

TEST(AgentArguments, AreRefusedWhenIncompleteOrUnknown) {
  using List = std::vector<std::string>;
  for (const List& list : {List{}, List{"--cloud-url", "x"}, List{"--cloud-url", "x", "--key-file"},
                           List{"--cloud-url", "x", "--key-file", "y", "--timeout-ms", "0"},
                           List{"--cloud-url", "x", "--key-file", "y", "--other", "z"}}) {
    EXPECT_FALSE(parse_agent_arguments(list));
  }
}

}  // namespace
}  // namespace presetbridge::cloud
