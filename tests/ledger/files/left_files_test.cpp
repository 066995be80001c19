// What a killed `init`, a deleted ledger and a reader leave behind, and that none of it is in the way of what
// comes next.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "commit_mark.hpp"
#include "ledger/support/fault_vfs.hpp"
#include "ledger/support/power_failure.hpp"
#include "ledger/support/replicated.hpp"
#include "replica_mark.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;
namespace fs = std::filesystem;

namespace {

/// A place for a ledger whose policy names a replica beside it.
struct Place {
  [[nodiscard]] std::string create(const std::string& forget = "") const {
    return ledger::Ledger::create(path, policy_with_replica("replica"),
                                  {account("clinic", "epsilon", Epsilon::parse_down("1").units())},
                                  replicating(directory.path()), forget);
  }
  void require_usable() const {
    auto ledger = ledger::Ledger::open(path, replicating(directory.path()));
    release(ledger, kHundredth, Rational(1), "1");
    CHECK(replica_fault(replica, ledger.snapshot()) == "");
  }

  TemporaryDirectory directory;
  std::string path = directory.path() + "/L";
  std::string replica = directory.path() + "/replica";
};

/// A ledger with a replica and a backup, of which the database was deleted.
struct Deleted : ReplicatedLedger {
  Deleted() : backup(elsewhere.path() + "/backup") {
    {
      auto ledger = open();
      release(ledger, kHundredth, Rational(1), "1");
    }
    static_cast<void>(ledger::Ledger::backup(path, backup, {}, options()));
    id = look().ledger_id();
    lines = lines_of(look());
    index = read_file(path + "-shm");
    for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(path + suffix);
  }
  [[nodiscard]] ledger::Options options() const { return replicating(directory.path()); }

  TemporaryDirectory elsewhere;
  std::string backup;
  std::string id;
  std::string index;
  std::vector<std::string> lines;
};

struct Maker {
  const char* name;
  std::function<void(const Deleted&)> make;
};

/// Every call that makes a ledger, or a file that is one.
std::vector<Maker> makers() {
  using ledger::Ledger;
  return {{"create",
           [](const Deleted& gone) {
             fs::remove(gone.replica);
             (void)Ledger::create(gone.path, policy(), {account("clinic", "epsilon", 1)}, gone.options(),
                                  gone.id);
           }},
          {"recover from the replica",
           [](const Deleted& gone) {
             (void)Ledger::recover_from(gone.path, gone.replica, {.by = "cleo", .why = "lost"},
                                        gone.options());
           }},
          {"restore",
           [](const Deleted& gone) {
             (void)Ledger::restore(gone.path, gone.backup, {.by = "cleo", .why = "lost"}, gone.options());
           }},
          {"import",
           [](const Deleted& gone) {
             (void)Ledger::import_lines(gone.path, each_of(gone.lines), gone.options());
           }},
          {"backup",
           [](const Deleted& gone) { (void)Ledger::backup(gone.backup, gone.path, {}, gone.options()); }}};
}

struct Reader {
  const char* name;
  std::function<void(const std::string& copy)> read;
};

/// Every call that opens a copy and does not write to it.
std::vector<Reader> readers() {
  using ledger::Ledger;
  return {
      {"a snapshot",
       [](const std::string& copy) { (void)Ledger::open_read_only(copy).snapshot().decision_count(); }},
      {"several at once",
       [](const std::string& copy) {
         const auto one = Ledger::open_read_only(copy);
         auto first = one.snapshot();
         const auto other = Ledger::open_read_only(copy);
         auto second = other.snapshot();
         CHECK(first.decision_count() == second.decision_count());
       }},
      {"a ledger that would write on demand",
       [](const std::string& copy) { (void)Ledger::open_on_demand(copy, {}).snapshot().decision_count(); }},
      {"its state of recovery", [](const std::string& copy) { (void)Ledger::recovery_state(copy); }},
      {"a restoration", [](const std::string& copy) {
         const TemporaryDirectory place;
         (void)Ledger::restore(place.path() + "/L", copy,
                               {.by = "cleo", .why = "lost", .accept_rollback = true});
       }}};
}

}  // namespace

TEST_CASE("left files: an init with a replica that is killed anywhere does not block the next one",
          "[ledger][replica][crash][left]") {
  int killed = 0;
  for (std::int64_t at = 1;; ++at) {
    const Place place;
    const int status = in_child([&] {
      FaultVfs vfs;
      const ReplicaCallsOf calls(vfs, place.replica);
      vfs.die_at(at);
      (void)place.create();
    });
    CAPTURE(at);
    if (status == 0) break;
    ++killed;
    REQUIRE_FALSE(fs::exists(place.path));
    (void)place.create();
    place.require_usable();
    for (const std::string& name : names_in(place.directory.path())) {
      CHECK_FALSE(name.starts_with("replica.creating"));
    }
  }
  CHECK(killed >= 20);
}

TEST_CASE("left files: an init that was killed with its replica in place makes that one anew",
          "[ledger][replica][crash][left]") {
  const Place place;
  const std::string first = place.create();
  // As it lies after a kill between the two names: L.lock remembers no ledger.
  for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(place.path + suffix);
  forget_end(place.path);
  SECTION("in this boot") {}
  SECTION("in an earlier boot") {
    std::string lock = read_file(place.path + ".lock");
    lock.replace(ledger::kCommitMarkBytes, ledger::kCommitMarkBytes,
                 ledger::replica_mark_bytes({.boot_id = "earlier", .ledger_id = first, .size = 1, .end = 1}));
    write_file(place.path + ".lock", lock);
  }
  REQUIRE(has_part(read_file(place.replica), first));
  const std::string second = place.create();
  CHECK(first != second);
  CHECK_FALSE(has_part(read_file(place.replica), first));
  place.require_usable();
}

