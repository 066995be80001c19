// A COMMIT that never returned: whoever reads or writes then, no value leaves that a power failure could take
// back, and no key gets two.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>

#include "commit_mark.hpp"
#include "epsilog/accounting/stored_rational.hpp"
#include "epsilog/ledger/inspection.hpp"
#include "ledger/support/fault_vfs.hpp"
#include "ledger/support/fixture.hpp"
#include "ledger/support/power_failure.hpp"
#include "poison.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;
namespace fs = std::filesystem;
using ledger::CommitMark;

namespace {

using Values = std::vector<Rational>;

/// Every way by which the value of a decision leaves the ledger.
enum class Way { by_key, by_id, as_child, in_history, as_line, while_open, retry };
constexpr Way kWays[] = {Way::by_key,  Way::by_id,      Way::as_child, Way::in_history,
                         Way::as_line, Way::while_open, Way::retry};

void tell(const ledger::StoredDecision& decision, Values& told) {
  if (!decision.durable && !(decision.values.empty() && decision.component_values.empty()))
    FAIL("withheld, and told nevertheless");
  if (decision.draft.outcome == ledger::Outcome::granted && decision.draft.key == "k" && decision.durable)
    told.push_back(decision.values.at(0));
}

/// What is told of the decision under key "k", a grant about the only reservation.
Values told_by(const LedgerFixture& fixture, Way way) {
  Values told;
  const auto writing = [&](const std::function<void(ledger::Transaction&)>& read) {
    auto ledger = fixture.open();
    try {
      auto transaction = ledger.begin();
      read(transaction);
    } catch (const LedgerIo&) {
      CHECK(ledger.poison_reason());
    } catch (const LedgerBusy&) {
    }
  };
  const std::string reservation = fixture.look().find_by_key("ada", "reservation")->id;
  switch (way) {
    case Way::by_key:
      if (const auto found = fixture.look().find_by_key("ada", "k")) tell(*found, told);
      break;
    case Way::by_id: {
      std::string id;
      auto snapshot = fixture.look();
      ledger::Inspection(snapshot).each_decision([&](const auto& decision) { id = decision.id; }, {}, {});
      tell(*snapshot.find_by_id(id), told);
      break;
    }
    case Way::as_child: {
      auto snapshot = fixture.look();
      for (const auto& child : snapshot.children(reservation)) tell(child, told);
      break;
    }
    case Way::in_history: {
      auto snapshot = fixture.look();
      snapshot.each_decision("", 0, [&](const auto& decision) { tell(decision, told); });
      break;
    }
    case Way::as_line: {
      auto snapshot = fixture.look();
      try {
        snapshot.each_line(0, [&](std::string_view line) {
          const auto record = nlohmann::json::parse(line);
          if (record.value("key", "") == "k" && record.at("outcome") == "granted")
            told.push_back(
                accounting::parse_canonical_rational(record.at("values").at(0).get<std::string>(), "values"));
        });
      } catch (const LedgerIo&) {  // a line that is not known to be durable
      }
      break;
    }
    case Way::while_open:
      writing([&](ledger::Transaction& transaction) {
        for (const auto& child : transaction.children(reservation)) tell(child, told);
      });
      break;
    case Way::retry:
      writing([&](ledger::Transaction& transaction) {
        if (const auto found = transaction.find_by_key("ada", "k")) tell(*found, told);
      });
      break;
  }
  return told;
}

/// A ledger with one reservation, its files as they are on the disk.
struct Reserved {
  Reserved() {
    {
      auto ledger = fixture.open();
      auto transaction = ledger.begin();
      auto draft = draft_of(ledger::Outcome::reserved);
      draft.key = "reservation";
      id = record_outcome(transaction, draft, kTenth);
      static_cast<void>(ledger.commit(std::move(transaction)));
    }
    before = files_of(fixture);
  }

  /// Posts the reservation under key "k" with the value 42.
  [[nodiscard]] ledger::Transaction posting(ledger::Ledger& ledger) const {
    auto transaction = ledger.begin();
    auto draft = draft_of(ledger::Outcome::granted, id);
    draft.key = "k";
    record_outcome(transaction, draft, kTenth);
    return transaction;
  }

