#include "decision_id.hpp"
#include "epsilog/ledger/digest.hpp"
#include "epsilog/ledger/inspection.hpp"
#include "epsilog/ledger/ledger_time.hpp"
#include "ledger/support/fixture.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;
using mechanisms::ReleaseSealer;

namespace {

/// A draft or charge that must not be recorded leaves nothing behind.
template <class Attempt>
void check_rejected(const LedgerFixture& fixture, Attempt attempt) {
  auto ledger = fixture.open();
  auto transaction = ledger.begin();
  CHECK_THROWS_AS(attempt(transaction), InvalidParameter);
  CHECK_THROWS_AS(transaction.accounts("clinic"), InvalidParameter);  // over
  auto snapshot = ledger.snapshot();
  CHECK(snapshot.decision_count() == 0);
  CHECK(snapshot.accounts("clinic").at(0).balance.spent == 0);
}

}  // namespace

TEST_CASE("transaction: a committed release comes back whole, from commit, by id and by key",
          "[ledger][exact]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  const auto stored = release(ledger, kTenth, Rational(-48), "k1");
  CHECK(stored.seq == 1);
  CHECK(stored.values == std::vector<Rational>{Rational(-48)});
  CHECK(stored.accounts.at(0).balance.spent == kTenth.units());
  CHECK(stored.charges.at(0).amount == kTenth.units());

  auto snapshot = ledger.snapshot();
  for (const auto& found : {snapshot.find_by_id(stored.id), snapshot.find_by_key("ada", "k1")}) {
    REQUIRE(found);
    CHECK(found->seq == 1);
    CHECK(found->created_at == stored.created_at);
    CHECK(found->values == stored.values);
    CHECK(found->component_values == stored.component_values);
    CHECK(*found->release == *stored.release);
    CHECK(found->draft.request == stored.draft.request);
    CHECK(found->accounts.at(0).balance.limit == Epsilon::parse_down("1").units());
    CHECK(found->post_processing.kind == accounting::PostProcessing::Kind::none);
  }
  CHECK_FALSE(snapshot.find_by_key("grace", "k1"));
  CHECK_FALSE(snapshot.find_by_key("ada", ""));
}

TEST_CASE("transaction: a post-processed release over cells is stored with what it follows from",
          "[ledger][exact]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  auto transaction = ledger.begin();
  auto receipt = transaction.charge(granted(), charge_of(kTenth), kTenth);
  const Epsilon half = Epsilon::parse_down("0.05");
  auto record = record_of(kTenth);
  record.components.assign(2, record.components.front());
  for (auto& component : record.components) component.epsilon = half;
  record.cells = std::vector<std::string>{"A", "B \"quoted\""};
  std::vector<accounting::SealedRelease> components;
  components.push_back(ReleaseSealer::seal(receipt.split(half), half, {Rational(10), Rational(-3)}));
  components.push_back(ReleaseSealer::seal(std::move(receipt), half, {Rational(4), Rational(0)}));
  transaction.attach(record, std::move(components),
                     {.kind = accounting::PostProcessing::Kind::mean_about,
                      .centre = Rational(1, 3),
                      .lower = -1,
                      .upper = 5});
  const auto stored = ledger.commit(std::move(transaction)).at(0);
  CHECK(stored.values == std::vector<Rational>{Rational(17, 6), Rational(-1)});

  auto snapshot = ledger.snapshot();
  const auto found = snapshot.find_by_id(stored.id);
  REQUIRE(found);
  CHECK(found->values == stored.values);
  CHECK(found->release->cells == record.cells);
  CHECK(accounting::post_process(found->post_processing, found->component_values) == found->values);
  CHECK(query_sql(fixture.path, "SELECT \"values\" FROM decision") == R"(["17/6","-1"])");
  CHECK(query_sql(fixture.path, "SELECT component_values FROM decision") == R"([["10","-3"],["4","0"]])");
  CHECK(query_sql(fixture.path, "SELECT json_extract(release, '$.post_processing.centre') FROM plan") ==
        "1/3");
}

