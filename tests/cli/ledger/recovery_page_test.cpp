// The first table of docs/recovery.md, row by row: the state that a row names is made, its commands are read
// from the page and run, and what comes of it is what the row says.
#include <sys/wait.h>

#include <nlohmann/json.hpp>

#include "cli/workbench.hpp"

using namespace epsilog::test;
namespace fs = std::filesystem;

namespace {

constexpr const char* kLedger = "clinic.epsilog";
constexpr const char* kReplica = "clinic.replica";

struct Row {
  std::string state;
  std::vector<std::string> commands;
  std::string afterwards;
};

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> found;
  for (std::size_t begin = 2; begin < line.size();) {
    const std::size_t end = line.find(" |", begin);
    if (end == std::string::npos) break;
    found.push_back(line.substr(begin, end - begin));
    begin = end + 3;
  }
  return found;
}

/// What stands between backquotes.
std::vector<std::string> code_of(const std::string& cell) {
  std::vector<std::string> found;
  for (std::size_t begin = cell.find('`'); begin != std::string::npos;) {
    const std::size_t end = cell.find('`', begin + 1);
    REQUIRE(end != std::string::npos);
    found.push_back(cell.substr(begin + 1, end - begin - 1));
    begin = cell.find('`', end + 1);
  }
  return found;
}

std::vector<Row> rows_of_page() {
  std::ifstream page(std::string(EPSILOG_SOURCE_DIR) + "/docs/recovery.md");
  std::vector<Row> rows;
  bool in_table = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("| What you have |")) {
      in_table = true;
      std::getline(page, line);  // the rule below the head
    } else if (in_table && line.empty()) {
      return rows;
    } else if (in_table) {
      const auto columns = cells(line);
      REQUIRE(columns.size() == 3);
      rows.push_back({columns[0], code_of(columns[1]), columns[2]});
    }
  }
  return rows;
}

std::vector<std::string> release_of(const std::string& key) {
  return {"release", "clinic", "count", "--epsilon", "0.1", "--key", key, "--json"};
}

