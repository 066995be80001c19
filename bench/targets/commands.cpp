// Whole processes of the command: what they take of the processor, most of which is the loading of the
// program.
#include <fstream>

#include "ledgers.hpp"
#include "processes.hpp"
#include "targets.hpp"

namespace epsilog::bench {
namespace {

Row command_row(const std::string& what, double most_ms, double measured_s, double version_s) {
  return {.what = what,
          .target = text("<= %.1f ms", most_ms),
          .measured = text("%.2f ms", measured_s * 1e3),
          .floor = text("%.2f ms --version", version_s * 1e3),
          .ratio = text("%.2f", measured_s / version_s),
          .met = measured_s * 1e3 <= most_ms};
}

std::vector<Row> rows_of_audit(const std::string& ledger, std::int64_t decisions,
                               const std::string& storage) {
  const Usage used = usage_of({"audit", "verify", "--storage", storage, "--ledger", ledger});
  const double seconds_most = 10e-6 * static_cast<double>(decisions);
  const std::string what = "audit verify of " + std::to_string(decisions) + ", " + storage + ", one core";
  return {{.what = what,
           .target = text("<= %.1f s", seconds_most),
           .measured = text("%.1f s", used.seconds),
           .floor = "",
           .ratio = text("%.2f", used.seconds / seconds_most),
           .met = used.seconds <= seconds_most},
          {.what = what,
           .target = "<= 64 MiB",
           .measured = text("%.0f MiB", used.mebibytes),
           .floor = "",
           .ratio = text("%.2f", used.mebibytes / 64),
           .met = used.mebibytes <= 64}};
}

}  // namespace

std::vector<Row> rows_of_commands() {
  constexpr int kRuns = 100;
  const Folder folder;
  std::ofstream csv(folder.file("visits.csv"));
  csv << "patient_id,age\n";
  for (int i = 0; i < 1'000; ++i) csv << 'P' << i << ',' << i % 100 << '\n';
  csv.close();
  std::ofstream(folder.file("policy.yaml"))
      << "version: 1\ndatasets:\n  clinic:\n    source: {csv: visits.csv}\n"
         "    unit: {id: patient_id, max_rows: 3}\n    rows: {max: 100000}\n    neighbours: add-remove\n"
         "    budget: {epsilon: 100000}\n    columns: {age: {type: int, bounds: [0, 110]}}\n";
  const std::string ledger = folder.file("ledger");
  engine::Engine::init(folder.file("policy.yaml"), ledger, "bench");
  std::vector<double> version;
  std::vector<double> release;
  std::vector<double> budget;
  for (int i = 0; i < kRuns; ++i) {
    version.push_back(usage_of({"--version"}).seconds);
    release.push_back(
        usage_of({"release", "clinic", "count", "--epsilon", "0.0001", "--ledger", ledger}).seconds);
    budget.push_back(usage_of({"budget", "--ledger", ledger}).seconds);
  }
  return {command_row("epsilog release, processor time", 5, median(release), median(version)),
          command_row("epsilog budget, processor time", 2.5, median(budget), median(version))};
}

std::vector<Row> rows_of_audit(std::int64_t decisions) {
  const Folder folder;
  const std::string ledger = folder.file("ledger");
  in_own_process([&] { fill_ledger(ledger, decisions); });
  const OneCore pinned;
  std::vector<Row> rows = rows_of_audit(ledger, decisions, "quick");
  for (Row& row : rows_of_audit(ledger, decisions, "full")) rows.push_back(std::move(row));
  return rows;
}

}  // namespace epsilog::bench
