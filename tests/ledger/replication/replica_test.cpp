// The replica: what it holds, when it is refused, and that no value leaves before it has the line.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "epsilog/ledger/replica.hpp"
#include "ledger/support/power_failure.hpp"
#include "ledger/support/replicated.hpp"
#include "replica_tail.hpp"
#include "support/case_table.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;
using namespace epsilog::test;
namespace fs = std::filesystem;

namespace {

std::string fault_of(const ReplicatedLedger& fixture) {
  return replica_fault(fixture.replica, fixture.look());
}

/// What begin() throws; "" nothing.
std::string refusal(ledger::Ledger& ledger) {
  try {
    const auto transaction = ledger.begin();
    return "";
  } catch (const ledger::ReplicaUnavailable& error) {
    return std::string("unavailable: ") + error.what();
  } catch (const ledger::LedgerRolledBack& error) {
    return std::string("rolled back: ") + error.what();
  } catch (const LedgerCorrupt& error) {
    return std::string("damaged: ") + error.what();
  }
}

void three_releases(const ReplicatedLedger& fixture) {
  auto ledger = fixture.open();
  for (int i = 1; i <= 3; ++i) release(ledger, kHundredth, Rational(i), std::to_string(i));
}

}  // namespace

TEST_CASE("replica: holds every line, and after those of each COMMIT a trailer", "[ledger][replica]") {
  const ReplicatedLedger fixture;
  CHECK(fault_of(fixture) == "");
  const std::string begun = read_file(fixture.replica);
  three_releases(fixture);
  CHECK(fault_of(fixture) == "");
  const std::string bytes = read_file(fixture.replica);
  CHECK(bytes.starts_with(begun));
  std::size_t trailers = 0;
  for (auto at = bytes.find("\n= "); at != std::string::npos; at = bytes.find("\n= ", at + 1)) ++trailers;
  CHECK(trailers == 4);
  struct stat status {};
  REQUIRE(::stat(fixture.replica.c_str(), &status) == 0);
  CHECK((status.st_mode & 07777) == 0600);
}

TEST_CASE("replica: a trailer has one text", "[ledger][replica]") {
  const auto head = ledger::TreeHead{.size = 12, .root = {1, 2, 3}};
  const std::string text = ledger::trailer_text(head);
  CHECK(text == "= 12 AQIDAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n");
  const std::string line = text.substr(0, text.size() - 1);
  CHECK(ledger::parse_trailer(line) == std::optional(head));
  for (std::size_t i = 0; i < line.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string other = line;
      other[i] = static_cast<char>(other[i] ^ (1 << bit));
      CAPTURE(other);
      CHECK(ledger::parse_trailer(other) != std::optional(head));
    }
  }
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/ledger/replication/no_trailers.tsv")) {
    const std::string& none = row.at(0);
    CAPTURE(none);
    CHECK(!ledger::parse_trailer(none));
  }
  // The largest count that a line can hold.
  CHECK(ledger::parse_trailer("= 9007199254740991 AQIDAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="));
}

