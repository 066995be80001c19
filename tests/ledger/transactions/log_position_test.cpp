// Where the line of a decision stands: what COMMIT says of it, and what is said of it ever after.
//
// What is known of it               | index, leaf | size and root
// from commit()                     | its own     | of the tree that this COMMIT made durable, for all of it
// log_position(), all durable          | the same    | of today's tree
// log_position() in a given tree       | the same    | of that tree, if the line is in it
// some later line is in doubt       | the same    | of the lines up to the last decision that is not
// the decision is in doubt          | none        | none
// its leaf or a node is not there   | LedgerCorrupt
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "commit_mark.hpp"
#include "ledger/support/fixture.hpp"
#include "ledger/support/reference_tree.hpp"
#include "poison.hpp"
#include "record_log.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;
using ledger::LogPosition;

namespace {

/// The tree of the first `size` lines, by its definition.
ledger::TreeHead head_of(const std::vector<std::string>& lines, std::uint64_t size) {
  ReferenceTree tree([&](std::uint64_t index) { return hash_of(std::string(1, '\0') + lines.at(index)); });
  return tree.head(size);
}

std::vector<Hash> inclusion_proof(const LedgerFixture& fixture, const LogPosition& place) {
  ledger::Connection connection(ledger::locate(fixture.path), ledger::Connection::Role::reader);
  return ledger::inclusion_proof(place.index, place.tree.size,
                                 [&](unsigned level, std::uint64_t first, std::span<Hash> hashes) {
                                   ledger::read_nodes(connection, level, first, hashes);
                                 });
}

/// Holds what is said of a decision against the lines and their tree.
void check_place(const LedgerFixture& fixture, const ledger::StoredDecision& decision) {
  CAPTURE(decision.seq);
  REQUIRE(decision.log);
  const LogPosition& place = *decision.log;
  const std::vector<std::string> lines = lines_of(fixture.look());
  REQUIRE(place.index < place.tree.size);
  REQUIRE(place.tree.size <= lines.size());
  CHECK(place.index == static_cast<std::uint64_t>(decision.line));
  CHECK(place.leaf == hash_of(std::string(1, '\0') + lines.at(place.index)));
  CHECK(lines.at(place.index).find(decision.id) != std::string::npos);
  CHECK(place.tree == head_of(lines, place.tree.size));
  const std::vector<Hash> proof = inclusion_proof(fixture, place);
  CHECK(ledger::verify_inclusion(place.leaf, place.index, place.tree, proof));
  CHECK_FALSE(ledger::verify_inclusion(place.leaf, place.index + 1, place.tree, proof));
}

ledger::StoredDecision found(ledger::Snapshot& view, const std::string& key) {
  return view.find_by_key("ada", key).value();
}

/// As a process leaves it that is killed in the COMMIT of that decision and what came with it.
void leave_mark(const LedgerFixture& fixture, std::int64_t first) {
  std::ofstream(fixture.sibling(".lock"), std::ios::binary) << ledger::commit_mark_bytes(
      {.state = ledger::CommitMark::State::committing, .boot_id = ledger::current_boot_id(), .first = first});
}

/// The turn, which somebody has who does not go on.
class TakenTurn final {
 public:
  explicit TakenTurn(const LedgerFixture& fixture)
      : lock_(::open(fixture.sibling(".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    REQUIRE(::flock(lock_, LOCK_EX | LOCK_NB) == 0);
  }
  TakenTurn(const TakenTurn&) = delete;
  TakenTurn& operator=(const TakenTurn&) = delete;
  ~TakenTurn() { ::close(lock_); }

 private:
  int lock_;
};

}  // namespace

TEST_CASE("log place: members of a group have one tree, in which each has its own leaf",
          "[ledger][log][exact]") {
  for (const int before : {0, 260}) {  // with a stored node above the first leaves, and without one
    const LedgerFixture fixture;
    auto ledger = fixture.open();
    if (before > 0) {
      auto transaction = ledger.begin();
      for (int i = 0; i < before; ++i) transaction.refuse(refused());
      static_cast<void>(ledger.commit(std::move(transaction)));
    }
    auto transaction = ledger.begin();
    transaction.run_in_savepoint([&] { record_release(transaction, kTenth, 7, "one"); });
    CHECK_THROWS_AS(transaction.run_in_savepoint([&] {
      transaction.refuse(refused());
      throw LedgerBusy("undone");
    }),
                    LedgerBusy);
    transaction.run_in_savepoint([&] { transaction.refuse(refused("two")); });
    transaction.run_in_savepoint(
        [&] { transaction.reserve(draft_of(ledger::Outcome::reserved), charge_of(kTenth)); });
    const auto committed = ledger.commit(std::move(transaction));
    REQUIRE(committed.size() == 3);
    for (const auto& decision : committed) {
      check_place(fixture, decision);
      CHECK(decision.log->tree == committed.front().log->tree);
    }
    CHECK(committed.front().log->tree == fixture.look().tree());
  }
}

TEST_CASE("log place: a decision of every outcome says where its line stands", "[ledger][log][exact]") {
  using ledger::Outcome;
  const LedgerFixture fixture("9");
  auto ledger = fixture.open();
  const auto recorded = [&](const ledger::DecisionDraft& draft) {
    auto transaction = ledger.begin();
    (void)record_outcome(transaction, draft, kTenth);
    const auto committed = ledger.commit(std::move(transaction));
    REQUIRE(committed.size() == 1);
    check_place(fixture, committed.front());
    return committed.front().id;
  };
  for (const Outcome outcome : {Outcome::granted, Outcome::refused}) recorded(draft_of(outcome));
  for (const Outcome end : {Outcome::granted, Outcome::voided, Outcome::forfeited}) {
    recorded(draft_of(end, recorded(draft_of(Outcome::reserved))));
  }
  const std::string guarded = recorded(draft_of(Outcome::reserved));
  recorded(draft_of(Outcome::data_accessed, guarded));
  for (const Outcome end : {Outcome::rejected, Outcome::refused, Outcome::reserved, Outcome::voided}) {
    recorded(draft_of(end, recorded(draft_of(Outcome::pending))));
  }
  recorded(draft_of(Outcome::approved, recorded(draft_of(Outcome::pending))));
}

TEST_CASE("log place: index and leaf stay, size and root are those of today", "[ledger][log]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  const LogPosition first = release(ledger, kTenth, 7, "first").log.value();
  auto view = fixture.look();
  CHECK_FALSE(found(view, "first").log);  // nobody pays for it who does not ask
  CHECK(view.log_position(found(view, "first")) == first);
  (void)release(ledger, kTenth, 7, "second");
  commit_one(ledger, [&](auto& t) { t.relocate("clinic", "/elsewhere", "curator", ""); });

  auto later = fixture.look();
  const LogPosition now = later.log_position(found(later, "first")).value();
  CHECK(now.index == first.index);
  CHECK(now.leaf == first.leaf);
  CHECK(now.tree == later.tree());
  CHECK(now.tree.size > first.tree.size);
  // A snapshot has the tree of its instant, and of a tree that is known nothing is read again.
  CHECK(view.log_position(found(view, "first")) == first);
  CHECK(later.log_position(found(later, "first"), first.tree) == first);
  const LogPosition second = later.log_position(found(later, "second"), first.tree).value();
  CHECK(second.index >= first.tree.size);
  CHECK(second.tree == now.tree);
}

TEST_CASE("log place: each snapshot of one ledger has the tree of its own instant, whichever was read before",
          "[ledger][log]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  const auto reader = ledger::Ledger::open_read_only(fixture.path);
  const auto add_lines = [&](int count) {
    auto transaction = ledger.begin();
    for (int i = 0; i < count; ++i) {
      transaction.relocate("clinic", "/place " + std::to_string(i), "curator", "");
    }
    static_cast<void>(ledger.commit(std::move(transaction)));
  };
  std::vector<ledger::Snapshot> views;
  for (const int more : {1, 3, 300, 1, 256}) {  // across nodes that are stored, and not
    add_lines(more);
    views.push_back(reader.snapshot());
    const std::vector<std::string> lines = lines_of(fixture.look());
    CHECK(views.back().tree() == head_of(lines, lines.size()));
  }
  const std::vector<std::string> lines = lines_of(fixture.look());
  for (ledger::Snapshot& view : views) CHECK(view.tree() == head_of(lines, view.tree().size));
  CHECK(views.front().tree().size + 560 == views.back().tree().size);
}

TEST_CASE("log place: no line is in the tree that is not known to be durable", "[ledger][log][negative]") {
  const LedgerFixture fixture;
  std::vector<LogPosition> places;
  {
    auto ledger = fixture.open();
    for (const char* key : {"one", "two", "three"}) {
      places.push_back(release(ledger, kTenth, 7, key).log.value());
    }
  }
  const auto place_of = [&](const char* key) {
    auto view =
        ledger::Ledger::open_read_only(fixture.path, {.wait = std::chrono::milliseconds(0)}).snapshot();
    return view.log_position(found(view, key));
  };
  {
    const TakenTurn taken(fixture);
    leave_mark(fixture, 3);
    CHECK(place_of("one") == LogPosition{places[0].index, places[0].leaf, places[1].tree});
    CHECK(place_of("two") == places[1]);
    CHECK_FALSE(place_of("three"));
    leave_mark(fixture, 4);  // what follows the last decision, if anything
    CHECK(place_of("three") == places[2]);
    leave_mark(fixture, 1);
    CHECK_FALSE(place_of("one"));
  }
  CHECK(place_of("one") == LogPosition{places[0].index, places[0].leaf, places[2].tree});

  {
    auto ledger = fixture.open();
    commit_one(ledger, [&](auto& t) { t.relocate("clinic", "/elsewhere", "curator", ""); });
  }
  CHECK(place_of("three").value().tree.size == places[2].tree.size + 1);
  {
    const TakenTurn taken(fixture);
    leave_mark(fixture, 4);
    CHECK(place_of("three") == places[2]);
  }
  std::ofstream(fixture.sibling(".poisoned")) << "{\"reason\": \"committing\"}";
  CHECK_FALSE(place_of("one"));
}

TEST_CASE("log place: a leaf of another line, and a tree that lacks one, are named",
          "[ledger][log][negative]") {
  struct Damage {
    const char* sql;
    const char* key;  // whose place cannot be told any more
  };
  for (const Damage& damage :
       {Damage{"UPDATE decision SET line_index = line_index - 2 WHERE key = 'two'", "two"},
        Damage{"UPDATE log SET leaf = x'00' WHERE line_index = (SELECT line_index FROM decision WHERE key = "
               "'two')",
               "two"},
        Damage{"DELETE FROM log WHERE line_index = (SELECT line_index FROM decision WHERE key = 'one')",
               "two"}}) {
    CAPTURE(damage.sql);
    const LedgerFixture fixture;
    {
      auto ledger = fixture.open();
      for (const char* key : {"one", "two"}) (void)release(ledger, kTenth, 7, key);
    }
    tamper_with(fixture.path, damage.sql);
    const auto place = [&] {
      auto view = fixture.look();  // of the last line the leaf is compared with what L.lock remembers
      return view.log_position(found(view, damage.key));
    };
    CHECK_THROWS_AS(place(), LedgerCorrupt);
  }
}