  LedgerFixture fixture;
  std::string id;
  std::map<std::string, std::string> before;
};

/// A file without a name, for what a child streams.
struct Stream {
  Stream() {
    std::string pattern = (fs::temp_directory_path() / "epsilog-events-XXXXXX").string();
    descriptor = ::mkstemp(pattern.data());
    fs::remove(pattern);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { ::close(descriptor); }
  int descriptor = -1;
};

/// Dies in the nth call of COMMIT; false when there is no such call.
bool die_in_commit(FaultVfs& vfs, const Reserved& reserved, std::int64_t nth) {
  const Stream stream;
  const int status = in_child([&] {
    vfs.start_recording();
    vfs.stream_to(stream.descriptor);
    auto ledger = reserved.fixture.open();
    auto transaction = reserved.posting(ledger);
    vfs.die_at(nth);
    static_cast<void>(ledger.commit(std::move(transaction)));
    ::_exit(0);
  });
  vfs.add_events_of(stream.descriptor);
  vfs.start_recording();
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status) == kKilled;
}

/// What each of some power failures at any time from `since` on takes back of what was told.
int taken_back(const FaultVfs& vfs, const Reserved& reserved, const Values& told, std::size_t since,
               std::mt19937_64& random) {
  const TemporaryDirectory disk;
  int lost = 0;
  for (int i = 0; i < 4; ++i) {
    const std::size_t until = since + random() % (vfs.events().size() - since + 1);
    const auto image = image_after_power_failure(reserved.before, vfs.events(), until, random);
    write_image(image, reserved.fixture.directory.path(), disk.path() + "/image");
    auto snapshot = ledger::Ledger::open_read_only(disk.path() + "/image/L").snapshot();
    CHECK(balances_fold(snapshot));
    const auto found = snapshot.find_by_key("ada", "k");
    for (const Rational& value : told) {
      if (!found || found->values != Values{value}) ++lost;
    }
  }
  return lost;
}

/// How many of some power failures, at any time since the interruption, leave what is not whole.
int broken(const FaultVfs& vfs, const Reserved& reserved, std::size_t since, std::mt19937_64& random) {
  const TemporaryDirectory disk;
  int found = 0;
  for (int i = 0; i < 6; ++i) {
    const std::size_t until = since + random() % (vfs.events().size() - since + 1);
    const auto image = image_after_power_failure(reserved.before, vfs.events(), until, random);
    write_image(image, reserved.fixture.directory.path(), disk.path() + "/image");
    try {
      auto snapshot = ledger::Ledger::open_read_only(disk.path() + "/image/L").snapshot();
      const bool whole = ledger::Inspection(snapshot).storage_faults(false).empty();
      found += whole && balances_fold(snapshot) ? 0 : 1;
    } catch (const Error&) {
      ++found;
    }
  }
  return found;
}

struct Outcomes {
  int points = 0;
  int told = 0;
  int withheld = 0;
  int lost = 0;
  int broken = 0;
};

/// One way at each point, all of them in the last calls, which are those around the sync.
template <class Interrupt>
Outcomes every_point(Interrupt interrupt) {
  std::mt19937_64 random(7);
  Outcomes outcomes;
  std::int64_t last = 0;
  const auto look = [&](std::int64_t nth, Way way) {
    CAPTURE(nth, static_cast<int>(way));
    FaultVfs vfs;
    const Reserved reserved;
    if (!interrupt(vfs, reserved, nth)) return false;
    const std::size_t interrupted = vfs.events().size();
    const Values told = told_by(reserved.fixture, way);
    outcomes.broken += broken(vfs, reserved, interrupted, random);
    (told.empty() ? outcomes.withheld : outcomes.told) += 1;
    outcomes.lost += taken_back(vfs, reserved, told, vfs.events().size(), random);
    ++outcomes.points;
    return true;
  };
  while (look(last + 1, kWays[static_cast<std::size_t>(last) % std::size(kWays)])) ++last;
  for (std::int64_t nth = std::max<std::int64_t>(last - 1, 1); nth <= last; ++nth) {
    for (const Way way : kWays) look(nth, way);
  }
  return outcomes;
}

void write_mark(const LedgerFixture& fixture, const CommitMark& mark) {
  std::ofstream(fixture.sibling(".lock"), std::ios::binary) << ledger::commit_mark_bytes(mark);
}

CommitMark committing(std::int64_t first) {
  return {.state = CommitMark::State::committing, .boot_id = ledger::current_boot_id(), .first = first};
}

CommitMark mark_of(const LedgerFixture& fixture) {
  return ledger::read_commit_mark(ledger::locate(fixture.path));
}

}  // namespace

