// A ledger that is sealed: what still goes on in it, and how it goes on elsewhere. The table below enumerates
// what can be found in the place of a sealed ledger, and what can be tried with it.
#include "epsilog/ledger/seal.hpp"

#include <unistd.h>

#include "commit_mark.hpp"
#include "end_mark.hpp"
#include "epsilog/ledger/canonical_json.hpp"
#include "epsilog/ledger/inspection.hpp"
#include "epsilog/ledger/lines_missing.hpp"
#include "ledger/support/full_history.hpp"
#include "ledger/support/power_failure.hpp"
#include "ledger/support/replicated.hpp"
#include "lock_file.hpp"
#include "poison.hpp"
#include "support/case_table.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;
using namespace epsilog::test;
namespace fs = std::filesystem;

namespace {

/// A release, a request that waits and a reservation; then the seal, and a place for the ledger to go on.
struct Sealed : ReplicatedLedger {
  explicit Sealed(const std::string& replica_name = "replica", bool seals = true)
      : ReplicatedLedger(replica_name), next(elsewhere.path() + "/L") {
    {
      auto ledger = open();
      release(ledger, kTenth, Rational(1), "first");
      auto transaction = ledger.begin();
      static_cast<void>(record_outcome(transaction, draft_of(ledger::Outcome::pending), kTenth));
      reserved = record_outcome(transaction, draft_of(ledger::Outcome::reserved), kTenth);
      static_cast<void>(ledger.commit(std::move(transaction)));
    }
    if (seals) CHECK(seal().changed);
  }
  ledger::SealResult seal() const { return ledger::Ledger::seal(path, "cleo", "moves", options()); }

  [[nodiscard]] ledger::Options options() const {
    ledger::Options opening = replicating(directory.path());
    opening.warn = [](const std::string&) {};
    return opening;
  }
  [[nodiscard]] std::vector<std::string> lines(const std::string& of) const {
    return lines_of(ledger::Ledger::open_read_only(of, options()).snapshot());
  }
  ledger::Restoration restore(bool sealed = true, const std::string& to = "") const {
    return ledger::Ledger::restore(to.empty() ? next : to, path,
                                   {.by = "dora", .why = "is here", .sealed = sealed}, options());
  }
  void lose() const {
    for (const char* suffix : {"", "-wal", "-shm", ".poisoned"}) fs::remove(path + suffix);
  }

