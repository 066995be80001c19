// The log of a ledger against its rows and against the tree's recursive definition.
#include "record_log.hpp"

#include "ledger/support/full_history.hpp"
#include "ledger/support/reference_tree.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;

namespace {

ledger::RecordLog loaded(const std::string& path) {
  ledger::Connection connection(ledger::locate(path), ledger::Connection::Role::reader);
  return ledger::RecordLog::load(connection, ledger::read_meta(connection).log_size);
}

void refuse(ledger::Ledger& ledger, int times) {
  auto transaction = ledger.begin();
  for (int i = 0; i < times; ++i) transaction.refuse(refused());
  static_cast<void>(ledger.commit(std::move(transaction)));
}

}  // namespace

TEST_CASE("log: every line made again from its rows has its leaf, and nodes and root are the tree's",
          "[ledger][log][exact]") {
  const FullHistory full;
  ledger::Connection connection(ledger::locate(full.path), ledger::Connection::Role::reader);
  const std::int64_t size = ledger::read_meta(connection).log_size;
  REQUIRE(size > 256);
  std::vector<Hash> leaves;
  std::set<std::int64_t> kinds;
  SQLite::Statement statement =
      connection.prepare("SELECT line_index, kind, row, blind, leaf FROM log ORDER BY line_index");
  ledger::Query rows(statement, connection.handle());
  while (rows.step()) {
    const auto index = static_cast<std::uint64_t>(rows.integer(0));
    REQUIRE(index == leaves.size());
    kinds.insert(rows.integer(1));
    ledger::Line line{.index = index,
                      .record = ledger::record_at(connection, rows.integer(1), rows.integer(2))};
    const std::string blind = rows.bytes(3);
    std::copy(blind.begin(), blind.end(), line.blind.begin());
    const std::string text = ledger::line_text(connection, line);
    INFO(text);
    const Hash leaf = hash_of(std::string(1, '\0') + text);
    const std::string stored = rows.bytes(4);
    REQUIRE(std::equal(leaf.begin(), leaf.end(), stored.begin(), stored.end(),
                       [](std::uint8_t a, char b) { return a == static_cast<std::uint8_t>(b); }));
    leaves.push_back(leaf);
  }
  CHECK(leaves.size() == static_cast<std::size_t>(size));
  CHECK(kinds.size() == std::variant_size_v<ledger::Record>);

  ReferenceTree reference([&](std::uint64_t index) { return leaves.at(index); });
  for (const std::int64_t part :
       {std::int64_t{1}, std::int64_t{2}, std::int64_t{255}, std::int64_t{256}, std::int64_t{257}, size}) {
    CAPTURE(part);
    const auto log = ledger::RecordLog::load(connection, part);
    CHECK(log.head().size == static_cast<std::uint64_t>(part));
    CHECK(log.head().root == reference.head(static_cast<std::uint64_t>(part)).root);
  }
  CHECK(query_sql(full.path, "SELECT count(*) FROM node") == std::to_string(size / 256));
  Hash node{};
  ledger::read_nodes(connection, 8, 0, std::span(&node, 1));
  CHECK(node == reference.mth({0, 256}));
}

TEST_CASE("log: lines say their index, and random bytes that no other line has", "[ledger][log]") {
  const FullHistory full;
  CHECK(query_sql(full.path,
                  "SELECT count(DISTINCT blind) = count(*) AND max(line_index) + 1 = count(*) FROM log") ==
        "1");
}

TEST_CASE("log: what others appended is followed, a little and a lot of it", "[ledger][log]") {
  const LedgerFixture fixture;
  ledger::RecordLog followed = loaded(fixture.path);
  auto ledger = fixture.open();
  for (const int more : {1, 2, 300, 1'100, 1}) {
    CAPTURE(more);
    refuse(ledger, more);
    ledger::Connection connection(ledger::locate(fixture.path), ledger::Connection::Role::reader);
    const std::int64_t size = ledger::read_meta(connection).log_size;
    CHECK(followed.follow(connection, size));
    CHECK(followed.size() == size);
    CHECK(followed.head().root == ledger::RecordLog::load(connection, size).head().root);
    CHECK(followed.follow(connection, size));  // nothing new
    CHECK(followed.size() == size);
  }
}

TEST_CASE("log: another history in the place of this one is not taken for what follows it", "[ledger][log]") {
  const LedgerFixture one;
  const LedgerFixture other;
  {
    auto ledger = one.open();
    refuse(ledger, 3);
    auto another = other.open();
    refuse(another, 9);
  }
  ledger::RecordLog log = loaded(one.path);
  ledger::Connection connection(ledger::locate(other.path), ledger::Connection::Role::reader);
  const std::int64_t size = ledger::read_meta(connection).log_size;
  SECTION("a longer one") {
    CHECK_FALSE(log.follow(connection, size));
  }
  SECTION("one of the same length") {
    ledger::RecordLog of_other = ledger::RecordLog::load(connection, log.size());
    CHECK(of_other.head().root != log.head().root);
    CHECK_FALSE(log.follow(connection, log.size()));
    CHECK(log.head().root == of_other.head().root);
    CHECK(log.follow(connection, size));  // of what was read there
  }
  SECTION("a shorter one") {
    CHECK_FALSE(log.follow(connection, 4));
    CHECK(log.size() == 4);
    CHECK(log.follow(connection, size));
  }
  CHECK(log.head().root == ledger::RecordLog::load(connection, size).head().root);
}

TEST_CASE("log: a leaf or a node that is not there, or that meta does not count, is named",
          "[ledger][log][negative]") {
  const FullHistory full;
  const auto size = std::stoll(query_sql(full.path, "SELECT log_size FROM meta"));
  SECTION("a leaf of the right edge") {
    tamper_with(full.path, "DELETE FROM log WHERE line_index = " + std::to_string(size - 1));
    CHECK_THROWS_WITH(loaded(full.path),
                      "log: node " + std::to_string(size - 1) + " of level 0 of the tree is not there");
    CHECK_THROWS_AS(full.open().begin(), LedgerCorrupt);
  }
  SECTION("a node") {
    tamper_with(full.path, "DELETE FROM node");
    CHECK_THROWS_WITH(loaded(full.path), "log: node 0 of level 8 of the tree is not there");
    CHECK_THROWS_AS(full.open().begin(), LedgerCorrupt);
  }
  SECTION("a size") {
    tamper_with(full.path, "UPDATE meta SET log_size = log_size - 1");
    CHECK_THROWS_AS(full.open().begin(), LedgerCorrupt);
  }
}

TEST_CASE("log: a transaction that is rolled back leaves no line", "[ledger][log]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  refuse(ledger, 2);
  const std::string before =
      query_sql(fixture.path, "SELECT log_size || hex(leaf) FROM meta, log ORDER BY line_index DESC");
  {
    auto transaction = ledger.begin();
    transaction.refuse(refused());
  }
  CHECK(query_sql(fixture.path, "SELECT log_size || hex(leaf) FROM meta, log ORDER BY line_index DESC") ==
        before);
  refuse(ledger, 1);
  CHECK(loaded(fixture.path).size() == std::stoll(query_sql(fixture.path, "SELECT count(*) FROM log")));
}
