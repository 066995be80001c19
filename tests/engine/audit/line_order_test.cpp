// What lines have to be in order of, beside their numbers: times, accounts, and plans with the decisions made
// by them.
#include "epsilog/ledger/ledger.hpp"
#include "support/catch.hpp"
#include "tampering.hpp"
#include "waiting.hpp"

using namespace epsilog;
using namespace epsilog::test;

namespace {

/// The codes of what verification finds once the rows were changed and the log made anew, each once.
std::set<std::string> found_after(const std::string& sql) {
  auto [clinic, engine] = Open<Clinic>("epsilon: 3", "    limits: [{each: principal, epsilon: 2}]\n");
  CHECK(release(engine, request("count", "0.1")).recorded.granted);
  CHECK(release(engine, request("sum:age", "0.1")).recorded.granted);
  CHECK(release(engine, request("units", "0.1")).recorded.granted);
  REQUIRE(engine::audit_verify(clinic.ledger()).ok);
  tamper_with_log(clinic.ledger(), sql);
  std::set<std::string> codes;
  for (const auto& fault : engine::audit_verify(clinic.ledger()).faults) codes.insert(fault.code);
  return codes;
}

}  // namespace

TEST_CASE("audit verify: a line that is dated before the one before it is a fault, whatever its kind",
          "[engine][audit][lines]") {
  CHECK(found_after("UPDATE plan SET first_at = first_at - 1000 WHERE number = 2") ==
        std::set<std::string>{"log_time"});
  CHECK(found_after("UPDATE plan SET first_at = first_at + 1000 WHERE number = 3") ==
        std::set<std::string>{"log_time"});
  CHECK(found_after("UPDATE account SET opened_at = opened_at + 3600000 WHERE id = 1") ==
        std::set<std::string>{"log_time"});
  CHECK(found_after("UPDATE account SET opened_at = 1000 WHERE id = 2") == std::set<std::string>{"log_time"});
}

TEST_CASE("audit verify: a plan without a decision is a fault", "[engine][audit][lines]") {
  CHECK(found_after("UPDATE decision SET plan = 1 WHERE seq = 2").contains("plan_unused"));
}

TEST_CASE("audit verify: the plan of a decision that was changed is not called unused",
          "[engine][audit][lines]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 3");
  CHECK(release(engine, request("count", "0.1")).recorded.granted);
  CHECK(release(engine, request("sum:age", "0.1")).recorded.granted);
  for (const char* const changed : {"UPDATE decision SET via = 'unix:1' WHERE seq = 2",
                                    "UPDATE decision SET reasons = '[]' WHERE seq = 2"}) {
    CAPTURE(changed);
    tamper(clinic.ledger(), changed);
    std::set<std::string> codes;
    for (const auto& fault : engine::audit_verify(clinic.ledger()).faults) codes.insert(fault.code);
    CHECK((codes.contains("leaf_changed") || codes.contains("record_unreadable")));
    CHECK_FALSE(codes.contains("plan_unused"));
  }
}

TEST_CASE("audit verify: quantiles of one cell that descend are a fault, those of two cells may",
          "[engine][audit][quantile]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 3", "    allow: {statistics: [quantile]}\n");
  CHECK(release(engine, request("quantiles:age:0.2,0.8", "0.1", "", "ward")).recorded.granted);
  const auto codes_with = [&](const std::vector<std::string>& values) {
    std::string drawn, told;
    for (const std::string& value : values) {
      drawn += (drawn.empty() ? "" : ",") + value;
      told += (told.empty() ? "\"" : ",\"") + value + "\"";
    }
    tamper_with_log(clinic.ledger(), "UPDATE decision SET component_values = '[[" + drawn +
                                         "]]', \"values\" = '[" + told + "]' WHERE seq = 1");
    std::set<std::string> codes;
    for (const auto& fault : engine::audit_verify(clinic.ledger()).faults) codes.insert(fault.code);
    return codes;
  };
  CHECK(codes_with({"20", "80", "10", "10", "0", "110"}).empty());
  CHECK(codes_with({"20", "80", "11", "10", "0", "110"}) == std::set<std::string>{"value_impossible"});
  CHECK(codes_with({"20", "80", "10", "11", "1", "0"}) == std::set<std::string>{"value_impossible"});
}

TEST_CASE("audit verify: a confirmation of a clock that nothing set forwards is a fault",
          "[engine][audit][clock]") {
  /// The codes of what verification finds, once these steps of the clock were put at the end of the history.
  const auto codes_with = [](const std::vector<std::string>& steps) {
    const Clinic clinic("epsilon: 3");
    std::string sql;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const std::string seq = std::to_string(i + 1);
      sql += "INSERT INTO clock_event SELECT " + seq + ", 0, '" + steps[i] +
             "', last_time, last_time, iif('" + steps[i] +
             "' = 'confirmed', 'curator', ''), events + 1 FROM meta;"
             "UPDATE meta SET events = events + 1, clock_events = " +
             seq + ", held_at = CASE '" + steps[i] +
             "' WHEN 'forwards' THEN iif(held_at > 0, held_at, last_time)"
             " WHEN 'confirmed' THEN 0 ELSE held_at END;";
    }
    tamper_with_log(clinic.ledger(), sql);
    std::set<std::string> codes;
    for (const auto& fault : engine::audit_verify(clinic.ledger()).faults) codes.insert(fault.code);
    return codes;
  };
  CHECK(codes_with({"forwards", "confirmed", "backwards"}).empty());
  CHECK(codes_with({"forwards", "forwards", "backwards", "confirmed"}).empty());
  for (const std::vector<std::string>& steps : std::vector<std::vector<std::string>>{
           {"confirmed"}, {"backwards", "confirmed"}, {"forwards", "confirmed", "backwards", "confirmed"}}) {
    CHECK(codes_with(steps) == std::set<std::string>{"clock_unfounded"});
  }
}

TEST_CASE("audit verify: an account with the largest number is a fault, and takes no memory",
          "[engine][audit][lines]") {
  const std::set<std::string> codes = found_after(
      "UPDATE account SET id = 9007199254740991 WHERE id = 2; UPDATE movement SET account = 9007199254740991 "
      "WHERE "
      "account = 2");
  CHECK(codes.contains("count_differs"));
}
