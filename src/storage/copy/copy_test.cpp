#include "storage/copy/copy.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>

#include "storage/copy/table_shape.h"
#include "storage/schema/migrations.h"
#include "storage/stores/node_store.h"
#include "storage/testing.h"

namespace presetbridge::storage {
namespace {

using testing::Engine;
using ::testing::UnorderedElementsAre;

// A row or more of each table, with values that the engines may treat differently: keys of texts and bytes, the
// ends of integers, empty texts and bytes, NULL, every kind of character.
constexpr std::string_view kRows = R"sql(
INSERT INTO used_keys VALUES ('service', 'aa', 1), ('service', 'Aa', 2), ('vault', 'aa', 3);
INSERT INTO accounts (id, name, created_at, granted) VALUES (1, '', -9223372036854775808, 9223372036854775807),
  (2, 'Zoë ''O"Brien''; -- $1 \ {NULL} ﷺ𝔸🎛️', 0, 0), (9223372036854775807, '
	tab and newline', 0, 0);
INSERT INTO account_chores VALUES (1, 'reroute', 5, 7, NULL), (1, 'resume_credits', 0, 0, 3), (2, 'reroute', 0, 1, NULL);
INSERT INTO identities VALUES ('http://b', 'z', 1, 1, 'owner', 1, '', '{"views":[]}', 9), ('http://b', 'Z', 1, 2, 'member', 1, 'é@x', '', 0),
  ('http://B', 'ä', 2, 3, 'owner', 1, '', '', 0), ('http://b', 'a b', 2, 4, 'owner', 1, '', '', 0),
  ('http://b', 'a-b', 2, 5, 'owner', 1, '', '', 0);
INSERT INTO invitations VALUES (1, 1, X'00FF', 'member', 'für Ann', 'usr_1', 1, 2);
INSERT INTO retention_walks VALUES ('timelines', 4);
INSERT INTO timeline_revisits VALUES (1, 2);
INSERT INTO users VALUES (1, 'é@example.com', 'hash', 1), (2, 'e@example.com', 'hash', 1);
INSERT INTO sign_in_tries VALUES (X'', 1, 2, 3), (X'00', 1, 2, 3), (X'0000', 1, 2, 3), (X'00FF', 1, 2, 3), (X'FF', 1, 2, 3);
INSERT INTO mail_links VALUES (1, 1, 'reset', X'00FF', 1, 2, NULL, NULL, 0, 1), (2, 0, 'verify', X'', 1, 2, 3, 4, 5, NULL);
INSERT INTO verified_emails VALUES (1, X'00FF', 1);
INSERT INTO refresh_tokens VALUES (X'80', 1, 1, 1, 1, NULL), (X'7F', 2, 1, 1, 1, 0);
INSERT INTO sessions VALUES (1, 1, 'http://b', 'z', '', 1, NULL, 1, 2, 3, NULL, '', ''),
  (2, 2, 'http://b', 'Z', 'é@example.com', 0, 1, 1, 2, 3, 4, '::', 'x');
INSERT INTO session_tokens VALUES (X'80', 1, 1, NULL), (X'7F', 2, 1, 0);
INSERT INTO issuer_keys VALUES ('_b', '{}', X'', 1), ('B', '{}', X'01', 1), ('a', '{}', X'02', 1), ('-', '{}', X'03', 1);
INSERT INTO link_keys VALUES (1, X'00FF', 1), (2, X'', 2);
INSERT INTO audit_log VALUES (1, 1, 1, 'actor', 'action', 'target', '', '[]', '::', 'r', 'ann');
INSERT INTO credentials VALUES (1, 1, X'5C78', 'm***', NULL, 1, NULL, 7);
INSERT INTO cloud_login_tries VALUES (1, 1, X'27', 1, 0);
INSERT INTO cloud_sessions VALUES (X'01', 1, 1, X'00', 1, 'u');
INSERT INTO write_probe VALUES (1, X'00FF');
INSERT INTO service_windows VALUES ('jobs', X'00'), ('Jobs', X'');
INSERT INTO worker_calls VALUES (1, 'check_login', 1, 1, NULL, 1, 0, NULL), (2, 'files_of_session', NULL, NULL, X'00', 1, 1, '{}');
INSERT INTO api_keys (id, account_id, name, preview, hash, active, permissions, integration_ids, rate_limit, rate_log,
  created_at) VALUES (1, 1, 'k', 'p', X'01', 1, '', '', 1, X'', 1);
INSERT INTO integrations (id, account_id, name, provider, encrypted_secret, secret_preview, created_at)
  VALUES (1, 2, 's', 'generic', X'00', '…', 1);
INSERT INTO mappings VALUES (1, 1, 'sku', 'A-1', 'a-1', 'deliver', 'f', 'preset', '名前', 4711, 0, 0),
  (1, 1, 'title', 'x', 'x', 'ignore', '', '', '', NULL, 0, 7);
INSERT INTO mapping_remains VALUES (1, 7, 1), (1, 0, 2);
INSERT INTO bulk_jobs VALUES (1, 2, 'orders.reprocess', 'usr_1', '', '{}', 9, 4, 7, 1, 3, 1, '[]', 8, NULL, NULL, '[]', ''),
  (2, 2, 'orders.reprocess', 'usr_1', '1,2', '{}', 9, 4, 7, 0, 3, 1, '[]', 8, 10, 5, '[{}]', 'x');
INSERT INTO privacy_requests VALUES (1, 2, 1, 'shop_redact', X'00FF', 1, 5, 'K', NULL, NULL, NULL),
  (2, 2, 1, 'data_request', X'', 1, 0, '', 1, 2, 'usr_1');
INSERT INTO privacy_request_orders VALUES (2, 2, ''), (2, 1, 'é');
INSERT INTO order_payloads VALUES (1, 1, X'28B52FFD');
INSERT INTO store_hours VALUES (1, 3600000, 'accepted', 2, 3600001);
INSERT INTO activity VALUES (900000, 1, 2, 1, 0, 0, 2);
INSERT INTO activity_days VALUES (1, 86400000, 2, 1, 0, 2);
INSERT INTO store_orders VALUES (1, 2);
INSERT INTO store_origins VALUES (1, 'https://x', 2);
INSERT INTO store_topics VALUES (1, 'orders/paid', 2);
INSERT INTO store_products VALUES (1, 'sku:a', 1, 'A', 'a', '', '', 1, 1, 2, 0);
INSERT INTO cloud_accounts (id, cloud_user_id, username, start_log, pause) VALUES (1, 'u', 'U', X'', '');
INSERT INTO customers (id, cloud_account_id, username_key) VALUES (1, 1, 'ana'), (2, 1, 'İ');
INSERT INTO deliveries (id, account_id, integration_id, order_key, status, message, open, created_at, updated_at)
  VALUES (1, 1, 1, 'k', 'queued', 'm', 1, 1, 1), (2, 1, 1, 'k', 'queued', 'm', 1, 1, 1);
INSERT INTO delivery_items (delivery_id, file_id, id, account_id, kind, name, matched_by, quantity, lines, status)
  VALUES (1, 'b', 1, 1, 'preset', 'n', 'sku', 1, '[]', 'owed'), (1, 'B', 2, 1, 'preset', 'n', 'sku', 1, '[]', 'owed'),
  (2, 'a', 3, 1, 'preset', 'n', 'sku', 1, '[]', 'owed');
INSERT INTO delivery_timeline VALUES (1, 1, 1, 'k', 'a', 'queued', NULL, 'm', '', 0, 0, NULL, NULL, NULL),
  (1, 2, 1, 'k', 'a', 'queued', 'c', 'm', 'failed', 3, 1, 5, 7, '{}');
INSERT INTO delivery_keys VALUES (1, 'ué', 1), (1, 'uE', 1);
INSERT INTO delivery_key_fill VALUES (1, 2, 3);
INSERT INTO ledger VALUES (1, 1, 1, 'grant', 5, NULL, NULL, 'n', 5, NULL, NULL), (1, 2, 1, 'spend', 1, 1, NULL, '', NULL, NULL, 1),
  (1, 3, 1, 'reversal', 1, NULL, 1, 'n', 3, 'refund', NULL);
INSERT INTO webhook_subscriptions (id, account_id, url, encrypted_secret, event_types, integration_ids, created_at)
  VALUES (1, 1, 'https://example.com', X'00', '', '', 1);
INSERT INTO outbound_events VALUES (1, 1, NULL, 1, 't', 'u', X'7B7D', 1, 0);
INSERT INTO webhook_sends (id, subscription_id, event_id, status, due_at) VALUES (1, 1, 1, 'pending', 1);
INSERT INTO webhook_attempts VALUES (1, 1, 1, 1, 1, NULL, 5, 'o', '', 'text/plain');
INSERT INTO webhook_recoveries VALUES (1, 2, 3);
INSERT INTO buyer_acts VALUES (1, 2, 3, 1, 4);
INSERT INTO account_watches VALUES (1, 2, 1, 3);
INSERT INTO account_changes VALUES (1, 2, 1, 3, 'credits', '{}');
INSERT INTO purchases VALUES (1, 1, 'user:usr_1', 1, 0, 'small', 'S', 5, 9, 'eur', 'cs_1', '', 2, 'pi_1', 'r', 'paid', 1, 5, 0, 0, 0, '', 2, 1, 1, NULL),
  (2, 1, 'user:usr_1', 1, 1, 'small', 'S', 5, 9, 'eur', NULL, 'u', 2, NULL, '', 'pending', NULL, 0, 0, 0, 0, 'p', 0, 0, NULL, 3);
INSERT INTO payment_notices VALUES (0, 'node', 1, 2, 3, 'evt_1');
)sql";

// And a table with enough rows for several batches of the sizes below.
void add_orders(Database& database, int from, int to) {
  static constexpr Sql insert{
      "INSERT INTO orders (id, account_id, integration_id, order_key, outcome, state, received_at, "
      "updated_at) "
      "VALUES ($1, 1, 1, $2, 'delivery', '{}', 1, 1)"};
  database.write([&](Tx& tx) {
    for (int i = from; i < to; ++i) tx.exec(insert, i, fmt::format("order {}", i));
  });
}

std::vector<TableShape> tables_of(Database& database) {
  std::vector<TableShape> tables;
  database.read([&](Tx& tx) { tables = read_tables(tx, database.engine()); });
  return tables;
}

// All rows of a database, by table, in no order: read without the code that the copy reads with.
std::map<std::string, std::multiset<std::string>> content_of(Database& database) {
  static std::set<std::string> statements;  // drivers know statements by their addresses
  std::map<std::string, std::multiset<std::string>> content;
  for (const auto& table : tables_of(database)) {
    if (table.name == "nodes" || table.name == "schema_migrations" || table.name == "copy_progress") continue;
    std::string columns;
    for (const auto& column : table.columns) columns += (columns.empty() ? "" : ", ") + column.name;
    const Sql all{statements.insert("SELECT " + columns + " FROM " + table.name).first->c_str()};
    auto& rows = content[table.name];
    database.read([&](Tx& tx) {
      rows.clear();
      tx.query(all, [&](const Row& r) {
        std::string row;
        for (int i = 0; i < static_cast<int>(table.columns.size()); ++i) {
          const auto type = table.columns[static_cast<std::size_t>(i)].type;
          if (r.is_null(i)) {
            row += "NULL";
          } else if (type == ColumnType::integer) {
            row += std::to_string(r.int64(i));
          } else if (type == ColumnType::text) {
            row += "'" + r.string(i) + "'";
          } else {
            for (const std::byte b : r.bytes(i)) row += fmt::format("\\{:02x}", static_cast<int>(b));
          }
          row += "|";
        }
        rows.insert(row);
      });
    });
  }
  return content;
}

// Ends the n-th transaction from now on, before or after its commit, as a lost process would.
class Interrupted final : public Database {
 public:
  struct Gone {};
  Interrupted(Database& database, int after, bool committed)
      : database_(database), left_(after), committed_(committed) {}
  Durability commit(const TxFn& fn) override {
    const bool now = left_-- == 0;
    if (!now) return database_.commit(fn);
    if (committed_) {
      database_.commit(fn);
      throw Gone{};
    }
    database_.commit([&](Tx& tx) {
      fn(tx);
      throw Gone{};
    });
    return Durability::durable;
  }
  void sync() override { database_.sync(); }
  void read(const TxFn& fn) override { database_.read(fn); }
  std::string_view engine() const override { return database_.engine(); }

