// Reservations and approvals: what may follow what, and what each does to the balances.
#include "epsilog/ledger/inspection.hpp"
#include "ledger/support/fixture.hpp"
#include "support/case_table.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;
using namespace epsilog::test;
using ledger::Outcome;

namespace {

const std::string kFarFuture = "9999-01-01T00:00:00.000Z";

const std::vector<Outcome> kOutcomes = {Outcome::granted,       Outcome::refused,  Outcome::reserved,
                                        Outcome::pending,       Outcome::approved, Outcome::rejected,
                                        Outcome::data_accessed, Outcome::voided,   Outcome::forfeited};

ledger::StoredDecision recorded(ledger::Ledger& ledger, const ledger::DecisionDraft& draft,
                                Epsilon epsilon = kTenth) {
  auto transaction = ledger.begin();
  static_cast<void>(record_outcome(transaction, draft, epsilon));
  return ledger.commit(std::move(transaction)).at(0);
}

/// Brings a ledger into a state of lifecycle_states.tsv and returns the parent's id.
std::string reach(ledger::Ledger& ledger, const std::string& state) {
  if (state == "none") return "";
  if (state == "absent") return "7ZZZZZZZZZZZZZZZZZZZZZZZZZ";
  std::string parent;
  for (const std::string& step : words_of(state)) {
    const bool is_parent = parent.empty() || step.starts_with('>');
    const auto outcome = std::find_if(kOutcomes.begin(), kOutcomes.end(),
                                      [&](Outcome one) { return step.ends_with(ledger::outcome_name(one)); });
    const std::string id = recorded(ledger, draft_of(*outcome, parent)).id;
    if (is_parent) parent = id;
  }
  return parent;
}

accounting::Balance balance(const ledger::Ledger& ledger) {
  return ledger.snapshot().accounts("clinic").at(0).balance;
}

std::vector<std::string> open_ids(const ledger::Ledger& ledger, const std::string& dataset = "") {
  std::vector<std::string> ids;
  auto snapshot = ledger.snapshot();
  snapshot.each_open(dataset, [&](const ledger::StoredDecision& decision) { ids.push_back(decision.id); });
  return ids;
}

void check_sound(const ledger::Ledger& ledger) {
  auto snapshot = ledger.snapshot();
  CHECK(balances_fold(snapshot));
  ledger::Inspection inspection(snapshot);
  CHECK(inspection.lifecycle_faults().empty());
  CHECK(inspection.completeness_faults().empty());
  CHECK(inspection.order_faults().empty());
  CHECK(inspection.clock_faults().empty());
}

}  // namespace

TEST_CASE("lifecycle: every outcome about a parent in every state is recorded or rejected as the table says",
          "[ledger][lifecycle]") {
  int recorded_at_all = 0;
  for (const CaseRow& row :
       case_table(EPSILOG_SOURCE_DIR "/tests/ledger/transactions/lifecycle_states.tsv")) {
    const std::vector<std::string> allowed = words_of(row.at(1));
    for (const Outcome outcome : kOutcomes) {
      CAPTURE(row.at(0), ledger::outcome_name(outcome));
      const LedgerFixture fixture;
      auto ledger = fixture.open();
      const std::string parent = reach(ledger, row.at(0));
      const std::int64_t before = ledger.snapshot().decision_count();
      const accounting::Balance balance_before = balance(ledger);
      auto transaction = ledger.begin();
      if (std::find(allowed.begin(), allowed.end(), ledger::outcome_name(outcome)) != allowed.end()) {
        record_outcome(transaction, draft_of(outcome, parent), kTenth);
        CHECK(ledger.commit(std::move(transaction)).size() == 1);
        CHECK(ledger.snapshot().decision_count() == before + 1);
        ++recorded_at_all;
      } else {
        CHECK_THROWS_AS(record_outcome(transaction, draft_of(outcome, parent), kTenth), InvalidParameter);
        CHECK(ledger.snapshot().decision_count() == before);
        CHECK(balance(ledger).spent == balance_before.spent);
        CHECK(balance(ledger).reserved == balance_before.reserved);
      }
      check_sound(ledger);
    }
  }
  CHECK(recorded_at_all == 18);
}

