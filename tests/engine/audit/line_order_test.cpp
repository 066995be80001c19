// What lines have to be in order of, beside their numbers: times, accounts, and plans with the decisions made
// by them.
#include <set>
#include <string>

#include "epsilog/ledger/ledger.hpp"
#include "support/catch.hpp"
#include "tampering.hpp"
#include "waiting.hpp"

using namespace epsilog;
using namespace epsilog::test;

namespace {

/// The codes of what verification finds once the rows were changed and the log made anew, each once.
std::set<std::string> found_after(const std::string& sql) {
  const Clinic clinic("epsilon: 3", "    limits: [{each: principal, epsilon: 2}]\n");
  engine::Engine engine = clinic.open();
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
  CHECK(found_after("UPDATE plan SET first_at = first_at - 1000 WHERE no = 2") ==
        std::set<std::string>{"log_time"});
  CHECK(found_after("UPDATE plan SET first_at = first_at + 1000 WHERE no = 3") ==
        std::set<std::string>{"log_time"});
  CHECK(found_after("UPDATE account SET opened_at = opened_at + 3600000 WHERE id = 1") ==
        std::set<std::string>{"log_time"});
  CHECK(found_after("UPDATE account SET opened_at = 1000 WHERE id = 2") == std::set<std::string>{"log_time"});
}

TEST_CASE("audit verify: a plan without a decision is a fault", "[engine][audit][lines]") {
  CHECK(found_after("UPDATE decision SET plan = 1 WHERE seq = 2").contains("plan_unused"));
}

TEST_CASE("audit verify: an account with the largest number is a fault, and takes no memory",
          "[engine][audit][lines]") {
  const std::set<std::string> codes = found_after(
      "UPDATE account SET id = 9007199254740991 WHERE id = 2; UPDATE movement SET account = 9007199254740991 "
      "WHERE "
      "account = 2");
  CHECK(codes.contains("count_differs"));
}
