// A policy that comes as a text: what a file would do, from where the active version's paths start, and only
// over the version that its author saw.
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/conflict_errors.hpp"
#include "epsilog/engine/policy.hpp"
#include "epsilog/engine/policy_diff.hpp"
#include "epsilog/engine/policy_review.hpp"
#include "refused_for.hpp"
#include "support/catch.hpp"
#include "waiting.hpp"

using namespace epsilog;
using namespace epsilog::test;

namespace {

std::vector<std::string> texts(const std::vector<PolicyFault>& faults) {
  std::vector<std::string> found;
  for (const PolicyFault& fault : faults) found.push_back(fault.text());
  return found;
}

std::vector<std::string> texts(const std::vector<engine::PolicyChange>& changes) {
  std::vector<std::string> found;
  for (const engine::PolicyChange& change : changes) {
    found.push_back(change.path_text() + " " + change.before + " " + change.after + " " + change.why + " " +
                    std::to_string(change.refused_once_charged));
  }
  return found;
}

std::vector<std::string> texts(const std::vector<ledger::AccountState>& accounts) {
  std::vector<std::string> found;
  for (const ledger::AccountState& account : accounts) found.push_back(account.scope + " " + account.measure);
  return found;
}

/// What apply throws, "" if nothing.
std::string fault_of(engine::Engine& engine, const engine::PolicyUpload& text,
                     const std::string& why = "test") {
  return refused_for([&] { return engine.apply_policy(text, "curator", why); });
}

std::int64_t versions(const engine::Engine& engine) {
  return engine.active_policy_version().version;
}

}  // namespace

TEST_CASE("policy text: it is applied where the active version stands, and sources are found as before",
          "[engine][policy][text]") {
  WaitingClinic waiting("");
  engine::Engine& engine = waiting.engine;
  const std::string next = clinic_policy("epsilon: 2", waiting_rules(""));
  const ledger::PolicyVersion before = engine.active_policy_version();
  const engine::ApplyReport report = engine.apply_policy(engine::PolicyUpload{.yaml = next}, "carol", "less");
  CHECK(report.changed);
  CHECK(report.policy_version == 2);
  CHECK(report.limit_changes.size() == 1);
  const ledger::PolicyVersion after = engine.active_policy_version();
  CHECK(after.yaml == next);
  CHECK(after.sha256 == report.policy_sha256);
  CHECK(after.base_dir == before.base_dir);
  CHECK(after.applied_by == "carol");
  CHECK(release(engine, request("count", "0.1")).recorded.granted);
  CHECK_FALSE(engine.apply_policy(engine::PolicyUpload{.yaml = next}, "carol", "less").changed);

  // What was moved stays where it is.
  std::filesystem::rename(waiting.clinic.folder.path("visits.csv"), waiting.clinic.folder.path("moved.csv"));
  (void)engine.relocate("clinic", waiting.clinic.folder.path("moved.csv"), "carol", "moved");
  CHECK(engine
            .apply_policy(engine::PolicyUpload{.yaml = clinic_policy("epsilon: 1.5", waiting_rules(""))},
                          "carol", "less")
            .changed);
  CHECK(engine.source_of("clinic") == waiting.clinic.folder.path("moved.csv"));
  CHECK(release(engine, request("count", "0.1")).recorded.granted);
  CHECK(waiting.audit().empty());
}

TEST_CASE("policy text: nothing is said of it that is not said of the file", "[engine][policy][text]") {
  WaitingClinic waiting("");
  engine::Engine& engine = waiting.engine;
  REQUIRE(release(engine, request("count", "0.5")).recorded.granted);
  std::string other_unit = clinic_policy("epsilon: 3", waiting_rules(""));
  other_unit.replace(other_unit.find("max_rows: 3"), 11, "max_rows: 2");
  for (const std::string& yaml :
       {clinic_policy("epsilon: 5", waiting_rules("")), clinic_policy("epsilon: 0.25", waiting_rules("")),
        clinic_policy("measure: zcdp, rho: 1", waiting_rules("")), other_unit}) {
    CAPTURE(yaml);
    const std::string file = waiting.clinic.folder.write("next.yaml", yaml);
    const engine::PolicyUpload text{.yaml = yaml, .name = file};
    CHECK(texts(engine.review(text).refused) == texts(engine.review(file).refused));
    CHECK(texts(engine.review(text).changes) == texts(engine.review(file).changes));
    CHECK_FALSE(engine.review(text).changes.empty());
    CHECK(texts(engine.review(text).removed) == texts(engine.review(file).removed));
  }
  CHECK(versions(engine) == 1);
}