TEST_CASE("lifecycle: a reservation keeps its charges aside until it is posted, voided or forfeited",
          "[ledger][lifecycle][exact]") {
  const LedgerFixture fixture("0.25");
  auto ledger = fixture.open();
  const std::int64_t tenth = kTenth.units();
  const auto first = recorded(ledger, draft_of(Outcome::reserved));
  CHECK(first.draft.deadline == kFarFuture);
  CHECK(first.accounts.at(0).balance.reserved == tenth);
  CHECK(first.charges.at(0).amount == tenth);
  const auto second = recorded(ledger, draft_of(Outcome::reserved));
  CHECK(balance(ledger).reserved == 2 * tenth);
  CHECK(open_ids(ledger) == std::vector<std::string>{first.id, second.id});
  {
    auto transaction = ledger.begin();  // what is left is less than a third one
    CHECK_THROWS_AS(record_outcome(transaction, draft_of(Outcome::reserved), kTenth), LedgerCorrupt);
  }
  {
    auto transaction = ledger.begin();  // nor may it be spent past the reservations
    CHECK_THROWS_AS(record_outcome(transaction, draft_of(Outcome::granted), kTenth), LedgerCorrupt);
  }

  const auto posted = recorded(ledger, draft_of(Outcome::granted, first.id));
  CHECK(posted.draft.parent == first.id);
  CHECK(posted.release.has_value());
  CHECK(posted.values == std::vector<Rational>{42});
  CHECK(posted.charges.at(0).amount == tenth);
  CHECK(balance(ledger).spent == tenth);
  CHECK(balance(ledger).reserved == tenth);
  CHECK(open_ids(ledger) == std::vector<std::string>{second.id});

  const auto voided = recorded(ledger, draft_of(Outcome::voided, second.id));
  CHECK(voided.charges.empty());
  CHECK(voided.accounts.at(0).balance.reserved == 0);
  CHECK(balance(ledger).spent == tenth);
  CHECK(open_ids(ledger).empty());

  const auto third = recorded(ledger, draft_of(Outcome::reserved));
  const auto forfeited = recorded(ledger, draft_of(Outcome::forfeited, third.id));
  CHECK(forfeited.charges.at(0).amount == tenth);
  CHECK_FALSE(forfeited.release);
  CHECK(balance(ledger).spent == 2 * tenth);
  CHECK(balance(ledger).reserved == 0);
  check_sound(ledger);

  auto snapshot = ledger.snapshot();
  const auto children = snapshot.children(first.id);
  REQUIRE(children.size() == 1);
  CHECK(children[0].id == posted.id);
  CHECK(children[0].values == posted.values);
  CHECK(snapshot.find_by_id(first.id)->draft.deadline == kFarFuture);
}

TEST_CASE("lifecycle: a pending request debits nothing until its approval reserves", "[ledger][lifecycle]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  const auto pending = recorded(ledger, draft_of(Outcome::pending));
  CHECK(pending.charges.empty());
  CHECK(balance(ledger).reserved == 0);
  auto vote = draft_of(Outcome::approved, pending.id);
  vote.principal = "carol";
  recorded(ledger, vote);
  vote.principal = "grace";
  recorded(ledger, vote);
  CHECK(open_ids(ledger) == std::vector<std::string>{pending.id});
  const auto reserved = recorded(ledger, draft_of(Outcome::reserved, pending.id));
  CHECK(open_ids(ledger) == std::vector<std::string>{reserved.id});
  CHECK(balance(ledger).reserved == kTenth.units());
  CHECK(ledger.snapshot().children(pending.id).size() == 3);
  recorded(ledger, draft_of(Outcome::granted, reserved.id));
  CHECK(balance(ledger).spent == kTenth.units());
  CHECK(open_ids(ledger).empty());
  check_sound(ledger);
}

TEST_CASE("lifecycle: a whole life fits into one transaction, and its value is withheld until commit",
          "[ledger][lifecycle]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  auto transaction = ledger.begin();
  const std::string pending = transaction.record_without_movement(draft_of(Outcome::pending));
  static_cast<void>(transaction.record_without_movement(draft_of(Outcome::approved, pending)));
  const std::string reserved = transaction.reserve(draft_of(Outcome::reserved, pending), charge_of(kTenth));
  CHECK(transaction.find_by_id(reserved)->charges.at(0).amount == kTenth.units());
  static_cast<void>(transaction.record_without_movement(draft_of(Outcome::data_accessed, reserved)));
  static_cast<void>(record_outcome(transaction, draft_of(Outcome::granted, reserved), kTenth));
  const auto children = transaction.children(reserved);
  REQUIRE(children.size() == 2);
  CHECK(children[0].draft.outcome == Outcome::data_accessed);
  CHECK(children[1].draft.outcome == Outcome::granted);
  CHECK(children[1].values.empty());
  CHECK(transaction.find_by_id(children[1].id)->values.empty());
  const auto stored = ledger.commit(std::move(transaction));
  REQUIRE(stored.size() == 5);
  CHECK(stored[4].values == std::vector<Rational>{42});
  check_sound(ledger);
}