TEST_CASE("settlement: killed at any call of COMMIT, no way of reading tells what a power failure takes back",
          "[ledger][settlement][durability][crash]") {
  const Outcomes outcomes = every_point(die_in_commit);
  CAPTURE(outcomes.points, outcomes.told, outcomes.withheld);
  CHECK(outcomes.points >= 20);
  CHECK(outcomes.told >= 4);      // every byte was written: what is settled is told
  CHECK(outcomes.withheld >= 4);  // nothing was there to be told
  CHECK(outcomes.lost == 0);
  CHECK(outcomes.broken == 0);
}

TEST_CASE("settlement: without the mark in the lock file the simulation catches values that are taken back",
          "[ledger][settlement][durability][control]") {
  const Outcomes outcomes = every_point([](FaultVfs& vfs, const Reserved& reserved, std::int64_t nth) {
    const bool died = die_in_commit(vfs, reserved, nth);
    write_mark(reserved.fixture, {});
    return died;
  });
  CHECK(outcomes.told >= 4);
  CHECK(outcomes.lost > 0);
}

TEST_CASE("settlement: an I/O error at any call of COMMIT tells nothing, whoever reads",
          "[ledger][settlement][durability][fault]") {
  for (const bool from_then_on : {false, true}) {
    int poisoned = 0;
    const Outcomes outcomes = every_point([&](FaultVfs& vfs, const Reserved& reserved, std::int64_t nth) {
      vfs.start_recording();
      auto ledger = reserved.fixture.open();
      auto transaction = reserved.posting(ledger);
      vfs.fail_at(nth, SQLITE_IOERR, from_then_on);
      const auto commit = [&] { static_cast<void>(ledger.commit(std::move(transaction))); };
      try {
        commit();
      } catch (const LedgerIo&) {
        ++poisoned;
      }
      const bool failed = vfs.failed();
      vfs.stop_failing();
      return failed;
    });
    CHECK(outcomes.points >= 20);
    CHECK(poisoned >= 20);
    CHECK(outcomes.told <= 1);  // the checkpoint that follows a COMMIT that returned
    CHECK(outcomes.lost == 0);
  }
}

TEST_CASE("settlement: a COMMIT that found no room did not happen, for whoever opens the ledger next either",
          "[ledger][settlement][fault]") {
  enum Exit { no_failure = 10, turned_away, in_doubt, unharmed };
  for (const int error : {ENOSPC, EDQUOT, EFBIG}) {
    int found_no_room = 0;
    for (std::int64_t nth = 1;; ++nth) {
      CAPTURE(error, nth);
      FaultVfs vfs;
      const Reserved reserved;
      // In a process that then dies as it is, so that nothing is tidied up.
      const int status = in_child([&] {
        auto ledger = reserved.fixture.open();
        auto transaction = reserved.posting(ledger);
        vfs.fail_with_errno(error);
        vfs.fail_at(nth, error == ENOSPC ? SQLITE_FULL : SQLITE_IOERR, false);
        try {
          static_cast<void>(ledger.commit(std::move(transaction)));
        } catch (const LedgerBusy&) {
          ::_exit(ledger.poison_reason() ? 1 : turned_away);
        } catch (const LedgerIo&) {  // a sync that fails for lack of room is a failed sync
          ::_exit(in_doubt);
        }
        ::_exit(vfs.failed() ? unharmed : no_failure);  // reading needs no room
      });
      REQUIRE(WIFEXITED(status));
      if (WEXITSTATUS(status) == no_failure) break;
      if (WEXITSTATUS(status) == in_doubt || WEXITSTATUS(status) == unharmed) continue;
      CHECK(WEXITSTATUS(status) == turned_away);
      ++found_no_room;
      CHECK_FALSE(reserved.fixture.look().find_by_key("ada", "k"));
      auto again = reserved.fixture.open();
      auto transaction = reserved.posting(again);
      CHECK(again.commit(std::move(transaction)).size() == 1);
    }
    CHECK(found_no_room >= 15);
  }
}

