// Many accounts of one dataset, looked up and moved one by one.
#include "ledger/support/fixture.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;

namespace {

const accounting::Delta kMillionth = accounting::Delta::parse_down("1e-6");

ledger::AccountName name(const std::string& scope, const std::string& measure = "epsilon",
                         const std::string& dataset = "clinic") {
  return {.dataset = dataset, .scope = scope, .measure = measure};
}

/// Accounts 1.. of a ledger of their own, in order.
struct Accounts {
  explicit Accounts(const std::vector<ledger::AccountState>& accounts) : path(directory.path() + "/L") {
    ledger::Ledger::create(path, policy(), accounts);
  }
  TemporaryDirectory directory;
  std::string path;
};

std::vector<std::int64_t> ids(const std::vector<ledger::AccountState>& accounts) {
  std::vector<std::int64_t> result;
  for (const auto& account : accounts) result.push_back(account.id);
  return result;
}

ledger::StoredDecision charged(ledger::Ledger& ledger, const ledger::DecisionDraft& draft,
                               const std::vector<ledger::Charge>& charges,
                               const accounting::ApproximateLoss& loss) {
  auto transaction = ledger.begin();
  auto receipt = transaction.charge(draft, charges, loss);
  auto record = record_of(loss.epsilon);
  if (!loss.pure()) record.components.front().delta = loss.delta;
  record.unit = "patient_id max_rows=3";
  record.neighbours = "add-remove";
  transaction.attach(record, sealed(std::move(receipt), loss, {Rational(1)}), {});
  return ledger.commit(std::move(transaction)).at(0);
}

}  // namespace

TEST_CASE("accounts: those that exist come in the order of their names, from a transaction and a snapshot",
          "[ledger][accounts]") {
  const Accounts fixture({account("clinic", "epsilon", 5), account("clinic", "epsilon", 6, "lifetime"),
                          account("clinic", "rho", 7, "role:research"), account("lab", "epsilon", 8)});
  const std::vector<ledger::AccountName> names = {
      name("role:research", "rho"), name("lifetime"),      name("block:A"),
      name("", "epsilon", "lab"),   name("role:research"), name("")};
  auto ledger = ledger::Ledger::open(fixture.path, {});
  auto transaction = ledger.begin();
  CHECK(ids(transaction.accounts(names)) == std::vector<std::int64_t>{3, 2, 4, 1});
  CHECK(ids(ledger.snapshot().accounts(names)) == std::vector<std::int64_t>{3, 2, 4, 1});
  CHECK(transaction.accounts(std::span(names).first(1)).at(0).balance.limit == 7);
  CHECK(transaction.accounts(std::span<const ledger::AccountName>()).empty());
}

TEST_CASE("accounts: one is opened with a limit, once, and can be charged at once", "[ledger][accounts]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  {
    auto dropped = ledger.begin();
    static_cast<void>(dropped.open_account(account("clinic", "epsilon", 9, "period:2026-10")));
  }
  auto transaction = ledger.begin();
  const auto opened =
      transaction.open_account(account("clinic", "epsilon", kTenth.units(), "period:2026-11"));
  CHECK(opened.id == 2);
  CHECK(opened.scope == "period:2026-11");
  CHECK(opened.balance.remaining() == kTenth.units());
  std::vector<ledger::Charge> charges = charge_of(kTenth);
  charges.push_back({.account = opened.id, .amount = kTenth.units()});
  auto receipt = transaction.charge(granted(), charges, kTenth);
  transaction.attach(record_of(kTenth), sealed(std::move(receipt), kTenth, {Rational(1)}), {});
  static_cast<void>(ledger.commit(std::move(transaction)));
  auto snapshot = ledger.snapshot();
  CHECK(snapshot.accounts("clinic").size() == 2);
  CHECK(snapshot.accounts("clinic").at(1).balance.remaining() == 0);
  CHECK(balances_fold(snapshot));

  for (const auto& wrong :
       {account("clinic", "epsilon", 5, "period:2026-11"), account("clinic", "epsilon", -1, "x"),
        account("clinic", "epsilon", accounting::kUnitsMax + 1, "x"), account("", "epsilon", 5),
        account("clinic", "", 5)}) {
    auto attempt = ledger.begin();
    CHECK_THROWS_AS(attempt.open_account(wrong), InvalidParameter);
  }
}

TEST_CASE("accounts: a decision is stored with the balances it touched, in the order given",
          "[ledger][accounts]") {
  const Accounts fixture(
      {account("clinic", "epsilon", kTenth.units()), account("clinic", "epsilon", kTenth.units(), "lifetime"),
       account("clinic", "epsilon", kTenth.units(), "block:A"), account("lab", "epsilon", 5)});
  auto ledger = ledger::Ledger::open(fixture.path, {});
  auto draft = refused();
  draft.shown_account_ids = std::vector<std::int64_t>{3, 1};
  {
    auto transaction = ledger.begin();
    static_cast<void>(transaction.refuse(draft));
    CHECK(ids(ledger.commit(std::move(transaction)).at(0).accounts) == std::vector<std::int64_t>{3, 1});
  }
  draft = granted("k");
  draft.shown_account_ids = std::vector<std::int64_t>{2, 1};
  const std::vector<ledger::Charge> charges = {{.account = 2, .amount = kTenth.units()},
                                               {.account = 1, .amount = kTenth.units()}};
  const auto stored = charged(ledger, draft, charges, kTenth);
  CHECK(ids(stored.accounts) == std::vector<std::int64_t>{2, 1});
  CHECK(stored.accounts.at(0).balance.remaining() == 0);
  const auto found = ledger.snapshot().find_by_key("ada", "k");
  REQUIRE(found);
  CHECK(found->draft.shown_account_ids.value() == std::vector<std::int64_t>{2, 1});
  CHECK(ids(found->accounts) == std::vector<std::int64_t>{2, 1});
  CHECK(found->release->unit == "patient_id max_rows=3");
  CHECK(found->release->neighbours == "add-remove");

  for (const std::int64_t other : {4, 99}) {  // of another dataset, of none
    draft = refused();
    draft.shown_account_ids = std::vector<std::int64_t>{1, other};
    auto transaction = ledger.begin();
    CHECK_THROWS_AS(transaction.refuse(draft), InvalidParameter);
  }
  {
    auto transaction = ledger.begin();
    static_cast<void>(transaction.refuse(refused()));
    CHECK(ledger.commit(std::move(transaction)).at(0).accounts.size() == 3);  // none named: all of them
  }
}

