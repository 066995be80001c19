// Decisions as rows, and out of them again.
#include "decision_rows.hpp"

#include "epsilog/ledger/digest.hpp"
#include "epsilog/ledger/inspection.hpp"
#include "ledger/support/full_history.hpp"
#include "stored_bytes.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;
using ledger::DecisionRecord;
using ledger::Outcome;

namespace {

/// Writes a record into a ledger of two accounts and a plan, and reads it again.
ledger::DecisionRow written_and_read(const DecisionRecord& record, const ledger::TokenColumns& token = {}) {
  const LedgerFixture fixture;
  write_records(fixture.path, [&](ledger::Connection& connection, ledger::Meta& meta,
                                  ledger::Recorder& recorder) {
    for (const char* measure : {"delta", "rho"}) {
      recorder.write(ledger::AccountRecord{
          .id = ++meta.accounts, .name = {"clinic", "", measure}, .limit = 9, .opened_at = meta.last_time});
    }
    ledger::DecisionRecord first{.seq = 1,
                                 .id = "01JN8S7QG06QN7S4B91DZ610JT",
                                 .created_at = meta.last_time,
                                 .principal = "ada",
                                 .via = "claimed",
                                 .deadline = "9999-01-01T00:00:00.000Z",
                                 .outcome = Outcome::pending,
                                 .build = {.version = "1.2", .revision = "abc"},
                                 .policy_version = 1,
                                 .decided_under = 1,
                                 .dataset = "clinic",
                                 .plan = 1};
    recorder.write(ledger::PlanRecord{
        .number = ++meta.plans, .policy_version = 1, .question = "{}", .first_at = meta.last_time});
    ledger::insert_decision(connection, meta, first, {}, 1, {});
    ledger::insert_decision(connection, meta, record, ledger::values_at_length(record), 17, token);
    meta.decisions = 2;
  });
  ledger::Connection connection(ledger::locate(fixture.path), ledger::Connection::Role::reader);
  ledger::Query row = connection.query(EPSILOG_DECISION_COLUMNS "WHERE d.seq = 2");
  REQUIRE(row.step());
  return ledger::record_of_row(connection, row);
}

DecisionRecord base() {
  return {.seq = 2,
          .id = "01JN8S7QG06QN7S4B91DZ610JV",
          .created_at = "2026-01-01T00:00:00.123Z",
          .principal = "grace",
          .via = "claimed",
          .outcome = Outcome::refused,
          .reasons = R"([{"code":"x"}])",
          .build = {.version = "1.2", .revision = "abc"},
          .policy_version = 1,
          .decided_under = 1,
          .dataset = "clinic",
          .plan = 1};
}

}  // namespace

TEST_CASE("decision rows: a record of any kind is read as it was written", "[ledger][decision][exact]") {
  std::vector<DecisionRecord> records{base()};
  const auto add = [&](auto change) {
    DecisionRecord record = base();
    change(record);
    records.push_back(record);
  };
  add([](auto& r) { r.key = "k\"\xff"; });
  for (const char* via : {"unix:1000", "token:t1"}) add([&](auto& r) { r.via = via; });
  add([](auto& r) {
    r.parent = "01JN8S7QG06QN7S4B91DZ610JT";
    r.plan = 0;
    r.outcome = Outcome::approved;
    r.reasons = "[]";
    r.verb = "approve";
    r.why = "ok";
  });
  add([](auto& r) {
    r.outcome = Outcome::reserved;
    r.reasons = "[]";
    r.deadline = "2026-01-01T00:00:00.124Z";
    r.purpose = "care";
    r.reservation_kind = ledger::ReservationKind::data_token;
    r.conflicting_key = "other";
    r.movements = {{.account = 1,
                    .position = 2,
                    .reserved_change = 5,
                    .balance = {.limit = 9, .spent = 1, .reserved = 5}},
                   {.account = 2, .position = 1, .balance = {.limit = 9, .spent = 0, .reserved = 0}},
                   {.account = 3,
                    .position = 0,
                    .reserved_change = 7,
                    .balance = {.limit = 9, .spent = 0, .reserved = 7}}};
  });
  add([](auto& r) {
    r.outcome = Outcome::granted;
    r.reasons = "[]";
    r.component_values = {{Rational(1, 3), Rational(-7)}, {Rational(0), Rational(5, 2)}};
    r.values = {Rational(17, 6), Rational(-1)};
    r.movements = {
        {.account = 1,
         .position = 1,
         .spent_change = accounting::kUnitsMax,
         .reserved_change = -accounting::kUnitsMax,
         .balance = {.limit = accounting::kUnitsMax, .spent = accounting::kUnitsMax, .reserved = 0}}};
  });
  for (const DecisionRecord& record : records) {
    CAPTURE(static_cast<int>(record.outcome), record.via, record.verb);
    const auto read = written_and_read(record);
    CHECK(read.record == record);
    CHECK(read.line == 17);
    CHECK(read.token == ledger::TokenColumns());
  }
}

