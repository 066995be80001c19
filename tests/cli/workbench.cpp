#include "cli/workbench.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <pty.h>
#include <sqlite3.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bitset>

#include "support/no_randomness.hpp"

namespace epsilog::test {

const char* const kClinicPolicy =
    "version: 1\n"
    "datasets:\n"
    "  clinic:\n"
    "    source: {csv: visits.csv}\n"
    "    unit: {id: patient, max_rows: 2}\n"
    "    rows: {max: 1000}\n"
    "    neighbours: add-remove\n"
    "    budget: {epsilon: 1}\n"
    "    columns:\n"
    "      age:  {type: int, bounds: [0, 110]}\n"
    "      cost: {type: decimal, scale: 2, bounds: [0, 500]}\n"
    "      ward: {type: string, values: [A, B, \"it's, C\"]}\n"
    "    queries:\n"
    "      auc: {bounds: [0, 1], sensitivity: 0.01}\n";

namespace {

constexpr const char* kVisits =
    "patient,age,cost,ward\n"
    "p1,34,120.50,A\n"
    "p1,34,80,A\n"
    "p1,35,12,B\n"
    "p2,71,499.99,B\n"
    "p3,80,9000,\"it's, C\"\n"
    "p4,,15.25,A\n"
    "p5,66,NA,B\n"
    "p6,12,1.234,A\n"
    ",50,10,A\n"
    "p7,90,250,Z\n"
    "p8,44,0,\"it's, C\"\n"
    "p8,45,1,B\n";

[[noreturn]] void give_up(const std::string& what) {
  throw std::runtime_error(what);
}

std::string slurp(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream content;
  content << stream.rdbuf();
  return content.str();
}

void redirect(int target, const std::string& file, int flags) {
  const int descriptor = open(file.c_str(), flags | O_CREAT, 0600);
  if (descriptor < 0 || dup2(descriptor, target) < 0) _exit(125);
  close(descriptor);
}

void redirect_output(const Streams& streams, const std::string& kept) {
  if (streams.close_output) {
    close(STDOUT_FILENO);
  } else if (streams.broken_pipe) {
    int ends[2];
    if (pipe(ends) != 0) _exit(125);
    close(ends[0]);
    if (dup2(ends[1], STDOUT_FILENO) < 0) _exit(125);
    close(ends[1]);
  } else {
    redirect(STDOUT_FILENO, streams.output_file.empty() ? kept : streams.output_file, O_WRONLY | O_TRUNC);
  }
}

int exit_code_of(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, 0) != child) give_up("waitpid failed");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Everything written to the terminal until its last user is gone.
std::string drained(int terminal) {
  std::string text;
  char buffer[4096];
  for (ssize_t got = 0; (got = read(terminal, buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(got));
  }
  return text;
}

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;

Database opened(const std::string& file, int flags) {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(file.c_str(), &raw, flags, nullptr);
  Database database(raw);
  if (code != SQLITE_OK) give_up("cannot open " + file);
  return database;
}

std::vector<std::vector<std::string>> rows(sqlite3* database, const std::string& sql) {
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v2(database, sql.c_str(), -1, &raw, nullptr) != SQLITE_OK)
    give_up(sqlite3_errmsg(database));
  const std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)> statement(raw, &sqlite3_finalize);
  std::vector<std::vector<std::string>> result;
  while (sqlite3_step(raw) == SQLITE_ROW) {
    std::vector<std::string> row;
    for (int i = 0; i < sqlite3_column_count(raw); ++i) {
      const unsigned char* text = sqlite3_column_text(raw, i);
      row.emplace_back(text == nullptr ? "NULL" : reinterpret_cast<const char*>(text));
    }
    result.push_back(std::move(row));
  }
  return result;
}

}  // namespace

bool terminals_exist() {
  int terminal = -1;
  int other_end = -1;
  if (openpty(&terminal, &other_end, nullptr, nullptr, nullptr) != 0) return false;
  close(terminal);
  close(other_end);
  return true;
}

nlohmann::json Result::json() const {
  return nlohmann::json::parse(out);
}