TEST_CASE("transaction: nothing is stored when it is dropped, and its receipt dies", "[ledger]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  std::optional<accounting::ChargeReceipt> receipt;
  {
    auto transaction = ledger.begin();
    receipt.emplace(transaction.charge(granted(), charge_of(kTenth), kTenth));
    CHECK(receipt->live());
  }
  CHECK_FALSE(receipt->live());
  CHECK_THROWS_AS(ReleaseSealer::seal(std::move(*receipt), kTenth, {Rational(1)}), InvalidParameter);
  auto snapshot = ledger.snapshot();
  CHECK(snapshot.decision_count() == 0);
  CHECK(snapshot.accounts("clinic").at(0).balance.spent == 0);
}

TEST_CASE("transaction: a granted decision without its release is not committed", "[ledger]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  auto transaction = ledger.begin();
  const auto receipt = transaction.charge(granted(), charge_of(kTenth), kTenth);
  CHECK_THROWS_AS(ledger.commit(std::move(transaction)), InvalidParameter);
  CHECK_FALSE(receipt.live());
  CHECK(ledger.snapshot().decision_count() == 0);
}

TEST_CASE("transaction: what a receipt covered has to be used up by what is attached", "[ledger]") {
  const LedgerFixture fixture;
  const Epsilon half = Epsilon::parse_down("0.05");
  check_rejected(fixture, [&](ledger::Transaction& t) {  // only half of it drawn
    auto receipt = t.charge(granted(), charge_of(kTenth), kTenth);
    t.attach(record_of(half), sealed(receipt.split(half), half, {Rational(1)}), {});
  });
  check_rejected(fixture, [&](ledger::Transaction& t) {  // another number of values than cells
    t.attach(record_of(kTenth), sealed(t.charge(granted(), charge_of(kTenth), kTenth), kTenth, {1, 2}), {});
  });
  check_rejected(fixture, [&](ledger::Transaction& t) {  // a component more than described
    auto record = record_of(kTenth);
    record.components.push_back(record.components.front());
    t.attach(record, sealed(t.charge(granted(), charge_of(kTenth), kTenth), kTenth, {1}), {});
  });
  check_rejected(fixture, [&](ledger::Transaction& t) {  // the record claims another loss
    t.attach(record_of(half), sealed(t.charge(granted(), charge_of(kTenth), kTenth), kTenth, {1}), {});
  });
  check_rejected(fixture, [&](ledger::Transaction& t) {  // nothing was charged
    t.attach(record_of(kTenth), {}, {});
  });
}

TEST_CASE("transaction: a loss with a delta needs, uses up and records an account of that measure",
          "[ledger][exact]") {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/L";
  const accounting::Delta millionth = accounting::Delta::parse_down("1e-6");
  const accounting::ApproximateLoss loss{kTenth, millionth};
  ledger::Ledger::create(path, policy(),
                         {account("clinic", "epsilon", kTenth.units()),
                          account("clinic", "delta", millionth.units()), account("lab", "epsilon", 5)});
  auto ledger = ledger::Ledger::open(path, {});
  const std::vector<ledger::Charge> both = {{.account = 1, .amount = kTenth.units()},
                                            {.account = 2, .amount = millionth.units()}};
  auto record = record_of(kTenth);
  record.components.front().delta = millionth;
  const auto rejected = [&](auto attempt) {
    auto transaction = ledger.begin();
    CHECK_THROWS_AS(attempt(transaction), InvalidParameter);
    CHECK(ledger.snapshot().decision_count() == 0);
  };
  rejected([&](ledger::Transaction& t) { return t.charge(granted(), charge_of(kTenth), loss); });
  rejected([&](ledger::Transaction& t) {
    auto less = both;
    less[1].amount -= 1;
    return t.charge(granted(), less, loss);
  });
  rejected([&](ledger::Transaction& t) {  // the record says nothing of the delta
    t.attach(record_of(kTenth), sealed(t.charge(granted(), both, loss), loss, {1}), {});
    return 0;
  });
  rejected([&](ledger::Transaction& t) {  // the delta is not used up
    auto receipt = t.charge(granted(), both, loss);
    t.attach(record_of(kTenth), sealed(receipt.split(kTenth), kTenth, {1}), {});
    return 0;
  });

  auto transaction = ledger.begin();
  transaction.attach(record, sealed(transaction.charge(granted(), both, loss), loss, {1}), {});
  const auto stored = ledger.commit(std::move(transaction)).at(0);
  auto snapshot = ledger.snapshot();
  CHECK(snapshot.find_by_id(stored.id)->release->components == record.components);
  CHECK(snapshot.accounts("clinic").at(0).balance.remaining() == 0);
  CHECK(snapshot.accounts("clinic").at(1).balance.remaining() == 0);
  CHECK(query_sql(path, "SELECT json_extract(release, '$.components[0].delta') FROM plan") == "0.000001");
}

