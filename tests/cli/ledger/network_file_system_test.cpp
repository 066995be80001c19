// A ledger whose folder lies on a network file system, or is served by a program (FUSE), by every verb that
// opens or makes one. strace puts the type into what statfs(2) answers.
#include <sys/wait.h>

#include <nlohmann/json.hpp>

#include "cli/workbench.hpp"

using namespace epsilog::test;
namespace fs = std::filesystem;

namespace {

constexpr const char* kNfs = "69690000";  // f_type in the order of its bytes in memory
constexpr const char* kFuse = "46557365";

bool strace_pokes() {
  return std::system("strace -qq -o /dev/null -e inject=statfs:poke_exit=@arg2=69690000 true 2>/dev/null") ==
         0;
}

/// A ledger with a release and a replica, a backup and exported lines.
class Shared final {
 public:
  Shared() {
    bench_.init(std::string(kClinicPolicy) + "\nreplica: {file: " + bench_.path("R") + "}\n");
    REQUIRE(bench_.with_ledger({"release", "clinic", "count", "--epsilon", "0.1", "--key", "a"}).exit == 0);
    id_ = decision_id(bench_.path("L"));
    REQUIRE(bench_.with_ledger({"backup", "B"}).exit == 0);
    bench_.write("lines", bench_.with_ledger({"audit", "export"}).out);
    bench_.write("new.yaml", kClinicPolicy);
    fs::copy_file(bench_.path("R"), bench_.path("R2"));
  }

  /// Each verb that opens a ledger or makes one, and whether it writes.
  [[nodiscard]] std::vector<std::pair<std::string, bool>> verbs() const {
    std::vector<std::pair<std::string, bool>> verbs;
    for (const CaseRow& row : cli_table("ledger/network_verbs.tsv")) {
      const bool about_one = contains(row.at(1), "ID");
      verbs.emplace_back(about_one ? replaced(row.at(1), "ID", id_) : row.at(1), row.at(0) == "warns");
    }
    return verbs;
  }

  /// The exit code, with that type told for the folder.
  [[nodiscard]] int run(const std::string& verb, const std::string& type) const {
    for (const std::string& file : bench_.files()) {
      if (file.starts_with("N")) fs::remove(bench_.path(file));
    }
    const std::string folder = fs::path(bench_.path("L")).parent_path().string();
    const std::string command = "cd " + folder +
                                " && ASAN_OPTIONS=detect_leaks=0 strace -f -qq -o trace -e trace=statfs -P " +
                                folder + " -e inject=statfs:poke_exit=@arg2=" + type + " " + EPSILOG_COMMAND +
                                " " + verb + " --json >out 2>err";
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
  }
  [[nodiscard]] std::string out() const { return bench_.read("out"); }
  [[nodiscard]] std::string err() const { return bench_.read("err"); }
  [[nodiscard]] bool made(const std::string& file) const { return fs::exists(bench_.path(file)); }
  [[nodiscard]] const Workbench& bench() const { return bench_; }

 private:
  Workbench bench_;
  std::string id_;
};

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("network file system: every verb refuses a ledger there, and makes none", "[cli][network]") {
  if (!strace_pokes()) {
    WARN("strace is not here, or cannot change what a call answers: not tested");
    return;
  }
  const Shared shared;
  const std::string before = shared.bench().read("L");
  for (const auto& [verb, writes] : shared.verbs()) {
    CAPTURE(verb);
    CHECK(shared.run(verb, kNfs) == 3);
    CAPTURE(shared.out(), shared.err());
    CHECK(contains(shared.out(), "\"network_file_system\""));
    CHECK(contains(shared.err(), "network file system (NFS)"));
    CHECK_FALSE(shared.made("N"));
  }
  CHECK((shared.bench().read("L") == before));
}

TEST_CASE(
    "network file system: over FUSE every verb works, those that may write warn once, and audit verify says "
    "it",
    "[cli][network]") {
  if (!strace_pokes()) {
    WARN("strace is not here, or cannot change what a call answers: not tested");
    return;
  }
  const Shared shared;
  for (const auto& [verb, writes] : shared.verbs()) {
    CAPTURE(verb);
    const int exit = shared.run(verb, kFuse);
    CAPTURE(shared.out(), shared.err());
    // There is nothing to recover, and no clock to confirm, which is told after the ledger was opened.
    const bool nothing_to_do = verb.starts_with("recover --ledger") || verb.starts_with("clock");
    CHECK((exit == 0 || nothing_to_do));
    CHECK(occurrences(shared.err(), "(FUSE)") == (writes ? 1 : 0));
  }
  CHECK(shared.run("audit verify --ledger L", kFuse) == 0);
  CHECK(contains(shared.out(), "\"file_system\": \"fuse\""));
  CHECK(shared.bench().with_ledger({"audit", "verify", "--json"}).json()["file_system"] == "local");
}
