// Errors of the system at the command's own calls, by strace: the first, a middle and the last of each call
// of each file. What passes, stands or poisons is what the ledger's table says, and none is told as damage.
#include <sys/wait.h>

#include <cerrno>

#include "cli/workbench.hpp"
#include "file_verdict.hpp"

using namespace epsilog::ledger;
using namespace epsilog::test;
namespace fs = std::filesystem;

namespace {

struct Errno {
  const char* name;
  int number;
};
constexpr std::array kErrors = {Errno{"EIO", EIO}, Errno{"ENOSPC", ENOSPC}, Errno{"EMFILE", EMFILE},
                                Errno{"EACCES", EACCES}};

/// One call of a run, by its number among those of its name.
struct Position {
  std::string call;
  std::string file;
  int nth = 0;
};

struct Case {
  std::string verb;
  Position at;
  Errno error{};
};

FileCall kind_of(const std::string& call) {
  if (call == "openat") return FileCall::open;
  if (call == "pread64") return FileCall::read;
  if (call == "pwrite64" || call == "ftruncate") return FileCall::write;
  return FileCall::sync;
}

FileRole owner_of(const std::string& file) {
  return file == "L" || file == "L-wal" || file == "L-shm" ? FileRole::ledger : FileRole::beside;
}

bool strace_works() {
  return std::system("strace -qq -o /dev/null true 2>/dev/null") == 0;
}

/// A ledger with one release, that each case begins with.
class Traced final {
 public:
  Traced() {
    bench_.init(kClinicPolicy);
    REQUIRE(bench_.with_ledger({"release", "clinic", "count", "--epsilon", "0.1", "--key", "before"}).exit ==
            0);
    id_ = decision_id(bench_.path("L"));
    fs::copy_file(bench_.path("L"), bench_.path("template"));
  }

  [[nodiscard]] std::vector<std::string> verbs() const {
    return {"release clinic count --epsilon 0.1 --key k",
            "budget",
            "history",
            "show " + id_,
            "audit verify",
            "audit export",
            "backup B"};
  }

  void begin_again() const {
    for (const std::string& file : bench_.files()) {
      if (file.starts_with("L") || file.starts_with("B")) fs::remove(bench_.path(file));
    }
    fs::copy_file(bench_.path("template"), bench_.path("L"));
    fs::permissions(bench_.path("L"), fs::perms::owner_read | fs::perms::owner_write);
  }