TEST_CASE("replica: what cannot be used is refused before anything is charged", "[ledger][replica]") {
  const ReplicatedLedger fixture;
  three_releases(fixture);
  const std::string kept = read_file(fixture.replica);
  const std::string decisions = query_sql(fixture.path, "SELECT count(*) FROM decision");
  const TemporaryDirectory elsewhere;
  struct Case {
    const char* what;
    std::function<void()> make;
    const char* says;
  };
  const std::string moved = elsewhere.path() + "/kept";
  const Case cases[] = {
      {"absent", [] {}, "cannot be opened"},
      {"a directory", [&] { fs::create_directory(fixture.replica); }, "cannot be opened"},
      {"a link", [&] { fs::create_symlink(moved, fixture.replica); }, "cannot be opened"},
      {"a FIFO", [&] { REQUIRE(::mkfifo(fixture.replica.c_str(), 0600) == 0); }, "is not a regular file"},
      {"empty", [&] { write_file(fixture.replica, ""); }, "is empty"},
      {"no replica", [&] { write_file(fixture.replica, "hello\n"); }, "does not begin with the first line"},
      {"another ledger's",
       [&] {
         const ReplicatedLedger other;
         fs::copy_file(other.replica, fixture.replica);
       },
       "does not begin with the first line"},
      {"of two names", [&] { fs::create_hard_link(moved, fixture.replica); }, "more than one name"},
      {"open to its group",
       [&] {
         fs::copy_file(moved, fixture.replica);
         REQUIRE(::chmod(fixture.replica.c_str(), 0660) == 0);
       },
       "written by others"},
      {"a file of the ledger", [&] { fs::create_hard_link(fixture.path + "-wal", fixture.replica); },
       "is a file of a ledger"},
  };
  auto open_before = fixture.open();
  { const auto transaction = open_before.begin(); }
  fs::rename(fixture.replica, moved);
  for (const Case& item : cases) {
    CAPTURE(item.what);
    item.make();
    auto fresh = fixture.open();
    for (ledger::Ledger* ledger : {&open_before, &fresh}) {
      const std::string said = refusal(*ledger);
      CAPTURE(said);
      CHECK(said.starts_with("unavailable: "));
      CHECK(said.find(item.says) != std::string::npos);
    }
    fs::remove(fixture.replica);
  }
  CHECK(query_sql(fixture.path, "SELECT count(*) FROM decision") == decisions);
  CHECK(read_file(moved) == kept);
  fs::rename(moved, fixture.replica);
  CHECK(refusal(open_before) == "");
  // A program that reads no policies does not know where it is.
  auto unaware = ledger::Ledger::open(fixture.path, {});
  CHECK(refusal(unaware).find("does not know where") != std::string::npos);
}

TEST_CASE("replica: a ledger that was put back, or went another way, is not written to",
          "[ledger][replica]") {
  const ReplicatedLedger fixture;
  three_releases(fixture);
  const TemporaryDirectory elsewhere;
  const std::string copy = elsewhere.path() + "/L";
  copy_ledger(fixture.path, copy);
  const std::string when_copied = read_file(fixture.replica);
  release(fixture.open(), kHundredth, Rational(4), "4");
  const std::string replica = read_file(fixture.replica);

  copy_ledger(copy, fixture.path);
  {
    auto ledger = fixture.open();
    const std::string said = refusal(ledger);
    CAPTURE(said);
    CHECK(said.starts_with("rolled back: "));
  }
  CHECK(read_file(fixture.replica) == replica);

  // The copy goes on by itself, as far and further: it has lines that the replica has otherwise.
  for (const int further : {1, 2}) {
    CAPTURE(further);
    copy_ledger(copy, fixture.path);
    forget_end(fixture.path);
    write_file(fixture.replica, when_copied);
    {
      auto ledger = fixture.open();
      for (int i = 0; i < further; ++i)
        release(ledger, kHundredth, Rational(40 + i), "other " + std::to_string(i));
    }
    write_file(fixture.replica, replica);
    auto ledger = fixture.open();
    const std::string said = refusal(ledger);
    CAPTURE(said);
    CHECK(said.starts_with("rolled back: "));
    CHECK(read_file(fixture.replica) == replica);
  }
}

TEST_CASE("replica: what is missing at its end is written before anything else, wherever it ends",
          "[ledger][replica]") {
  const ReplicatedLedger fixture;
  three_releases(fixture);
  const std::string bytes = read_file(fixture.replica);
  const std::size_t begun = bytes.find("\n= ");
  for (std::size_t end = bytes.find('\n', begun + 1) + 1; end < bytes.size(); end += end % 7 + 1) {
    CAPTURE(end);
    write_file(fixture.replica, bytes.substr(0, end));
    auto ledger = fixture.open();
    REQUIRE(refusal(ledger) == "");
    REQUIRE(fault_of(fixture) == "");
  }
  // Before the first trailer nothing was ever acknowledged, and that it is this ledger's cannot be told.
  write_file(fixture.replica, bytes.substr(0, bytes.find('\n')));
  auto ledger = fixture.open();
  CHECK(refusal(ledger).starts_with("unavailable: "));
}

