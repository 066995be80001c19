// A ledger from its replica: put back what is missing, or made again.
#include "epsilog/ledger/digest.hpp"
#include "epsilog/ledger/inspection.hpp"
#include "epsilog/ledger/replica.hpp"
#include "ledger/support/power_failure.hpp"
#include "ledger/support/replicated.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;
namespace fs = std::filesystem;

namespace {

ledger::ReplicaRecovery recover(const ReplicatedLedger& fixture,
                                std::vector<ledger::StoredFault> found = {}) {
  return ledger::Ledger::recover_from(
      fixture.path, fixture.replica,
      {.by = "cleo", .why = "disk failed", .verify = [found](const std::string&) { return found; }},
      replicating(fixture.directory.path()));
}

ledger::ReplicaRecovery accept_truncated(const ReplicatedLedger& fixture) {
  return ledger::Ledger::recover_from(fixture.path, fixture.replica,
                                      {.by = "cleo", .why = "disk failed", .accept_truncated = true},
                                      replicating(fixture.directory.path()));
}

std::string recoveries(const ReplicatedLedger& fixture) {
  return query_sql(
      fixture.path,
      "SELECT group_concat(cause || ' ' || restored_lines || ' ' || dropped_lines, '|') FROM recovery");
}

std::string token_text(const ledger::DataToken::Bytes& bytes) {
  return ledger::hex_text(std::span(bytes));
}

/// Two releases and a token, then a copy, then two releases and another token.
struct LostTail : ReplicatedLedger {
  LostTail() : copy(elsewhere.path() + "/L") {
    tokens.push_back(go_on(1));
    copy_ledger(path, copy);
    then = read_file(replica);
    lines_then = std::stoll(query_sql(path, "SELECT log_size FROM meta"));
    tokens.push_back(go_on(3));
    lines = std::stoll(query_sql(path, "SELECT log_size FROM meta"));
    all = lines_of(look());
  }

  /// Of a token that it issues: its text.
  std::string go_on(int number) {
    auto ledger = open();
    release(ledger, kHundredth, Rational(number), std::to_string(number));
    release(ledger, kHundredth, Rational(number + 1), std::to_string(number + 1));
    auto transaction = ledger.begin();
    const std::string reserved = record_outcome(transaction, draft_of(ledger::Outcome::reserved), kHundredth);
    auto draft = draft_of(ledger::Outcome::data_accessed, reserved);
    draft.issues_token = true;
    static_cast<void>(record_outcome(transaction, draft, kHundredth));
    return token_text(*ledger.commit(std::move(transaction)).back().token->bytes);
  }

  /// The ledger goes on from its lines of before, with one more.
  void require_recovered() const {
    std::size_t index = 0;
    look().each_line(0, [&](std::string_view line) {
      if (index < all.size()) REQUIRE(line == all[index]);
      ++index;
    });
    REQUIRE(index == all.size() + 1);
    auto ledger = open();
    release(ledger, kHundredth, Rational(9), "9");
    CHECK(replica_fault(replica, look()) == "");
    for (int i = 1; i <= 4; ++i) {
      CHECK(look().find_by_key("ada", std::to_string(i))->values ==
            std::vector<Rational>{Rational(static_cast<long>(i))});
    }
    auto view = look();
    CHECK(balances_fold(view));
    ledger::Inspection inspection(view);
    CHECK(inspection.lifecycle_faults().empty());
    CHECK(inspection.completeness_faults().empty());
    CHECK(inspection.storage_faults(true).empty());
  }

  TemporaryDirectory elsewhere;
  std::string copy;  ///< of an earlier state,
  std::string then;  ///< and its replica
  std::int64_t lines_then = 0;
  std::int64_t lines = 0;
  std::vector<std::string> tokens;
  std::vector<std::string> all;
};

}  // namespace