TEST_CASE("transaction: the component of a pure loss is stored without what does not apply",
          "[ledger][exact]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  release(ledger, kTenth, Rational(3));
  CHECK(query_sql(fixture.path, "SELECT json_extract(release, '$.components') FROM plan") ==
        R"([{"adjusted":"0.1","bound":"1024","centre":"0","coordinates":1,"epsilon":"0.1","grid":"16",)"
        R"("scale":"10","sensitivity":"1","statistic":"count"}])");
  CHECK(query_sql(fixture.path, "SELECT component_values FROM decision") == R"([["3"]])");
}

TEST_CASE("transaction: a sealed release of another decision is not accepted", "[ledger]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  auto transaction = ledger.begin();
  auto first = sealed(transaction.charge(granted(), charge_of(kTenth), kTenth), kTenth, {1});
  SECTION("charging again before attaching is refused") {
    CHECK_THROWS_AS(transaction.charge(granted(), charge_of(kTenth), kTenth), InvalidParameter);
  }
  SECTION("refusing before attaching is refused") {
    CHECK_THROWS_AS(transaction.refuse(refused()), InvalidParameter);
  }
  SECTION("what an earlier transaction drew is refused") {
    { const auto dropped = std::move(transaction); }
    auto later = ledger.begin();
    record_release(later, kTenth, Rational(5));
    const auto receipt = later.charge(granted(), charge_of(kTenth), kTenth);
    CHECK_THROWS_AS(later.attach(record_of(kTenth), std::move(first), {}), InvalidParameter);
  }
  CHECK(ledger.snapshot().decision_count() == 0);
}

TEST_CASE("transaction: a charge that makes no sense is rejected and nothing is spent", "[ledger]") {
  const LedgerFixture fixture;
  const auto reject = [&](const ledger::DecisionDraft& draft, const std::vector<ledger::Charge>& charges,
                          Epsilon epsilon) {
    check_rejected(fixture,
                   [&](ledger::Transaction& t) { static_cast<void>(t.charge(draft, charges, epsilon)); });
  };
  const auto with = [](auto change) {
    auto draft = granted();
    change(draft);
    return draft;
  };
  reject(granted(), {}, kTenth);
  reject(granted(), charge_of(kTenth), Epsilon());
  reject(granted(), {{.account = 1, .amount = kTenth.units() - 1}}, kTenth);  // less than proved
  reject(granted(), {{.account = 1, .amount = 0}}, kTenth);
  reject(granted(), {{.account = 1, .amount = -5}}, kTenth);
  reject(granted(), {{.account = 1, .amount = accounting::kUnitsMax + 1}}, kTenth);
  reject(granted(), charge_of(kTenth, 2), kTenth);  // no such account
  reject(granted(), {{.account = 1, .amount = kTenth.units()}, {.account = 1, .amount = kTenth.units()}},
         kTenth);
  reject(refused(), charge_of(kTenth), kTenth);
  reject(with([](auto& d) { d.reasons = R"([{"code":"x"}])"; }), charge_of(kTenth), kTenth);
  reject(with([](auto& d) { d.principal = ""; }), charge_of(kTenth), kTenth);
  reject(with([](auto& d) { d.dataset = ""; }), charge_of(kTenth), kTenth);
  reject(with([](auto& d) { d.request_digest = "ABC"; }), charge_of(kTenth), kTenth);
  reject(with([](auto& d) { d.policy_version = 2; }), charge_of(kTenth), kTenth);
}