 private:
  Database& database_;
  int left_;
  const bool committed_;
};

class CopyTest : public ::testing::Test {
 protected:
  CopyTest() {
    for (auto* database : {&source_, &target_}) {
      if (!migrate(**database)) throw std::runtime_error("not migrated");
    }
    source_->write([](Tx& tx) { tx.exec_script(kRows); });
    add_orders(*source_, 1, 301);
  }
  bool unfinished() {
    bool is = false;
    target_->read([&](Tx& tx) { is = copy_unfinished(tx, target_->engine()); });
    return is;
  }
  void change(testing::TemporaryDatabase& database, std::string_view script) {
    database->write([&](Tx& tx) { tx.exec_script(script); });
  }
  std::string refusal() {
    const auto copied = copy_database(*source_, *target_, {});
    return copied ? "" : copied.error().code;
  }

  testing::TemporaryDatabase source_{Engine::sqlite};
  testing::TemporaryDatabase target_{Engine::postgres, testing::TemporaryPostgres::Kind::quick};
};

TEST_F(CopyTest, KeepsServicesOutFromTheFirstThingThatTheTargetHolds) {
  for (const bool committed : {false, true}) {
    for (int n = 0; n < 4; ++n) {
      testing::TemporaryDatabase target{Engine::postgres, testing::TemporaryPostgres::Kind::quick};
      Interrupted interrupted(*target, n, committed);
      EXPECT_THROW(copy_database(*source_, interrupted, {}), Interrupted::Gone);
      target->read([&](Tx& tx) { EXPECT_EQ(copy_unfinished(tx, "postgres"), n > 0 || committed) << n; });
      EXPECT_TRUE(copy_database(*source_, *target, {})) << n;
      target->read([](Tx& tx) { EXPECT_FALSE(copy_unfinished(tx, "postgres")); });
    }
  }
}

TEST_F(CopyTest, KnowsEveryTableOfTheSchemaOnBothEngines) {
  std::set<std::string> made{"schema_migrations"};
  const std::regex create(R"(CREATE TABLE (\w+))");
  const std::regex rename(R"(ALTER TABLE (\w+) RENAME TO (\w+))");
  for (const auto& migration : builtin_migrations()) {
    const std::string sql(migration.sql);
    for (std::sregex_iterator it(sql.begin(), sql.end(), create), end; it != end; ++it) made.insert((*it)[1]);
    for (std::sregex_iterator it(sql.begin(), sql.end(), rename), end; it != end; ++it) {
      made.erase((*it)[1]);
      made.insert((*it)[2]);
    }
  }
  std::set<std::string> known;
  for (const auto& table : tables_of(*source_)) known.insert(table.name);
  EXPECT_EQ(known, made);
  EXPECT_EQ(tables_of(*source_), tables_of(*target_));
}

TEST_F(CopyTest, TablesFollowThoseThatTheyReferTo) {
  std::set<std::string> before;
  int references = 0;
  for (const auto& table : tables_of(*target_)) {
    for (const auto& other : table.references) {
      EXPECT_TRUE(before.contains(other)) << table.name << " before " << other;
      ++references;
    }
    before.insert(table.name);
  }
  EXPECT_GT(references, 5);
}

TEST_F(CopyTest, CopiesEveryRowOfEveryTable) {
  const auto before = content_of(*source_);
  for (const auto& [table, rows] : before) EXPECT_FALSE(rows.empty()) << "this test has no row of " << table;
  const auto copied = copy_database(*source_, *target_, {.batch_rows = 7});
  ASSERT_TRUE(copied) << copied.error().message;
  std::set<std::string> names;
  for (const auto& table : *copied) {
    EXPECT_TRUE(table.equal()) << table.name;
    EXPECT_EQ(table.source_rows, static_cast<std::int64_t>(before.at(table.name).size()));
    names.insert(table.name);
  }
  EXPECT_EQ(names.size(), before.size());
  EXPECT_EQ(content_of(*target_), before);
  EXPECT_EQ(content_of(*source_), before);
  EXPECT_FALSE(unfinished());
}

TEST_F(CopyTest, GoesOnWhereverItWasInterrupted) {
  const auto before = content_of(*source_);
  int interruptions = 0;
  bool done = false;
  for (int at = 0; !done; ++at) {
    // Behind its first one the copy gets some transactions further each time; whether the last stands
    // changes.
    Interrupted target(*target_, 1 + at % 3, at % 2 == 0);
    try {
      const auto copied = copy_database(*source_, target, {.batch_rows = 50});
      ASSERT_TRUE(copied) << copied.error().message;
      for (const auto& table : *copied) EXPECT_TRUE(table.equal()) << table.name;
      done = true;
    } catch (const Interrupted::Gone&) {
      ++interruptions;
      if (!unfinished()) break;  // it was interrupted after its very last commit
    }
    ASSERT_LT(at, 200);
  }
  EXPECT_GT(interruptions, 15);
  EXPECT_EQ(content_of(*target_), before);
  EXPECT_FALSE(unfinished());
}

TEST_F(CopyTest, NothingIsWrittenTwiceAfterAnInterruption) {
  Interrupted target(*target_, 25, true);
  EXPECT_THROW((void)copy_database(*source_, target, {.batch_rows = 100}), Interrupted::Gone);
  std::int64_t there = 0;
  for (const auto& [table, rows] : content_of(*target_)) there += static_cast<std::int64_t>(rows.size());
  std::map<std::string, std::int64_t> written;
  ASSERT_TRUE(copy_database(*source_, *target_, {.progress = [&](const CopyProgress& now) {
    if (!now.comparing) written[std::string(now.table)] = now.rows;
  }}));
  std::int64_t all = 0;
  for (const auto& [table, rows] : content_of(*source_)) all += static_cast<std::int64_t>(rows.size());
  std::int64_t later = 0;
  for (const auto& [table, rows] : written) later += rows;
  EXPECT_GT(there, 20);
  EXPECT_EQ(there + later, all);
}

TEST_F(CopyTest, LongRowsAreCopiedInSmallBatches) {
  static constexpr Sql insert{"INSERT INTO order_payloads VALUES ($1, 1, $2)"};
  const std::vector<std::byte> body(1 << 20, std::byte{0xA7});
  source_->write([&](Tx& tx) {
    for (int i = 1'000; i < 1'040; ++i) tx.exec(insert, i, Blob(body));
  });
  std::int64_t before = 0;
  std::int64_t most = 0;
  const auto copied = copy_database(*source_, *target_, {.progress = [&](const CopyProgress& now) {
    if (now.table != "order_payloads" || now.comparing) return;
    most = std::max(most, now.rows - before);
    before = now.rows;
  }});
  ASSERT_TRUE(copied);
  for (const auto& table : *copied) EXPECT_TRUE(table.equal()) << table.name;
  EXPECT_EQ(before, 41);
  EXPECT_LE(most, 9);
}

// A change of the target while it was copied, which only the comparison can find.
TEST_F(CopyTest, EveryDifferenceIsFoundAndKeepsTheTargetClosed) {
  const std::array<std::pair<std::string_view, std::string_view>, 6> changes{{
      {"orders", "UPDATE orders SET order_key = 'order 77 ' WHERE id = 77;"},
      {"orders", "DELETE FROM orders WHERE id = 300;"},
      {"orders", "UPDATE orders SET id = 1000 WHERE id = 300;"},
      {"sign_in_tries", "INSERT INTO sign_in_tries VALUES (CAST('\\xFFFF' AS bytea), 1, 2, 3);"},
      {"refresh_tokens", "UPDATE refresh_tokens SET revoked_at = NULL;"},
      {"identities", "UPDATE identities SET sub = 'zz' WHERE sub = 'z';"},
  }};
  for (auto [table, script] : changes) {
    SCOPED_TRACE(script);
    testing::TemporaryDatabase target{Engine::postgres, testing::TemporaryPostgres::Kind::quick};
    ASSERT_TRUE(migrate(*target));
    bool changed = false;
    const auto copied = copy_database(*source_, *target, {.progress = [&](const CopyProgress& now) {
      if (!now.comparing || changed) return;
      changed = true;
      target->write([&](Tx& tx) { tx.exec_script(script); });
    }});
    ASSERT_TRUE(copied) << copied.error().message;
    for (const auto& found : *copied) EXPECT_EQ(found.equal(), found.name != table) << found.name;
    target->read([&](Tx& tx) { EXPECT_TRUE(copy_unfinished(tx, "postgres")); });
  }
}

TEST_F(CopyTest, TheRowsThatTheTargetHasTooManyAreAllCounted) {
  bool changed = false;
  const auto copied = copy_database(*source_, *target_, {.progress = [&](const CopyProgress& now) {
    if (!now.comparing || changed) return;
    changed = true;
    change(target_,
           "INSERT INTO users SELECT 100 + n, CAST(n AS TEXT), 'hash', 1 "
           "FROM generate_series(1, 250) n;");
  }});
  ASSERT_TRUE(copied) << copied.error().message;
  for (const auto& table : *copied)
    EXPECT_EQ(table.target_rows - table.source_rows, table.name == "users" ? 250 : 0) << table.name;
}

TEST_F(CopyTest, RefusesATargetThatHoldsAnything) {
  change(target_, "INSERT INTO nodes VALUES (0, 'a node', 1);");
  EXPECT_EQ(refusal(), "COPY_TARGET_NOT_EMPTY");
  change(target_, "DELETE FROM nodes; INSERT INTO audit_log VALUES (1, 1, 1, '', '', '', '');");
  EXPECT_EQ(refusal(), "COPY_TARGET_NOT_EMPTY");
  EXPECT_FALSE(unfinished());
  change(target_, "DELETE FROM audit_log;");
  EXPECT_EQ(refusal(), "");
  EXPECT_EQ(refusal(), "COPY_TARGET_NOT_EMPTY");  // what a finished copy left
}

TEST_F(CopyTest, RefusesToGoOnWithAnotherSource) {
  Interrupted target(*target_, 25, true);
  EXPECT_THROW((void)copy_database(*source_, target, {.batch_rows = 100}), Interrupted::Gone);
  const auto half = content_of(*target_);

  testing::TemporaryDatabase other{Engine::sqlite};
  other.clock.advance(Millis{1});  // made at another time
  ASSERT_TRUE(migrate(*other));
  other->write([](Tx& tx) { tx.exec_script(kRows); });
  add_orders(*other, 1, 301);
  const auto with_other = copy_database(*other, *target_, {});
  ASSERT_FALSE(with_other);
  EXPECT_EQ(with_other.error().code, "COPY_OTHER_SOURCE");

  add_orders(*source_, 301, 302);  // the service ran in between
  EXPECT_EQ(refusal(), "COPY_OTHER_SOURCE");
  EXPECT_EQ(content_of(*target_), half);
  change(source_, "DELETE FROM orders WHERE id = 301;");
  EXPECT_EQ(refusal(), "");
}

TEST_F(CopyTest, RefusesTablesThatAreNotTheSame) {
  change(target_, "ALTER TABLE orders ADD COLUMN more TEXT;");
  EXPECT_EQ(refusal(), "SCHEMA_CHANGED");
}

TEST_F(CopyTest, TheNextNodeTakesAnotherNumberThanTheSourcesAndTheSameKeys) {
  change(source_, "DELETE FROM used_keys WHERE purpose = 'vault';");
  ASSERT_TRUE(
      copy_database(*source_, *target_, {.keys = {{KeyUse::service, "00ff"}, {KeyUse::vault, "00ff"}}}));
  std::vector<std::string> keys;
  std::vector<std::string> logins;
  std::optional<int> number;
  target_->write([&](Tx& tx) {
    keys = used_keys(tx, KeyUse::service);
    logins = used_keys(tx, KeyUse::vault);
    number = take_node_number(tx, "node", tx.now());
  });
  EXPECT_THAT(keys, UnorderedElementsAre("aa", "Aa")) << "one that the source does not use yet";
  EXPECT_THAT(logins, UnorderedElementsAre("00ff"));
  EXPECT_EQ(number, 1);
}

}  // namespace
}  // namespace presetbridge::storage