TEST_CASE("recovery from a replica: a ledger that was put back has again what it lost", "[ledger][replica]") {
  const LostTail fixture;
  auto open_before = fixture.open();
  copy_ledger(fixture.copy, fixture.path);
  const auto recovery = recover(fixture);
  CHECK(recovery.kept == fixture.lines_then);
  CHECK(recovery.restored == fixture.lines - fixture.lines_then);
  CHECK(recovery.dropped == 0);
  CHECK(recovery.faults.empty());
  fixture.require_recovered();
  // Tokens of what it kept it can tell, of what was put back it knows the hash.
  auto view = fixture.look();
  CHECK(view.find_by_token(fixture.tokens[0])->token->bytes);
  const auto put_back = view.find_by_token(fixture.tokens[1]);
  REQUIRE(put_back);
  CHECK(!put_back->token->bytes);
  CHECK(
      query_sql(fixture.path, "SELECT cause || restored_lines || dropped_lines || by || why FROM recovery") ==
      "behind_replica" + std::to_string(recovery.restored) + "0cleodisk failed");
  // A replica that lacks something is no reason to put anything back.
  write_file(fixture.replica, fixture.then);
  CHECK(recover(fixture).restored == 0);
  CHECK(replica_fault(fixture.replica, fixture.look()) == "");
}

TEST_CASE("recovery from a replica: a ledger that is gone is made again", "[ledger][replica]") {
  const LostTail fixture;
  const std::string id = fixture.look().ledger_id();
  remove_ledger(fixture.path);
  const auto recovery = recover(fixture);
  CHECK(recovery.ledger_id == id);
  CHECK(recovery.kept == 0);
  CHECK(recovery.restored == fixture.lines);
  fixture.require_recovered();
  for (const std::string& token : fixture.tokens) CHECK(!fixture.look().find_by_token(token)->token->bytes);
  CHECK(query_sql(fixture.path, "SELECT cause FROM recovery") == "rebuilt");
}

