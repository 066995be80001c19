// Several who share a transaction: what each records is there whole or not at all.
//
// What a member does        | left of it | the members before and after | the transaction
// ends in order             | all        | as they were                 | open
// throws of its own         | nothing    | as they were                 | open
// is refused by the ledger  | nothing    | as they were                 | open
// meets a constraint        | nothing    | as they were                 | open
// leaves a charge unpaid    | nothing    | as they were                 | open
// goes on after a failure   | nothing    | as they were                 | open
// meets FULL, NOMEM, IOERR  | nothing    | nothing of anybody           | over
//
// in each place of a group of three, and with a fault at every operation and every request for memory.
#include "epsilog/ledger/digest.hpp"
#include "epsilog/ledger/inspection.hpp"
#include "ledger/support/fault_memory.hpp"
#include "ledger/support/fault_vfs.hpp"
#include "ledger/support/fixture.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;

namespace {

/// A reservation that the ledger takes for sound, and a table does not while occupy_name() holds: after its
/// balance moved.
ledger::DecisionDraft constrained() {
  ledger::DecisionDraft draft = draft_of(ledger::Outcome::reserved);
  draft.principal = "newcomer";
  return draft;
}
/// Gives the number that the next name would have to another.
void occupy_name(const LedgerFixture& fixture) {
  REQUIRE(run_sql(fixture.path, "INSERT INTO name VALUES((SELECT names + 1 FROM meta), 'nobody')").empty());
}
void free_name(const LedgerFixture& fixture) {
  REQUIRE(run_sql(fixture.path, "DELETE FROM name WHERE name = 'nobody'").empty());
}

struct OwnFault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Deed {
  const char* what;
  std::function<void(ledger::Transaction&)> does;
  std::function<bool(const std::exception&)> throws;  // none: it ends in order
};

const std::vector<Deed>& deeds() {
  using ledger::Transaction;
  static const auto kOwn = [](const std::exception& error) {
    return dynamic_cast<const OwnFault*>(&error) != nullptr;
  };
  static const auto kInvalid = [](const std::exception& error) {
    return dynamic_cast<const InvalidParameter*>(&error) != nullptr;
  };
  static const auto kCorrupt = [](const std::exception& error) {
    return dynamic_cast<const LedgerCorrupt*>(&error) != nullptr;
  };
  static const std::vector<Deed> kDeeds = {
      {"ends in order", [](Transaction& t) { record_release(t, kTenth, 7, "deed"); }, {}},
      {"throws of its own after a release",
       [](Transaction& t) {
         record_release(t, kTenth, 7, "deed");
         throw OwnFault("own");
       },
       kOwn},
      {"throws while its receipt is out",
       [](Transaction& t) {
         const auto receipt = t.charge(granted("deed"), charge_of(kTenth), kTenth);
         throw OwnFault("own");
       },
       kOwn},
      {"throws after it opened an account and reserved of it",
       [](Transaction& t) {
         const auto opened = t.open_account(account("clinic", "epsilon", kTenth.units(), "opened"));
         t.reserve(draft_of(ledger::Outcome::reserved), charge_of(kTenth, opened.id));
         throw OwnFault("own");
       },
       kOwn},
      {"throws after it applied a policy and moved a source",
       [](Transaction& t) {
         t.apply_policy(policy("version: 1\n# another\n"),
                        {account("clinic", "epsilon", Epsilon::parse_down("2000").units())}, "why");
         t.relocate("clinic", "/elsewhere", "curator", "why");
         throw OwnFault("own");
       },
       kOwn},
      {"throws after it ended a reservation",
       [](Transaction& t) {
         t.resolve(draft_of(ledger::Outcome::voided, t.find_by_key("ada", "reserved")->id));
         throw OwnFault("own");
       },
       kOwn},
      {"is refused by the ledger", [](Transaction& t) { t.refuse(granted()); }, kInvalid},
      {"meets a constraint", [](Transaction& t) { t.reserve(constrained(), charge_of(kTenth)); }, kCorrupt},
      {"leaves a charge unpaid",
       [](Transaction& t) { static_cast<void>(t.charge(granted("deed"), charge_of(kTenth), kTenth)); },
       kInvalid},
      {"goes on after a failure",
       [](Transaction& t) {
         record_release(t, kTenth, 7, "deed");
         CHECK_THROWS_AS(t.refuse(granted()), InvalidParameter);
         CHECK_THROWS_AS(t.accounts("clinic"), InvalidParameter);
       },
       kInvalid},
  };
  return kDeeds;
}

/// Whether it ended in order; else that it threw as the table says.
bool run_member(ledger::Transaction& transaction, const Deed& deed) {
  try {
    transaction.run_in_savepoint([&] { deed.does(transaction); });
  } catch (const std::exception& error) {
    INFO(error.what());
    CHECK((deed.throws && deed.throws(error)));
    return false;
  }
  CHECK_FALSE(deed.throws);
  return true;
}

/// Everything that is stored, but ids and times, which no two ledgers share.
std::string content(const LedgerFixture& fixture) {
  auto snapshot = fixture.look();
  std::string text;
  snapshot.each_decision(
      {},
      [&](const ledger::StoredDecision& stored) {
        text += std::to_string(stored.seq) + " " + stored.draft.key + " " +
                ledger::outcome_name(stored.draft.outcome);
        for (const auto& charge : stored.charges)
          text += " " + std::to_string(charge.account) + ":" + std::to_string(charge.amount);
        for (const auto& state : stored.accounts) text += " /" + std::to_string(state.balance.spent);
        for (const auto& value : stored.values) text += " =" + accounting::text(value);
        text += "\n";
      },
      [](const ledger::MalformedRecord& record) { FAIL(record.message); });
  for (const auto& state : snapshot.accounts("")) {
    text += state.scope + " " + std::to_string(state.balance.limit) + " " +
            std::to_string(state.balance.spent) + "/" + std::to_string(state.balance.reserved) + "\n";
  }
  return text +
         query_sql(fixture.path,
                   "SELECT decisions || ' ' || policy_versions || ' ' || limit_changes || ' ' || accounts"
                   " || ' ' || events || ' ' || relocations || ' ' || clock_events FROM meta");
}

void check_sound(const LedgerFixture& fixture) {
  auto snapshot = fixture.look();
  CHECK(balances_fold(snapshot));
  CHECK(ledger::Inspection(snapshot).storage_faults(false).empty());
}

void reserve_before(ledger::Ledger& ledger) {
  auto opening = ledger.begin();
  auto draft = draft_of(ledger::Outcome::reserved);
  draft.key = "reserved";
  opening.reserve(draft, charge_of(kTenth));
  CHECK(ledger.commit(std::move(opening)).size() == 1);
}

}  // namespace

