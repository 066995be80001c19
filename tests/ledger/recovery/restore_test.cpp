// A backup in the place of a ledger that is gone: with its replica, without, and in whatever lies around.
#include <sys/file.h>
#include <unistd.h>

#include <fcntl.h>

#include "commit_mark.hpp"
#include "epsilog/ledger/digest.hpp"
#include "epsilog/ledger/inspection.hpp"
#include "epsilog/ledger/replica.hpp"
#include "ledger/support/power_failure.hpp"
#include "ledger/support/replicated.hpp"
#include "poison.hpp"
#include "replica_mark.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;
namespace fs = std::filesystem;

namespace {

const Epsilon kCent = Epsilon::parse_down("0.01");

/// Releases 1 and 2 and a token, a backup, releases 3 and 4 and another token; then the ledger is gone, but
/// for its lock files.
struct Gone : ReplicatedLedger {
  explicit Gone(const std::string& replica_name = "replica") : ReplicatedLedger(replica_name) {
    backup = elsewhere.path() + "/backup";
    tokens.push_back(go_on(1));
    lines_kept = static_cast<std::int64_t>(
        ledger::Ledger::backup(path, backup, {}, replicating(directory.path())).tree.size);
    tokens.push_back(go_on(3));
    all = lines_of(look());
    for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(path + suffix);
  }
  std::string go_on(int number) {
    auto ledger = open();
    release(ledger, kCent, Rational(number), std::to_string(number));
    release(ledger, kCent, Rational(number + 1), std::to_string(number + 1));
    auto transaction = ledger.begin();
    const std::string reserved = record_outcome(transaction, draft_of(ledger::Outcome::reserved), kCent);
    auto draft = draft_of(ledger::Outcome::data_accessed, reserved);
    draft.issues_token = true;
    static_cast<void>(record_outcome(transaction, draft, kCent));
    return ledger::hex_text(std::span(*ledger.commit(std::move(transaction)).back().token->bytes));
  }

  ledger::Restoration restore(const ledger::RestoreOptions& steps = {.by = "cleo"},
                              int wait_ms = 30'000) const {
    auto options = replicating(directory.path());
    options.wait = std::chrono::milliseconds(wait_ms);
    return ledger::Ledger::restore(path, backup, steps, options);
  }
  static ledger::RestoreOptions accepting() {
    return {.by = "cleo", .why = "no replica", .accept_rollback = true};
  }
  [[nodiscard]] std::string recovery() const {
    return query_sql(path,
                     "SELECT group_concat(cause || ' ' || restored_lines || ' ' || dropped_lines || ' ' || "
                     "by || ': ' || why,"
                     " '|') FROM recovery");
  }
  /// Nothing but what was there, and perhaps lock files.
  void require_absent() const {
    for (const auto& entry : fs::directory_iterator(directory.path())) {
      const std::string name = entry.path().filename();
      CAPTURE(name);
      CHECK((name == "replica" || name == "L.lock" || name == "L.queue"));
    }
  }
  /// Lines up to there as they were, then one more; and everything fits.
  void require_restored(std::size_t lines, bool replicated = true) const {
    std::size_t index = 0;
    try {
      look().each_line(0, [&](std::string_view line) {
        if (index < lines) REQUIRE(line == all[index]);
        ++index;
      });
      CHECK(replicated);
    } catch (const Error&) {
      CHECK_FALSE(replicated);  // of the last line, which no replica has
      ++index;
    }
    REQUIRE(index == lines + 1);
    auto view = look();
    CHECK(balances_fold(view));
    ledger::Inspection inspection(view);
    CHECK(inspection.storage_faults(true).empty());
    CHECK(inspection.lifecycle_faults().empty());
    CHECK(inspection.completeness_faults().empty());
    CHECK(inspection.record_faults().empty());
    CHECK(fs::status(path).permissions() == fs::perms(0600));
  }
  void require_goes_on() const { require_goes_on_as("9"); }
  void require_goes_on_as(const std::string& key) const {
    auto ledger = open();
    release_if_it_fits(ledger, kCent, Rational(9), key);
    if (fs::is_regular_file(replica)) CHECK(replica_fault(replica, look()) == "");
  }

