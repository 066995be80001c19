// Budget that other systems set aside and gave back: too often, or never.
#include "child_process.hpp"
#include "engine/clinic.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/digest.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "epsilog/mechanisms/discrete_mechanism.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::test;
using accounting::Balance;
using accounting::Epsilon;
using ledger::Outcome;

namespace {

const Epsilon kPart = Epsilon::parse_down("0.25");

/// Laplace noise for a quarter of the clinic's budget of 1.
mechanisms::DiscreteMechanism mechanism() {
  mechanisms::DiscreteMechanism::Options options;
  options.loss = kPart;
  options.sensitivity = 1;
  options.lower = 0;
  options.upper = 16;
  options.grid = 1;
  return mechanisms::DiscreteMechanism(options);
}

ledger::DecisionDraft draft(Outcome outcome, const std::string& parent = "") {
  ledger::DecisionDraft result;
  result.principal = "alice";
  result.request = R"({"statistic":"value:score"})";
  result.request_digest = ledger::sha256_hex(result.request);
  result.dataset = "clinic";
  result.policy_version = 1;
  result.outcome = outcome;
  result.reasons = outcome == Outcome::refused ? R"([{"code":"dataset_budget_exceeded"}])" : "[]";
  result.parent = parent;
  if (outcome == Outcome::reserved || outcome == Outcome::pending)
    result.deadline = "9999-01-01T00:00:00.000Z";
  return result;
}

/// A clinic with an epsilon budget of 1, and what may be done to it one decision a transaction.
class Counter {
 public:
  explicit Counter(const Clinic& clinic, const ledger::Options& options = {})
      : ledger_(ledger::Ledger::open(clinic.ledger(), options)) {}

  [[nodiscard]] Balance balance() const { return ledger_.snapshot().accounts("clinic").at(0).balance; }
  /// In quarters of the budget.
  [[nodiscard]] std::int64_t spent() const { return balance().spent / kPart.units(); }
  [[nodiscard]] std::int64_t reserved() const { return balance().reserved / kPart.units(); }

  /// The id of the reservation; "" if it does not fit.
  std::string reserve(const std::string& deadline = "") {
    auto transaction = ledger_.begin();
    const auto account = transaction.accounts("clinic").at(0);
    if (!accounting::filter(account.balance, kPart.units()).granted) return "";
    ledger::DecisionDraft reserved = draft(Outcome::reserved);
    if (!deadline.empty()) reserved.deadline = deadline;
    const auto id = transaction.reserve(reserved, charges(account.id));
    (void)ledger_.commit(std::move(transaction));
    return id;
  }
  void resolve(Outcome outcome, const std::string& parent) {
    auto transaction = ledger_.begin();
    transaction.resolve(draft(outcome, parent));
    (void)ledger_.commit(std::move(transaction));
  }
  void issue_token(const std::string& parent) {
    auto transaction = ledger_.begin();
    transaction.record_without_movement(draft(Outcome::data_accessed, parent));
    (void)ledger_.commit(std::move(transaction));
  }
  /// With a parent, posts it; the id of the grant, "" if it does not fit.
  std::string release(const std::string& parent = "") {
    auto transaction = ledger_.begin();
    const auto account = transaction.accounts("clinic").at(0);
    if (parent.empty() && !accounting::filter(account.balance, kPart.units()).granted) return "";
    auto receipt = parent.empty() ? transaction.charge(draft(Outcome::granted), charges(account.id), kPart)
                                  : transaction.commit_reservation(draft(Outcome::granted, parent), kPart);
    mechanisms::SystemBits bits;
    const std::vector<accounting::Rational> answers = {8};
    std::vector<accounting::SealedRelease> sealed;
    sealed.push_back(mechanism().release(answers, std::move(receipt), bits));
    transaction.attach(record(), std::move(sealed), {});
    return ledger_.commit(std::move(transaction)).at(0).id;
  }
  std::vector<std::string> overdue() {
    auto transaction = ledger_.begin();
    return transaction.overdue_ids();
  }

