#include "clinic.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/checked_policy.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "replaced_text.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::test;
using engine::Engine;

TEST_CASE("policy apply: a charged dataset keeps its unit, neighbours, measure and source",
          "[engine][policy][negative]") {
  auto [clinic, engine] = Open<Clinic>();
  (void)release(engine, request("count", "1"));
  const std::string policy = clinic_policy("epsilon: 3");
  const auto apply = [&](const std::string& text) {
    clinic.folder.write("changed.yaml", text);
    return engine.apply_policy(clinic.folder.path("changed.yaml"), "curator", "test");
  };
  CHECK_THROWS_AS(apply(replaced(policy, "id: patient_id", "id: ward")), PolicyError);
  CHECK_THROWS_AS(apply(replaced(policy, "max_rows: 3", "max_rows: 2")), PolicyError);
  CHECK_THROWS_AS(apply(replaced(policy, "add-remove", "replace-one")), PolicyError);
  CHECK_THROWS_AS(apply(replaced(policy, "epsilon: 3", "epsilon: 3, delta: 1e-9")), PolicyError);
  CHECK_THROWS_AS(apply(replaced(policy, "visits.csv", "other.csv")), PolicyError);
  CHECK_THROWS_AS(apply(replaced(policy, "  clinic:", "  hospital:")), PolicyError);
  CHECK_THROWS_AS(apply(clinic_policy("epsilon: 0.5")), PolicyError);
  CHECK(engine.active_policy_version().version == 1);
  CHECK(apply(clinic_policy("epsilon: 1")).changed);
  CHECK(engine::audit_verify(clinic.ledger()).ok);
}

TEST_CASE("policy apply: a fault names the place and the figures", "[engine][policy][negative]") {
  auto [clinic, engine] = Open<Clinic>();
  (void)release(engine, request("count", "1"));
  clinic.folder.write("changed.yaml", clinic_policy("epsilon: 0.5"));
  try {
    (void)engine.apply_policy(clinic.folder.path("changed.yaml"), "curator", "test");
    FAIL("a budget below what is spent was accepted");
  } catch (const PolicyError& error) {
    REQUIRE(error.faults().size() == 1);
    CHECK(error.faults()[0].line == 3);
    CHECK(error.faults()[0].column == 3);
    CHECK(error.faults()[0].message ==
          "epsilon budget of dataset 'clinic': 0.5 is below the 1 already spent");
  }
}

TEST_CASE("policy apply: a raise is recorded with who and why, and opens the budget", "[engine][policy]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 1");
  CHECK(release(engine, request("count", "1")).recorded.granted);
  CHECK_FALSE(release(engine, request("count", "1")).recorded.granted);
  clinic.folder.write("raised.yaml", clinic_policy("epsilon: 2"));
  const auto report = engine.apply_policy(clinic.folder.path("raised.yaml"), "bob", "second year of data");
  CHECK(report.changed);
  CHECK(report.policy_version == 2);
  REQUIRE(report.limit_changes.size() == 1);
  CHECK(report.limit_changes[0].by == "bob");
  CHECK(report.limit_changes[0].why == "second year of data");
  CHECK(release(engine, request("count", "1")).recorded.granted);
  CHECK(engine::audit_verify(clinic.ledger()).ok);
}

TEST_CASE("policy apply: the reason is kept with the version, whether a limit changed or not",
          "[engine][policy]") {
  auto [clinic, engine] = Open<Clinic>();
  const auto apply = [&](const std::string& policy, const std::string& why) {
    clinic.folder.write("next.yaml", policy);
    return engine.apply_policy(clinic.folder.path("next.yaml"), "curator", why);
  };
  CHECK(apply(clinic_policy("epsilon: 3") + "# reviewed\n", "a yearly review").limit_changes.empty());
  CHECK(apply(clinic_policy("epsilon: 4"), "more patients").limit_changes.size() == 1);
  CHECK(apply(clinic_policy("epsilon: 4") + "# a comment\n", "").limit_changes.empty());
  std::vector<std::string> reasons;
  auto view = ledger::Ledger::open_read_only(clinic.ledger()).snapshot();
  view.each_policy_version([&](const ledger::PolicyVersion& version) { reasons.push_back(version.why); });
  CHECK(reasons == std::vector<std::string>{"", "a yearly review", "more patients", ""});
  CHECK(engine::audit_verify(clinic.ledger()).ok);
}

TEST_CASE("policy apply: the same bytes change nothing", "[engine][policy]") {
  auto [clinic, engine] = Open<Clinic>();
  const auto report = engine.apply_policy(clinic.folder.path("policy.yaml"), "curator", "test");
  CHECK_FALSE(report.changed);
  CHECK(report.policy_version == 1);
}

TEST_CASE("policy apply: an uncharged dataset may go and come back", "[engine][policy]") {
  auto [clinic, engine] = Open<Clinic>();
  const std::string policy = clinic_policy("epsilon: 3");
  clinic.folder.write("other.yaml", replaced(policy, "  clinic:", "  hospital:"));
  CHECK(engine.apply_policy(clinic.folder.path("other.yaml"), "curator", "test").changed);
  CHECK_THROWS_AS(release(engine, request("count", "1")), NotFound);
  clinic.folder.write("back.yaml", policy + "# back\n");
  CHECK(engine.apply_policy(clinic.folder.path("back.yaml"), "curator", "test").changed);
  CHECK(release(engine, request("count", "1")).recorded.granted);
  CHECK(engine::audit_verify(clinic.ledger()).ok);
}

TEST_CASE("init: an existing ledger is never overwritten", "[engine][init][negative]") {
  Clinic clinic;
  CHECK_THROWS_AS(Engine::init(clinic.folder.path("policy.yaml"), clinic.ledger(), "curator"),
                  LedgerUnusable);
  Engine engine = clinic.open();
  CHECK(engine.ledger_id() == clinic.report.ledger_id);
}

TEST_CASE("init: an invalid policy makes no ledger", "[engine][init][negative]") {
  TemporaryFolder folder;
  folder.write("policy.yaml", "version: 2\n");
  CHECK_THROWS_AS(Engine::init(folder.path("policy.yaml"), folder.path("l"), "curator"), PolicyError);
  CHECK_FALSE(std::filesystem::exists(folder.path("l")));
}

TEST_CASE("policy: a bound beyond the declared precision is refused before anybody spends",
          "[engine][policy][negative]") {
  const std::string binary64 =
      clinic_policy("epsilon: 3", "    release: {count: {precision: binary64, bound: 1e30}}\n");
  CHECK_THROWS_AS(engine::checked_policy(binary64, "p.yaml"), PolicyError);
  const std::string automatic = clinic_policy("epsilon: 3", "    release: {count: {bound: 1e30}}\n");
  CHECK_NOTHROW(engine::checked_policy(automatic, "p.yaml"));
}