  TemporaryDirectory elsewhere;
  std::string backup;
  std::int64_t lines_kept = 0;
  std::vector<std::string> tokens;
  std::vector<std::string> all;
};

/// Of what goes wrong: its message.
template <class Failure, class Step>
std::string refusal_of(Step step) {
  try {
    step();
  } catch (const Failure& error) {
    return error.what();
  }
  FAIL("not refused");
  return "";
}

}  // namespace

TEST_CASE("restore: what the replica holds after the backup is put back", "[ledger][backup][replica]") {
  const Gone fixture;
  int verified = 0;
  const ledger::Restoration done =
      fixture.restore({.by = "cleo",
                       .verify =
                           [&](const std::string&) {
                             ++verified;
                             return std::vector<ledger::StoredFault>{};
                           },
                       .check_result =
                           [&](const std::string& made) {
                             CHECK_FALSE(fs::exists(fixture.path));
                             const auto view = ledger::Ledger::open_read_only(made).snapshot();
                             CHECK(query_sql(made, "SELECT count(*) FROM recovery") == "1");
                           }});
  CHECK(verified == 2);  // the backup, and what was made
  const auto lines = static_cast<std::int64_t>(fixture.all.size());
  CHECK(done.kept == fixture.lines_kept);
  CHECK(done.restored == lines - fixture.lines_kept);
  CHECK(done.replica == fixture.replica);
  CHECK(done.tree == fixture.look().tree());
  CHECK(done.dropped_bytes == 0);
  CHECK(fixture.recovery() == "restored " + std::to_string(done.restored) + " 0 cleo: ");
  fixture.require_restored(fixture.all.size());
  CHECK(replica_fault(fixture.replica, fixture.look()) == "");
  // Tokens of the backup it can tell, of what was put back it knows the hash.
  auto view = fixture.look();
  CHECK(view.find_by_token(fixture.tokens[0])->token->bytes);
  CHECK_FALSE(view.find_by_token(fixture.tokens[1])->token->bytes);
  for (int i = 1; i <= 4; ++i) {
    CHECK(view.find_by_key("ada", std::to_string(i))->values ==
          std::vector<Rational>{Rational(static_cast<long>(i))});
  }
  fixture.require_goes_on();
}

TEST_CASE("restore: a backup that holds a data token restores after a recovery that had its hash alone",
          "[ledger][backup][replica][token]") {
  // Monday's backup lacks the token, Tuesday's holds it. The first loss is mended from Monday's backup and
  // the replica, so that the ledger has the token's line and its hash; the second from Tuesday's.
  Gone fixture;
  const std::string monday = fixture.backup;
  const std::string& token = fixture.tokens[1];
  REQUIRE(fixture.restore().faults.empty());
  fixture.backup = fixture.elsewhere.path() + "/tuesday";
  (void)ledger::Ledger::backup(fixture.path, fixture.backup, {}, replicating(fixture.directory.path()));
  REQUIRE_FALSE(fixture.look().find_by_token(token)->token->bytes);
  const auto lose = [&] {
    for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(fixture.path + suffix);
  };
  const auto faults_in = [](const std::string& path) {
    return decision_faults(ledger::Ledger::open_read_only(path).snapshot());
  };
  const std::string late = fixture.go_on(5);  // a token whose bytes this file has
  const std::string wednesday = fixture.elsewhere.path() + "/wednesday";
  (void)ledger::Ledger::backup(fixture.path, wednesday, {}, replicating(fixture.directory.path()));
  for (const std::string& backup : {wednesday, fixture.backup, monday, wednesday}) {
    CAPTURE(backup);
    lose();
    fixture.backup = backup;
    ledger::RestoreOptions steps{.by = "cleo"};
    steps.verify = [&](const std::string& made) {
      std::vector<ledger::StoredFault> found;
      for (const std::string& wrong : faults_in(made)) found.push_back({"decision", "faulty", wrong});
      return found;
    };
    const auto done = fixture.restore(steps);
    for (const auto& fault : done.faults) FAIL_CHECK(fault.message);
    REQUIRE(done.faults.empty());
    auto view = fixture.look();
    CHECK(view.find_by_token(fixture.tokens[0])->token->bytes);
    CHECK_FALSE(view.find_by_token(token)->token->bytes);
    CHECK(view.find_by_token(late)->token->bytes.has_value() == (backup == wednesday));
    CHECK(faults_in(fixture.path).empty());
    fixture.require_goes_on_as(backup);
  }
  // The replica alone: of every token the hash.
  lose();
  const auto rebuilt = ledger::Ledger::recover_from(
      fixture.path, fixture.replica, {.by = "cleo", .why = "lost"}, replicating(fixture.directory.path()));
  CHECK(rebuilt.faults.empty());
  for (const std::string& one : {fixture.tokens[0], token, late})
    CHECK_FALSE(fixture.look().find_by_token(one)->token->bytes);
  CHECK(faults_in(fixture.path).empty());
}