  /// The exit code. `inject` is an option of strace, or "".
  [[nodiscard]] int run(const std::string& verb, const std::string& inject = "") const {
    const std::string command =
        "cd " + bench_.path("") +
        " && ASAN_OPTIONS=detect_leaks=0 strace -f -qq -y -o trace -e trace=" + kTraced + " " + inject + " " +
        EPSILOG_COMMAND + " " + verb + " --ledger L >out 2>err";
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
  }
  [[nodiscard]] int run_untraced(const std::string& verb) const {
    const int status = std::system(
        ("cd " + bench_.path("") + " && " + EPSILOG_COMMAND + " " + verb + " --ledger L >out 2>err").c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
  }

  /// The first, a middle and the last of each call of each file in the trace of the last run.
  [[nodiscard]] std::vector<Position> positions() const {
    std::map<std::string, int> counts;
    std::map<std::pair<std::string, std::string>, std::vector<int>> found;
    std::ifstream trace(bench_.path("trace"));
    std::string thread;
    for (std::string line; std::getline(trace, line);) {
      std::istringstream words(line);
      std::string of;
      words >> of;
      if (thread.empty()) thread = of;
      if (of != thread) continue;  // calls are counted for each thread
      const auto begin = line.find_first_not_of(' ', of.size());
      const auto parenthesis = line.find('(');
      if (begin == std::string::npos || parenthesis == std::string::npos) continue;
      const std::string call = line.substr(begin, parenthesis - begin);
      const int nth = ++counts[call];
      const auto name = line.find(call == "openat" ? '"' : '<');
      const auto end = line.find(call == "openat" ? '"' : '>', name + 1);
      if (name == std::string::npos || end == std::string::npos) continue;
      const fs::path path = line.substr(name + 1, end - name - 1);
      const std::string file = path.filename();
      if (path.parent_path() != fs::path(bench_.path("x")).parent_path()) continue;
      if (file.starts_with("L") || file.starts_with("B"))
        found[{call, file.substr(0, file.find(".creating"))}].push_back(nth);
    }
    std::vector<Position> all;
    for (const auto& [what, numbers] : found) {
      for (const std::size_t at : {std::size_t{0}, numbers.size() / 2, numbers.size() - 1}) {
        const Position position{what.first, what.second, numbers[at]};
        if (all.empty() || all.back().nth != position.nth || all.back().call != position.call)
          all.push_back(position);
      }
    }
    return all;
  }

  [[nodiscard]] bool poisoned() const { return fs::exists(bench_.path("L.poisoned")); }
  [[nodiscard]] std::string errors() const { return bench_.read("err"); }
  [[nodiscard]] std::string spent() const {
    return query(bench_.path("L"), "SELECT group_concat(spent) FROM account WHERE measure = 'epsilon'");
  }

 private:
  static constexpr const char* kTraced = "openat,pread64,pwrite64,ftruncate,fdatasync,fsync";
  Workbench bench_;
  std::string id_;
};

std::vector<Case> all_cases(const Traced& traced) {
  std::vector<Case> all;
  for (const std::string& verb : traced.verbs()) {
    traced.begin_again();
    REQUIRE(traced.run(verb) == 0);
    for (const Position& position : traced.positions()) {
      for (const Errno& error : kErrors) all.push_back({verb, position, error});
    }
  }
  return all;
}

void try_case(const Traced& traced, const Case& one) {
  CAPTURE(one.verb, one.at.call, one.at.file, one.at.nth, one.error.name);
  traced.begin_again();
  const int exit = traced.run(one.verb, "-e inject=" + one.at.call + ":error=" + one.error.name +
                                            ":when=" + std::to_string(one.at.nth));
  CAPTURE(exit, traced.errors());
  const FileVerdict verdict = file_verdict(kind_of(one.at.call), owner_of(one.at.file), one.error.number);
  CHECK((exit == 0 || exit == 3 || exit == 7));
  if (verdict == FileVerdict::transient) CHECK(exit != 3);
  if (verdict != FileVerdict::poison) CHECK_FALSE(traced.poisoned());
  if (traced.poisoned()) {
    CHECK(exit == 7);
    return;
  }
  const int again = one.verb.starts_with("backup") && exit == 0 ? 0 : traced.run_untraced(one.verb);
  CAPTURE(traced.errors());
  CHECK(again == 0);
  const bool releases = one.verb.starts_with("release");
  CHECK(traced.spent() == (releases ? "200000000000" : "100000000000"));
}

}  // namespace

TEST_CASE(
    "failing calls: a sample of the command's calls that fail passes, stands or poisons as the table says",
    "[cli][fault][files]") {
  if (!strace_works()) {
    WARN("strace is not here, or may not trace: not tested");
    return;
  }
  constexpr std::size_t kSample = 16;
  const Traced traced;
  std::vector<Case> all = all_cases(traced);
  REQUIRE(all.size() > 200);
  std::mt19937_64 random(36);
  std::shuffle(all.begin(), all.end(), random);
  for (std::size_t i = 0; i < kSample; ++i) try_case(traced, all[i]);
}

TEST_CASE("failing calls: all of the command's calls that fail pass, stand or poison as the table says",
          "[cli][fault][files][.long]") {
  REQUIRE(strace_works());
  const Traced traced;
  for (const Case& one : all_cases(traced)) try_case(traced, one);
}