TEST_CASE("transaction: a debit that does not fit rolls everything back and is called corruption",
          "[ledger]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  auto transaction = ledger.begin();
  record_release(transaction, kTenth, Rational(1));
  const Epsilon one = Epsilon::parse_down("1");
  // By the conditional UPDATE: the table's CHECK behind it would say something else.
  CHECK_THROWS_WITH(
      transaction.charge(granted(), charge_of(one), one),
      "ledger: account 1 does not hold the 1000000000000 units it was found to hold a moment ago");
  CHECK_THROWS_AS(ledger.commit(std::move(transaction)), InvalidParameter);
  CHECK(ledger.snapshot().accounts("clinic").at(0).balance.spent == 0);
  CHECK(release(ledger, one, Rational(2)).seq == 1);  // the ledger goes on
}

TEST_CASE("transaction: N charges of 1/N all pass and the next does not, for N = 1..150", "[ledger][exact]") {
  constexpr int kLargest = 150;
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/L";
  std::vector<ledger::AccountState> accounts;
  for (int n = 1; n <= kLargest; ++n) {
    accounts.push_back(account("n" + std::to_string(n), "epsilon", Epsilon::parse_down("1").units()));
  }
  ledger::Ledger::create(path, policy(), accounts);
  auto ledger = ledger::Ledger::open(path, {});
  for (int n = 1; n <= kLargest; ++n) {
    CAPTURE(n);
    const Epsilon share = Epsilon::parse_down("1/" + std::to_string(n));
    auto draft = granted();
    draft.dataset = "n" + std::to_string(n);
    auto transaction = ledger.begin();
    for (int i = 0; i < n; ++i) {
      auto receipt = transaction.charge(draft, charge_of(share, n), share);
      transaction.attach(record_of(share), sealed(std::move(receipt), share, {Rational(i)}), {});
    }
    CHECK_FALSE(accounting::filter(transaction.accounts(draft.dataset).at(0).balance, share.units()).granted);
    CHECK(ledger.commit(std::move(transaction)).size() == static_cast<std::size_t>(n));
    auto one_more = ledger.begin();
    CHECK_THROWS_AS(one_more.charge(draft, charge_of(share, n), share), LedgerCorrupt);
  }
}

TEST_CASE("transaction: ten thousand times 0.0001 spends exactly 1, durably", "[ledger][exact]") {
  const LedgerFixture fixture;
  {
    auto ledger = fixture.open();
    const Epsilon share = Epsilon::parse_down("0.0001");
    for (int batch = 0; batch < 100; ++batch) {
      auto transaction = ledger.begin();
      for (int i = 0; i < 100; ++i) record_release(transaction, share, Rational(i));
      CHECK(ledger.commit(std::move(transaction)).size() == 100);
    }
    CHECK_FALSE(release_if_it_fits(ledger, Epsilon::from_units(1), Rational(0)));
  }
  auto snapshot = fixture.look();
  CHECK(snapshot.accounts("clinic").at(0).balance.remaining() == 0);
  CHECK(snapshot.decision_count() == 10'000);
  CHECK(balances_fold(snapshot));
}

TEST_CASE("transaction: a key names one decision for ever, refusals included", "[ledger]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  auto transaction = ledger.begin();
  transaction.refuse(refused("k"));
  CHECK(ledger.commit(std::move(transaction)).at(0).draft.outcome == ledger::Outcome::refused);
  check_rejected(LedgerFixture(), [](ledger::Transaction& t) {
    t.refuse(refused("twice"));
    t.refuse(refused("twice"));
  });
  auto again = ledger.begin();
  CHECK_THROWS_AS(again.charge(granted("k"), charge_of(kTenth), kTenth), InvalidParameter);
  CHECK(ledger.snapshot().find_by_key("ada", "k")->draft.reasons == refused().reasons);
  auto no_key = ledger.begin();
  no_key.refuse(refused());
  no_key.refuse(refused());
  CHECK(ledger.commit(std::move(no_key)).size() == 2);
}

TEST_CASE("transaction: values of a decision it recorded itself are withheld until commit", "[ledger]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  auto transaction = ledger.begin();
  record_release(transaction, kTenth, Rational(7), "k");
  const auto before = transaction.find_by_key("ada", "k");
  REQUIRE(before);
  CHECK(before->seq == 1);
  CHECK(before->values.empty());
  CHECK(before->component_values.empty());
  CHECK(ledger.commit(std::move(transaction)).at(0).values == std::vector<Rational>{7});
  auto later = ledger.begin();
  CHECK(later.find_by_key("ada", "k")->values == std::vector<Rational>{7});
}

TEST_CASE("transaction: the policy changes by versions, limits by recorded changes", "[ledger]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  release(ledger, kTenth, Rational(1));
  const std::int64_t raised = Epsilon::parse_down("2").units();
  auto transaction = ledger.begin();
  transaction.apply_policy(policy("version: 1 # raised\n"),
                           {account("clinic", "epsilon", raised), account("lab", "epsilon", 5)},
                           "more patients");
  CHECK(transaction.active_policy_version() == 2);
  CHECK(ledger.commit(std::move(transaction)).empty());

  auto snapshot = ledger.snapshot();
  CHECK(snapshot.active_policy().version == 2);
  CHECK(snapshot.active_policy().yaml == "version: 1 # raised\n");
  CHECK(snapshot.accounts("clinic").at(0).balance.limit == raised);
  CHECK(snapshot.accounts("lab").at(0).balance.limit == 5);
  std::vector<ledger::LimitChange> changes;
  snapshot.each_limit_change([&](const ledger::LimitChange& change) { changes.push_back(change); });
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].after_decision == 1);
  CHECK(changes[0].old_limit == Epsilon::parse_down("1").units());
  CHECK(changes[0].new_limit == raised);
  CHECK(changes[0].by == "curator");
  CHECK(changes[0].why == "more patients");
  std::int64_t versions = 0;
  snapshot.each_policy_version(
      [&](const ledger::PolicyVersion& version) { CHECK(version.version == ++versions); });
  CHECK(versions == 2);
}