 private:
  static std::vector<ledger::Charge> charges(std::int64_t account) {
    return {{.account = account, .amount = kPart.units()}};
  }
  static ledger::ReleaseRecord record() {
    const auto parameters = mechanism().parameters();
    ledger::ComponentRecord component;
    component.statistic = "supplied";
    component.epsilon = kPart;
    component.sensitivity = parameters.sensitivity;
    component.scale = parameters.scale;
    component.grid = parameters.grid;
    component.centre = 8;
    component.bound = 8;
    component.adjusted = parameters.adjusted;
    ledger::ReleaseRecord release;
    release.mechanism = "discrete_laplace";
    release.arithmetic = "exact";
    release.requested = kPart.rational();
    release.charged = kPart;
    release.adjusted = component.adjusted;
    release.components = {component};
    release.unit = "row";
    release.neighbours = "add-remove";
    return release;
  }

  ledger::Ledger ledger_;
};

}  // namespace

// WFA Halo accepted the refund of a reference that was never charged, and its own test refunds one: budget
// could be minted. BigQuery and others refund on failure, best-effort.
TEST_CASE("Nothing is given back that was not set aside, and nothing twice", "[peers][reservations]") {
  const Clinic clinic("epsilon: 1");
  Counter counter(clinic);
  const auto untouched = [&counter](std::int64_t spent, std::int64_t reserved) {
    CHECK(counter.spent() == spent);
    CHECK(counter.reserved() == reserved);
    CHECK(counter.balance().limit == 4 * kPart.units());
  };
  SECTION("of a release, of nothing at all, of a request that only waits") {
    const std::string granted = counter.release();
    for (const std::string& parent : {granted, std::string(26, '0'), std::string()}) {
      for (const Outcome outcome : {Outcome::voided, Outcome::forfeited})
        CHECK_THROWS_AS(counter.resolve(outcome, parent), InvalidParameter);
    }
    untouched(1, 0);
  }
  SECTION("after it was given back, spent or posted") {
    const std::string given_back = counter.reserve();
    untouched(0, 1);
    counter.resolve(Outcome::voided, given_back);
    untouched(0, 0);
    const std::string forfeited = counter.reserve();
    counter.resolve(Outcome::forfeited, forfeited);
    untouched(1, 0);
    const std::string posted = counter.reserve();
    REQUIRE_FALSE(counter.release(posted).empty());
    untouched(2, 0);
    for (const std::string& parent : {given_back, forfeited, posted}) {
      CHECK_THROWS_AS(counter.resolve(Outcome::voided, parent), InvalidParameter);
      CHECK_THROWS_AS(counter.resolve(Outcome::forfeited, parent), InvalidParameter);
      CHECK_THROWS_AS(counter.release(parent), InvalidParameter);
      untouched(2, 0);
    }
  }
  SECTION("by many at once: one of them succeeds") {
    std::vector<std::string> open;
    for (int i = 0; i < 4; ++i) open.push_back(counter.reserve());
    untouched(0, 4);
    std::vector<pid_t> children;
    for (int process = 0; process < 4; ++process) {
      children.push_back(start_child([&clinic, &open] {
        Counter mine(clinic);
        int resolved = 0;
        for (const std::string& id : open) {
          try {
            mine.resolve(Outcome::voided, id);
            ++resolved;
          } catch (const InvalidParameter&) {
            continue;
          }
        }
        return resolved;
      }));
    }
    int resolved = 0;
    for (const pid_t child : children) resolved += status_of(child);
    CHECK(resolved == 4);
    untouched(0, 0);
  }
  CHECK(counter.balance().spent + counter.balance().reserved <= counter.balance().limit);
}