TEST_CASE("members: what one does in any place of a group leaves the others as they are",
          "[ledger][members]") {
  for (const Deed& deed : deeds()) {
    for (const std::size_t place : {0U, 1U, 2U}) {
      CAPTURE(deed.what, place);
      const LedgerFixture fixture;
      const LedgerFixture expected;
      auto ledger = fixture.open();
      auto plain = expected.open();
      reserve_before(ledger);
      reserve_before(plain);
      occupy_name(fixture);
      auto group = ledger.begin();
      auto alone = plain.begin();
      std::size_t ended = 0;
      for (const std::size_t member : {0U, 1U, 2U}) {
        if (member == place) {
          if (!run_member(group, deed)) continue;
          deed.does(alone);
        } else {
          const std::string key = std::to_string(member);
          CHECK_NOTHROW(group.run_in_savepoint([&] { record_release(group, kTenth, 42, key); }));
          record_release(alone, kTenth, 42, key);
        }
        ++ended;
      }
      CHECK(group.is_open());
      CHECK(ledger.commit(std::move(group)).size() == ended);
      static_cast<void>(plain.commit(std::move(alone)));
      free_name(fixture);
      CHECK(content(fixture) == content(expected));
      check_sound(fixture);
      // What is kept in memory between transactions is what is stored: another one goes on from it.
      release(ledger, kTenth, 1, "deed after");
      release(plain, kTenth, 1, "deed after");
      CHECK(content(fixture) == content(expected));
    }
  }
}

