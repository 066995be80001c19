// A limit that a policy declares no more limits nothing, and its account stays as it was.
#include "epsilog/engine/policy_review.hpp"
#include "lived_history.hpp"
#include "support/catch.hpp"
#include "waiting.hpp"

using namespace epsilog;
using namespace epsilog::test;

namespace {

engine::BudgetAccount account(const engine::Engine& engine, const std::string& scope,
                              const std::string& measure = "epsilon") {
  for (const engine::BudgetAccount& account : engine.budget("")) {
    if (account.scope == scope && account.measure == measure) return account;
  }
  FAIL("no account " + scope);
  return {};
}

std::string balance(const engine::BudgetAccount& account) {
  const auto text = [](std::int64_t units) { return accounting::Epsilon::from_units(units).text(); };
  return text(account.balance.spent) + "+" + text(account.balance.reserved) + " of " +
         text(account.balance.limit) + (account.active ? "" : ", inactive");
}

/// bob has spent 0.3 of 0.5, which is a limit no more.
struct Removed : LivedHistory {
  Removed() {
    policy.budget = 30;
    (void)apply();
    CHECK(release("bob", "0.3").recorded.granted);
    policy.limit_of_bob = false;
    report = apply();
  }
  engine::ApplyReport report;
};

constexpr const char* kBob = "principal:bob";

}  // namespace

TEST_CASE("limits: one that is removed binds nobody, and counts on when it is declared again",
          "[engine][policy][limits]") {
  Removed history;
  CHECK(history.report.limit_changes.empty());
  REQUIRE(history.report.limit_removals.size() == 1);
  CHECK(history.report.limit_removals[0].policy_version == 3);
  CHECK(history.report.limit_removals[0].by == "curator");
  CHECK(history.report.limit_removals[0].why == "test");
  CHECK(balance(account(history.engine(), kBob)) == "0.3+0 of 0.5, inactive");
  CHECK(history.release("bob", "0.4").recorded.granted);
  CHECK(balance(account(history.engine(), kBob)) == "0.3+0 of 0.5, inactive");
  CHECK(history.audit().empty());

  CHECK(history.apply().limit_removals.empty());  // it was removed before
  history.policy.limit_of_bob = true;
  const auto again = history.apply();
  CHECK(again.limit_changes.empty());
  CHECK(again.limit_removals.empty());
  CHECK(balance(account(history.engine(), kBob)) == "0.3+0 of 0.5");
  CHECK_FALSE(history.release("bob", "0.3").recorded.granted);  // what was charged meanwhile is not in it
  CHECK(history.release("bob", "0.2").recorded.granted);
  CHECK(balance(account(history.engine(), kBob)) == "0.5+0 of 0.5");
  CHECK(history.audit().empty());
}