TEST_CASE("recovery from a replica: what nobody was told of is cut off, and counted", "[ledger][replica]") {
  const LostTail fixture;
  const std::string whole = read_file(fixture.replica);
  const std::string last = fixture.all.back();
  for (const std::string& tail :
       {last.substr(0, 40), last + "\n" + last.substr(0, 9), last + "\n" + std::string(30, '\0') + "\n"}) {
    CAPTURE(tail);
    const bool there = fs::exists(fixture.path);
    if (there) remove_ledger(fixture.path);
    write_file(fixture.replica, whole + tail);
    CHECK(recover(fixture).dropped == std::count(tail.begin(), tail.end(), '\n'));
    // And the line that says so stands where it was.
    CHECK(read_file(fixture.replica).starts_with(whole + R"({"blind":")"));
    CHECK(replica_fault(fixture.replica, fixture.look()) == "");
  }
}

TEST_CASE("recovery from a replica: lines without a trailer that were written whole are not cut off unasked",
          "[ledger][replica]") {
  const LostTail fixture;
  const std::string whole = read_file(fixture.replica);
  const std::string trailer = whole.substr(whole.rfind("\n= ") + 1);
  const std::string without = whole.substr(0, whole.size() - trailer.size());
  remove_ledger(fixture.path);
  for (const std::string& tail : std::vector<std::string>{"", "= 12 garbage\n", "\n", trailer.substr(2)}) {
    CAPTURE(tail);
    const std::string damaged = without + tail;
    write_file(fixture.replica, damaged);
    CHECK_THROWS_WITH(recover(fixture), test::says("was written whole") && test::says("--accept-truncated"));
    CHECK(read_file(fixture.replica) == damaged);
    CHECK_FALSE(fs::exists(fixture.path));
  }
  write_file(fixture.replica, without);
  const auto recovery = accept_truncated(fixture);
  CHECK(recovery.truncated);
  CHECK(recovery.restored + recovery.dropped == fixture.lines);
  CHECK(recoveries(fixture) ==
        "rebuilt " + std::to_string(recovery.restored) + " " + std::to_string(recovery.dropped));
}

TEST_CASE(
    "recovery from a replica: one that was being written when its writer died lacks nothing of the ledger",
    "[ledger][replica]") {
  const LostTail fixture;
  const std::string whole = read_file(fixture.replica);
  // All lines of the last group, and not its trailer: as many as the ledger has.
  write_file(fixture.replica, whole.substr(0, whole.rfind("\n= ") + 1));
  CHECK(recover(fixture).restored == 0);
  CHECK(replica_fault(fixture.replica, fixture.look()) == "");
}

TEST_CASE("recovery from a replica: refuses what is not whole, and leaves everything as it was",
          "[ledger][replica]") {
  const LostTail fixture;
  const std::string whole = read_file(fixture.replica);
  const auto refuses = [&](const std::string& bytes, const std::string& says) {
    write_file(fixture.replica, bytes);
    const bool there = fs::exists(fixture.path);
    const std::string before = there ? read_file(fixture.path) : "";
    CHECK_THAT(message_thrown<LedgerCorrupt>([&] { return recover(fixture); }), test::says(says));
    CHECK(read_file(fixture.replica) == bytes);
    CHECK(fs::exists(fixture.path) == there);
    if (there) CHECK(read_file(fixture.path) == before);
  };
  const auto with_flip = [&](std::size_t at) {
    std::string other = whole;
    other[at] = static_cast<char>(other[at] ^ 1);
    return other;
  };
  copy_ledger(fixture.copy, fixture.path);
  refuses(with_flip(whole.find("\"values\"") + 11), "is not that of the lines before it");
  refuses(with_flip(whole.find("\n= ") + 5), "is not that of the lines before it");
  const auto second = whole.find("\n= ", whole.find("\n= ") + 1);
  const auto line_end = whole.find('\n', second + 1);
  refuses(whole.substr(0, line_end + 1) + whole.substr(whole.find('\n', line_end + 1) + 1),
          "is not that of the lines before it");
  refuses("", "it has no trailer");
  refuses(fixture.all[0] + "\n", "it has no trailer");
  remove_ledger(fixture.path);
  refuses(with_flip(whole.find("\"values\"") + 11), "is not that of the lines before it");

  // A ledger that went another way since.
  copy_ledger(fixture.copy, fixture.path);
  write_file(fixture.replica, fixture.then);
  release(fixture.open(), kHundredth, Rational(7), "another");
  refuses(whole, "went another way");
  // What is made of it does not verify.
  copy_ledger(fixture.copy, fixture.path);
  forget_end(fixture.path);
  const std::string before = read_file(fixture.path);
  CHECK(recover(fixture, {{"decision 1", "wrong", "is wrong"}}).faults.size() == 1);
  CHECK(read_file(fixture.path) == before);
  remove_ledger(fixture.path);
  CHECK(recover(fixture, {{"decision 1", "wrong", "is wrong"}}).faults.size() == 1);
  CHECK(!fs::exists(fixture.path));
  CHECK_THROWS_AS(ledger::Ledger::recover_from(fixture.path, fixture.replica, {.by = "cleo"}),
                  InvalidParameter);
}

namespace {

/// Flips bits, one of each byte or all, of one byte of `stride` from `begin` on, and recovers from that. A
/// ledger is made, without the last group, only where the last trailer looks torn: without its line feed, or
/// with a NUL. Returns for how many.
int torn_by_flips(const LostTail& fixture, std::size_t begin, std::size_t stride, bool every_bit) {
  const std::string whole = read_file(fixture.replica);
  const std::size_t last_trailer = whole.rfind("\n= ") + 1;
  int torn = 0;
  for (std::size_t at = begin; at < whole.size(); at += stride) {
    for (std::size_t bit = every_bit ? 0 : at % 8; bit <= (every_bit ? 7 : at % 8); ++bit) {
      std::string other = whole;
      other[at] = static_cast<char>(other[at] ^ 1 << bit);
      write_file(fixture.replica, other);
      CAPTURE(at, bit);
      const bool looks_torn = at + 1 == whole.size() || (at >= last_trailer && other[at] == '\0');
      try {
        const auto recovery = recover(fixture);
        REQUIRE(looks_torn);
        ++torn;
        REQUIRE(recovery.restored < fixture.lines);
        REQUIRE(recovery.restored + recovery.dropped >= fixture.lines);
        remove_ledger(fixture.path);
      } catch (const LedgerCorrupt&) {
        REQUIRE_FALSE(looks_torn);
        REQUIRE(read_file(fixture.replica) == other);
        REQUIRE(!fs::exists(fixture.path));
      }
    }
  }
  return torn;
}

}  // namespace

TEST_CASE(
    "recovery from a replica: every bit of the last trailer that changes is damage or makes it look torn",
    "[ledger][replica]") {
  const LostTail fixture;
  remove_ledger(fixture.path);
  // Eight of the last line feed, and one of each of two blanks.
  const std::string whole = read_file(fixture.replica);
  CHECK(torn_by_flips(fixture, whole.rfind("\n= "), 1, true) >= 10);
}

TEST_CASE("recovery from a replica: a bit of any other line that changes is damage", "[ledger][replica]") {
  const LostTail fixture;
  remove_ledger(fixture.path);
  CHECK(torn_by_flips(fixture, 0, 5, false) <= 3);
}

TEST_CASE("recovery from a replica: every bit that changes is damage or makes the last trailer look torn",
          "[.long][ledger][replica]") {
  const LostTail fixture;
  remove_ledger(fixture.path);
  CHECK(torn_by_flips(fixture, 0, 1, true) >= 10);
}

TEST_CASE(
    "recovery from a replica: a last trailer that was changed is given up where the ledger has its lines",
    "[ledger][replica]") {
  const LostTail fixture;
  std::string damaged = read_file(fixture.replica);
  damaged[damaged.rfind("\n= ") + 5] ^= 1;
  write_file(fixture.replica, damaged);
  CHECK_THROWS_AS(recover(fixture), LedgerCorrupt);
  CHECK(accept_truncated(fixture).truncated);
  CHECK(recoveries(fixture) == "behind_replica 0 1");
  CHECK(replica_fault(fixture.replica, fixture.look()) == "");
  fixture.require_recovered();
}

TEST_CASE("recovery from a replica: what follows damage is given up where that is accepted, and told",
          "[ledger][replica]") {
  const LostTail fixture;
  const std::string whole = read_file(fixture.replica);
  std::string damaged = whole;  // in the first group after the copy
  damaged[damaged.find("\"key\":\"3\"") + 7] = '8';
  const auto held = static_cast<std::int64_t>(fixture.then.size());
  const auto bytes = static_cast<std::int64_t>(damaged.size()) - held;
  const std::int64_t dropped = fixture.lines - fixture.lines_then;
  const auto told = [&](const ledger::ReplicaRecovery& recovery) {
    CHECK(recovery.truncated);
    CHECK(recovery.dropped == dropped);
    CHECK(recovery.dropped_from == fixture.lines_then);
    CHECK(recovery.dropped_bytes == bytes);
    CHECK(replica_fault(fixture.replica, fixture.look()) == "");
    CHECK(read_file(fixture.replica).starts_with(fixture.then));
  };
  write_file(fixture.replica, damaged);
  const std::string said = message_thrown<LedgerCorrupt>([&] { return recover(fixture); });
  CHECK_THAT(said, says("--accept-truncated"));
  CHECK_THAT(said, says("ends with line " + std::to_string(fixture.lines_then - 1)));
  CHECK_THAT(said, says(std::to_string(dropped) + " lines (" + std::to_string(bytes) + " bytes)"));
  CHECK(read_file(fixture.replica) == damaged);
  SECTION("the ledger has them: one line of the replica stands nowhere") {
    told(accept_truncated(fixture));
    CHECK(recoveries(fixture) == "behind_replica 0 1");
    for (int i = 1; i <= 4; ++i) CHECK(fixture.look().find_by_key("ada", std::to_string(i))->durable);
    fixture.require_recovered();
  }
  SECTION("the ledger is a copy of before: they are gone") {
    copy_ledger(fixture.copy, fixture.path);
    forget_end(fixture.path);
    told(accept_truncated(fixture));
    CHECK(recoveries(fixture) == "behind_replica 0 " + std::to_string(dropped));
    CHECK_FALSE(fixture.look().find_by_key("ada", "3"));
  }
  SECTION("the ledger is gone: it is made of what is right") {
    remove_ledger(fixture.path);
    told(accept_truncated(fixture));
    CHECK(recoveries(fixture) ==
          "rebuilt " + std::to_string(fixture.lines_then) + " " + std::to_string(dropped));
    CHECK_FALSE(fixture.look().find_by_key("ada", "3"));
    CHECK(fixture.look().find_by_key("ada", "2"));
  }
  SECTION("nothing is right: there is nothing to go on from") {
    damaged[damaged.find("\"blind\":\"") + 9] ^= 1;
    write_file(fixture.replica, damaged);
    CHECK_THROWS_AS(accept_truncated(fixture), LedgerCorrupt);
    CHECK(read_file(fixture.replica) == damaged);
  }
  SECTION("nothing is wrong: nothing is given up") {
    write_file(fixture.replica, whole);
    CHECK_FALSE(accept_truncated(fixture).truncated);
    CHECK(read_file(fixture.replica) == whole);
  }
}

TEST_CASE("kill: at any operation of giving up what follows damage another recovery ends it, with one record",
          "[ledger][replica][crash]") {
  int recorded_before = 0;
  for (std::int64_t at = 1;; at += at < 8 ? 5 : 3) {
    const LostTail fixture;
    std::string damaged = read_file(fixture.replica);
    damaged[damaged.find("\"key\":\"3\"") + 7] = '8';
    write_file(fixture.replica, damaged);
    const int status = in_child([&] {
      FaultVfs vfs;
      const ReplicaCallsOf calls(vfs, fixture.replica);
      vfs.die_at(at);
      static_cast<void>(accept_truncated(fixture));
    });
    CAPTURE(at);
    const bool cut = read_file(fixture.replica).find("\"key\":\"8\"") == std::string::npos;
    const bool recorded = query_sql(fixture.path, "SELECT count(*) FROM recovery") == "1";
    CHECK((recorded || !cut));
    if (recorded && !cut) ++recorded_before;
    static_cast<void>(accept_truncated(fixture));
    REQUIRE(recoveries(fixture) == "behind_replica 0 1");
    fixture.require_recovered();
    if (status == 0) break;
  }
  CHECK(recorded_before >= 1);
}

TEST_CASE("kill: at every operation of a recovery from a replica another one ends it",
          "[ledger][replica][crash]") {
  for (const bool gone : {false, true}) {
    int killed = 0;
    for (std::int64_t at = 1;; at += at < 12 ? 1 : 29) {
      const LostTail fixture;
      copy_ledger(fixture.copy, fixture.path);
      if (gone) remove_ledger(fixture.path);
      write_file(fixture.replica, read_file(fixture.replica) + "{");
      const int status = in_child([&] {
        FaultVfs vfs;
        const ReplicaCallsOf calls(vfs, fixture.replica);
        vfs.die_at(at);
        static_cast<void>(recover(fixture));
      });
      CAPTURE(at, gone);
      if (status != 0) ++killed;
      static_cast<void>(recover(fixture));
      fixture.require_recovered();
      if (status == 0) break;
    }
    CHECK(killed >= 10);
  }
}