TEST_CASE("members: any order of deeds leaves what those that ended in order leave alone",
          "[ledger][members][property]") {
  std::mt19937_64 random(20261122);
  for (int round = 0; round < 60; ++round) {
    CAPTURE(round);
    const LedgerFixture fixture("1000");
    const LedgerFixture expected("1000");
    auto ledger = fixture.open();
    auto plain = expected.open();
    reserve_before(ledger);
    reserve_before(plain);
    occupy_name(fixture);
    for (int transaction = 0; transaction < 2; ++transaction) {
      auto group = ledger.begin();
      auto alone = plain.begin();
      const int members = 1 + static_cast<int>(random() % 12);
      for (int member = 0; member < members; ++member) {
        const Deed& deed = deeds()[random() % deeds().size()];
        CAPTURE(deed.what, member);
        if (deed.throws) {
          CHECK_FALSE(run_member(group, deed));
        } else {
          const std::string key = std::to_string(transaction) + "." + std::to_string(member);
          group.run_in_savepoint([&] { record_release(group, kTenth, member, key); });
          record_release(alone, kTenth, member, key);
        }
      }
      static_cast<void>(ledger.commit(std::move(group)));
      static_cast<void>(plain.commit(std::move(alone)));
    }
    free_name(fixture);
    CHECK(content(fixture) == content(expected));
    check_sound(fixture);
  }
}

TEST_CASE("members: a receipt dies with the member it was given to, and its account may be opened again",
          "[ledger][members]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  auto group = ledger.begin();
  std::optional<accounting::ChargeReceipt> kept;
  const auto opens = [&](const char* key, bool fails) {
    const auto opened = group.open_account(account("clinic", "epsilon", kTenth.units(), "opened"));
    kept.emplace(group.charge(granted(key), charge_of(kTenth, opened.id), kTenth));
    if (fails) throw OwnFault("own");
    group.attach(record_of(kTenth), sealed(std::move(*kept), kTenth, {Rational(5)}), {});
  };
  CHECK_THROWS_AS(group.run_in_savepoint([&] { opens("k", true); }), OwnFault);
  REQUIRE(kept);
  CHECK_FALSE(kept->live());
  CHECK_THROWS_AS(mechanisms::ReleaseSealer::seal(std::move(*kept), kTenth, {Rational(5)}), InvalidParameter);
  CHECK_FALSE(group.find_by_key("ada", "k"));
  group.run_in_savepoint([&] { opens("k", false); });
  CHECK(group.find_by_key("ada", "k")->values.empty());  // withheld, from a later member too
  CHECK(ledger.commit(std::move(group)).at(0).values == std::vector<Rational>{5});
  check_sound(fixture);
}

TEST_CASE("members: none within another, none while a charge waits, none once it is over",
          "[ledger][members][negative]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  {
    auto group = ledger.begin();
    CHECK_THROWS_AS(group.run_in_savepoint([&] { group.run_in_savepoint([] {}); }), InvalidParameter);
    CHECK(group.is_open());
    const auto receipt = group.charge(granted(), charge_of(kTenth), kTenth);
    CHECK_THROWS_AS(group.run_in_savepoint([] {}), InvalidParameter);
  }
  auto group = ledger.begin();
  CHECK_THROWS_AS(group.refuse(granted()), InvalidParameter);  // outside of a member it ends
  CHECK_FALSE(group.is_open());
  CHECK_THROWS_AS(group.run_in_savepoint([] {}), InvalidParameter);
  CHECK(ledger.snapshot().decision_count() == 0);
}

TEST_CASE("members: what one changes is undone without a file of its own, however much it is",
          "[ledger][members][fault]") {
  FaultVfs vfs;
  const LedgerFixture fixture("1000");
  auto ledger = fixture.open();
  for (int transaction = 0; transaction < 2; ++transaction) {
    auto before = ledger.begin();
    for (int i = 0; i < 400; ++i) record_release(before, kTenth, 1, std::to_string(transaction * 400 + i));
    static_cast<void>(ledger.commit(std::move(before)));
  }
  auto group = ledger.begin();
  vfs.fail_kind("open", SQLITE_CANTOPEN);
  CHECK_THROWS_AS(group.run_in_savepoint([&] {
    // Keys that lie all over the index: each changes a page of before.
    for (int i = 0; i < 400; ++i) record_release(group, kTenth, 1, std::to_string(i * 7919 % 1000) + "x");
    throw OwnFault("own");
  }),
                  OwnFault);
  CHECK(group.is_open());
  group.run_in_savepoint([&] { record_release(group, kTenth, 1, "after"); });
  CHECK(ledger.commit(std::move(group)).size() == 1);
  vfs.stop_failing();
  check_sound(fixture);
}

