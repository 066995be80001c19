// What one asker can cost a ledger: the size of what is free, and that the audit compares all of it.

#include "clinic.hpp"
#include "decide.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/checked_policy.hpp"
#include "epsilog/ledger/digest.hpp"
#include "implied_object.hpp"
#include "sql_rows.hpp"
#include "support/catch.hpp"
#include "tampering.hpp"
#include "waiting.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;

namespace {

constexpr std::size_t kBytesMax = 16 * 1024;

/// A clinic whose wards, so many and with names so long, are blocks.
struct Wards {
  explicit Wards(std::size_t count, std::size_t name_bytes = 4, const std::string& more = "") {
    std::string values;
    for (std::size_t i = 0; i < count; ++i) {
      std::string name = std::to_string(i);
      name.insert(0, name_bytes > name.size() ? name_bytes - name.size() : 0, '-');
      values += (values.empty() ? "\"" : ", \"") + name + "\"";
    }
    folder.write("visits.csv", kVisits);
    folder.write("policy.yaml",
                 "version: 1\n"
                 "datasets:\n"
                 "  clinic:\n"
                 "    source: {csv: visits.csv}\n"
                 "    unit: {id: patient_id, max_rows: 3}\n"
                 "    rows: {max: 1000}\n"
                 "    neighbours: add-remove\n"
                 "    budget: {epsilon: 1}\n"
                 "    lifetime: {epsilon: 1.5}\n"
                 "    blocks: {by: ward}\n"
                 "    columns:\n"
                 "      ward: {type: string, values: [" +
                     values + "]}\n" + more);
    (void)Engine::init(folder.path("policy.yaml"), ledger(), "curator");
  }
  [[nodiscard]] std::string ledger() const { return folder.path("l"); }
  [[nodiscard]] Engine open() const { return Engine::open(ledger()); }

  TemporaryFolder folder;
};

/// The longest of what decisions store, plans aside: a movement takes eight numbers.
std::size_t largest_decision(const std::string& path) {
  return std::stoull(
      sql_value(path,
                "SELECT max(length(CAST(reasons AS BLOB)) + length(CAST(purpose AS BLOB)) +"
                " 64 * (SELECT count(*) FROM movement AS m WHERE m.seq = d.seq)) FROM decision AS d"));
}

std::vector<std::string> fault_codes(const std::string& ledger) {
  std::vector<std::string> codes;
  for (const AuditFault& fault : audit_verify(ledger).faults) codes.push_back(fault.code);
  return codes;
}

Reason reason(std::size_t number, std::size_t bytes = 0) {
  Reason result;
  result.scope = "block:" + std::to_string(number) + std::string(bytes, 'x');
  result.measure = "epsilon";
  result.message = "too much";
  return result;
}

Decision refusal(std::size_t count, std::size_t bytes = 0) {
  std::vector<Reason> reasons;
  for (std::size_t i = 0; i < count; ++i) reasons.push_back(reason(i, bytes));
  return {std::move(reasons), count};
}

}  // namespace

TEST_CASE("refusal: of 4,096 blocks without room the first sixteen are stored, and how many there are",
          "[engine][refusals][size]") {
  const Wards wards(4096);
  Engine engine = wards.open();
  const Request asked = request("count", "2", "k");
  const Answer planned = engine.plan(asked, {});
  CHECK(planned.recorded.reasons.size() == 4097);
  CHECK(planned.recorded.reasons_count == 4097);
  const Answer refused = release(engine, asked);
  REQUIRE_FALSE(refused.recorded.granted);
  CHECK(refused.recorded.reasons_count == 4097);
  REQUIRE(refused.recorded.reasons.size() == 16);
  CHECK(std::equal(refused.recorded.reasons.begin(), refused.recorded.reasons.end(),
                   planned.recorded.reasons.begin()));
  CHECK(refused.recorded.accounts.size() == 16);
  CHECK(refused.recorded.accounts.front().scope == refused.recorded.reasons.front().scope);
  CHECK(largest_decision(wards.ledger()) <= kBytesMax);

  const Answer again = release(engine, asked);
  CHECK(again.recorded.replayed);
  CHECK(again.recorded.reasons == refused.recorded.reasons);
  CHECK(again.recorded.reasons_count == 4097);
  CHECK(engine.show(refused.recorded.decision_id, {}).recorded.reasons == refused.recorded.reasons);
  CHECK(fault_codes(wards.ledger()).empty());
}