namespace {

/// Flips bits of the last group of a replica, one of each byte or all, and opens the ledger. Where the group
/// looks torn, without its line feed or with a NUL, it is written again; else nothing is written. Returns how
/// often it was.
int mended_after_flips(bool every_bit) {
  const ReplicatedLedger fixture;
  three_releases(fixture);
  const std::string bytes = read_file(fixture.replica);
  const std::size_t last = bytes.find('\n', bytes.rfind("\n= ", bytes.rfind("\n= ") - 1) + 1) + 1;
  int mended = 0;
  for (std::size_t at = last; at < bytes.size(); ++at) {
    for (std::size_t bit = every_bit ? 0 : at % 8; bit <= (every_bit ? 7 : at % 8); ++bit) {
      std::string other = bytes;
      other[at] = static_cast<char>(other[at] ^ (1 << bit));
      CAPTURE(at, bit);
      write_file(fixture.replica, other);
      fs::remove(fixture.path + ".lock");  // as after a reboot: what meta says is known is one group behind
      auto ledger = fixture.open();
      const std::string said = refusal(ledger);
      CAPTURE(said);
      if (said.empty()) {
        ++mended;
        REQUIRE((at + 1 == bytes.size() || other[at] == '\0'));
        REQUIRE(fault_of(fixture) == "");
      } else {
        REQUIRE((said.starts_with("damaged: ") || said.starts_with("rolled back: ")));
        REQUIRE((at + 1 < bytes.size() && other[at] != '\0'));
        REQUIRE(read_file(fixture.replica) == other);
      }
    }
  }
  return mended;
}

}  // namespace

TEST_CASE("replica: a bit of its last group that changes is found, and what looks torn is written again",
          "[ledger][replica]") {
  CHECK(mended_after_flips(false) >= 1);
}

TEST_CASE("replica: every bit of its last group that changes is found, and what looks torn is written again",
          "[.long][ledger][replica]") {
  CHECK(mended_after_flips(true) >= 10);
}

TEST_CASE("replica: damage is cut off by a recovery that accepts it, and the ledger goes on",
          "[ledger][replica]") {
  const ReplicatedLedger fixture;
  three_releases(fixture);
  std::string damaged = read_file(fixture.replica);
  damaged[damaged.rfind("\n= ") + 2] = '<';
  write_file(fixture.replica, damaged);
  auto ledger = fixture.open();
  const std::string said = refusal(ledger);
  CAPTURE(said);
  CHECK(said.starts_with("damaged: "));
  CHECK(said.find("--accept-truncated") != std::string::npos);
  CHECK(fixture.look().find_by_key("ada", "3")->durable);
  static_cast<void>(ledger::Ledger::recover_from(
      fixture.path, fixture.replica, {.by = "cleo", .why = "a bad block", .accept_truncated = true},
      replicating(fixture.directory.path())));
  CHECK(refusal(ledger).empty());
  CHECK(fault_of(fixture) == "");
}