namespace {

/// What became of a group of three under a fault: the middle one fails on its own, after it recorded.
struct GroupUnderFault {
  std::array<bool, 3> ended{};
  bool committed = false;
  bool io = false;
};

std::string key_of(const std::string& point, std::size_t member) {
  return point + " member " + std::to_string(member);
}

GroupUnderFault group_under_fault(ledger::Ledger& ledger, const std::string& point) {
  GroupUnderFault result;
  try {
    auto group = ledger.begin();
    for (const std::size_t member : {0U, 1U, 2U}) {
      try {
        group.run_in_savepoint([&] {
          record_release(group, kTenth, 42, key_of(point, member));
          if (member == 1) throw OwnFault("own");
        });
        result.ended.at(member) = true;
      } catch (const std::exception&) {
        if (!group.is_open()) throw;
      }
    }
    static_cast<void>(ledger.commit(std::move(group)));
    result.committed = true;
  } catch (const OwnFault&) {
    FAIL("a member's own fault ended the group");
  } catch (const LedgerBusy&) {
  } catch (const LedgerIo&) {
    result.io = true;
  }
  return result;
}

/// All or nobody: acknowledged is there, busy is not, and nothing is poisoned but by what leaves it unknown.
void check_group(const LedgerFixture& fixture, const GroupUnderFault& group, const std::string& point) {
  auto snapshot = fixture.look();
  CHECK(balances_fold(snapshot));
  CHECK(snapshot.poison_reason().has_value() >= group.io);
  CHECK(snapshot.find_by_key("ada", point + " before"));
  CHECK_FALSE(snapshot.find_by_key("ada", key_of(point, 1)));
  if (group.io) return;
  for (const std::size_t member : {0U, 2U}) {
    const bool there = snapshot.find_by_key("ada", key_of(point, member)).has_value();
    CHECK(there == (group.committed && group.ended.at(member)));
    if (group.committed) CHECK(group.ended.at(member));
  }
}

/// One ledger for all points: its keys differ, and what was not acknowledged is recorded afterwards.
template <class Fault>
int group_at_every_point(const std::function<void(Fault&, std::int64_t)>& arm, bool may_poison) {
  Fault fault;
  auto fixture = std::make_unique<LedgerFixture>("1000000");
  for (std::int64_t nth = 1;; ++nth) {
    CAPTURE(nth);
    auto ledger = fixture->open();
    const std::string point = std::to_string(nth);
    release(ledger, kTenth, 1, point + " before");
    arm(fault, nth);
    const GroupUnderFault group = group_under_fault(ledger, point);
    fault.stop_failing();
    if (!may_poison) CHECK_FALSE(group.io);
    check_group(*fixture, group, point);
    if (!fault.failed()) {
      CHECK(group.committed);
      check_sound(*fixture);
      return static_cast<int>(nth) - 1;
    }
    if (ledger.poison_reason()) {
      { const ledger::Ledger closed = std::move(ledger); }
      fixture = std::make_unique<LedgerFixture>("1000000");
      continue;
    }
    for (const std::size_t member : {0U, 1U, 2U})
      CHECK(release_if_it_fits(ledger, kTenth, 42, key_of(point, member)));
  }
}

}  // namespace

TEST_CASE("members: a storage fault at any operation of a group acknowledges all or nobody",
          "[ledger][members][fault]") {
  for (const int code : {SQLITE_IOERR, SQLITE_FULL}) {
    for (const bool from_then_on : {false, true}) {
      CAPTURE(code, from_then_on);
      const std::function<void(FaultVfs&, std::int64_t)> arm = [&](FaultVfs& vfs, std::int64_t nth) {
        vfs.fail_at(nth, code, from_then_on);
      };
      CHECK(group_at_every_point(arm, code == SQLITE_IOERR) >= 8);
    }
  }
}

TEST_CASE("members: memory that is not given at any request of a group acknowledges all or nobody",
          "[ledger][members][fault]") {
  for (const bool from_then_on : {false, true}) {
    CAPTURE(from_then_on);
    const std::function<void(FaultMemory&, std::int64_t)> arm = [&](FaultMemory& memory, std::int64_t nth) {
      memory.fail_at(nth, from_then_on);
    };
    CHECK(group_at_every_point(arm, false) >= 20);
  }
}