TEST_CASE("transaction: a limit that is removed is recorded, and its account stays", "[ledger]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  release(ledger, kTenth, Rational(1));
  const auto before = ledger.snapshot().accounts("clinic").at(0);
  commit_one(ledger,
             [&](auto& t) { t.apply_policy(policy("version: 1 # none\n"), {}, "no more", {before.name()}); });

  auto snapshot = ledger.snapshot();
  const auto after = snapshot.accounts("clinic").at(0);
  CHECK(after.balance.limit == before.balance.limit);
  CHECK(after.balance.spent == before.balance.spent);
  snapshot.each_limit_change([](const ledger::LimitChange&) { FAIL("no limit was changed"); });
  std::vector<ledger::LimitRemoval> removals;
  snapshot.each_limit_removal([&](const ledger::LimitRemoval& removal) { removals.push_back(removal); });
  REQUIRE(removals.size() == 1);
  CHECK(removals[0].seq == 1);
  CHECK(removals[0].after_decision == 1);
  CHECK(removals[0].policy_version == 2);
  CHECK(removals[0].account == before.id);
  CHECK(removals[0].by == "curator");
  CHECK(removals[0].why == "no more");
  CHECK(removals[0].removed_at == snapshot.active_policy().applied_at);
  CHECK(ledger::Inspection(snapshot).facts().limit_removals.claimed == 1);

  for (const std::vector<ledger::AccountName>& removed :
       {std::vector<ledger::AccountName>{{"lab", "", "epsilon"}},
        std::vector<ledger::AccountName>{before.name(), before.name()}}) {
    auto wrong = ledger.begin();
    CHECK_THROWS_AS(wrong.apply_policy(policy("a"), {}, "", removed), InvalidParameter);
  }
  auto both = ledger.begin();
  CHECK_THROWS_AS(both.apply_policy(policy("a"), {before}, "", {before.name()}), InvalidParameter);
}

