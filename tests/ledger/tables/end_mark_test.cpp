// What L.lock remembers of the ledger's end, and what a ledger that is shorter may do: nothing, until it is
// recovered.
#include "end_mark.hpp"

#include <cerrno>

#include "commit_mark.hpp"
#include "epsilog/ledger/digest.hpp"
#include "epsilog/ledger/inspection.hpp"
#include "epsilog/ledger/lines_missing.hpp"
#include "ledger/support/failing_lock_write.hpp"
#include "ledger/support/power_failure.hpp"
#include "ledger/support/replicated.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;
namespace fs = std::filesystem;

namespace {

using ledger::EndMark;
using ledger::EndMarkReading;
using ledger::EndMarkState;

EndMarkReading remembered_of(const std::string& path) {
  return ledger::read_end_mark(ledger::locate(path));
}

/// Whether L.lock says exactly what the file holds.
bool agrees(const std::string& path) {
  const EndMarkReading reading = remembered_of(path);
  if (!reading.end) return false;
  return std::to_string(reading.end->lines) == query_sql(path, "SELECT log_size FROM meta") &&
         query_sql(path, "SELECT lower(hex(leaf)) FROM log ORDER BY line_index DESC LIMIT 1") ==
             ledger::hex_text(reading.end->leaf) &&
         query_sql(path, "SELECT lower(hex(ledger_id)) FROM meta") == reading.end->ledger_id;
}

EndMark sample() {
  EndMark end{.ledger_id = std::string(32, 'a'), .lines = 45, .leaf = {}, .time = "2026-01-05T09:00:00.000Z"};
  end.leaf.fill(0x5e);
  return end;
}

/// A ledger as a killed process leaves it: everything since its creation is in the log.
struct Killed : ReplicatedLedger {
  explicit Killed(const std::string& replica_name = "") : ReplicatedLedger(replica_name) {
    const std::string living = path + "-living";
    {
      auto ledger = open();
      for (int i = 1; i <= 4; ++i) release(ledger, kHundredth, Rational(i), std::to_string(i));
      copy_ledger(path, living);
    }
    copy_ledger(living, path);
    remove_ledger(living);
    REQUIRE(fs::file_size(path + "-wal") > 0);
  }
  [[nodiscard]] std::string log() const { return read_file(path + "-wal"); }
};

/// The database is gone; what L.lock remembers stays.
void lose(const std::string& path) {
  for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(path + suffix);
}

/// Every way to read from a ledger or to write to it.
std::vector<std::pair<std::string, std::function<void(const Killed&)>>> ways() {
  return {{"a snapshot", [](const Killed& l) { (void)ledger::Ledger::open_read_only(l.path).snapshot(); }},
          {"a snapshot of a writer", [](const Killed& l) { (void)l.open().snapshot(); }},
          {"a transaction", [](const Killed& l) { (void)l.open().begin(); }},
          {"a transaction that does not wait",
           [](const Killed& l) { (void)l.open().begin_within(std::chrono::milliseconds(0)); }},
          {"a policy", [](const Killed& l) { (void)l.open().begin_to_apply(policy()); }},
          {"a backup",
           [](const Killed& l) {
             (void)ledger::Ledger::backup(l.path, l.path + "-backup", {}, replicating(l.directory.path()));
           }},
          {"a ledger that writes on demand", [](const Killed& l) {
             auto ledger = ledger::Ledger::open_on_demand(l.path, replicating(l.directory.path()));
             (void)ledger.begin();
           }}};
}

/// Each way is refused, and none touches the log.
void require_refused(const Killed& killed, std::int64_t remembered) {
  const std::string log = fs::exists(killed.path + "-wal") ? killed.log() : "";
  for (const auto& [name, way] : ways()) {
    CAPTURE(name);
    try {
      way(killed);
      FAIL("not refused");
    } catch (const ledger::LinesMissing& error) {
      CHECK(error.remembered() == remembered);
      CHECK(error.found() < remembered);
    }
    CHECK(((fs::exists(killed.path + "-wal") ? killed.log() : "") == log));
  }
  CHECK_FALSE(fs::exists(killed.path + "-backup"));
}

void flip(const std::string& file, std::size_t bit) {
  std::string bytes = read_file(file);
  bytes.at(bit / 8) = static_cast<char>(bytes.at(bit / 8) ^ static_cast<char>(1U << (bit % 8)));
  write_file(file, bytes);
}

}  // namespace