TEST_CASE("decision rows: a row says the hash of its data token, and the bytes if it has them",
          "[ledger][decision]") {
  DecisionRecord record = base();
  record.parent = "01JN8S7QG06QN7S4B91DZ610JT";
  record.outcome = Outcome::data_accessed;
  record.reasons = "[]";
  const std::string token(32, '\x07');
  const auto digest = ledger::bytes_of_hex<32>(ledger::sha256_hex(token), "hash");
  const std::string hash(digest.begin(), digest.end());
  for (const std::string& bytes : {token, std::string()}) {
    CAPTURE(bytes.empty());
    const auto read = written_and_read(record, {.bytes = bytes, .sha256 = hash});
    CHECK(read.token == ledger::TokenColumns{.bytes = bytes, .sha256 = hash});
    REQUIRE(read.record.token_sha256);
    CHECK(ledger::hex_text(*read.record.token_sha256) == ledger::sha256_hex(token));
    const auto of_columns = ledger::token_of(read.token);
    REQUIRE(of_columns);
    CHECK(of_columns->bytes.has_value() == !bytes.empty());
  }
}

TEST_CASE("decision rows: outcomes are numbered for ever", "[ledger][decision]") {
  const std::vector<std::pair<std::int64_t, std::string>> numbered{
      {1, "granted"},  {2, "refused"},       {3, "reserved"}, {4, "pending"},  {5, "approved"},
      {6, "rejected"}, {7, "data_accessed"}, {8, "voided"},   {9, "forfeited"}};
  for (const auto& [number, name] : numbered) {
    CHECK(ledger::outcome_number(ledger::outcome_of(number)) == number);
    CHECK(ledger::outcome_name(ledger::outcome_of(number)) == name);
  }
  for (const std::int64_t number : {-1, 0, 10}) CHECK_THROWS_AS(ledger::outcome_of(number), LedgerCorrupt);
}

TEST_CASE("decision rows: every decision of a whole history comes out with its charges and accounts",
          "[ledger][decision][lifecycle]") {
  const FullHistory full;
  auto snapshot = full.look();
  std::map<Outcome, ledger::StoredDecision> last;
  snapshot.each_decision("", 0, [&](const ledger::StoredDecision& decision) {
    last.insert_or_assign(decision.draft.outcome, decision);
    CHECK(decision.draft.request_digest == ledger::sha256_hex(decision.draft.request));
    if (decision.seq == 2) CHECK(decision.draft.request == R"({"statistic":"sum"})");
    if (decision.seq == 3) {
      CHECK(decision.draft.request ==
            R"({"conflicting_key":"k","purpose":"care","reservation":"plain","statistic":"count"})");
      REQUIRE(decision.accounts.size() == 2);
      CHECK(decision.accounts[0].id == 2);  // in the order that the caller named them
      CHECK(decision.accounts[1].id == 1);
    }
  });
  CHECK(last.size() == 9);
  const std::int64_t amount = Epsilon::parse_down("0.01").units();
  for (const auto& [outcome, decision] : last) {
    const bool charges =
        outcome == Outcome::granted || outcome == Outcome::reserved || outcome == Outcome::forfeited;
    REQUIRE(decision.charges.size() == (charges ? 1U : 0U));
    if (charges) CHECK(decision.charges[0].amount == amount);
    CHECK(decision.release.has_value() == (outcome == Outcome::granted));
  }
  CHECK(last.at(Outcome::voided).draft.request.find("no longer needed") != std::string::npos);
}