TEST_CASE("restore: a backup that lacks nothing is put back as it is", "[ledger][backup][replica]") {
  Gone fixture;
  (void)fixture.restore();
  fixture.backup = fixture.elsewhere.path() + "/newer";
  (void)ledger::Ledger::backup(fixture.path, fixture.backup, {}, replicating(fixture.directory.path()));
  fixture.all = lines_of(fixture.look());
  for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(fixture.path + suffix);
  CHECK(fixture.restore({.by = "cleo", .why = "again"}).restored == 0);
  CHECK(has_part(fixture.recovery(), "|restored 0 0 cleo: again"));
  fixture.require_restored(fixture.all.size());
  CHECK(fixture.look().find_by_token(fixture.tokens[0])->token->bytes);
  CHECK_FALSE(fixture.look().find_by_token(fixture.tokens[1])->token->bytes);
  fixture.require_goes_on();
}

TEST_CASE("restore: a replica that lacks lines of the backup gets them", "[ledger][backup][replica]") {
  const Gone fixture;
  const std::string whole = read_file(fixture.replica);
  write_file(fixture.replica, whole.substr(0, whole.find('\n', whole.find("\n= ") + 1) + 1));
  forget_end(fixture.path);
  CHECK(fixture.restore().restored == 0);
  fixture.require_restored(static_cast<std::size_t>(fixture.lines_kept));
  CHECK(replica_fault(fixture.replica, fixture.look()) == "");
  fixture.require_goes_on();
}

TEST_CASE("restore: without a replica only what somebody answers for, by name and reason",
          "[ledger][backup]") {
  const Gone fixture("");
  CHECK(has_part(refusal_of<InvalidParameter>([&] { (void)fixture.restore(); }), "--accept-rollback"));
  CHECK_THROWS_AS(fixture.restore({.by = "cleo", .accept_rollback = true}), InvalidParameter);
  CHECK_THROWS_AS(fixture.restore({.by = "cleo", .why = "no flag"}), InvalidParameter);
  CHECK_THROWS_AS(fixture.restore({.why = "nobody", .accept_rollback = true}), InvalidParameter);
  fixture.require_absent();
  const ledger::Restoration done = fixture.restore(Gone::accepting());
  CHECK(done.replica.empty());
  CHECK(done.restored == 0);
  CHECK(fixture.recovery() == "rolled_back 0 0 cleo: no replica");
  fixture.require_restored(static_cast<std::size_t>(fixture.lines_kept));
  CHECK_FALSE(fixture.look().find_by_key("ada", "3"));
  fixture.require_goes_on();
}

TEST_CASE(
    "restore: a replica that cannot be used is waited for, or given up, and found ahead when it is back",
    "[ledger][backup][replica]") {
  const Gone fixture;
  fs::rename(fixture.replica, fixture.elsewhere.path() + "/away");
  CHECK_THROWS_AS(fixture.restore(), ledger::ReplicaUnavailable);
  fixture.require_absent();
  CHECK(fixture.restore(Gone::accepting()).replica.empty());
  fixture.require_restored(static_cast<std::size_t>(fixture.lines_kept), false);
  CHECK(fixture.recovery() == "rolled_back 0 0 cleo: no replica");
  CHECK_THROWS_AS(fixture.open().begin(), ledger::ReplicaUnavailable);
  fs::rename(fixture.elsewhere.path() + "/away", fixture.replica);
  CHECK_THROWS_AS(fixture.open().begin(), ledger::LedgerRolledBack);
}