/// A ledger with the releases a and b, a backup and exported lines of between the two.
struct Clinic {
  explicit Clinic(bool replicated) {
    bench.environment["EPSILOG_LEDGER"] = kLedger;
    write_policy(replicated ? kReplica : "");
    REQUIRE(bench.run({"init", "--policy", "policy.yaml"}).exit == 0);
    id = query(path(), "SELECT lower(hex(ledger_id)) FROM meta");
    told["a"] = release("a");
    REQUIRE(bench.run({"backup", "monday.epsilog"}).exit == 0);
    fs::copy_file(path(), path("older"));
    told["b"] = release("b");
    bench.write("clinic.lines", bench.run({"audit", "export"}).out);
  }
  void write_policy(const std::string& replica) const {
    bench.write("policy.yaml",
                std::string(kClinicPolicy) +
                    (replica.empty() ? "" : "\nreplica: {file: " + bench.path(replica) + "}\n"));
  }
  [[nodiscard]] std::string path(const std::string& file = kLedger) const { return bench.path(file); }
  [[nodiscard]] nlohmann::json release(const std::string& key) const {
    const Result result = bench.run(release_of(key));
    INFO(result.err);
    REQUIRE(result.exit == 0);
    return result.json()["value"];
  }
  void remove_ledger() const {
    for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(path() + suffix);
  }
  void put_older_back() const {
    remove_ledger();
    fs::copy_file(path("older"), path());
  }
  /// L.lock as a killed `init` leaves it: it remembers no ledger.
  void forget_end() const { fs::resize_file(path() + ".lock", 1'024); }
  void cut_in_half() const { fs::resize_file(path(), fs::file_size(path()) / 2); }
  [[nodiscard]] std::string spent() const {
    return query(path(), "SELECT CAST(sum(spent) AS TEXT) FROM account WHERE measure = 'epsilon'");
  }

  Workbench bench;
  std::string id;
  std::map<std::string, nlohmann::json> told;
};

struct State {
  bool replicated;
  std::function<void(const Clinic&)> make;
};

const std::map<std::string, State>& states() {
  static const std::map<std::string, State> kStates = {
      {"a sound ledger without a backup",
       {true, [](const Clinic& c) { fs::remove(c.path("monday.epsilog")); }}},
      {"an answer that never arrived, and its key", {true, [](const Clinic&) {}}},
      {"an `init` that was interrupted",
       {true,
        [](const Clinic& c) {
          c.remove_ledger();
          fs::remove(c.path(kReplica));
          c.forget_end();
          fs::remove(c.path() + ".lock");
          REQUIRE(c.bench.run({"init", "--policy", "policy.yaml"}).exit == 0);
          c.remove_ledger();
          c.forget_end();
        }}},
      {"no ledger file, its replica", {true, [](const Clinic& c) { c.remove_ledger(); }}},
      {"no ledger file, its replica, a backup", {true, [](const Clinic& c) { c.remove_ledger(); }}},
      {"no ledger file, no replica, a backup", {false, [](const Clinic& c) { c.remove_ledger(); }}},
      {"no ledger file, only exported lines", {false, [](const Clinic& c) { c.remove_ledger(); }}},
      {"no ledger file, and a new ledger is wanted there (`init` names the id)",
       {false,
        [](const Clinic& c) {
          c.remove_ledger();
          const Result refused = c.bench.run({"init", "--policy", "policy.yaml"});
          check_ended(refused, 3, c.id);
        }}},
      {"a damaged ledger (6), its replica",
       {true,
        [](const Clinic& c) {
          c.cut_in_half();
          CHECK(c.bench.run({"history"}).exit == 6);
        }}},
      {"a damaged ledger (6), no replica, a backup",
       {false,
        [](const Clinic& c) {
          c.cut_in_half();
          CHECK(c.bench.run({"history"}).exit == 6);
        }}},
      {"`lines_missing` (6), the replica",
       {true,
        [](const Clinic& c) {
          c.put_older_back();
          CHECK(c.bench.run({"history", "--json"}).json()["error"]["code"] == "lines_missing");
        }}},
      {"`lines_missing` (6), no replica, no backup",
       {false,
        [](const Clinic& c) {
          c.put_older_back();
          fs::remove(c.path("monday.epsilog"));
          CHECK(c.bench.run({"history", "--json"}).json()["error"]["code"] == "lines_missing");
        }}},
      {"a poisoned ledger, after a reboot",
       {true,
        [](const Clinic& c) {
          c.bench.write(std::string(kLedger) + ".poisoned",
                        R"({"reason": "disk", "boot_id": "earlier", "time": "2026-01-31T12:00:00.000Z"})");
          CHECK(c.bench.run(release_of("c")).exit == 7);
        }}},
      {"a sound ledger whose replica is damaged (6)",
       {true,
        [](const Clinic& c) {
          std::string bytes = c.bench.read(kReplica);
          const auto line = bytes.rfind("{\"");
          bytes.at(line + 9) ^= 1;
          c.bench.write(kReplica, bytes);
          CHECK(c.bench.run({"recover", "--from", kReplica, "--why", "looked"}).exit == 6);
        }}},
      {"a sound ledger whose replica is gone, and a policy that names another file",
       {true, [](const Clinic& c) {
          fs::remove(c.path(kReplica));
          CHECK(c.bench.run(release_of("c")).exit == 7);
          c.write_policy("another.replica");
        }}}};
  return kStates;
}

void require_told(const Clinic& clinic, const std::string& key) {
  CHECK(clinic.release(key) == clinic.told.at(key));
}

/// What the last column says, and how it is looked at.
const std::map<std::string, std::function<void(const Clinic&)>>& outcomes() {
  static const std::map<std::string, std::function<void(const Clinic&)>> kOutcomes = {
      {"nothing is lost",
       [](const Clinic& c) {
         require_told(c, "a");
         require_told(c, "b");
         CHECK(c.spent() == "200000000000");
       }},
      {"what came after the backup is lost, and its budget is given back",
       [](const Clinic& c) {
         CHECK(c.spent() == "100000000000");
         require_told(c, "a");
       }},
      {"the missing lines are lost, and their budget is given back",
       [](const Clinic& c) {
         CHECK(c.spent() == "100000000000");
         require_told(c, "a");
       }},
      {"the history can be read, and nothing can be asked",
       [](const Clinic& c) {
         CHECK(lines(decisions_of(c.bench.run({"history", "--json"}).out)) == 2);
         CHECK(c.bench.run(release_of("c")).exit == 3);
       }},
      {"there is a new ledger", [](const Clinic& c) {
         CHECK(c.spent() == "0");
         CHECK(query(c.path(), "SELECT lower(hex(ledger_id)) FROM meta") != c.id);
         CHECK(c.bench.run(release_of("c")).exit == 0);
       }}};
  return kOutcomes;
}

/// Runs a command of the page in the ledger's folder, as a shell does.
int run_in_folder(const Clinic& clinic, std::string command) {
  const auto id = command.find("LEDGER_ID");
  if (id != std::string::npos) command.replace(id, 9, clinic.id);
  const std::string script =
      clinic.path("") + "/../" + fs::path(clinic.path("x")).parent_path().filename().string() + ".sh";
  std::ofstream(script) << "cd " << clinic.path("") << "\nexport EPSILOG_LEDGER=" << kLedger
                        << " LC_ALL=C.UTF-8\nPATH=" << fs::path(EPSILOG_COMMAND).parent_path().string()
                        << ":$PATH\n"
                        << command << "\n";
  const int status = std::system(("sh " + script + " >" + script + ".out 2>&1").c_str());
  std::ifstream out(script + ".out");
  UNSCOPED_INFO(command << ": " << std::string(std::istreambuf_iterator<char>(out), {}));
  fs::remove(script);
  fs::remove(script + ".out");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

}  // namespace

TEST_CASE("recovery page: each row of its first table does what it says", "[cli][recovery][documents]") {
  const std::vector<Row> rows = rows_of_page();
  std::set<std::string> drilled;
  for (const Row& row : rows) {
    CAPTURE(row.state);
    REQUIRE(states().contains(row.state));
    REQUIRE(outcomes().contains(row.afterwards));
    REQUIRE_FALSE(row.commands.empty());
    const State& state = states().at(row.state);
    const Clinic clinic(state.replicated);
    state.make(clinic);
    for (const std::string& command : row.commands) REQUIRE(run_in_folder(clinic, command) == 0);
    outcomes().at(row.afterwards)(clinic);
    const Result verified = clinic.bench.run({"audit", "verify"});
    CAPTURE(verified.out);
    CHECK(verified.exit == 0);
    drilled.insert(row.state);
  }
  CHECK(drilled.size() == states().size());
}