TEST_CASE("refusal: what is stored names the accounts it refuses for, wherever these stand",
          "[engine][refusals][size]") {
  const Wards wards(40);
  Engine engine = wards.open();
  // Of the blocks each has room for the second, and the lifetime, which is asked last, has not.
  CHECK(release(engine, request("count", "0.8", "", std::nullopt, "ward = '---0'")).recorded.granted);
  CHECK(release(engine, request("count", "0.5", "", std::nullopt, "ward = '---1'")).recorded.granted);
  const Answer refused = release(engine, request("count", "0.5"));
  REQUIRE_FALSE(refused.recorded.granted);
  CHECK(refused.recorded.reasons_count == 2);  // block 0, lifetime
  CHECK(refused.recorded.accounts.size() == 2);
  for (const Reason& one : refused.recorded.reasons) {
    CHECK(std::any_of(refused.recorded.accounts.begin(), refused.recorded.accounts.end(),
                      [&](const ledger::AccountState& account) { return account.scope == one.scope; }));
  }
  CHECK(fault_codes(wards.ledger()).empty());
}

TEST_CASE("refusal: names of blocks as long as they may be do not make it larger",
          "[engine][refusals][size]") {
  const Wards wards(64, 1000);
  Engine engine = wards.open();
  const Answer refused = release(engine, request("count", "2"));
  REQUIRE_FALSE(refused.recorded.granted);
  CHECK(refused.recorded.reasons_count == 65);
  CHECK(refused.recorded.reasons.size() >= 1);
  CHECK(refused.recorded.reasons.size() < 16);
  CHECK(largest_decision(wards.ledger()) <= kBytesMax);
  CHECK(fault_codes(wards.ledger()).empty());
}

TEST_CASE("refusal: what waits, and what is given back, is stored as briefly", "[engine][refusals][size]") {
  {
    const Wards wards(300, 4, waiting_rules("{required: 1, by: {principals: [dave]}}"));
    Engine engine = wards.open();
    const Answer pending = release(engine, request("count", "0.5"));
    REQUIRE(pending.recorded.state == RequestState::pending);
    CHECK(pending.recorded.accounts.size() == 16);
    CHECK(largest_decision(wards.ledger()) <= kBytesMax);
    CHECK(fault_codes(wards.ledger()).empty());
  }
  const Wards wards(300);
  Engine engine = wards.open();
  Request held = request("count", "0.5");
  held.reservation = ReservationKind::reserved;
  const Answer reserved = engine.reserve(held, {});
  CHECK(reserved.recorded.accounts.size() == 301);  // each of which it debits
  const Answer cancelled = engine.cancel(reserved.recorded.decision_id, "alice");
  CHECK(cancelled.recorded.state == RequestState::cancelled);
  CHECK(cancelled.recorded.accounts.size() == 16);
  CHECK(release(engine, request("count", "0.5")).recorded.accounts.size() == 301);
  CHECK(fault_codes(wards.ledger()).empty());
}

TEST_CASE("refusal: a changed count, reason or balance is found", "[engine][refusals][size][negative]") {
  const auto codes_after = [](const std::string& sql) {
    const Wards wards(40);
    {
      Engine engine = wards.open();
      REQUIRE_FALSE(release(engine, request("count", "2")).recorded.granted);
    }
    tamper_with_log(wards.ledger(), sql);
    return fault_codes(wards.ledger());
  };
  using Codes = std::vector<std::string>;
  CHECK(codes_after(R"(UPDATE decision SET reasons = replace(reasons, '"count":41', '"count":40'))") ==
        Codes{"decision_differs"});
  CHECK(codes_after("UPDATE decision SET reasons = json_remove(reasons, '$.first[15]')") ==
        Codes{"decision_differs"});
  CHECK(codes_after("UPDATE decision SET reasons = json_extract(reasons, '$.first')") ==
        Codes{"decision_differs"});
  CHECK(codes_after("UPDATE movement SET spent = 1 WHERE position = 4") == Codes{"balance_changed"});
}