TEST_CASE("policy text: what is wrong with it is named by its name", "[engine][policy][text][negative]") {
  WaitingClinic waiting("");
  engine::Engine& engine = waiting.engine;
  const auto named = [](const std::string& yaml) {
    return engine::PolicyUpload{.yaml = yaml, .name = "PUT"};
  };
  CHECK(fault_of(engine, named("version: 2\n")).starts_with("PUT:1:10: version: '2' is not known"));
  CHECK(fault_of(engine, named("")).starts_with("PUT:1:1: "));
  CHECK(fault_of(engine, named(std::string(1 << 20, '#'))).starts_with("PUT:1:1: "));
  CHECK_THAT(fault_of(engine, named(clinic_policy("epsilon: 5", waiting_rules(""))), ""),
             test::says("(--why): PUT:8:14: datasets.clinic.budget.epsilon: 3 -> 5"));
  REQUIRE(release(engine, request("count", "0.5")).recorded.granted);
  CHECK(fault_of(engine, named(clinic_policy("epsilon: 0.25", waiting_rules(""))))
            .starts_with("PUT:3:3: epsilon budget of dataset 'clinic': 0.25 is below the 0.5 already spent"));
  CHECK(versions(engine) == 1);
}

TEST_CASE("policy text: it replaces the version that its author saw and no other",
          "[engine][policy][text][negative]") {
  WaitingClinic waiting("");
  engine::Engine& engine = waiting.engine;
  const std::string seen = engine.active_policy_version().sha256;
  engine::PolicyUpload text{.yaml = clinic_policy("epsilon: 2", waiting_rules("")), .expected_sha256 = seen};
  CHECK(texts(engine.review(text).refused).empty());
  CHECK(engine.apply_policy(text, "carol", "less").changed);

  // Also where it is active already: its author has not seen that.
  const std::string active = engine.active_policy_version().sha256;
  text.yaml = clinic_policy("epsilon: 1", waiting_rules(""));
  const auto moved = [&](const auto& call) {
    try {
      (void)call();
    } catch (const engine::PolicyConflict& error) {
      return error.active_sha256();
    }
    return std::string("no error");
  };
  for (const std::string& yaml :
       {clinic_policy("epsilon: 1", waiting_rules("")), clinic_policy("epsilon: 2", waiting_rules(""))}) {
    for (const std::string& expected : {seen, std::string(), std::string("x"), active.substr(1)}) {
      CAPTURE(yaml, expected);
      const engine::PolicyUpload stale{.yaml = yaml, .expected_sha256 = expected};
      CHECK(moved([&] { return engine.apply_policy(stale, "carol", "less"); }) == active);
      CHECK(moved([&] { return engine.review(stale); }) == active);
    }
  }
  CHECK(versions(engine) == 2);
  text.expected_sha256 = active;
  CHECK(engine.apply_policy(text, "carol", "less").changed);
  CHECK(waiting.audit().empty());
}

TEST_CASE("policy text: who acts is not locked out by it, nor is everybody",
          "[engine][policy][text][negative]") {
  const auto with = [](const std::string& principals, const std::string& budget = "epsilon: 3") {
    return clinic_policy(budget, principals.empty() ? "" : "principals:\n" + principals);
  };
  const std::string carol = "  carol: {duties: [audit, curate]}\n", erin = "  erin: {duties: [curate]}\n";
  const std::string carol_audits = "  carol: {duties: [audit]}\n", dave = "  dave: {duties: [operate]}\n";
  const std::string nobody =
      "policy:15:1: principals: would_lock_out: nobody would have the duty curate any more";
  const std::string nobody_without =
      "policy:1:1: principals: would_lock_out: nobody would have the duty curate any more";
  const std::string own =
      "policy:15:1: principals: would_lock_out: 'carol', who applies this policy, would not have the duty "
      "curate "
      "any more";
  struct Case {
    std::string active, next, acting, fault;
  };
  const std::vector<Case> cases{
      {carol + dave, carol, "carol", ""},
      {carol, carol + erin, "carol", ""},
      {carol + erin, erin, "carol", own},
      {carol + erin, carol_audits + erin, "carol", own},
      {carol + erin, carol, "carol", ""},
      {carol + dave, dave, "carol", nobody},
      {carol + dave, carol_audits, "carol", nobody},
      {carol, "", "carol", nobody_without},
      // Who had it not, the machine's owner among them, loses nothing.
      {carol + dave, erin, "dave", ""},
      {carol, erin, "", ""},
      {carol, dave, "", nobody},
      {"", carol, "", ""},
      {"", carol, "carol", ""},
      {"", dave, "dave", nobody},
      {"", "", "", nobody_without},
  };
  for (const auto& [active, next, acting, fault] : cases) {
    CAPTURE(active, next, acting);
    auto [clinic, engine] = Open<Clinic>();
    (void)engine.apply_policy(engine::PolicyUpload{.yaml = with(active)}, "curator", "test");
    const std::int64_t before = versions(engine);
    engine::PolicyUpload text{.yaml = with(next, "epsilon: 2"), .acting = acting};
    const std::vector<std::string> told = texts(engine.review(text).refused);
    if (fault.empty()) {
      CHECK(told.empty());
      CHECK(fault_of(engine, text).empty());
    } else {
      CHECK(told == std::vector{fault});
      CHECK(fault_of(engine, text).find(fault) != std::string::npos);
      CHECK(versions(engine) == before);
      text.acting.reset();  // a curator beside the ledger may
      CHECK(engine.review(text).refused.empty());
      CHECK(fault_of(engine, text).empty());
    }
    CHECK(versions(engine) == before + 1);
  }
}
