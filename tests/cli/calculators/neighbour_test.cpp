// Every verb beside a second process that has the ledger open: each works, or says that the ledger is busy.
// The second process loses nothing by it.
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/workbench.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "epsilog/ledger/seal.hpp"

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
    const std::int64_t seen = view ? view->decision_count() : 0;
    until_told(ready, done);
    if (view && view->decision_count() != seen) return 2;
    turn.reset();
    view.reset();
    if (!fs::exists(path + "-wal") || !fs::exists(path + "-shm")) return 3;
    static_cast<void>(own.snapshot().decision_count());
    try {
      if (!reads) static_cast<void>(own.begin());
    } catch (const ledger::LedgerSealed&) {
      // The last verb of the table seals it.
    }
    return 0;
  }

  pid_t child_ = -1;
  int done_ = -1;
};

/// A row of neighbour_verbs.tsv: how the verb ends beside a process that rests, that writes, and that has the
/// ledger to itself, and its words.
struct Verb {
  int at_rest;
  int in_turn;
  int exclusive;
  std::string words;
};

/// A ledger with something for every verb to work on.
class Shared final {
 public:
  Shared() {
    bench_.init(policy_text("neighbours.yaml"));
    bench_.write("next.yaml", policy_text("neighbours.yaml") + "\n# again\n");
    words_["RELEASED"] = id_of("release clinic count --epsilon 0.1 --key a", 0);
    for (const char* name : {"KEPT", "ENDED"}) words_[name] = id_of("reserve clinic count --epsilon 0.1", 0);
    words_["HANDED"] = id_of("reserve clinic value:auc --epsilon 0.1 --data-token", 0);
    for (const char* name : {"AGREED", "REFUSED"})
      words_[name] = id_of("release clinic count --epsilon 0.5", 5);
    words_["VKEY"] = words_of(out_of("key generate log.key")).at(0);
    static_cast<void>(out_of("credentials add alice --uid 4000000000 --id u1 --why asks"));
    static_cast<void>(out_of("backup kept"));
    bench_.write("lines", out_of("audit export"));
    bench_.write("checkpoint", out_of("audit checkpoint --key log.key"));
  }

  /// Throws  std::runtime_error for a cell that is no number.
  [[nodiscard]] std::vector<Verb> verbs() const {
    std::vector<Verb> verbs;
    for (const CaseRow& row : cli_table("calculators/neighbour_verbs.tsv")) {
      verbs.push_back({std::stoi(row.at(0)), std::stoi(row.at(1)), std::stoi(row.at(2)), row.at(3)});
    }
    return verbs;
  }
  /// Runs a verb, in whose words names in capitals stand for what this ledger has.
  [[nodiscard]] Result run(const std::string& text) const {
    for (const std::string& file : bench_.files()) {
      if (file.starts_with("new")) fs::remove_all(bench_.path(file));
    }
    Words words = words_of(text);
    for (std::string& word : words) {
      if (const auto meant = words_.find(word); meant != words_.end()) word = meant->second;
    }
    const bool named = std::find(words.begin(), words.end(), "--ledger") != words.end();
    return named ? bench_.run(words) : bench_.with_ledger(words);
  }
  [[nodiscard]] std::string path() const { return bench_.path("L"); }
  [[nodiscard]] const Workbench& bench() const { return bench_; }

 private:
  std::string out_of(const std::string& words, int exit = 0) {
    const Result result = bench_.with_ledger(words_of(words));
    INFO(words << result.out << result.err);
    REQUIRE(result.exit == exit);
    return result.out;
  }
  std::string id_of(const std::string& words, int exit) {
    return json::parse(out_of(words + " --as alice --json", exit))["decision_id"];
  }

  Workbench bench_;
  std::map<std::string, std::string> words_;
};

}  // namespace

TEST_CASE("neighbours: every verb that takes a ledger has a row in the table of verbs", "[cli][held]") {
  const Workbench bench;
  std::vector<std::string> rows;
  for (const CaseRow& row : cli_table("calculators/neighbour_verbs.tsv")) rows.push_back(row.at(3) + " ");
  const std::string help = bench.run({"--help"}).out;
  std::istringstream verbs(help.substr(help.find("\nVerbs\n") + 7));
  int takes_one = 0;
  // Two blanks part a verb from what it does, and lines that go on begin further to the right.
  for (std::string line; std::getline(verbs, line) && line.starts_with("  ");) {
    const std::string name = line.substr(2, line.find("  ", 2) - 2);
    if (name.empty() || !contains(bench.run(words_of(name + " --help")).out, "\n  --ledger FILE ")) continue;
    ++takes_one;
    CAPTURE(name);
    CHECK(
        std::any_of(rows.begin(), rows.end(), [&](const auto& row) { return row.starts_with(name + " "); }));
  }
  CHECK(takes_one >= 40);
}

TEST_CASE("neighbours: beside a process that has the ledger open every verb works", "[cli][held]") {
  for (const Holds holds : {Holds::snapshot, Holds::files}) {
    const Shared shared;
    Neighbour neighbour(shared.path(), holds);
    for (const Verb& verb : shared.verbs()) {
      const Result result = shared.run(verb.words);
      CAPTURE(static_cast<int>(holds), verb.words, result.out, result.err);
      CHECK(result.exit == verb.at_rest);
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
      CHECK(result.exit == verb.in_turn);
      if (verb.in_turn == 7) CHECK(contains(result.err, "in use"));
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
    CAPTURE(verb.words, result.out, result.err);
    CHECK(result.exit == verb.exclusive);
  }
  CHECK(neighbour.ended() == 0);
}