TEST_CASE("transaction: a relocation is an event, and holds until another one or a policy version",
          "[ledger]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  release(ledger, kTenth, Rational(1));
  CHECK_FALSE(ledger.snapshot().location("clinic"));
  for (const char* path : {"/srv/a.csv", "/srv/b.csv"}) {
    auto transaction = ledger.begin();
    transaction.relocate("clinic", path, "carol", "moved");
    CHECK(transaction.location("clinic") == path);
    CHECK_FALSE(transaction.location("lab"));
    static_cast<void>(ledger.commit(std::move(transaction)));
    CHECK(ledger.snapshot().location("clinic") == path);
  }
  std::vector<ledger::Relocation> relocations;
  auto snapshot = ledger.snapshot();
  snapshot.each_relocation([&](const ledger::Relocation& relocation) { relocations.push_back(relocation); });
  REQUIRE(relocations.size() == 2);
  CHECK(relocations[1].seq == 2);
  CHECK(relocations[1].event == 3);
  CHECK(relocations[1].after_decision == 1);
  CHECK(relocations[1].dataset == "clinic");
  CHECK(relocations[1].path == "/srv/b.csv");
  CHECK(relocations[1].by == "carol");
  CHECK(relocations[1].why == "moved");
  CHECK(relocations[0].at <= relocations[1].at);
  CHECK(ledger::Inspection(snapshot).facts().relocations.claimed == 2);
  CHECK(ledger::Inspection(snapshot).record_faults().empty());
  CHECK(ledger::Inspection(snapshot).event_faults().empty());

  auto applied = ledger.begin();
  applied.apply_policy(policy("version: 1 # none\n"), {}, "");
  CHECK_FALSE(applied.location("clinic"));
  applied.relocate("clinic", "/srv/b.csv", "curator", "");
  CHECK(applied.location("clinic") == "/srv/b.csv");
  static_cast<void>(ledger.commit(std::move(applied)));
  CHECK(ledger.snapshot().location("clinic") == "/srv/b.csv");

  const auto refused = [&](const char* dataset, const char* path, const char* by) {
    auto transaction = ledger.begin();
    CHECK_THROWS_AS(transaction.relocate(dataset, path, by, "why"), InvalidParameter);
  };
  refused("", "/srv/a.csv", "carol");
  refused("clinic", "a.csv", "carol");
  refused("clinic", "", "carol");
  refused("clinic", "/srv/a.csv", "");
}

TEST_CASE("transaction: a policy that cannot be applied changes nothing", "[ledger]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  release(ledger, kTenth, Rational(1));
  const auto reject = [&](const ledger::PolicyVersion& version,
                          const std::vector<ledger::AccountState>& wanted) {
    auto transaction = ledger.begin();
    CHECK_THROWS_AS(transaction.apply_policy(version, wanted, ""), InvalidParameter);
  };
  auto wrong_digest = policy("version: 1\n# x\n");
  wrong_digest.sha256.back() = wrong_digest.sha256.back() == '0' ? '1' : '0';
  auto by_nobody = policy("a");
  by_nobody.applied_by = "";
  reject(wrong_digest, {});
  reject(by_nobody, {});
  reject(policy("a"), {account("clinic", "epsilon", kTenth.units() - 1)});  // below what is spent
  reject(policy("a"), {account("clinic", "epsilon", -1)});
  reject(policy("a"), {account("clinic", "epsilon", accounting::kUnitsMax + 1)});
  reject(policy("a"), {account("lab", "epsilon", 1), account("lab", "epsilon", 2)});
  CHECK(ledger.snapshot().active_policy().version == 1);
  commit_one(ledger, [&](auto& t) {
    t.apply_policy(policy("a"), {account("clinic", "epsilon", kTenth.units())}, "");
  });
  CHECK(ledger.snapshot().accounts("clinic").at(0).balance.remaining() == 0);
}

TEST_CASE("transaction: ids ascend with the decisions and time never goes back", "[ledger][exact]") {
  const LedgerFixture fixture;
  ledger::ClockReading reading{.wall_ms = 32'503'679'999'000, .boot_ms = 0, .boot_id = ""};
  auto ledger = ledger::Ledger::open(fixture.path, {.clock = [&reading] { return reading; }});
  const auto first = release(ledger, kTenth, Rational(1));
  reading.wall_ms = 0;
  const auto second = release(ledger, kTenth, Rational(2));
  CHECK(first.created_at == "2999-12-31T23:59:59.000Z");
  CHECK(second.created_at == first.created_at);
  CHECK(second.id > first.id);
  CHECK(second.seq == 2);
}