TEST_CASE("settlement: what was written whole and never published is cut off the log",
          "[ledger][settlement][crash]") {
  FaultVfs vfs;
  const Reserved reserved;
  int calls = 0;  // of COMMIT, the last of which is the sync
  {
    const Reserved other;
    auto ledger = other.fixture.open();
    auto transaction = other.posting(ledger);
    vfs.fail_at(0, 0, false);
    static_cast<void>(ledger.commit(std::move(transaction)));
    calls = static_cast<int>(vfs.operations());
  }
  int ready[2];
  int go[2];
  REQUIRE(::pipe(ready) == 0);
  REQUIRE(::pipe(go) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    char byte = 0;
    auto ledger = reserved.fixture.open();
    auto transaction = reserved.posting(ledger);
    if (::write(ready[1], &byte, 1) != 1 || ::read(go[0], &byte, 1) != 1) ::_exit(1);
    vfs.die_at(calls);
    static_cast<void>(ledger.commit(std::move(transaction)));
    ::_exit(0);
  }
  char byte = 0;
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  auto ledger = reserved.fixture.open();  // so that nobody recovers the log when the other one dies
  auto open_view = ledger.snapshot();
  REQUIRE(::write(go[1], &byte, 1) == 1);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WEXITSTATUS(status) == kKilled);
  for (const int end : {ready[0], ready[1], go[0], go[1]}) ::close(end);

  const auto whole = fs::file_size(reserved.fixture.sibling("-wal"));
  CHECK(mark_of(reserved.fixture).state == CommitMark::State::committing);
  {
    auto transaction = ledger.begin();
    CHECK_FALSE(transaction.find_by_key("ada", "k"));
  }
  CHECK(mark_of(reserved.fixture).state == CommitMark::State::settled);
  CHECK(fs::file_size(reserved.fixture.sibling("-wal")) < whole);
  // Whoever reads only the files finds what everybody else sees.
  const TemporaryDirectory copy;
  write_image(files_of(reserved.fixture), reserved.fixture.directory.path(), copy.path() + "/copy");
  CHECK_FALSE(ledger::Ledger::open_read_only(copy.path() + "/copy/L").snapshot().find_by_key("ada", "k"));
}