  TemporaryDirectory elsewhere;
  std::string next;
  std::string reserved;
};

void leave_commit_mark(const std::string& path) {
  const auto lock = ledger::open_lock_file(ledger::locate(path), path + ".lock");
  REQUIRE(ledger::write_commit_mark(lock.get(), {.state = ledger::CommitMark::State::committing,
                                                 .boot_id = ledger::current_boot_id(),
                                                 .first = 1}) == 0);
}

void poison(const std::string& path) {
  write_file(path + ".poisoned", R"({"reason": "committing: disk I/O error", "boot_id": "an earlier boot",)"
                                 R"("time": "2026-01-05T09:00:00.000Z"})");
}

/// A state in which a curator can find the ledger, and how it comes about.
struct State {
  const char* name;
  std::function<std::unique_ptr<Sealed>()> make;
};

std::vector<State> states() {
  const auto sealed = [](const std::string& replica) { return std::make_unique<Sealed>(replica); };
  return {{"without replica", [=] { return sealed(""); }},
          {"with replica", [=] { return sealed("replica"); }},
          {"killed after the seal",
           [] {
             auto killed = std::make_unique<Sealed>("replica", false);
             REQUIRE(in_child([&] {
                       static_cast<void>(killed->seal());
                       std::_Exit(0);
                     }) == 0);
             return killed;
           }},
          {"killed in the COMMIT, lines there",
           [=] {
             auto killed = sealed("replica");
             leave_commit_mark(killed->path);
             return killed;
           }},
          {"killed before the COMMIT", [] { return std::make_unique<Sealed>("replica", false); }},
          {"replica behind",
           [] {
             auto behind = std::make_unique<Sealed>("replica", false);
             const FailingReplica failing(FailingReplica::Call::write, ENOSPC);
             REQUIRE(outcome_of([&] { (void)behind->seal(); }) == "replica behind");
             return behind;
           }},
          {"replica gone",
           [=] {
             auto without = sealed("replica");
             fs::remove(without->replica);
             return without;
           }},
          {"poisoned",
           [=] {
             auto poisoned = sealed("replica");
             poison(poisoned->path);
             return poisoned;
           }},
          {"gone on elsewhere",
           [=] {
             auto moved = sealed("replica");
             REQUIRE(moved->restore(true, moved->elsewhere.path() + "/moved").unsealed);
             return moved;
           }},
          {"an older copy in its place", [] {
             auto older = std::make_unique<Sealed>("", false);
             copy_ledger(older->path, older->path + "-older");
             static_cast<void>(older->seal());
             older->lose();
             copy_ledger(older->path + "-older", older->path);
             return older;
           }}};
}

using Attempts = std::vector<std::pair<std::string, std::function<void(const Sealed&)>>>;

Attempts attempts() {
  using ledger::Ledger;
  return {
      {"seal", [](const Sealed& l) { (void)l.seal(); }},
      {"write",
       [](const Sealed& l) {
         auto ledger = Ledger::open(l.path, l.options());
         (void)ledger.begin();
       }},
      {"read",
       [](const Sealed& l) {
         auto view = Ledger::open_read_only(l.path, l.options()).snapshot();
         if (view.decision_count() != 3) throw Error("lost");
       }},
      {"backup", [](const Sealed& l) { (void)Ledger::backup(l.path, l.path + "-copy", {}, l.options()); }},
      {"restore", [](const Sealed& l) { (void)l.restore(false); }},
      {"restore --sealed", [](const Sealed& l) { (void)l.restore(true); }},
      {"recover --from",
       [](const Sealed& l) {
         (void)Ledger::recover_from(l.path, l.replica, {.by = "cleo", .why = "lost"}, l.options());
       }},
      {"recover",
       [](const Sealed& l) { Ledger::clear_poison(l.path, "this-boot", {.by = "cleo"}, l.options()); }},
      {"accept rollback",
       [](const Sealed& l) { (void)Ledger::accept_rollback(l.path, "cleo", "lost", l.options()); }}};
}

std::vector<std::string> faults_of(const std::string& path) {
  auto view = ledger::Ledger::open_read_only(path).snapshot();
  const auto records = ledger::Inspection(view).record_faults();
  std::vector<std::string> faults = decision_faults(std::move(view));
  for (const auto& fault : records) faults.push_back(fault.message);
  return faults;
}

/// The files of some folders as they are now, to be put back between attempts.
class SavedFiles final {
 public:
  explicit SavedFiles(std::vector<std::string> folders) : folders_(std::move(folders)) {
    for (std::size_t i = 0; i < folders_.size(); ++i)
      fs::copy(folders_[i], saved(i), fs::copy_options::recursive);
  }
  void put_back() const {
    for (std::size_t i = 0; i < folders_.size(); ++i) {
      for (const auto& entry : fs::directory_iterator(folders_[i])) fs::remove_all(entry.path());
      fs::copy(saved(i), folders_[i], fs::copy_options::recursive);
    }
  }

 private:
  [[nodiscard]] std::string saved(std::size_t folder) const {
    return copies_.path() + "/" + std::to_string(folder);
  }
  const std::vector<std::string> folders_;
  TemporaryDirectory copies_;
};

std::string kind_of_line(const std::string& line) {
  return ledger::parse_canonical(line).at("kind").text();
}

}  // namespace

TEST_CASE("seal: whatever state a sealed ledger is found in, each attempt ends as the table says",
          "[ledger][seal]") {
  std::map<std::string, std::vector<std::string>> table;
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/ledger/recovery/sealed_states.tsv"))
    table[row.at(0)] = {row.begin() + 1, row.end()};
  for (const State& state : states()) {
    const std::vector<std::string>& expected = table.at(state.name);
    const Attempts tried = attempts();
    REQUIRE(expected.size() == tried.size());
    const std::unique_ptr<Sealed> ledger = state.make();
    const SavedFiles as_made({ledger->directory.path(), ledger->elsewhere.path()});
    for (std::size_t i = 0; i < tried.size(); ++i) {
      CAPTURE(state.name, tried[i].first);
      if (expected[i] == "-") continue;
      as_made.put_back();
      CHECK(outcome_of([&] { tried[i].second(*ledger); }) == expected[i]);
      if (!fs::exists(ledger->next)) continue;
      CHECK(faults_of(ledger->next).empty());
    }
  }
}