TEST_CASE("left files: an init never removes a replica that may hold a history, and says what to do",
          "[ledger][replica][left]") {
  const Place place;
  const std::string first = place.create();
  std::string forget;
  SECTION("a decision is in it") {
    place.require_usable();
    forget_end(place.path);
  }
  SECTION("L.lock remembers its ledger") {
    forget = first;
  }
  SECTION("L.lock says nothing of it") {
    fs::remove(place.path + ".lock");
  }
  SECTION("what L.lock remembers is damaged") {
    std::string lock = read_file(place.path + ".lock");
    lock.at(1'024 + 20) ^= 1;
    write_file(place.path + ".lock", lock);
  }
  SECTION("it is of another ledger") {
    const Place other;
    (void)other.create();
    fs::remove(place.replica);
    fs::copy_file(other.replica, place.replica);
    forget_end(place.path);
  }
  for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(place.path + suffix);
  const std::string replica = read_file(place.replica);
  const std::string message = message_of([&] { (void)place.create(forget); });
  CAPTURE(message);
  CHECK(has_part(message, place.replica + " is there already"));
  CHECK(has_part(message, "remove it and run `epsilog init` again"));
  CHECK((read_file(place.replica) == replica));
  CHECK_FALSE(fs::exists(place.path));
}

TEST_CASE("left files: an empty log beside a deleted ledger is in nobody's way", "[ledger][left]") {
  struct Left {
    const char* name;
    bool log;
    bool index;
  };
  for (const Left left : {Left{"log", true, false}, Left{"index", false, true}, Left{"both", true, true}}) {
    for (const Maker& maker : makers()) {
      CAPTURE(left.name, maker.name);
      const Deleted gone;
      if (left.log) write_file(gone.path + "-wal", "");
      if (left.index) write_file(gone.path + "-shm", gone.index);
      CHECK_NOTHROW(maker.make(gone));
      CHECK(ledger::Ledger::open_read_only(gone.path).snapshot().ledger_id().size() == 32);
    }
  }
}

TEST_CASE("left files: a log with anything in it, and what is no index, is left as it is", "[ledger][left]") {
  for (const Maker& maker : makers()) {
    for (const char* suffix : {"-wal", "-shm"}) {
      CAPTURE(maker.name, suffix);
      const Deleted gone;
      write_file(gone.path + suffix, "mine");
      CHECK(has_part(message_of([&] { maker.make(gone); }), gone.path + suffix));
      CHECK(read_file(gone.path + suffix) == "mine");
      fs::remove(gone.path + suffix);
      fs::create_directory(gone.path + suffix);
      CHECK(has_part(message_of([&] { maker.make(gone); }), gone.path + suffix));
      CHECK(fs::is_directory(gone.path + suffix));
    }
  }
}

TEST_CASE("left files: who reads a backup leaves nothing beside it, and does not change it",
          "[ledger][backup][left]") {
  for (const Reader& reader : readers()) {
    CAPTURE(reader.name);
    const ReplicatedLedger fixture("");
    const TemporaryDirectory elsewhere;
    const std::string copy = elsewhere.path() + "/copy";
    (void)ledger::Ledger::backup(fixture.path, copy, {});
    const std::string bytes = read_file(copy);
    struct stat before {};
    REQUIRE(::stat(copy.c_str(), &before) == 0);
    reader.read(copy);
    struct stat after {};
    REQUIRE(::stat(copy.c_str(), &after) == 0);
    CHECK(names_in(elsewhere.path()) == std::set<std::string>{"copy"});
    CHECK((read_file(copy) == bytes));
    CHECK(after.st_mtim.tv_nsec == before.st_mtim.tv_nsec);
    fs::remove(copy);
    CHECK_NOTHROW(ledger::Ledger::backup(fixture.path, copy, {}));
  }
}

TEST_CASE("left files: a log that a copy was made with stays, and so does what another program reads",
          "[ledger][backup][left]") {
  const TemporaryDirectory elsewhere;
  const std::string copy = elsewhere.path() + "/copy";
  SECTION("a log with lines") {
    const ReplicatedLedger fixture("");
    auto ledger = fixture.open();
    release(ledger, kHundredth, Rational(1), "1");
    copy_ledger(fixture.path, copy);
    REQUIRE(fs::file_size(copy + "-wal") > 0);
    const std::string log = read_file(copy + "-wal");
    CHECK(ledger::Ledger::open_read_only(copy).snapshot().find_by_key("ada", "1"));
    CHECK((read_file(copy + "-wal") == log));
  }
  SECTION("another reader") {
    const ReplicatedLedger fixture("");
    (void)ledger::Ledger::backup(fixture.path, copy, {});
    int ready[2];
    int done[2];
    REQUIRE(::pipe(ready) == 0);
    REQUIRE(::pipe(done) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
      int code = 1;
      try {
        auto view = ledger::Ledger::open_read_only(copy).snapshot();
        char byte = 0;
        static_cast<void>(!::write(ready[1], "r", 1));
        static_cast<void>(!::read(done[0], &byte, 1));
        code = view.decision_count() == 0 && fs::exists(copy + "-shm") ? 0 : 2;
      } catch (const std::exception&) {
      }
      ::_exit(code);
    }
    char byte = 0;
    CHECK(::read(ready[0], &byte, 1) == 1);
    (void)ledger::Ledger::open_read_only(copy).snapshot();
    CHECK(fs::exists(copy + "-shm"));
    CHECK(::write(done[1], "d", 1) == 1);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    for (const int end : {ready[0], ready[1], done[0], done[1]}) ::close(end);
    (void)ledger::Ledger::open_read_only(copy).snapshot();
    CHECK(names_in(elsewhere.path()) == std::set<std::string>{"copy"});
  }
}