TEST_CASE("settlement: a reader waits for whoever has the turn, then withholds, and settles when it is free",
          "[ledger][settlement][lock]") {
  const Reserved reserved;
  const LedgerFixture& fixture = reserved.fixture;
  {
    auto ledger = fixture.open();
    auto transaction = reserved.posting(ledger);
    static_cast<void>(ledger.commit(std::move(transaction)));
  }
  write_mark(fixture, committing(2));
  const int lock = ::open(fixture.sibling(".lock").c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(lock >= 0);
  REQUIRE(::flock(lock, LOCK_EX) == 0);
  int waits = 0;
  auto patient = ledger::Ledger::open_read_only(
      fixture.path,
      {.wait = std::chrono::milliseconds(1'100), .report_wait = [&](const std::string& message) {
         ++waits;
         CHECK(message.starts_with("waiting for this process, through another object"));
       }});
  {
    auto snapshot = patient.snapshot();
    const auto found = snapshot.find_by_key("ada", "k");
    CHECK(waits == 1);
    CHECK_FALSE(found->durable);
    CHECK(found->values.empty());
    CHECK(found->component_values.empty());
    CHECK(found->draft.outcome == ledger::Outcome::granted);
    CHECK(snapshot.find_by_key("ada", "reservation")->durable);  // below the mark, and at once
    CHECK_FALSE(snapshot.find_by_key("ada", "k")->durable);
    CHECK(waits == 1);
    // Nor is the plan told that stands before it, and that goes with it.
    std::string last;
    CHECK_THROWS_AS(snapshot.each_line(0, [&](std::string_view line) { last = line; }), LedgerIo);
    CHECK(nlohmann::json::parse(last).value("key", "") == "reservation");
    CHECK(waits == 1);
  }
  REQUIRE(::flock(lock, LOCK_UN) == 0);
  CHECK(patient.snapshot().find_by_key("ada", "k")->values == Values{42});
  CHECK(mark_of(fixture).state == CommitMark::State::settled);
  ::close(lock);
}

TEST_CASE("settlement: a long log is written again whole, and as it was", "[ledger][settlement]") {
  const LedgerFixture fixture("100");
  auto ledger = fixture.open();
  for (int i = 0; i < 24; ++i) release(ledger, kTenth, Rational(i), std::to_string(i));
  const std::string log = read_file(fixture.sibling("-wal"));
  REQUIRE(log.size() > 5 * 65'536);
  write_mark(fixture, committing(24));
  CHECK(fixture.look().find_by_key("ada", "23")->values == Values{23});
  CHECK(mark_of(fixture).state == CommitMark::State::settled);
  CHECK(read_file(fixture.sibling("-wal")) == log);
  release(ledger, kTenth, Rational(24), "24");
  CHECK(fixture.look().find_by_key("ada", "24")->values == Values{24});
}

TEST_CASE("settlement: a mark of another boot says nothing, one that cannot be read is settled",
          "[ledger][settlement]") {
  const LedgerFixture fixture;
  release(fixture.open(), kTenth, Rational(42), "k");
  const int lock = ::open(fixture.sibling(".lock").c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(::flock(lock, LOCK_EX) == 0);  // so that no reader can settle
  const auto told = [&] {
    return ledger::Ledger::open_read_only(fixture.path, {.wait = std::chrono::milliseconds(0)})
        .snapshot()
        .find_by_key("ada", "k")
        ->durable;
  };
  auto elsewhen = committing(1);
  elsewhen.boot_id = "another-boot";
  write_mark(fixture, elsewhen);
  CHECK(told());
  for (const char* rubbish : {"rubbish", "epsilog-lock-1"}) {
    std::ofstream(fixture.sibling(".lock")) << rubbish;
    CHECK_FALSE(told());
  }
  std::ofstream(fixture.sibling(".lock")) << std::string(ledger::kCommitMarkBytes, '\0');
  CHECK(told());
  auto unknown = committing(1);
  unknown.boot_id = "unknown";
  write_mark(fixture, unknown);
  CHECK_FALSE(told());
  std::ofstream(fixture.sibling(".lock")) << "rubbish";
  REQUIRE(::flock(lock, LOCK_UN) == 0);
  ::close(lock);
  auto ledger = fixture.open();
  { const auto transaction = ledger.begin(); }
  CHECK(mark_of(fixture).state == CommitMark::State::settled);
}

TEST_CASE("settlement: a mark is read back as it was written, and no flipped bit passes for another",
          "[ledger][settlement]") {
  const std::vector<CommitMark> marks = {
      {},
      committing(1),
      committing(9'000'000'000'000'000'000),
      {.state = CommitMark::State::poisoned,
       .boot_id = "b",
       .time = "2026-01-31T12:00:00.000Z",
       .reason = "committing: disk I/O error\n" + std::string(2'000, 'x')}};
  for (const CommitMark& mark : marks) {
    const std::string bytes = ledger::commit_mark_bytes(mark);
    REQUIRE(bytes.size() == ledger::kCommitMarkBytes);
    const CommitMark read = ledger::parse_commit_mark(bytes);
    CHECK(read.state == mark.state);
    CHECK(read.boot_id == mark.boot_id);
    CHECK(read.first == mark.first);
    CHECK(read.time == mark.time);
    CHECK(read.reason.substr(0, 26) == mark.reason.substr(0, 26));
    const std::size_t significant = bytes.find_last_not_of('\n') + 2;
    for (std::size_t bit = 0; bit < significant * 8; bit += 3) {
      std::string damaged = bytes;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
      const bool passes = ledger::parse_commit_mark(damaged).state != CommitMark::State::unreadable;
      if (passes && bit / 8 + 1 < significant) FAIL("bit " << bit);
    }
  }
  CHECK(ledger::parse_commit_mark("").state == CommitMark::State::settled);
}
