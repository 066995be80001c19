// Every verb beside a second process that has the ledger open: each works, or says that the ledger is busy.
// The second process loses nothing by it.
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "epsilog/ledger/ledger.hpp"
#include "support/catch.hpp"
#include "workbench.hpp"

using namespace epsilog::test;
namespace fs = std::filesystem;
namespace ledger = epsilog::ledger;

namespace {

/// What the second process has.
enum class Holds {
  snapshot,   ///< a reader, and what it sees
  files,      ///< a writer that is at rest
  turn,       ///< a transaction
  exclusive,  ///< another program's exclusive lock
};

/// A process of its own, until this is destroyed. Then it looks whether it still can do what it could.
class Neighbour final {
 public:
  Neighbour(const std::string& path, Holds holds) {
    int ready[2];
    int done[2];
    REQUIRE(::pipe(ready) == 0);
    REQUIRE(::pipe(done) == 0);
    child_ = ::fork();
    if (child_ == 0) {
      int code = 1;
      try {
        code = live(path, holds, ready[1], done[0]);
      } catch (const std::exception&) {
      }
      ::_exit(code);
    }
    char byte = 0;
    REQUIRE(::read(ready[0], &byte, 1) == 1);
    for (const int end : {ready[0], ready[1], done[0]}) ::close(end);
    done_ = done[1];
  }
  Neighbour(const Neighbour&) = delete;
  Neighbour& operator=(const Neighbour&) = delete;
  ~Neighbour() { static_cast<void>(ended()); }

  /// Its exit code: 0 if nothing was taken from it.
  int ended() {
    if (child_ < 0) return 0;
    static_cast<void>(!::write(done_, "d", 1));
    ::close(done_);
    int status = 0;
    ::waitpid(child_, &status, 0);
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
  }

 private:
  static void until_told(int ready, int done) {
    char byte = 0;
    static_cast<void>(!::write(ready, "r", 1));
    static_cast<void>(!::read(done, &byte, 1));
  }

  static int live(const std::string& path, Holds holds, int ready, int done) {
    if (holds == Holds::exclusive) {
      sqlite3* database = nullptr;
      sqlite3_open(path.c_str(), &database);
      const int locked =
          sqlite3_exec(database, "PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE; SELECT * FROM meta",
                       nullptr, nullptr, nullptr);
      until_told(ready, done);
      sqlite3_close(database);
      return locked == SQLITE_OK ? 0 : 2;
    }
    const bool reads = holds == Holds::snapshot;
    ledger::Ledger own = reads ? ledger::Ledger::open_read_only(path) : ledger::Ledger::open(path, {});
    std::optional<ledger::Snapshot> view;
    std::optional<ledger::Transaction> turn;
    if (holds == Holds::turn) {
      turn.emplace(own.begin());
    } else {
      view.emplace(own.snapshot());
    }
    const std::int64_t seen = view ? view->decisions() : 0;
    until_told(ready, done);
    if (view && view->decisions() != seen) return 2;
    turn.reset();
    view.reset();
    if (!fs::exists(path + "-wal") || !fs::exists(path + "-shm")) return 3;
    static_cast<void>(own.snapshot().decisions());
    if (!reads) static_cast<void>(own.begin());
    return 0;
  }

  pid_t child_ = -1;
  int done_ = -1;
};

struct Verb {
  std::string words;
  bool writes;
};

class Shared final {
 public:
  Shared() {
    bench_.init(kClinicPolicy);
    REQUIRE(bench_.with_ledger({"release", "clinic", "count", "--epsilon", "0.1", "--key", "a"}).exit == 0);
    REQUIRE(bench_.with_ledger({"reserve", "clinic", "count", "--epsilon", "0.1"}).exit == 0);
    bench_.write("next.yaml", std::string(kClinicPolicy) + "\n# again\n");
    id_ = decision_id(bench_.path("L"), 1);
    reserved_ = decision_id(bench_.path("L"), 2);
  }

  [[nodiscard]] std::vector<Verb> verbs() const {
    std::vector<Verb> verbs;
    for (const CaseRow& row : cli_table("neighbour_verbs.tsv")) {
      std::string words = row.at(1);
      if (words.find("ID") != std::string::npos)
        words = replaced(words, "ID", row.at(0) == "reads" ? id_ : reserved_);
      verbs.push_back({words, row.at(0) == "writes"});
    }
    return verbs;
  }
  [[nodiscard]] Result run(const std::string& words) const {
    fs::remove(bench_.path("B"));
    return bench_.with_ledger(words_of(words));
  }
  [[nodiscard]] std::string path() const { return bench_.path("L"); }
  [[nodiscard]] const Workbench& bench() const { return bench_; }

 private:
  Workbench bench_;
  std::string id_;
  std::string reserved_;
};

bool over_already(const std::string& words) {
  // What commit did not leave to cancel, and a clock that nobody set.
  return words.starts_with("cancel") || words.starts_with("clock");
}

}  // namespace

TEST_CASE("neighbours: beside a process that has the ledger open every verb works", "[cli][held]") {
  for (const Holds holds : {Holds::snapshot, Holds::files}) {
    const Shared shared;
    Neighbour neighbour(shared.path(), holds);
    for (const Verb& verb : shared.verbs()) {
      const Result result = shared.run(verb.words);
      CAPTURE(static_cast<int>(holds), verb.words, result.out, result.err);
      CHECK((result.exit == 0 || (over_already(verb.words) && result.exit != 7)));
    }
    CHECK(neighbour.ended() == 0);
    CHECK(shared.bench().with_ledger({"audit", "verify"}).exit == 0);
  }
}

TEST_CASE("neighbours: beside a process that writes every verb reads, or says that the ledger is busy",
          "[cli][held]") {
  const Shared shared;
  const std::string before = shared.run("audit export").out;
  {
    Neighbour neighbour(shared.path(), Holds::turn);
    for (const Verb& verb : shared.verbs()) {
      const Result result = shared.run(verb.words);
      CAPTURE(verb.words, result.out, result.err);
      CHECK(result.exit == (verb.writes ? 7 : 0));
      if (verb.writes) CHECK(contains(result.err, "in use"));
    }
    CHECK(neighbour.ended() == 0);
  }
  CHECK(shared.run("audit export").out == before);
}

TEST_CASE("neighbours: a ledger that another program has to itself is busy", "[cli][held]") {
  const Shared shared;
  Neighbour neighbour(shared.path(), Holds::exclusive);
  for (const char* words : {"history", "release clinic count --epsilon 0.01 --wait 0"}) {
    const Result result = shared.run(words);
    CAPTURE(words, result.err);
    CHECK(result.exit == 7);
  }
  CHECK(neighbour.ended() == 0);
}

TEST_CASE("neighbours: a ledger that another program has to itself is busy for every verb",
          "[cli][held][.long]") {
  const Shared shared;
  Neighbour neighbour(shared.path(), Holds::exclusive);
  for (const Verb& verb : shared.verbs()) {
    const Result result = shared.run(verb.words);
    CAPTURE(verb.words, result.err);
    CHECK(result.exit == 7);
  }
  CHECK(neighbour.ended() == 0);
}