TEST_CASE("seal: a restored ledger goes on with its id, its lines and what waits, and with its replica",
          "[ledger][seal]") {
  const bool replicated = GENERATE(true, false);
  CAPTURE(replicated);
  const Sealed sealed(replicated ? "replica" : "");
  const std::vector<std::string> before = sealed.lines(sealed.path);
  CHECK(kind_of_line(before.back()) == "sealed");
  const ledger::Restoration restored = sealed.restore();
  CHECK(restored.unsealed);
  CHECK(restored.restored == 0);
  CHECK(query_sql(sealed.next, "SELECT count(*) FROM recovery") == "0");
  auto ledger = ledger::Ledger::open(sealed.next, sealed.options());
  CHECK(ledger.ledger_id() == ledger::Ledger::open_read_only(sealed.path).ledger_id());
  {
    auto transaction = ledger.begin();
    static_cast<void>(
        record_outcome(transaction, draft_of(ledger::Outcome::granted, sealed.reserved), kTenth));
    static_cast<void>(ledger.commit(std::move(transaction)));
  }
  release(ledger, kTenth, Rational(2), "second");
  const std::vector<std::string> after = sealed.lines(sealed.next);
  REQUIRE(after.size() > before.size());
  CHECK(std::vector<std::string>(after.begin(), after.begin() + static_cast<std::ptrdiff_t>(before.size())) ==
        before);
  CHECK(kind_of_line(after[before.size()]) == "unsealed");
  CHECK(faults_of(sealed.next).empty());
  CHECK(sealed.lines(sealed.path) == before);
  if (replicated) CHECK(replica_fault(sealed.replica, ledger.snapshot()).empty());
}

TEST_CASE("seal: a ledger is sealed and restored a second time, and by another name years later",
          "[ledger][seal]") {
  const Sealed sealed("");
  static_cast<void>(sealed.restore());
  ledger::Options later = sealed.options();
  later.clock = [] {
    ledger::ClockReading reading = ledger::system_clock_reading();
    reading.wall_ms += std::int64_t{3} * 365 * 24 * 3'600'000;
    reading.boot_id += " later";
    return reading;
  };
  CHECK(ledger::Ledger::seal(sealed.next, "dora", "moves again", later).changed);
  const std::string third = sealed.elsewhere.path() + "/third";
  CHECK(ledger::Ledger::restore(third, sealed.next, {.by = "eve", .sealed = true}, later).unsealed);
  auto ledger = ledger::Ledger::open(third, later);
  release(ledger, kTenth, Rational(3), "third");
  CHECK(faults_of(third).empty());
  CHECK(query_sql(third, "SELECT group_concat(seq || unsealed, ' ') FROM seal_event") == "10 21 30 41");
}

TEST_CASE("seal: L.lock says that the ledger was sealed, where it lay and is gone", "[ledger][seal]") {
  const Sealed sealed("");
  const auto remembered = ledger::read_end_mark(ledger::locate(sealed.path));
  REQUIRE(remembered.end);
  CHECK(remembered.end->sealed);
  CHECK(remembered.end == ledger::parse_end_mark(ledger::end_mark_bytes(*remembered.end)).end);
  copy_ledger(sealed.path, sealed.path + "-sealed");
  sealed.lose();
  const auto create = [&] { return ledger::Ledger::create(sealed.path, policy(), {}, sealed.options()); };
  CHECK_THAT(message_thrown<LedgerUnusable>(create), says("It was sealed then"));
  const auto restored = ledger::Ledger::restore(sealed.path, sealed.path + "-sealed",
                                                {.by = "cleo", .sealed = true}, sealed.options());
  CHECK(restored.unsealed);
  CHECK_FALSE(ledger::read_end_mark(ledger::locate(sealed.path)).end->sealed);
}

TEST_CASE("seal: an older copy over a sealed ledger is told that it is one", "[ledger][seal]") {
  const Sealed older("", false);
  copy_ledger(older.path, older.path + "-older");
  static_cast<void>(older.seal());
  older.lose();
  copy_ledger(older.path + "-older", older.path);
  CHECK_THAT(message_thrown<ledger::LinesMissing>([&] { return older.look(); }),
             says("this copy is an older one and must not be used"));
}

TEST_CASE("seal: a replica that ends with a seal makes the sealed ledger again, line for line",
          "[ledger][seal]") {
  const Sealed sealed("replica", false);
  const std::string older = sealed.path + "-older";
  copy_ledger(sealed.path, older);
  static_cast<void>(sealed.seal());
  const std::vector<std::string> before = sealed.lines(sealed.path);
  sealed.lose();
  const bool older_there = GENERATE(false, true);
  CAPTURE(older_there);
  if (older_there) copy_ledger(older, sealed.path);
  const auto recovery = ledger::Ledger::recover_from(sealed.path, sealed.replica,
                                                     {.by = "cleo", .why = "lost"}, sealed.options());
  CHECK(recovery.faults.empty());
  CHECK(recovery.restored == (older_there ? 1 : static_cast<std::int64_t>(before.size())));
  CHECK(sealed.lines(sealed.path) == before);
  CHECK(outcome_of([&] { (void)sealed.open().begin(); }) == "sealed");
  CHECK(sealed.restore().unsealed);
}