TEST_CASE("accounts: a dataset accounted in another measure is charged in that alone", "[ledger][accounts]") {
  const Accounts fixture({account("clinic", "rho", 100), account("clinic", "delta", kMillionth.units()),
                          account("clinic", "rdp(8)", 50)});
  auto ledger = ledger::Ledger::open(fixture.path, {});
  const accounting::ApproximateLoss loss{kTenth, kMillionth};
  const auto stored =
      charged(ledger, granted(), {{.account = 1, .amount = 60}, {.account = 3, .amount = 50}}, loss);
  CHECK(stored.charges.size() == 2);
  CHECK(stored.accounts.at(0).measure == "delta");
  auto transaction = ledger.begin();
  CHECK_THROWS_AS(transaction.charge(granted(), std::vector<ledger::Charge>{{2, kMillionth.units()}}, loss),
                  InvalidParameter);
}

TEST_CASE("accounts: each scope that is charged in epsilon is charged in delta too, if there is a delta",
          "[ledger][accounts]") {
  const std::int64_t delta = kMillionth.units();
  const std::int64_t epsilon = kTenth.units();
  const Accounts fixture({account("clinic", "epsilon", epsilon), account("clinic", "delta", delta),
                          account("clinic", "epsilon", epsilon, "lifetime"),
                          account("clinic", "delta", delta, "lifetime")});
  auto ledger = ledger::Ledger::open(fixture.path, {});
  const accounting::ApproximateLoss loss{kTenth, kMillionth};
  for (const std::vector<ledger::Charge>& lacking :
       {std::vector<ledger::Charge>{{1, epsilon}, {2, delta}, {3, epsilon}},
        std::vector<ledger::Charge>{{1, epsilon}, {4, delta}},
        std::vector<ledger::Charge>{{1, epsilon}, {2, delta}, {3, epsilon}, {4, delta - 1}},
        std::vector<ledger::Charge>{{1, epsilon}, {2, delta}, {3, epsilon - 1}, {4, delta}}}) {
    auto transaction = ledger.begin();
    CHECK_THROWS_AS(transaction.charge(granted(), lacking, loss), InvalidParameter);
  }
  CHECK(charged(ledger, granted(), {{4, delta}, {3, epsilon}, {2, delta}, {1, epsilon}}, loss).seq == 1);
}

TEST_CASE("accounts: when the last of many does not hold its part, none is debited", "[ledger][accounts]") {
  std::vector<ledger::AccountState> accounts;
  std::vector<ledger::Charge> charges;
  for (int block = 1; block <= 40; ++block) {
    accounts.push_back(account("clinic", "epsilon", kTenth.units() - (block == 40 ? 1 : 0),
                               "block:" + std::to_string(100 + block)));
    charges.push_back({.account = block, .amount = kTenth.units()});
  }
  const Accounts fixture(accounts);
  auto ledger = ledger::Ledger::open(fixture.path, {});
  {
    auto transaction = ledger.begin();
    CHECK_THROWS_AS(transaction.charge(granted(), charges, kTenth), LedgerCorrupt);
  }
  auto draft = granted();
  draft.outcome = ledger::Outcome::reserved;
  draft.deadline = "9999-01-01T00:00:00.000Z";
  {
    auto transaction = ledger.begin();
    CHECK_THROWS_AS(transaction.reserve(draft, charges), LedgerCorrupt);
  }
  for (const auto& state : ledger.snapshot().accounts("")) {
    CHECK(state.balance.spent == 0);
    CHECK(state.balance.reserved == 0);
  }
  charges.pop_back();
  CHECK(charged(ledger, granted(), charges, kTenth).charges.size() == 39);
}

TEST_CASE("accounts: a policy with very many of them is applied one by one, and the next changes one limit",
          "[ledger][accounts]") {
  constexpr int kMany = 20'000;
  std::vector<ledger::AccountState> accounts;
  for (int i = 0; i < kMany; ++i)
    accounts.push_back(account("clinic", "epsilon", 10, "principal:" + std::to_string(i)));
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  auto transaction = ledger.begin();
  transaction.apply_policy(policy("a"), accounts, "");
  accounts.at(kMany / 2).balance.limit = 11;
  transaction.apply_policy(policy("b"), accounts, "");
  static_cast<void>(ledger.commit(std::move(transaction)));
  auto snapshot = ledger.snapshot();
  CHECK(snapshot.accounts("clinic").size() == kMany + 1);
  int changes = 0;
  snapshot.each_limit_change([&](const ledger::LimitChange& change) {
    ++changes;
    CHECK(change.new_limit == 11);
  });
  CHECK(changes == 1);
}