TEST_CASE("lifecycle: a reservation is posted with exactly its charges or not at all",
          "[ledger][lifecycle]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  const auto reserved = recorded(ledger, draft_of(Outcome::reserved));
  {
    auto transaction = ledger.begin();  // what was reserved does not pay for that
    CHECK_THROWS_AS(
        transaction.commit_reservation(draft_of(Outcome::granted, reserved.id), Epsilon::parse_down("0.2")),
        InvalidParameter);
  }
  {
    auto transaction = ledger.begin();  // a charge of its own beside the reservation's
    CHECK_THROWS_AS(transaction.charge(draft_of(Outcome::granted, reserved.id), charge_of(kTenth), kTenth),
                    InvalidParameter);
  }
  {
    auto transaction = ledger.begin();  // no release attached
    const auto receipt = transaction.commit_reservation(draft_of(Outcome::granted, reserved.id), kTenth);
    CHECK_THROWS_AS(ledger.commit(std::move(transaction)), InvalidParameter);
    CHECK_FALSE(receipt.live());
  }
  CHECK(balance(ledger).reserved == kTenth.units());
  const Epsilon half = Epsilon::parse_down("0.05");  // less than was reserved is released, all is spent
  CHECK(recorded(ledger, draft_of(Outcome::granted, reserved.id), half).charges.at(0).amount ==
        kTenth.units());
  CHECK(balance(ledger).spent == kTenth.units());
  check_sound(ledger);
}

TEST_CASE("lifecycle: the key of a reservation is bound to it, and so is that of what resolves it",
          "[ledger][lifecycle]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  auto draft = draft_of(Outcome::reserved);
  draft.key = "k";
  const auto reserved = recorded(ledger, draft);
  auto transaction = ledger.begin();
  const auto found = transaction.find_by_key("ada", "k");
  REQUIRE(found);
  CHECK(found->id == reserved.id);
  CHECK(found->draft.outcome == Outcome::reserved);
  CHECK_THROWS_AS(record_outcome(transaction, draft, kTenth), InvalidParameter);
  auto posting = draft_of(Outcome::granted, reserved.id);
  posting.key = "k";
  auto again = ledger.begin();
  CHECK_THROWS_AS(record_outcome(again, posting, kTenth), InvalidParameter);
  posting.key = "k2";
  CHECK(recorded(ledger, posting).draft.key == "k2");
  CHECK(ledger.snapshot().find_by_key("ada", "k2")->values == std::vector<Rational>{42});
}

TEST_CASE("lifecycle: what is about a decision has its dataset and its policy version, whatever is active",
          "[ledger][lifecycle]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  const auto reserved = recorded(ledger, draft_of(Outcome::reserved));
  {
    commit_one(ledger, [&](auto& t) { t.apply_policy(policy("version: 1 # 2"), {}, ""); });
  }
  for (const auto& change : std::vector<std::function<void(ledger::DecisionDraft&)>>{
           [](ledger::DecisionDraft& d) { d.policy_version = 2; },
           [](ledger::DecisionDraft& d) { d.dataset = "lab"; }}) {
    auto draft = draft_of(Outcome::voided, reserved.id);
    change(draft);
    auto transaction = ledger.begin();
    CHECK_THROWS_AS(transaction.resolve(draft), InvalidParameter);
  }
  auto fresh = ledger.begin();  // what is not about one has the active version
  CHECK_THROWS_AS(fresh.record_without_movement(draft_of(Outcome::pending)), InvalidParameter);
  CHECK(recorded(ledger, draft_of(Outcome::voided, reserved.id)).draft.policy_version == 1);
}

TEST_CASE("lifecycle: a limit is not lowered below what is reserved", "[ledger][lifecycle]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  const auto reserved = recorded(ledger, draft_of(Outcome::reserved));
  const auto lowered_to = [&](std::int64_t limit) {
    commit_one(ledger,
               [&](auto& t) { t.apply_policy(policy("lower"), {account("clinic", "epsilon", limit)}, ""); });
  };
  CHECK_THROWS_AS(lowered_to(kTenth.units() - 1), InvalidParameter);
  lowered_to(kTenth.units());
  recorded(ledger, draft_of(Outcome::voided, reserved.id));
  lowered_to(0);
  check_sound(ledger);
}

TEST_CASE("lifecycle: open decisions are listed by dataset, in order", "[ledger][lifecycle]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  const auto first = recorded(ledger, draft_of(Outcome::reserved));
  auto of_lab = draft_of(Outcome::pending);
  of_lab.dataset = "lab";
  const auto second = recorded(ledger, of_lab);
  const auto third = recorded(ledger, draft_of(Outcome::pending));
  CHECK(open_ids(ledger) == std::vector<std::string>{first.id, second.id, third.id});
  CHECK(open_ids(ledger, "clinic") == std::vector<std::string>{first.id, third.id});
  CHECK(open_ids(ledger, "lab") == std::vector<std::string>{second.id});
  CHECK(open_ids(ledger, "other").empty());
}