TEST_CASE("seal: lines after a seal are right only if the next one ends it", "[ledger][seal]") {
  const Sealed sealed("");
  const std::vector<std::string> before = sealed.lines(sealed.path);
  const auto write = [&](bool unsealed) {
    write_records(sealed.path, [&](ledger::Connection&, ledger::Meta& meta, ledger::Recorder& recorder) {
      if (unsealed) {
        recorder.write(
            ledger::SealEvent{.seq = ++meta.seal_events, .unsealed = true, .at = meta.last_time, .by = "d"});
      } else {
        recorder.write(ledger::KeyEvent{
            .seq = ++meta.key_events, .verifier_key = "epsilog+1+abc", .at = meta.last_time, .by = "d"});
      }
    });
  };
  const auto imported = [&] {
    const std::vector<std::string> lines = sealed.lines(sealed.path);
    return outcome_of([&] { (void)ledger::Ledger::import_lines(sealed.path + "-imported", each_of(lines)); });
  };
  SECTION("another line") {
    write(false);
    CHECK(faults_of(sealed.path) == std::vector<std::string>{"log_sealed"});
    CHECK(imported() == "corrupt");
  }
  SECTION("the end of the seal") {
    write(true);
    CHECK(faults_of(sealed.path).empty());
    CHECK(imported() == "done");
  }
  SECTION("the end of no seal") {
    write(true);
    write(true);
    CHECK(faults_of(sealed.path) == std::vector<std::string>{"log_sealed"});
    CHECK(imported() == "corrupt");
  }
}

TEST_CASE("seal: killed at any moment of a restore, there is no ledger or one that goes on",
          "[ledger][seal]") {
  const Sealed sealed;
  int killed = 0;
  for (int before_name = 0; before_name < 2; ++before_name) {
    const int status = in_child([&] {
      ledger::RestoreOptions steps{.by = "dora", .sealed = true};
      if (before_name == 0) steps.check_result = [](const std::string&) { std::_Exit(9); };
      static_cast<void>(ledger::Ledger::restore(sealed.next, sealed.path, steps, sealed.options()));
      std::_Exit(9);
    });
    CHECK(status != 0);
    ++killed;
    if (before_name == 0) CHECK_FALSE(fs::exists(sealed.next));
  }
  CHECK(killed == 2);
  CHECK(query_sql(sealed.next, "SELECT count(*) FROM seal_event WHERE unsealed = 1") == "1");
  auto ledger = ledger::Ledger::open(sealed.next, sealed.options());
  release(ledger, kTenth, Rational(2), "second");
  CHECK(replica_fault(sealed.replica, ledger.snapshot()).empty());
}

TEST_CASE("seal: an old replica that was not told that it was replaced is told where the ledger goes on",
          "[ledger][seal][replica]") {
  const Sealed moved("first", false);
  const auto untold = [](const std::string& path) {
    return query_sql(path, "SELECT count(*) FROM stale_replica");
  };
  fs::rename(moved.replica, moved.replica + "-away");
  {
    auto ledger = moved.open();
    const ledger::PolicyVersion version = policy_with_replica("second");
    auto transaction = ledger.begin_to_apply(version);
    transaction.apply_policy(version, {}, "moved");
    static_cast<void>(ledger.commit(std::move(transaction)));
  }
  CHECK(moved.seal().changed);
  fs::rename(moved.replica + "-away", moved.replica);
  CHECK_FALSE(moved.seal().changed);
  CHECK(untold(moved.path) == "1");
  CHECK(moved.restore().unsealed);
  CHECK(untold(moved.next) == "1");
  auto ledger = ledger::Ledger::open(moved.next, moved.options());
  auto transaction = ledger.begin();
  auto draft = refused();
  draft.policy_version = 2;
  transaction.refuse(draft);
  static_cast<void>(ledger.commit(std::move(transaction)));
  CHECK(untold(moved.next) == "0");
}

TEST_CASE("seal: a poison that is cleared leaves the ledger sealed, and no line behind the seal",
          "[ledger][seal]") {
  const Sealed sealed;
  const std::vector<std::string> before = sealed.lines(sealed.path);
  poison(sealed.path);
  ledger::Ledger::clear_poison(sealed.path, "this-boot", {.by = "cleo"}, sealed.options());
  CHECK_FALSE(fs::exists(sealed.path + ".poisoned"));
  CHECK(sealed.lines(sealed.path) == before);
  CHECK(outcome_of([&] { (void)sealed.open().begin(); }) == "sealed");
  CHECK(sealed.restore().unsealed);
}

TEST_CASE("seal: where the end of the ledger was not remembered, the next attempt to write remembers it",
          "[ledger][seal]") {
  const Sealed sealed("");
  forget_end(sealed.path);
  CHECK(outcome_of([&] { (void)sealed.open().begin(); }) == "sealed");
  const auto remembered = ledger::read_end_mark(ledger::locate(sealed.path));
  REQUIRE(remembered.end);
  CHECK(remembered.end->sealed);
}