TEST_CASE("limits: one that is declared again with another number is changed, and not below what it counted",
          "[engine][policy][limits]") {
  const auto policy = [](const std::string& limits) {
    return clinic_policy("epsilon: 3", limits.empty() ? "" : "    limits: [" + limits + "]\n");
  };
  auto [clinic, engine] = Open<Clinic>("epsilon: 3", "    limits: [{each: principal, epsilon: 0.5}]\n");
  const auto apply = [&](const std::string& limits) {
    clinic.folder.write("next.yaml", policy(limits));
    return engine.apply_policy(clinic.folder.path("next.yaml"), "curator", "test");
  };
  CHECK(release(engine, request("count", "0.3")).recorded.granted);
  CHECK(apply("").limit_removals.size() == 1);
  CHECK_THROWS_AS(apply("{each: principal, epsilon: 0.2}"), PolicyError);
  const auto again = apply("{each: principal, epsilon: 0.4}");
  REQUIRE(again.limit_changes.size() == 1);
  CHECK(again.limit_changes[0].old_limit == 500'000'000'000);
  CHECK(again.limit_changes[0].new_limit == 400'000'000'000);
  CHECK_FALSE(release(engine, request("count", "0.2")).recorded.granted);
  CHECK(release(engine, request("count", "0.1")).recorded.granted);
  CHECK(engine::audit_verify(clinic.ledger()).ok);
}

TEST_CASE("limits: removed measures, lifetimes and datasets end likewise", "[engine][policy][limits]") {
  auto [clinic, engine] =
      Open<Clinic>("epsilon: 3, delta: 1e-6", "    lifetime: {epsilon: 4, delta: 1e-5}\n");
  const auto apply = [&](const std::string& yaml) {
    clinic.folder.write("next.yaml", yaml);
    return engine.apply_policy(clinic.folder.path("next.yaml"), "curator", "test");
  };
  CHECK(apply(clinic_policy("epsilon: 3", "    lifetime: {epsilon: 4}\n")).limit_removals.size() == 2);
  CHECK_FALSE(account(engine, "", "delta").active);
  CHECK_FALSE(account(engine, "lifetime", "delta").active);
  CHECK(release(engine, request("count", "1")).recorded.granted);
  CHECK(apply(clinic_policy("epsilon: 3")).limit_removals.size() == 1);  // of a charged dataset
  CHECK(balance(account(engine, "lifetime")) == "1+0 of 4, inactive");
  CHECK(release(engine, request("count", "1")).recorded.granted);
  CHECK(balance(account(engine, "lifetime")) == "1+0 of 4, inactive");
  CHECK_THROWS_AS(apply(clinic_policy("epsilon: 3", "    lifetime: {epsilon: 4}\n")), PolicyError);
  CHECK(engine::audit_verify(clinic.ledger()).ok);

  auto [gone, other] = Open<Clinic>();
  std::string renamed = clinic_policy("epsilon: 3");
  renamed.replace(renamed.find("  clinic:"), 9, "  hospital:");
  gone.folder.write("renamed.yaml", renamed);
  REQUIRE(other.apply_policy(gone.folder.path("renamed.yaml"), "curator", "test").limit_removals.size() == 1);
  for (const engine::BudgetAccount& account : other.budget("")) {
    CHECK(account.active == (account.dataset == "hospital"));
  }
  CHECK(engine::audit_verify(gone.ledger()).ok);
}

TEST_CASE("limits: a reservation that holds a removed one is committed, given back and forfeited as ever",
          "[engine][policy][limits][requests]") {
  for (const std::string end : {"commit", "cancel", "expire"}) {
    CAPTURE(end);
    LivedHistory history;
    history.policy.budget = 30;
    (void)history.apply();
    const std::string id = history.reserve("bob", "0.3");
    history.policy.limit_of_bob = false;
    CHECK(history.apply().limit_removals.size() == 1);
    CHECK(balance(account(history.engine(), kBob)) == "0+0.3 of 0.5, inactive");
    if (end == "commit") {
      mechanisms::SystemBits bits;
      CHECK(history.engine().commit(id, "bob", {}, bits, {}).recorded.granted);
      CHECK(balance(account(history.engine(), kBob)) == "0.3+0 of 0.5, inactive");
    } else if (end == "cancel") {
      (void)history.engine().cancel(id, "bob");
      CHECK(balance(account(history.engine(), kBob)) == "0+0 of 0.5, inactive");
    } else {
      history.pass(3 * kDayOfMs);
      CHECK(history.release().recorded.granted);
      CHECK(balance(account(history.engine(), kBob)) == "0+0 of 0.5, inactive");
    }
    CHECK(history.audit().empty());
  }
}

TEST_CASE("limits: an account of a period follows what its dataset becomes", "[engine][policy][limits]") {
  const auto policy = [](const std::string& renew) {
    return clinic_policy("epsilon: 3" + renew, "    reservations: {expires: 2d}\n");
  };
  const std::string daily = ", renew: day, accept_unbounded_lifetime: true";
  const std::string monthly = ", renew: month, accept_unbounded_lifetime: true";
  Clinic clinic("epsilon: 3" + daily, "    reservations: {expires: 2d}\n");
  ledger::ClockReading reading = ledger::system_clock_reading();
  engine::EngineOptions options;
  options.clock = [&reading] { return reading; };
  engine::Engine engine = engine::Engine::open(clinic.ledger(), options);
  engine::Request held = request("count", "1");
  held.reservation = engine::ReservationKind::reserved;
  (void)engine.cancel(engine.reserve(held, {}).recorded.decision_id,
                      "alice");  // opens it, and charges nothing
  int revision = 0;
  const auto removals = [&](const std::string& renew) {
    clinic.folder.write("next.yaml", policy(renew) + "# " + std::to_string(++revision) + "\n");
    const auto report = engine.apply_policy(clinic.folder.path("next.yaml"), "curator", "test");
    CHECK(engine::audit_verify(clinic.ledger()).ok);
    return report.limit_removals.size();
  };
  CHECK(removals("") == 1);
  reading.wall_ms += kDayOfMs;
  reading.boot_ms += kDayOfMs;
  // It is of a past day now, which would stay as it was if there were days.
  CHECK(removals("") == 0);
  CHECK(removals(monthly) == 1);  // the account of the dataset as a whole
  CHECK(removals("") == 1);
  CHECK(removals(daily) == 1);
}

TEST_CASE("audit: a removal hidden, made up, moved or restated is named",
          "[engine][audit][limits][negative]") {
  struct Tampering {
    const char* sql;
    const char* code;
  };
  for (const Tampering& tampering :
       {Tampering{"DELETE FROM limit_removal; UPDATE meta SET limit_removals = 0", "limit_removal_missing"},
        {"DELETE FROM limit_removal", "count_differs"},
        {"UPDATE limit_removal SET account = 2", "limit_removal_unfounded"},
        {"UPDATE limit_removal SET policy_version = 2", "limit_removal_unfounded"},
        {"UPDATE limit_removal SET after_decision = 0", "limit_removal_moved"},
        {"UPDATE limit_removal SET by = 'mallory'", "limit_removal_changed"},
        {"UPDATE limit_removal SET at = 1767225600000", "limit_removal_changed"},
        {"UPDATE account SET \"limit\" = 300000000000 WHERE scope = 'principal:bob'", "limit_changed"}}) {
    Removed history;
    REQUIRE(history.audit().empty());
    tamper_with_log(history.ledger(), tampering.sql);
    INFO(tampering.sql << "\n" << history.audit());
    CHECK(history.audit().find(std::string(" ") + tampering.code + ":") != std::string::npos);
  }
}

TEST_CASE("policy diff: what is overdue counts as ended, as apply ends it, and nothing is recorded",
          "[engine][policy][limits]") {
  WaitingClinic waiting("");
  CHECK_FALSE(waiting.reserve("count", "0.6").recorded.decision_id.empty());
  CHECK_FALSE(waiting.reserve("value:score", "0.25").recorded.decision_id.empty());  // spent when it expires
  const auto faults = [&](const std::string& epsilon) {
    waiting.clinic.folder.write("next.yaml", clinic_policy("epsilon: " + epsilon, waiting_rules("")));
    return waiting.engine.review(waiting.clinic.folder.path("next.yaml")).refused.size();
  };
  waiting.clock.pass_seconds(3599);
  CHECK(faults("0.5") == 1);
  waiting.clock.pass_seconds(1);
  CHECK(faults("0.5") == 0);
  CHECK(faults("0.2") == 1);
  CHECK(waiting.balance() == "0/0.85");
  const auto apply = [&] {
    return waiting.engine.apply_policy(waiting.clinic.folder.path("next.yaml"), "curator", "test");
  };
  CHECK_THROWS_AS(apply(), PolicyError);
  CHECK(faults("0.5") == 0);
  CHECK(apply().changed);
  CHECK(waiting.balance() == "0.25/0");
  CHECK(waiting.audit().empty());
}

TEST_CASE("policy diff: names the accounts whose limit would end", "[engine][policy][limits]") {
  auto [clinic, engine] = Open<Clinic>(
      "epsilon: 3",
      "    lifetime: {epsilon: 4}\n    limits: [{each: purpose, epsilon: 1}]\n    purposes: [care]\n");
  clinic.folder.write("next.yaml", clinic_policy("epsilon: 3", "    purposes: [care]\n"));
  const auto removed = engine.review(clinic.folder.path("next.yaml")).removed;
  REQUIRE(removed.size() == 2);
  CHECK(removed[0].scope == "lifetime");
  CHECK(removed[1].scope == "purpose:care");
  CHECK(engine.review(clinic.folder.path("policy.yaml")).removed.empty());
}