Workbench::Workbench() {
  std::string name = (std::filesystem::temp_directory_path() / "epsilog-cli-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) give_up("cannot make a temporary directory");
  folder_ = name;
  write("visits.csv", kVisits);
}

Workbench::~Workbench() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

Result Workbench::run(const std::vector<std::string>& arguments, const Streams& streams) const {
  // The captured streams live outside the directory, so that a test may compare its files.
  const std::string kept = folder_.string() + ".out";
  const std::string messages = folder_.string() + ".err";
  const std::string input = folder_.string() + ".in";
  std::ofstream(input, std::ios::binary) << streams.input;

  int terminal = -1;
  const pid_t child = streams.terminal ? forkpty(&terminal, nullptr, nullptr, nullptr) : fork();
  if (child < 0) give_up("fork failed");
  if (child == 0) {
    if (chdir(folder_.c_str()) != 0) _exit(125);
    redirect(STDIN_FILENO, input, O_RDONLY);
    if (!streams.terminal) {
      redirect(STDERR_FILENO, messages, O_WRONLY | O_TRUNC);
      redirect_output(streams, kept);
    }
    if (streams.file_size_max >= 0) {
      const rlimit limit{static_cast<rlim_t>(streams.file_size_max),
                         static_cast<rlim_t>(streams.file_size_max)};
      if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(125);
    }
    if (streams.address_space_max >= 0) {
      const rlimit limit{static_cast<rlim_t>(streams.address_space_max),
                         static_cast<rlim_t>(streams.address_space_max)};
      if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(125);
    }
    if (streams.no_randomness && !refuse_randomness()) _exit(125);
    // Root passes every permission check through these capabilities; exec gives them back unless they have
    // left the bounding set.
    for (const int capability : {CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH}) {
      const bool drop = streams.heed_permissions && geteuid() == 0;
      if (drop && prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) _exit(125);
    }
    for (const char* name : {"EPSILOG_LEDGER", "NO_COLOR", "LANG", "LC_CTYPE", "COLUMNS"}) unsetenv(name);
    setenv("LC_ALL", "C.UTF-8", 1);
    setenv("TERM", "xterm", 1);
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    std::vector<char*> words{const_cast<char*>("epsilog")};
    for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    if (streams.close_input) close(STDIN_FILENO);
    execv(EPSILOG_COMMAND, words.data());
    _exit(126);
  }
  Result result;
  if (streams.terminal) result.out = drained(terminal);
  result.exit = exit_code_of(child);
  if (streams.terminal) {
    close(terminal);
  } else {
    if (streams.output_file.empty() && !streams.close_output && !streams.broken_pipe)
      result.out = slurp(kept);
    result.err = slurp(messages);
  }
  for (const std::string& file : {kept, messages, input}) std::filesystem::remove(file);
  return result;
}

Result Workbench::with_ledger(std::vector<std::string> arguments, const Streams& streams) const {
  arguments.insert(arguments.end(), {"--ledger", "L"});
  return run(arguments, streams);
}

void Workbench::write(const std::string& file, std::string_view content) const {
  std::ofstream(folder_ / file, std::ios::binary) << content;
}

void Workbench::make_read_only() const {
  if (chmod(folder_.c_str(), 0555) != 0) give_up("chmod failed");
}

void Workbench::make_writable() const {
  if (chmod(folder_.c_str(), 0700) != 0) give_up("chmod failed");
}

std::string Workbench::read(const std::string& file) const {
  return slurp(path(file));
}

std::vector<std::string> Workbench::files() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

void Workbench::init(std::string_view policy) const {
  write("policy.yaml", policy);
  const Result result = run({"init", "--policy", "policy.yaml", "--ledger", "L"});
  INFO(result.err);
  REQUIRE(result.exit == 0);
}

std::string dump(const std::string& database) {
  const Database open = opened(database, SQLITE_OPEN_READONLY);
  std::string text;
  for (const auto& table :
       rows(open.get(), "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")) {
    text += table[0] + ":\n";
    std::vector<std::string> content;
    for (const auto& row : rows(open.get(), "SELECT * FROM \"" + table[0] + "\"")) {
      std::string line;
      for (const std::string& cell : row) line += cell + "|";
      content.push_back(line + "\n");
    }
    std::sort(content.begin(), content.end());
    for (const std::string& line : content) text += line;
  }
  return text;
}

void tamper(const std::string& database, const std::string& sql) {
  const Database open = opened(database, SQLITE_OPEN_READWRITE);
  char* message = nullptr;
  if (sqlite3_exec(open.get(), sql.c_str(), nullptr, nullptr, &message) != SQLITE_OK) {
    const std::string why = message == nullptr ? "" : message;
    sqlite3_free(message);
    give_up(sql + ": " + why);
  }
}

std::string query(const std::string& database, const std::string& sql) {
  const Database open = opened(database, SQLITE_OPEN_READONLY);
  const auto found = rows(open.get(), sql);
  if (found.empty()) give_up("no row: " + sql);
  return found[0][0];
}

std::string decision_id(const std::string& database, int seq) {
  const std::string which = seq == 0 ? "ORDER BY seq DESC LIMIT 1" : "WHERE seq = " + std::to_string(seq);
  // Two bits of nothing before 16 bytes, five bits a character.
  std::string bits = "00";
  for (const char digit : query(database, "SELECT hex(id) FROM decision " + which)) {
    bits += std::bitset<4>(std::stoul(std::string(1, digit), nullptr, 16)).to_string();
  }
  std::string id;
  for (std::size_t at = 0; at < bits.size(); at += 5) {
    id += "0123456789ABCDEFGHJKMNPQRSTVWXYZ"[std::stoul(bits.substr(at, 5), nullptr, 2)];
  }
  return id;
}

std::string policy_text(const std::string& file) {
  const std::string text = slurp(EPSILOG_SOURCE_DIR "/tests/cli/policies/" + file);
  if (text.empty()) give_up("no policy " + file);
  return text;
}

std::vector<CaseRow> cli_table(const std::string& file) {
  return case_table(EPSILOG_SOURCE_DIR "/tests/cli/" + file);
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

json run_json(const Workbench& bench, const Words& words, int exit) {
  const Result result = bench.with_ledger(with(words, {"--json"}));
  CAPTURE(words, result.err, result.out);
  REQUIRE(result.exit == exit);
  return result.json();
}

std::vector<json> json_lines(const std::string& text) {
  std::vector<json> found;
  std::istringstream all(text);
  for (std::string line; std::getline(all, line);) found.push_back(json::parse(line));
  return found;
}

void check_ended(const Result& result, int exit, const std::string& part) {
  CHECK(result.exit == exit);
  CHECK_THAT(result.err, says(part));
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  REQUIRE(text.find(from, at + 1) == std::string::npos);
  return text.replace(at, from.size(), to);
}

std::size_t lines(std::string_view text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

std::string decisions_of(const std::string& history) {
  REQUIRE(history.size() >= 2);
  const std::size_t before = history.rfind('\n', history.size() - 2);
  const std::size_t last = before == std::string::npos ? 0 : before + 1;
  REQUIRE(nlohmann::json::parse(history.substr(last)).contains("events"));
  return history.substr(0, last);
}

}  // namespace epsilog::test