TEST_CASE("restore: by another replica than the backup's policy names", "[ledger][backup][replica]") {
  const Gone fixture;
  const std::string moved = fixture.elsewhere.path() + "/moved";
  fs::rename(fixture.replica, moved);
  const ledger::Restoration done = fixture.restore({.by = "cleo", .replica = moved});
  CHECK(done.replica == moved);
  fixture.require_restored(fixture.all.size(), false);
  fs::rename(moved, fixture.replica);
  fixture.require_goes_on();
}

TEST_CASE("restore: a replica of another history, or a damaged one, is no way on",
          "[ledger][backup][replica]") {
  const Gone fixture;
  const std::string whole = read_file(fixture.replica);
  const ReplicatedLedger other;
  write_file(fixture.replica, read_file(other.replica));
  CHECK(has_part(refusal_of<LedgerCorrupt>([&] { (void)fixture.restore(Gone::accepting()); }),
                 "went another way"));
  std::string damaged = whole;
  const auto last = damaged.rfind("\"index\"");
  damaged[last + 1] = 'x';
  write_file(fixture.replica, damaged);
  CHECK(has_part(refusal_of<LedgerCorrupt>([&] { (void)fixture.restore(); }), "--accept-truncated"));
  fixture.require_absent();
  forget_end(fixture.path);
  ledger::RestoreOptions steps{.by = "cleo", .accept_truncated = true};
  const ledger::Restoration done = fixture.restore(steps);
  CHECK(done.truncated);
  CHECK(done.dropped == 2);  // the reservation and its token, one group
  const auto kept = fixture.all.size() - 2;
  CHECK(done.dropped_from == static_cast<std::int64_t>(kept));
  CHECK(fixture.recovery() == "restored " + std::to_string(done.restored) + " 2 cleo: ");
  fixture.require_restored(kept);
  fixture.require_goes_on();
}