// A refund after the data were touched tells of the data. BigQuery refunds queries that failed or were
// cancelled, so what remains can rise after they ran.
TEST_CASE("Budget is never given back once the data may have been seen", "[peers][reservations]") {
  const Clinic clinic("epsilon: 1");
  Counter counter(clinic);
  const std::string id = counter.reserve();
  counter.issue_token(id);
  CHECK_THROWS_AS(counter.resolve(Outcome::voided, id), InvalidParameter);
  CHECK(counter.reserved() == 1);
  counter.resolve(Outcome::forfeited, id);
  CHECK(counter.reserved() == 0);
  CHECK(counter.spent() == 1);
}

// dpcreator counted plans that had expired unused, so that their budget was stranded for ever; and it summed
// the plans and saved a new one without a lock, so that two could find the same room.
TEST_CASE("Budget set aside counts while it is set aside, and can be had again when that has expired",
          "[peers][reservations]") {
  const Clinic clinic("epsilon: 1");
  std::int64_t now_ms = 4'102'444'800'000;  // 2100-01-01
  ledger::Options options;
  options.clock = [&now_ms] {
    return ledger::ClockReading{.wall_ms = now_ms, .boot_ms = now_ms, .boot_id = ""};
  };
  Counter counter(clinic, options);
  std::vector<std::string> open;
  for (std::string id = counter.reserve("2100-01-01T01:00:00.000Z"); !id.empty();
       id = counter.reserve("2100-01-01T01:00:00.000Z")) {
    open.push_back(id);
  }
  CHECK(open.size() == 4);
  CHECK(counter.release().empty());  // no room: what is set aside counts
  CHECK(counter.overdue().empty());
  CHECK_FALSE(counter.release(open[0]).empty());  // except for whom it was set aside

  now_ms += 3'600'000;
  const std::vector<std::string> expired = {open[1], open[2], open[3]};
  CHECK(counter.overdue() == expired);
  for (const std::string& id : expired) counter.resolve(Outcome::voided, id);
  CHECK(counter.overdue().empty());
  CHECK(counter.spent() == 1);
  CHECK(counter.reserved() == 0);
  for (int i = 0; i < 3; ++i) CHECK_FALSE(counter.release().empty());
  CHECK(counter.release().empty());
  CHECK(counter.spent() == 4);
}

// The per-user flag of lomas again: what a killed process had set aside must not need an administrator.
TEST_CASE("What a killed process set aside is neither lost nor locked", "[peers][reservations][crash]") {
  const Clinic clinic("epsilon: 1");
  SECTION("killed before its commit: nothing was set aside") {
    REQUIRE(status_of(start_child([&clinic] {
              auto ledger = ledger::Ledger::open(clinic.ledger(), {});
              auto transaction = ledger.begin();
              const std::vector<ledger::Charge> charges = {
                  {.account = transaction.accounts("clinic").at(0).id, .amount = kPart.units()}};
              transaction.reserve(draft(Outcome::reserved), charges);
              die();
              return 0;
            })) == kKilled);
    Counter counter(clinic);
    CHECK(counter.reserved() == 0);
    CHECK_FALSE(counter.reserve().empty());
  }
  SECTION("killed while it posts: still set aside, and anybody may post it or give it back") {
    Counter counter(clinic);
    for (const bool posted : {true, false}) {
      const std::string id = counter.reserve();
      REQUIRE(status_of(start_child([&clinic, &id] {
                auto ledger = ledger::Ledger::open(clinic.ledger(), {});
                auto transaction = ledger.begin();
                (void)transaction.commit_reservation(draft(Outcome::granted, id), kPart);
                die();
                return 0;
              })) == kKilled);
      CHECK(counter.reserved() == 1);
      if (posted) {
        CHECK_FALSE(counter.release(id).empty());
      } else {
        counter.resolve(Outcome::voided, id);
      }
      CHECK(counter.spent() == 1);
      CHECK(counter.reserved() == 0);
    }
  }
}
