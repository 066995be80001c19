// Runs the built command in a temporary directory of its own and keeps what it printed.
#pragma once

#include <nlohmann/json.hpp>

#include "support/case_table.hpp"
#include "support/json_members.hpp"

namespace epsilog::test {

using nlohmann::json;
using Words = std::vector<std::string>;

struct Result {
  int exit = -1;  ///< 128 + N when signal N ended it
  std::string out;
  std::string err;

  /// Throws  nlohmann::json::parse_error unless standard output is exactly one JSON value.
  [[nodiscard]] nlohmann::json json() const;
};

/// Where the command's standard streams lead.
struct Streams {
  std::string input;              ///< what standard input holds
  bool close_input = false;       ///< started with standard input closed
  std::string output_file;        ///< "" = kept in Result::out
  bool close_output = false;      ///< started with standard output closed
  bool broken_pipe = false;       ///< standard output is a pipe nobody reads
  bool terminal = false;          ///< standard output and error are a terminal; all goes to Result::out
  bool heed_permissions = false;  ///< without root's power to write where it may not
  long file_size_max = -1;        ///< bytes any file may grow to; -1 = no limit
  long address_space_max = -1;    ///< bytes of memory it may map; -1 = no limit
  bool no_randomness = false;     ///< the operating system gives none
};

/// Whether a pseudo-terminal can be had here; in a bare chroot without devpts it cannot.
[[nodiscard]] bool terminals_exist();

/// A temporary directory with a data file and policies, removed at the end.
class Workbench final {
 public:
  Workbench();
  /// With the ledger L of that policy.
  explicit Workbench(std::string_view policy) : Workbench() { init(policy); }
  ~Workbench();
  Workbench(const Workbench&) = delete;
  Workbench& operator=(const Workbench&) = delete;

  /// Runs the command there. EPSILOG_LEDGER, NO_COLOR and the locale are as in `environment`, with
  /// LC_ALL=C.UTF-8 unless that says otherwise.
  Result run(const std::vector<std::string>& arguments, const Streams& streams = {}) const;
  /// The same with --ledger L.
  Result with_ledger(std::vector<std::string> arguments, const Streams& streams = {}) const;

  void write(const std::string& file, std::string_view content) const;
  /// Takes away the right to make files there, for those who heed it.
  void make_read_only() const;
  void make_writable() const;
  [[nodiscard]] std::string read(const std::string& file) const;
  [[nodiscard]] std::string path(const std::string& file) const { return (folder_ / file).string(); }
  [[nodiscard]] std::vector<std::string> files() const;  ///< sorted

  /// Writes policy.yaml and creates the ledger L from it; requires exit code 0.
  void init(std::string_view policy) const;

  std::map<std::string, std::string> environment;

 private:
  std::filesystem::path folder_;
};

/// Every row of every table of a SQLite file as text, ordered: equal dumps, equal content.
std::string dump(const std::string& database);
/// Runs SQL on a SQLite file as an attacker would, foreign keys and triggers left as they are.
void tamper(const std::string& database, const std::string& sql);
/// The first column of the first row.
std::string query(const std::string& database, const std::string& sql);
/// The id of a decision as it is told; seq 0: of the last one.
std::string decision_id(const std::string& database, int seq = 0);

/// A clinic with 12 rows of 8 patients, missing and out-of-range cells among them.
/// Budget 1, add-remove, at most 2 rows a patient; the query `auc` is computed elsewhere.
extern const char* const kClinicPolicy;

/// Returns the text of a file of tests/cli/policies.
[[nodiscard]] std::string policy_text(const std::string& file);
/// Returns the rows of a table of tests/cli.
[[nodiscard]] std::vector<CaseRow> cli_table(const std::string& file);

[[nodiscard]] bool contains(std::string_view text, std::string_view part);
[[nodiscard]] Words with(Words words, const Words& more);
/// Returns what a command with the ledger L prints with --json; fails the test where it ends otherwise.
[[nodiscard]] json run_json(const Workbench& bench, const Words& words, int exit = 0);
[[nodiscard]] std::vector<json> json_lines(const std::string& text);
/// Holds how a command ended, and that it said so on standard error.
void check_ended(const Result& result, int exit, const std::string& part);
/// Replaces the only occurrence of `from`; fails the test when there is none.
[[nodiscard]] std::string replaced(std::string text, std::string_view from, std::string_view to);
[[nodiscard]] std::size_t lines(std::string_view text);
/// Returns what `history --json` printed without its last line, which lists the events.
[[nodiscard]] std::string decisions_of(const std::string& history);

}  // namespace epsilog::test
