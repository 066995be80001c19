// Amounts as other systems print them when they refuse.
#include "cli/workbench.hpp"
#include "two_budgets.hpp"

using namespace epsilog;
using namespace epsilog::test;
using engine::Answer;
using engine::Engine;
using nlohmann::json;

// Tumult Analytics printed deltas by `%.3f`, so that 1e-6 was 0.000, and rounded the difference to three
// places before it printed it, so that a shortfall below 5e-4 was 0.000e+00.
TEST_CASE("A refusal shows a tiny delta and a tiny shortfall to the last digit", "[peers][messages]") {
  SECTION("delta 1e-6 is 0.000001, and one unit too much is that unit") {
    const Clinic clinic("epsilon: 10, delta: 1e-6", kGaussian);
    Engine engine = clinic.open();
    engine::Request asked = two_part_request();
    asked.delta = accounting::parse_rational("1.000000000001e-6", "delta");
    const Answer refused = release(engine, asked);
    REQUIRE(refused.recorded.reasons.size() == 1);
    const engine::Reason& reason = refused.recorded.reasons[0];
    CHECK(reason.limit == "0.000001");
    CHECK(reason.spent == "0");
    CHECK(reason.asked == "0.000001000000000001");
    CHECK(reason.over_by == "0.000000000000000001");
    CHECK(reason.fits == "0.000001");
    CHECK(reason.message ==
          "delta budget of dataset 'clinic': limit 0.000001, spent 0, asked 0.000001000000000001, over by "
          "0.000000000000000001; at most 0.000001 fits");
  }
  SECTION("every shortfall below 5e-4 is exact, in each form of the command's answer") {
    for (const char* tiny : {"0.0004", "0.000001", "0.000000000001"}) {
      CAPTURE(tiny);
      const Workbench bench;
      bench.init(kClinicPolicy);
      const auto asked = accounting::text(1 + accounting::parse_rational(tiny, "tiny"));
      const std::vector<std::string> question = {"release", "clinic", "count", "--epsilon", asked};
      const Result shown = bench.with_ledger(question);
      CHECK(shown.exit == 4);
      CHECK(contains(shown.err, std::string("over by ") + tiny + ";"));
      std::vector<std::string> as_json = question;
      as_json.emplace_back("--json");
      const json reason = bench.with_ledger(as_json).json()["reasons"][0];
      CHECK(reason["over_by"] == tiny);
      CHECK(reason["charge"] == asked);
      CHECK(reason["fits"] == "1");
      const json recorded = json::parse(query(bench.path("L"), "SELECT reasons FROM decision"));
      CHECK(recorded[0]["over_by"] == tiny);
    }
  }
  SECTION("the budget itself and a release show tiny amounts as they are") {
    const Workbench bench;
    bench.init(replaced(kClinicPolicy, "{epsilon: 1}", "{epsilon: 1, delta: 1e-6}"));
    REQUIRE(bench.with_ledger({"release", "clinic", "count", "--epsilon", "1e-7"}).exit == 0);
    const json accounts = bench.with_ledger({"budget", "clinic", "--json"}).json()["accounts"];
    REQUIRE(accounts.size() == 2);
    CHECK(accounts[0]["limit"] == "0.000001");
    check_members(accounts[1], R"({"spent": "0.0000001", "remaining": "0.9999999"})");
    CHECK(contains(bench.with_ledger({"budget"}).out, "0.000001"));
  }
}
