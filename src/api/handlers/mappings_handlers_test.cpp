// The mappings of a store over their routes.
#include "api/handlers/merchant_handlers_testing.h"
#include "services/worker/account_tasks.h"

namespace presetbridge::api::testing {
namespace {

TEST_F(MerchantApi, MappingsAreReplacedAsAWholeOrNotAtAll) {
  const auto id = add_integration().string("id");
  const json::object good{
      {"matchType", "title"}, {"matchValue", " Big  Amp "}, {"fileId", "f1"}, {"kind", "preset"}};
  const auto saved = put_mappings(
      id, {good, json::object{{"matchType", "sku"}, {"matchValue", "FEE"}, {"action", "ignore"}}});
  ASSERT_EQ(saved.status, 200) << saved.text;
  EXPECT_EQ(wakes_, 1);
  const auto bad = put_mappings(
      id, {good, json::object{{"matchType", "title"}, {"matchValue", "big amp"}, {"fileId", "f1"}}});
  EXPECT_EQ(bad.code(), "VALIDATION_FAILED");
  EXPECT_EQ(bad.body.at("error").at("details").at(0).at("field"), "mappings[1].matchValue");
  const auto worse = put_mappings(
      id, {json::object{{"matchType", "sku"}}, json::object{{"matchType", "x"}, {"matchValue", "A"}}});
  EXPECT_EQ(worse.body.at("error").at("details").as_array().size(), 4U) << worse.text;
  const auto kept = put_mappings(id, {good});
  EXPECT_EQ(kept.body.at("mappings").at(0).at("id"), saved.body.at("mappings").at(0).at("id"));
  EXPECT_EQ(send(me_, "PUT", "/api/integrations/" + id + "/mappings",
                 json::object{{"version", saved.body.at("version")}, {"mappings", json::array{}}})
                .code(),
            "CONFLICT");
  EXPECT_EQ(send(me_, "GET", "/api/integrations/" + id).body.at("mappingCount").as_int64(), 1);
}

TEST_F(MerchantApi, SavedMappingsResumeWhatFailedForWantOfAFileIfItOwesOtherFilesNow) {
  const auto made = add_integration();
  domain::OrderState state{.seen = true, .order_number = "#1001"};
  domain::OrderLine line;
  line.line_id = "1";
  line.sku = "A";
  state.lines = {line};
  const auto id = add_failed(integration_id(made), domain::ResolutionCode::preset_not_found, state);
  const auto resumes = [&](std::string file) {
    put_mappings(made.string("id"),
                 {json::object{{"matchType", "sku"}, {"matchValue", "A"}, {"fileId", file}}});
    write([&](storage::Tx& tx) {
      for (const auto& task : storage::find_account_tasks(tx, 10))
        services::do_account_task_batch(tx, changes_, task, {});
    });
    return send(me_, "GET", "/api/deliveries/" + to_string(id)).string("resolutionCode") !=
           "preset_not_found";
  };
  const auto shown = send(me_, "GET", "/api/deliveries/" + to_string(id));
  EXPECT_EQ(shown.string("orderNumber"), "#1001");
  EXPECT_EQ(send(me_, "GET", "/api/deliveries").body.at("data").at(0).at("orderNumber"), "#1001");
  EXPECT_FALSE(resumes("f1"));
  EXPECT_TRUE(resumes("f2"));
}

// spec 2.14.
TEST_F(MerchantApi, MoreMappingsOfOneKeyThanTheLimitAreRefusedAndTheFirstOnesNamed) {
  const auto id = add_integration().string("id");
  json::array mappings;
  const auto add = [&](std::string_view value, int count) {
    for (int i = 0; i < count; ++i) {
      mappings.push_back(json::object{
          {"matchType", "title"}, {"matchValue", value}, {"fileId", "f" + std::to_string(mappings.size())}});
    }
  };
  add("Warm  Clean", 60);
  add("warm clean ", 40);
  EXPECT_EQ(put_mappings(id, mappings).status, 200);
  add("WARM CLEAN", 2);
  add("Other", 101);
  const auto refused = put_mappings(id, mappings);
  ASSERT_EQ(refused.status, 422);
  EXPECT_EQ(refused.code(), "VALIDATION_FAILED");
  const auto& details = refused.body.at("error").at("details").as_array();
  ASSERT_EQ(details.size(), 2U) << refused.text;
  EXPECT_EQ(details[0].at("field"), "mappings[100].matchValue");
  EXPECT_EQ(details[0].at("problem"), "has more than 100 mappings");
  EXPECT_EQ(details[1].at("field"), "mappings[202].matchValue");
  EXPECT_EQ(send(me_, "GET", "/api/integrations/" + id).body.at("mappingCount"), 100);
}

TEST_F(MerchantApi, ASaveOfManyMappingsIsWholeAndKeepsTheIdsOfThoseThatWereThere) {
  const auto id = add_integration().string("id");
  const auto mappings = [](int count) {
    json::array all;
    for (int i = 0; i < count; ++i) {
      all.push_back(
          json::object{{"matchType", "sku"}, {"matchValue", "sku-" + std::to_string(i)}, {"fileId", "f1"}});
    }
    return all;
  };
  const auto first = put_mappings(id, mappings(1'300));
  ASSERT_EQ(first.status, 200) << first.text.substr(0, 300);
  EXPECT_EQ(first.body.at("mappings").as_array().size(), 1'300U);
  const auto shown = send(me_, "GET", "/api/integrations/" + id + "/mappings");
  EXPECT_EQ(shown.body, first.body);
  const auto fewer = put_mappings(id, mappings(2));
  EXPECT_EQ(fewer.body.at("mappings").at(1).at("id"), first.body.at("mappings").at(1).at("id"));
  EXPECT_EQ(fewer.body.at("version").as_int64(), first.body.at("version").as_int64() + 1);
  write([](storage::Tx& tx) {
    EXPECT_EQ(tx.one({"SELECT count(*) FROM mappings"}, [](const storage::Row& r) { return r.int64(0); }), 2);
  });
  const auto late = send(me_, "PUT", "/api/integrations/" + id + "/mappings",
                         json::object{{"version", first.body.at("version")}, {"mappings", mappings(1'300)}});
  EXPECT_EQ(late.code(), "CONFLICT");
}

// One that saves at the same time comes between two batches of the other.
TEST_F(MerchantApi, ASaveThatFindsAnotherBeforeItsEndIsRefusedWholeWhereItNamedAVersion) {
  const auto made = add_integration();
  const auto id = integration_id(made);
  std::vector<services::WantedMapping> many(1'200);
  for (std::size_t i = 0; i < many.size(); ++i) {
    many[i].match_value = "sku-" + std::to_string(i);
    many[i].file_id = "f1";
  }
  const auto version = made.body.at("version").as_int64();
  std::optional<Expected<services::MappingSet>> slow;
  spawn(integrations_.replace_mappings(world_.scheduler, me_, id, version, many),
        [&](auto outcome) { slow = std::move(outcome.value); });
  // Its first batch is written by now, and it waits for its turn.
  const auto quick = world_.await(integrations_.replace_mappings(world_.scheduler, me_, id, std::nullopt,
                                                                 {{.match_value = "only", .file_id = "f2"}}));
  ASSERT_TRUE(quick);
  for (int i = 0; i < 100 && !slow; ++i) world_.scheduler.run();
  ASSERT_TRUE(slow);
  ASSERT_FALSE(*slow);
  EXPECT_EQ(slow->error().code, "CONFLICT");
  const auto left = world_.await(integrations_.mappings(world_.scheduler, me_, id));
  ASSERT_EQ(left->mappings.size(), 1U);
  EXPECT_EQ(left->mappings.front().match_value, "only");
}

}  // namespace
}  // namespace presetbridge::api::testing