TEST_CASE("replica: a value that it does not hold leaves by no way, until it does", "[ledger][replica]") {
  using Call = FailingReplica::Call;
  for (const Call call : {Call::write, Call::short_write, Call::sync}) {
    const ReplicatedLedger fixture;
    three_releases(fixture);
    auto ledger = fixture.open();
    CAPTURE(static_cast<int>(call));
    {
      auto transaction = ledger.begin();
      record_release(transaction, kHundredth, Rational(4), "4");
      record_release(transaction, kHundredth, Rational(5), "5");
      const FailingReplica failing(call, EIO);
      try {
        (void)ledger.commit(std::move(transaction));
        FAIL("committed");
      } catch (const ledger::ReplicaBehind& behind) {
        REQUIRE(behind.decisions().size() == 2);
        for (const auto& decision : behind.decisions()) {
          CHECK(!decision.durable);
          CHECK(decision.values.empty());
          CHECK(decision.component_values.empty());
          CHECK(!decision.id.empty());
        }
      }
      CHECK(FailingReplica::failed());
      // Nor can anything else be done as long as it fails.
      CHECK(refusal(ledger).starts_with("unavailable: "));
      auto view = ledger.snapshot();
      const auto told = view.find_by_key("ada", "4");
      REQUIRE(told);
      CHECK(!told->durable);
      CHECK(!told->in_replica);
      CHECK(told->values.empty());
      CHECK(!view.log_position(*told, std::nullopt));
      CHECK(view.find_by_key("ada", "3")->durable);
      int lines = 0;
      CHECK_THROWS_AS(view.each_line(0, [&lines](std::string_view) { ++lines; }), LedgerIo);
      CHECK(lines == view.find_by_key("ada", "3")->line + 1);
    }
    // Who reads and may write sees to it; who may not is told nothing.
    CHECK(!fixture.look().find_by_key("ada", "5")->durable);
    CHECK(ledger.snapshot().find_by_key("ada", "5")->values == std::vector<Rational>{Rational(5)});
    CHECK(fixture.look().find_by_key("ada", "5")->durable);
    auto other = fixture.open();
    {
      auto transaction = other.begin();
      const auto told = transaction.find_by_key("ada", "5");
      REQUIRE(told);
      CHECK(told->values == std::vector<Rational>{Rational(5)});
    }
    CHECK(fault_of(fixture) == "");
    CHECK(ledger.snapshot().find_by_key("ada", "4")->values == std::vector<Rational>{Rational(4)});
    CHECK(refusal(ledger) == "");
  }
}