TEST_CASE("reasons: more than are stored read back as the first and how many there are",
          "[engine][refusals][size][exact]") {
  for (const std::size_t count : {1UL, 2UL, 15UL, 16UL}) {
    const Decision decision = refusal(count);
    CHECK(reasons_text(decision) == reasons_json(decision.reasons()));
  }
  const Decision many = refusal(17);
  const std::string text = reasons_text(many);
  CHECK(text.starts_with(R"({"count":17,"first":[{)"));
  const Decision read = parse_reasons(text);
  CHECK(read.count() == 17);
  CHECK(read.reasons() == stored_reasons(many));
  CHECK(read.reasons().size() == 16);
  CHECK_FALSE(read.granted());
  CHECK(reasons_text(read) == text);
  // One is stored however long it is.
  CHECK(stored_reasons(refusal(3, 10'000)).size() == 1);
  CHECK(parse_reasons(reasons_text(refusal(3, 10'000))).count() == 3);
  CHECK(parse_reasons("[]").granted());
  for (const char* wrong : {"{}", R"({"count":1,"first":[]})", R"({"count":-1,"first":[]})",
                            R"({"count":"17","first":[]})", "17"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(parse_reasons(wrong), LedgerCorrupt);
  }
  const std::string one = reasons_json(refusal(1).reasons());
  CHECK_THROWS_AS(parse_reasons(R"({"count":1,"first":)" + one + "}"), LedgerCorrupt);
}

TEST_CASE("reasons: those that are not told are counted", "[engine][refusals][size]") {
  const Wards wards(40);
  const Engine engine = wards.open();
  const Policy policy = engine.active_policy();
  const Request asked = request("count", "2");
  const Dataset& dataset = policy.dataset("clinic");
  const Plan plan = make_plan(dataset, asked);
  const std::vector<BudgetAccount> budget = engine.budget("clinic");
  const auto owed = debits(planned_charges(policy, dataset, asked, plan, "2026-01-01T00:00:00.000Z"),
                           std::vector<ledger::AccountState>(budget.begin(), budget.end()));
  const Decision all = decide(policy, dataset, asked, plan, owed, std::nullopt);
  CHECK(all.count() == 41);
  for (const std::size_t told : {std::size_t{1}, kReasonsStored}) {
    const Decision some = decide(policy, dataset, asked, plan, owed, std::nullopt, told);
    CHECK(some.count() == 41);
    REQUIRE(some.reasons().size() == told);
    CHECK(std::equal(some.reasons().begin(), some.reasons().end(), all.reasons().begin()));
  }
  CHECK(recorded_debits(owed, all, ledger::Outcome::refused).size() == 16);
  CHECK(recorded_debits(owed, all, ledger::Outcome::granted).size() == 41);
}

TEST_CASE("policy: what is stored is not calibrated again, and never refused for it",
          "[engine][policy][size]") {
  const std::string fine =
      clinic_policy("epsilon: 3", "    release: {count: {precision: binary64, bound: 1e3}}\n");
  std::string beyond = fine;
  beyond.replace(beyond.find("1e3"), 3, "1e30");
  CHECK_THROWS_AS(checked_policy(beyond, "p.yaml"), PolicyError);
  const Policy stored = Policy::parse_stored(beyond, "policy version 1");
  CHECK(stored.yaml() == beyond);
  CHECK_THROWS_AS(Policy::parse_stored(beyond + "    unknown: 1\n", "policy version 1"), PolicyError);
  CHECK_THROWS_AS(Engine::init("/nonexistent", "/nonexistent", "curator"), PolicyError);

  // As a program whose calibration reached further would have left it.
  Clinic clinic;
  clinic.folder.write("fine.yaml", fine);
  (void)Engine::init(clinic.folder.path("fine.yaml"), clinic.folder.path("l"), "curator");
  std::string quoted = beyond;
  for (std::size_t at = 0; (at = quoted.find('\'', at)) != std::string::npos; at += 2)
    quoted.insert(at, 1, '\'');
  tamper_with_log(clinic.folder.path("l"), "UPDATE policy_version SET yaml = '" + quoted + "', sha256 = x'" +
                                               ledger::sha256_hex(beyond) + "', implies = '" +
                                               implied_object(stored) + "'");
  Engine engine = Engine::open(clinic.folder.path("l"));
  CHECK(release(engine, request("units", "1")).recorded.granted);
  CHECK(engine.active_policy().datasets().size() == 1);
  clinic.folder.write("fine.yaml", fine + "# again\n");
  CHECK(engine.apply_policy(clinic.folder.path("fine.yaml"), "curator", "test").changed);
  CHECK(fault_codes(clinic.folder.path("l")).empty());
}