TEST_CASE("restore: a place where something is is left as it is", "[ledger][backup]") {
  const Gone fixture;
  for (const char* suffix : {"", "-wal", "-shm", "-journal", ".poisoned"}) {
    CAPTURE(suffix);
    write_file(fixture.path + suffix, "mine");
    CHECK(has_part(refusal_of<LedgerUnusable>([&] { (void)fixture.restore(Gone::accepting()); }),
                   fixture.path + suffix));
    CHECK(read_file(fixture.path + suffix) == "mine");
    fs::remove(fixture.path + suffix);
    fixture.require_absent();
  }
  SECTION("what the lock file says of poison is of the ledger that lay there") {
    write_file(fixture.path + ".lock",
               ledger::commit_mark_bytes({.state = ledger::CommitMark::State::poisoned,
                                          .boot_id = "b",
                                          .time = "t",
                                          .reason = "no room"}));
    CHECK(has_part(refusal_of<LedgerUnusable>([&] { (void)fixture.restore(); }), "L.lock"));
    fixture.require_absent();
  }
  SECTION("what it says of a commit and of the replica is forgotten with that") {
    const std::string replica_says = ledger::replica_mark_bytes(
        {.boot_id = ledger::current_boot_id(), .ledger_id = std::string(32, 'a'), .size = 1'000, .end = 9});
    write_file(fixture.path + ".lock",
               ledger::commit_mark_bytes({.state = ledger::CommitMark::State::committing,
                                          .boot_id = ledger::current_boot_id(),
                                          .first = 1}) +
                   replica_says);
    fs::remove(fixture.replica);
    (void)fixture.restore(Gone::accepting());
    CHECK(ledger::read_commit_mark(ledger::locate(fixture.path)).state == ledger::CommitMark::State::settled);
    CHECK_FALSE(has_part(read_file(fixture.path + ".lock"), "1000"));
  }
  SECTION("who has the turn of it is waited for") {
    const int lock = ::open((fixture.path + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    REQUIRE(::flock(lock, LOCK_EX) == 0);
    CHECK_THROWS_AS(fixture.restore({.by = "cleo"}, 0), LedgerBusy);
    fixture.require_absent();
    ::close(lock);
    (void)fixture.restore({.by = "cleo"}, 0);
  }
  SECTION("a directory that is missing is made") {
    const std::string path = fixture.directory.path() + "/new/L";
    (void)ledger::Ledger::restore(path, fixture.backup, Gone::accepting(), {});
    CHECK(fs::exists(path));
  }
}

TEST_CASE("restore: the backup is one that can be gone on with", "[ledger][backup]") {
  Gone fixture;
  const auto refused = [&](const std::string& part) {
    CHECK(has_part(refusal_of<LedgerUnusable>([&] { (void)fixture.restore(Gone::accepting()); }), part));
    fixture.require_absent();
  };
  SECTION("it is there") {
    fs::remove(fixture.backup);
    refused("no ledger at");
  }
  SECTION("no link") {
    fs::create_symlink(fixture.backup, fixture.elsewhere.path() + "/link");
    fixture.backup = fixture.elsewhere.path() + "/link";
    refused("symbolic link");
  }
  SECTION("a ledger") {
    write_file(fixture.backup, std::string(8'192, 'x'));
    refused("not an Epsilog ledger");
  }
  SECTION("not made of lines") {
    fs::remove(fixture.backup);
    (void)ledger::Ledger::import_lines(fixture.backup, each_of(fixture.all));
    refused("read-only");
  }
  SECTION("not poisoned") {
    write_file(fixture.backup + ".poisoned", "{}");
    CHECK_THROWS_AS(fixture.restore(), LedgerIo);
    fixture.require_absent();
  }
  SECTION("verified") {
    ledger::RestoreOptions steps = Gone::accepting();
    steps.verify = [](const std::string&) {
      return std::vector<ledger::StoredFault>{{"decision 1", "wrong", "is wrong"}};
    };
    CHECK(fixture.restore(steps).faults.size() == 1);
    fixture.require_absent();
  }
  SECTION("held to what is demanded of it") {
    ledger::RestoreOptions steps{.by = "cleo"};
    steps.check_result = [](const std::string&) { throw NotFound("a checkpoint"); };
    CHECK_THROWS_AS(fixture.restore(steps), NotFound);
    fixture.require_absent();
  }
  SECTION("with what is in its log") {
    const std::string other = fixture.elsewhere.path() + "/live";
    const Gone alone("");
    {
      auto live = ledger::Ledger::open(alone.backup, {});
      release(live, kCent, Rational(7), "7");
      copy_ledger(alone.backup, other);
    }
    CHECK(fs::file_size(other + "-wal") > 0);
    (void)ledger::Ledger::restore(alone.path, other, Gone::accepting(), {});
    CHECK(alone.look().find_by_key("ada", "7")->values == std::vector<Rational>{7});
  }
}

TEST_CASE("kill: at any operation of a restoration there is a whole ledger or none, and another one ends it",
          "[ledger][backup][crash]") {
  for (const bool alone : {false, true}) {
    int killed = 0;
    for (std::int64_t at = 1;; at += at < 4 ? 1 : 97) {
      const Gone fixture(alone ? "" : "replica");
      const int status = in_child([&] {
        FaultVfs vfs;
        const ReplicaCallsOf calls(vfs, fixture.replica);
        vfs.die_at(at);
        (void)fixture.restore(Gone::accepting());
      });
      CAPTURE(at, alone);
      if (status != 0) ++killed;
      if (!fs::exists(fixture.path)) (void)fixture.restore(Gone::accepting());
      { const auto next = fixture.open().begin(); }  // the replica gets the record, if it has not
      fixture.require_restored(alone ? static_cast<std::size_t>(fixture.lines_kept) : fixture.all.size());
      CHECK_THROWS_AS(fixture.restore(Gone::accepting()), LedgerUnusable);
      fixture.require_goes_on();
      if (status == 0) break;
    }
    CHECK(killed >= 4);
  }
}