TEST_CASE("replica: a full disk is noticed before anything is charged", "[ledger][replica]") {
  const ReplicatedLedger fixture;
  auto ledger = fixture.open();
  {
    const FailingReplica failing(FailingReplica::Call::reserve, ENOSPC);
    CHECK(refusal(ledger).find("No space left") != std::string::npos);
  }
  auto transaction = ledger.begin();
  // More than what was kept for it.
  for (int i = 0; i < 90; ++i)
    record_release(transaction, kHundredth, Rational(i), std::string(60'000, 'k') + std::to_string(i));
  const FailingReplica failing(FailingReplica::Call::reserve, ENOSPC);
  CHECK_THROWS_AS(ledger.commit(std::move(transaction)), ledger::ReplicaUnavailable);
  CHECK(fixture.look().decision_count() == 0);
  CHECK(fault_of(fixture) == "");
}

TEST_CASE("replica: a full disk, quota or file is named, with what to do", "[ledger][replica]") {
  using Call = FailingReplica::Call;
  for (const int error : {ENOSPC, EDQUOT, EFBIG}) {
    for (const Call call : {Call::write, Call::sync, Call::reserve}) {
      CAPTURE(error, static_cast<int>(call));
      const ReplicatedLedger fixture;
      auto ledger = fixture.open();
      std::string message;
      {
        const FailingReplica failing(call, error);
        try {
          release(ledger, kHundredth, Rational(1), "1");
        } catch (const Error& failure) {
          message = failure.what();
        }
        REQUIRE(FailingReplica::failed());
      }
      CHECK(message.find(fixture.replica) != std::string::npos);
      CHECK(message.find("make room where " + fixture.replica + " lies") != std::string::npos);
      CHECK(message.find("a policy that names another replica") != std::string::npos);
      CHECK(refusal(ledger) == "");
    }
  }
}

TEST_CASE("replica: goes where the active policy says, with everything so far", "[ledger][replica]") {
  const ReplicatedLedger fixture;
  three_releases(fixture);
  auto ledger = fixture.open();
  const std::vector<ledger::AccountState> accounts{
      account("clinic", "epsilon", Epsilon::parse_down("1").units())};
  const auto apply = [&](const std::string& name, bool synced = true) {
    const ledger::PolicyVersion next = policy_with_replica(name, synced);
    auto transaction = ledger.begin_to_apply(next);
    transaction.apply_policy(next, accounts, "");
    (void)ledger.commit(std::move(transaction));
  };
  const std::string second = fixture.directory.path() + "/second";
  const std::string first = read_file(fixture.replica);

  CHECK_THROWS_AS(apply("missing/second"), ledger::ReplicaUnavailable);
  write_file(second, "of somebody else\n");
  CHECK_THROWS_AS(apply("second"), ledger::ReplicaUnavailable);
  CHECK(read_file(second) == "of somebody else\n");
  CHECK(ledger.snapshot().active_policy_version() == 1);
  fs::remove(second);

  apply("second");
  CHECK(replica_fault(second, fixture.look()) == "");
  CHECK(read_file(fixture.replica).starts_with(first));  // and that another took its place
  {
    auto draft = granted("4");
    draft.policy_version = 2;
    auto transaction = ledger.begin();
    auto receipt = transaction.charge(draft, charge_of(kHundredth), kHundredth);
    transaction.attach(record_of(kHundredth), sealed(std::move(receipt), kHundredth, {Rational(4)}), {});
    (void)ledger.commit(std::move(transaction));
  }
  CHECK(replica_fault(second, fixture.look()) == "");

  apply("second", false);
  CHECK(replica_fault(second, fixture.look()) == "");

  // One that is lost for good does not keep from naming another; nor does it let anything else happen.
  fs::remove(second);
  CHECK(refusal(ledger).starts_with("unavailable: "));
  {
    auto transaction = ledger.begin_to_apply(policy_with_replica("third"));
    transaction.refuse([] {
      auto draft = refused("no");
      draft.policy_version = 3;
      return draft;
    }());
    CHECK_THROWS_AS(ledger.commit(std::move(transaction)), ledger::ReplicaUnavailable);
  }
  CHECK_THROWS_AS(apply("second"), ledger::ReplicaUnavailable);
  apply("third");
  CHECK(replica_fault(fixture.directory.path() + "/third", fixture.look()) == "");

  apply("");
  CHECK(query_sql(fixture.path, "SELECT replica_size FROM meta") == "0");
  fs::remove(fixture.directory.path() + "/third");
  CHECK(refusal(ledger) == "");
  apply("fourth");
  CHECK(replica_fault(fixture.directory.path() + "/fourth", fixture.look()) == "");
}

TEST_CASE("replica: a new ledger has one from its first line, or is not made", "[ledger][replica]") {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/L";
  const auto make = [&](const std::string& name) {
    static_cast<void>(ledger::Ledger::create(
        path, policy_with_replica(name), {account("clinic", "epsilon", 1)}, replicating(directory.path())));
  };
  for (const char* own : {"L", "L-wal", "L-shm", "L-journal", "L.lock", "L.queue", "L.poisoned"}) {
    CAPTURE(own);
    CHECK_THROWS_AS(make(own), ledger::ReplicaUnavailable);
    for (const auto& entry : fs::directory_iterator(directory.path())) {
      const std::string name = entry.path().filename();
      CHECK((name == "L.lock" || name == "L.queue"));
    }
  }
  write_file(directory.path() + "/taken", "");
  CHECK_THROWS_AS(make("taken"), ledger::ReplicaUnavailable);
  CHECK_THROWS_AS(make("missing/replica"), ledger::ReplicaUnavailable);
  CHECK(!fs::exists(path));
  write_file(path + ".poisoned", "");
  CHECK_THROWS_AS(make("replica"), LedgerUnusable);
  CHECK(!fs::exists(directory.path() + "/replica"));
  fs::remove(path + ".poisoned");
  make("replica");
  CHECK(replica_fault(directory.path() + "/replica", ledger::Ledger::open_read_only(path).snapshot()) == "");
}

TEST_CASE("replica: two that write by turns keep one", "[ledger][replica]") {
  const ReplicatedLedger fixture;
  auto one = fixture.open();
  auto other = fixture.open();
  for (int i = 0; i < 6; ++i) release(i % 2 == 0 ? one : other, kHundredth, Rational(i), std::to_string(i));
  CHECK(fault_of(fixture) == "");
  CHECK(in_child([&] {
          auto third = fixture.open();
          release(third, kHundredth, Rational(6), "6");
        }) == 0);
  release(one, kHundredth, Rational(7), "7");
  CHECK(fault_of(fixture) == "");
  for (int i = 0; i < 8; ++i) CHECK(fixture.look().find_by_key("ada", std::to_string(i))->durable);
}