TEST_CASE("ids: they order bytewise as they were made, through carries and clocks that stand still",
          "[ledger][exact]") {
  std::string last;
  for (std::int64_t ms : {0L, 0L, 5L, 4L, 1'700'000'000'000L, 1'700'000'000'000L, 1'700'000'000'001L}) {
    const std::string id = ledger::next_id(last, ms);
    CHECK(ledger::is_id(id));
    CHECK(id > last);
    last = id;
  }
  CHECK(ledger::next_id("0000000005ZZZZZZZZZZZZZZZZ", 5) == "00000000060000000000000000");
  CHECK_THROWS_AS(ledger::next_id(std::string(26, 'Z'), 5), LedgerCorrupt);
  CHECK_FALSE(ledger::is_id("0000000005ZZZZZZZZZZZZZZZI"));
  CHECK_FALSE(ledger::is_id("8000000005ZZZZZZZZZZZZZZZZ"));
}

TEST_CASE("times: they are RFC 3339 in UTC and read back exactly", "[ledger][exact]") {
  CHECK(ledger::time_text(0) == "1970-01-01T00:00:00.000Z");
  CHECK(ledger::time_text(951'827'696'789) == "2000-02-29T12:34:56.789Z");  // date -u -d @951827696
  CHECK(ledger::parse_time("2000-02-29T12:34:56.789Z") == 951'827'696'789);
  for (const char* bad :
       {"", "2001-02-29T12:34:56.789Z", "2000-02-29 12:34:56.789Z", "2000-02-29T24:00:00.000Z",
        "2000-02-29T12:34:56.789z", "1969-12-31T23:59:59.999Z"}) {
    CHECK_THROWS_AS(ledger::parse_time(bad), LedgerCorrupt);
  }
}

TEST_CASE("digest: SHA-256 of the standard's example", "[ledger][exact]") {
  CHECK(ledger::sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_CASE("transaction: a number that would not be read back as it is keeps its release from being recorded",
          "[ledger][negative]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  for (const Rational& malformed : {Rational(2, 4), Rational(2, 6)}) {  // not in lowest terms
    for (const bool of_component : {false, true}) {
      auto record = record_of(kTenth);
      (of_component ? record.components.front().scale : record.adjusted) = malformed;
      auto transaction = ledger.begin();
      auto drawn = sealed(transaction.charge(granted(), charge_of(kTenth), kTenth), kTenth, {1});
      CHECK_THROWS_WITH(transaction.attach(record, std::move(drawn), {}),
                        "ledger: a release would not be read back as what it is; nothing was recorded");
      CHECK(ledger.snapshot().decision_count() == 0);
    }
  }
}

TEST_CASE("transaction: a request that is no canonical JSON object is not recorded", "[ledger][negative]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  for (const std::string request : {"{\"statistic\":\"\xff\"}", "{ }", "{\"b\":1,\"a\":2}", "[]", "count"}) {
    CAPTURE(request);
    const auto record = [&] {
      auto transaction = ledger.begin();
      auto draft = granted("k");
      draft.request = request;
      draft.request_digest = ledger::sha256_hex(request);
      transaction.attach(record_of(kTenth),
                         sealed(transaction.charge(draft, charge_of(kTenth), kTenth), kTenth, {1}), {});
      static_cast<void>(ledger.commit(std::move(transaction)));
    };
    CHECK_THROWS_AS(record(), InvalidParameter);
    CHECK(ledger.snapshot().decision_count() == 0);
  }
}

TEST_CASE("transaction: text that is not UTF-8 is stored as its bytes, and comes back", "[ledger]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  auto record = record_of(kTenth);
  record.components.front().statistic = "count\xff";
  auto transaction = ledger.begin();
  auto draft = granted("k\xff");
  draft.principal = "ada\xff";
  transaction.attach(record, sealed(transaction.charge(draft, charge_of(kTenth), kTenth), kTenth, {1}), {});
  static_cast<void>(ledger.commit(std::move(transaction)));
  auto snapshot = ledger.snapshot();
  const auto stored = snapshot.find_by_key("ada\xff", "k\xff");
  REQUIRE(stored);
  CHECK(*stored->release == record);
  CHECK(query_sql(fixture.path, "SELECT json_extract(release, '$.components[0].statistic.hex') FROM plan") ==
        "636f756e74ff");
}