TEST_CASE("remembered end: the mark reads back, and none with a flipped bit does", "[ledger][rollback]") {
  const std::string bytes = ledger::end_mark_bytes(sample());
  CHECK(bytes.size() == ledger::kCommitMarkBytes);
  CHECK(ledger::parse_end_mark(bytes).end == sample());
  CHECK(ledger::parse_end_mark("").state == EndMarkState::none);
  CHECK(ledger::parse_end_mark(std::string(ledger::kCommitMarkBytes, '\0')).state == EndMarkState::none);
  const std::size_t said = bytes.find_last_not_of('\n') + 1;
  for (std::size_t bit = 0; bit < 8 * said; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ static_cast<char>(1U << (bit % 8)));
    REQUIRE(ledger::parse_end_mark(flipped).state == EndMarkState::unreadable);
  }
  for (const std::size_t size : {std::size_t{1}, said, bytes.size() - 1}) {
    CHECK(ledger::parse_end_mark(bytes.substr(0, size)).state == EndMarkState::unreadable);
  }
}

TEST_CASE("remembered end: every call that adds a line or makes a ledger says how long it is",
          "[ledger][rollback][replica]") {
  const ReplicatedLedger fixture;
  CHECK(agrees(fixture.path));
  auto options = replicating(fixture.directory.path());
  {
    auto ledger = fixture.open();
    release(ledger, kHundredth, 1, "1");
    CHECK(agrees(fixture.path));
    auto transaction = ledger.begin_to_apply(policy_with_replica("replica", false));
    transaction.apply_policy(policy_with_replica("replica", false), {}, "unsynced");
    (void)ledger.commit(std::move(transaction));
    CHECK(agrees(fixture.path));
  }
  const std::vector<std::string> lines = lines_of(fixture.look());
  const std::string imported = fixture.directory.path() + "/imported";
  (void)ledger::Ledger::import_lines(imported, each_of(lines));
  CHECK(agrees(imported));
  const std::string backup = fixture.directory.path() + "/backup";
  (void)ledger::Ledger::backup(fixture.path, backup, {}, options);
  CHECK(remembered_of(backup).state == EndMarkState::none);
  lose(fixture.path);
  (void)ledger::Ledger::restore(fixture.path, backup, {.by = "cleo"}, options);
  CHECK(agrees(fixture.path));
  lose(fixture.path);
  (void)ledger::Ledger::recover_from(fixture.path, fixture.replica, {.by = "cleo", .why = "disk"}, options);
  CHECK(agrees(fixture.path));
}

namespace {

void flip_the_log(std::size_t flips, int least_missing) {
  const Killed killed;
  const std::string log = killed.log();
  const std::int64_t lines = remembered_of(killed.path).end->lines;
  // SQLite reads the log up to the first frame that is damaged. What pads its last frame to a sector is
  // read by nobody.
  const std::size_t bits = 8 * log.size();
  int missing = 0;
  for (std::size_t i = 0; i < flips; ++i) {
    write_file(killed.path + "-wal", log);
    flip(killed.path + "-wal", i * (bits / flips) + i % 8);
    fs::remove(killed.path + "-shm");
    const std::string damaged = killed.log();
    CAPTURE(i);
    try {
      const std::uint64_t there = killed.look().tree().size;
      REQUIRE(there == static_cast<std::uint64_t>(lines));
      continue;
    } catch (const ledger::LinesMissing&) {
      ++missing;
    }
    REQUIRE_THROWS_AS(killed.open().begin(), ledger::LinesMissing);
    REQUIRE((killed.log() == damaged));
  }
  CHECK(missing > least_missing);
  write_file(killed.path + "-wal", log);
  flip(killed.path + "-wal", bits / 2);
  fs::remove(killed.path + "-shm");
  require_refused(killed, lines);
}

}  // namespace

TEST_CASE("remembered end: a flipped bit of the log never takes acknowledged lines back unseen",
          "[ledger][rollback][crash]") {
  flip_the_log(64, 55);
}

TEST_CASE("remembered end: none of 1,024 flipped bits of the log takes acknowledged lines back unseen",
          "[.long][ledger][rollback][crash]") {
  flip_the_log(1'024, 900);
}

TEST_CASE("remembered end: an older copy, or a log that is gone, is refused by every way in",
          "[ledger][rollback]") {
  const Killed killed;
  const std::int64_t lines = remembered_of(killed.path).end->lines;
  SECTION("the log is gone") {
    fs::remove(killed.path + "-wal");
    fs::remove(killed.path + "-shm");
    require_refused(killed, lines);
  }
  SECTION("an older copy is put in place") {
    const std::string old = killed.path + "-old";
    copy_ledger(killed.path, old);
    release(killed.open(), kHundredth, 5, "5");
    copy_ledger(old, killed.path);
    require_refused(killed, lines + 1);
  }
  SECTION("an older copy that went on by itself has another line there") {
    const std::string other = killed.path + "-other";
    copy_ledger(killed.path, other);
    release(killed.open(), kHundredth, 5, "5");
    {
      auto ledger = ledger::Ledger::open(other, {});
      for (int i = 5; i < 8; ++i) release(ledger, kHundredth, Rational(i), std::to_string(i));
    }
    copy_ledger(other, killed.path);
    try {
      (void)killed.open().begin();
      FAIL("not refused");
    } catch (const ledger::LinesMissing& error) {
      CHECK(error.found() == error.remembered() + 2);
    }
  }
}

TEST_CASE("remembered end: a killed commit is settled only where nothing is missing",
          "[ledger][rollback][crash]") {
  const Killed killed;
  fs::remove(killed.path + "-shm");
  std::string lock = read_file(killed.path + ".lock");
  const std::string committing =
      ledger::commit_mark_bytes({.state = ledger::CommitMark::State::committing, .boot_id = "b", .first = 4});
  lock.replace(0, committing.size(), committing);
  write_file(killed.path + ".lock", lock);
  flip(killed.path + "-wal", 4 * killed.log().size());
  const std::string damaged = killed.log();
  CHECK_THROWS_AS(killed.open().begin(), ledger::LinesMissing);
  CHECK((killed.log() == damaged));
  CHECK(ledger::read_commit_mark(ledger::locate(killed.path)).state == ledger::CommitMark::State::committing);
}

TEST_CASE("remembered end: a mark that is behind, gone, damaged or of another ledger is brought up to date",
          "[ledger][rollback]") {
  const Killed killed;
  std::vector<std::string> warnings;
  auto options = replicating(killed.directory.path());
  options.warn = [&](const std::string& message) { warnings.push_back(message); };
  std::string lock = read_file(killed.path + ".lock");
  REQUIRE(lock.size() == 3 * ledger::kCommitMarkBytes);
  std::size_t told = 1;
  SECTION("behind: killed after COMMIT, before it was written") {
    release(killed.open(), kHundredth, 5, "5");
    told = 0;
  }
  SECTION("deleted") {
    lock = "";
  }
  SECTION("zeros: what a power failure leaves") {
    lock = std::string(lock.size(), '\0');
  }
  SECTION("damaged") {
    lock[2 * ledger::kCommitMarkBytes + 20] ^= 1;
  }
  SECTION("of another ledger") {
    lock.replace(2 * ledger::kCommitMarkBytes, ledger::kCommitMarkBytes, ledger::end_mark_bytes(sample()));
    told = 0;
  }
  write_file(killed.path + ".lock", lock);
  if (lock.empty()) fs::remove(killed.path + ".lock");
  {
    auto ledger = ledger::Ledger::open(killed.path, options);
    CHECK((ledger.end_mark_state() == EndMarkState::remembered) == (told == 0));
    CHECK(ledger.snapshot().find_by_key("ada", "1"));
    { const auto turn = ledger.begin(); }
    { const auto turn = ledger.begin(); }
    CHECK(ledger.end_mark_state() == EndMarkState::remembered);
  }
  CHECK(warnings.size() == told);
  CHECK(agrees(killed.path));
}

TEST_CASE("remembered end: an accepted rollback is on record with both numbers, and is not asked for twice",
          "[ledger][rollback]") {
  const Killed killed;
  const std::int64_t lines = remembered_of(killed.path).end->lines;
  const std::string lock = read_file(killed.path + ".lock");
  fs::remove(killed.path + "-wal");
  fs::remove(killed.path + "-shm");
  const auto accept = [&](const std::string& by, const std::string& why) {
    return ledger::Ledger::accept_rollback(killed.path, by, why, replicating(killed.directory.path()));
  };
  CHECK_THROWS_AS(accept("", "lost"), InvalidParameter);
  CHECK_THROWS_AS(accept("cleo", ""), InvalidParameter);
  const ledger::AcceptedRollback accepted = accept("cleo", "lost with the disk");
  CHECK(accepted.remembered == lines);
  CHECK(accepted.found < lines);
  CHECK(query_sql(killed.path,
                  "SELECT cause || ' ' || remembered_lines || ' ' || found_lines || ' ' || by || ': ' || why"
                  " FROM recovery") == "rolled_back " + std::to_string(lines) + " " +
                                           std::to_string(accepted.found) + " cleo: lost with the disk");
  CHECK(agrees(killed.path));
  auto view = killed.look();
  CHECK(ledger::Inspection(view).completeness_faults().empty());
  SECTION("killed before it wrote L.lock") {
    write_file(killed.path + ".lock", lock);
  }
  SECTION("again") {
    CHECK(accept("cleo", "again").remembered == 0);
  }
  SECTION("a later loss of as many lines is another loss") {
    const std::string then = killed.path + "-then";
    copy_ledger(killed.path, then);
    {
      auto ledger = killed.open();
      while (remembered_of(killed.path).end->lines < lines) {
        commit_one(ledger, [&](auto& t) { t.refuse(refused()); });
      }
      REQUIRE(remembered_of(killed.path).end->lines == lines);
    }
    copy_ledger(then, killed.path);
    CHECK_THROWS_AS(killed.open().begin(), ledger::LinesMissing);
    return;
  }
  release(killed.open(), kHundredth, 9, "9");
  CHECK(query_sql(killed.path, "SELECT count(*) FROM recovery") == "1");
  CHECK(agrees(killed.path));
}

TEST_CASE("remembered end: a replica that holds the missing lines puts them back, unasked for any acceptance",
          "[ledger][rollback][replica]") {
  const Killed killed("replica");
  fs::remove(killed.path + "-wal");
  fs::remove(killed.path + "-shm");
  require_refused(killed, remembered_of(killed.path).end->lines);
  const auto recover = [&](bool accept) {
    return ledger::Ledger::recover_from(killed.path, killed.replica,
                                        {.by = "cleo", .why = "log lost", .accept_rollback = accept},
                                        replicating(killed.directory.path()));
  };
  std::string expected = "0 0";
  SECTION("the replica has them all") {
    CHECK(recover(false).restored > 0);
  }
  SECTION("the replica lacks the last group too") {
    const std::int64_t lines = remembered_of(killed.path).end->lines;
    std::string whole = read_file(killed.replica);
    whole.resize(whole.rfind("\n= ", whole.size() - 2));
    whole.resize(whole.rfind("\n= "));
    whole.resize(whole.rfind('\n') + 1);
    const auto end = whole.rfind("\n= ");
    whole.resize(whole.find('\n', end + 1) + 1);
    write_file(killed.replica, whole);
    CHECK_THROWS_AS(recover(false), ledger::LinesMissing);
    CHECK(read_file(killed.replica) == whole);
    const auto done = recover(true);
    expected = std::to_string(lines) + " " + std::to_string(done.kept + done.restored);
  }
  CHECK(query_sql(killed.path, "SELECT remembered_lines || ' ' || found_lines FROM recovery") == expected);
  CHECK(agrees(killed.path));
  { const auto turn = killed.open().begin(); }
  CHECK(replica_fault(killed.replica, killed.look()) == "");
}

TEST_CASE("remembered end: a ledger that is made in the place of a longer one needs an acceptance",
          "[ledger][rollback][backup]") {
  const Killed killed;
  const std::string backup = killed.path + "-backup";
  const auto options = replicating(killed.directory.path());
  (void)ledger::Ledger::backup(killed.path, backup, {}, options);
  const std::vector<std::string> lines = lines_of(killed.look());
  release(killed.open(), kHundredth, 5, "5");
  const EndMark end = *remembered_of(killed.path).end;
  lose(killed.path);
  const auto import = [&](bool accept) {
    return ledger::Ledger::import_lines(killed.path, each_of(lines), {.accept_missing_lines = accept});
  };
  SECTION("a new ledger") {
    const auto create = [&](const std::string& forget) {
      (void)ledger::Ledger::create(killed.path, policy(), {account("clinic", "epsilon", 1)}, {}, forget);
    };
    for (const std::string& forget : {std::string(), std::string(32, '0')}) {
      const std::string message = message_thrown<LedgerUnusable>([&] { create(forget); });
      for (const std::string& part :
           {end.ledger_id, std::to_string(end.lines) + " lines", std::string("recover --from")})
        CHECK(has_part(message, part));
      CHECK_FALSE(fs::exists(killed.path));
    }
    create(end.ledger_id);
  }
  SECTION("a backup") {
    CHECK_THROWS_AS(ledger::Ledger::restore(killed.path, backup, {.by = "cleo", .why = "x"}, options),
                    InvalidParameter);
    (void)ledger::Ledger::restore(killed.path, backup, {.by = "cleo", .why = "x", .accept_rollback = true},
                                  options);
    CHECK(query_sql(killed.path, "SELECT remembered_lines || ' ' || found_lines FROM recovery") ==
          std::to_string(end.lines) + " " + std::to_string(lines.size()));
  }
  SECTION("exported lines") {
    CHECK_THROWS_AS(import(false), ledger::LinesMissing);
    CHECK_FALSE(fs::exists(killed.path));
    (void)import(true);
  }
  CHECK(agrees(killed.path));
}

TEST_CASE("remembered end: a lock file that cannot be read now refuses nothing for ever",
          "[ledger][rollback]") {
  const Killed killed;
  fs::rename(killed.path + ".lock", killed.path + ".away");
  fs::create_directory(killed.path + ".lock");
  CHECK_THROWS_AS(ledger::Ledger::open_read_only(killed.path).snapshot(), LedgerBusy);
  fs::remove(killed.path + ".lock");
  fs::rename(killed.path + ".away", killed.path + ".lock");
  CHECK(killed.look().find_by_key("ada", "1"));
}

namespace {

/// A call that ends with a write of the mark, and what it recorded.
struct Marked {
  const char* name;
  bool warns;  ///< the caller hands in who is warned, and something was recorded
  std::function<void(const Killed&, const ledger::Options&)> go;
};

std::vector<Marked> marked() {
  using ledger::Ledger;
  return {{"a release", true,
           [](const Killed& l, const ledger::Options& options) {
             auto ledger = Ledger::open(l.path, options);
             CHECK(release(ledger, kHundredth, 5, "5").values == std::vector<Rational>{5});
           }},
          {"two releases in a row", true,
           [](const Killed& l, const ledger::Options& options) {
             auto ledger = Ledger::open(l.path, options);
             CHECK(release(ledger, kHundredth, 5, "5").values == std::vector<Rational>{5});
             CHECK(release(ledger, kHundredth, 6, "6").values == std::vector<Rational>{6});
           }},
          {"a recovery from the replica", true,
           [](const Killed& l, const ledger::Options& options) {
             copy_ledger(l.path + "-older", l.path);
             (void)Ledger::recover_from(l.path, l.replica, {.by = "cleo", .why = "lost"}, options);
           }},
          {"a ledger that is made again from the replica", true,
           [](const Killed& l, const ledger::Options& options) {
             lose(l.path);
             (void)Ledger::recover_from(l.path, l.replica, {.by = "cleo", .why = "lost"}, options);
           }},
          {"a restoration", true, [](const Killed& l, const ledger::Options& options) {
             (void)Ledger::backup(l.path, l.path + "-backup", {}, options);
             lose(l.path);
             (void)Ledger::restore(l.path, l.path + "-backup", {.by = "cleo", .why = "lost"}, options);
           }}};
}

}  // namespace

TEST_CASE("remembered end: a mark that cannot be written after COMMIT withholds nothing and poisons nothing",
          "[ledger][rollback][fault]") {
  for (const int error : {EIO, ENOSPC, EDQUOT, EROFS}) {
    for (const Marked& call : marked()) {
      CAPTURE(error, call.name);
      const Killed killed("replica");
      copy_ledger(killed.path, killed.path + "-older");
      release(killed.open(), kHundredth, 9, "9");
      std::vector<std::string> warnings;
      auto options = replicating(killed.directory.path());
      options.warn = [&](const std::string& text) { warnings.push_back(text); };
      {
        const FailingLockWrite failing(error);
        CHECK_NOTHROW(call.go(killed, options));
        CHECK(FailingLockWrite::failures() > 0);
      }
      const auto of_mark = std::count_if(warnings.begin(), warnings.end(), [](const std::string& text) {
        return text.find("cannot write to ") != std::string::npos && text.find(".lock") != std::string::npos;
      });
      CHECK((of_mark > 0) == call.warns);
      CHECK_FALSE(fs::exists(killed.path + ".poisoned"));
      CHECK_FALSE(agrees(killed.path));
      // The next turn writes it.
      { const auto turn = killed.open().begin(); }
      CHECK(agrees(killed.path));
      CHECK(killed.look().find_by_key("ada", "9"));
      CHECK(replica_fault(killed.replica, killed.look()) == "");
    }
  }
}
