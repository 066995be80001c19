// epsilog_ledger_targets [--only NAME]… [--audit DECISIONS]: one table of what a ledger costs, its floors
// beside it. Nanoseconds belong to a machine and a durable write to its disk: a target is about the ratio.
#include <cstdarg>
#include <cstdio>
#include <exception>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "place.hpp"
#include "processes.hpp"
#include "targets.hpp"

namespace epsilog::bench {

std::string text(const char* format, ...) {
  char buffer[128];
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(buffer, sizeof buffer, format, arguments);
  va_end(arguments);
  return buffer;
}

namespace {

constexpr const char* kFormat = "%-42s %-16s %-24s %-24s %-8s %s\n";

void print(const Row& row) {
  std::printf(kFormat, row.what.c_str(), row.target.c_str(), row.measured.c_str(),
              row.floor.empty() ? "-" : row.floor.c_str(), row.ratio.c_str(), row.met ? "met" : "MISSED");
  std::fflush(stdout);
}

void print_raw_write() {
  Folder folder;
  std::vector<double> times;
  for (int i = 0; i < 1'000; ++i) times.push_back(folder.raw_write());
  std::printf("fdatasync of 4 KiB in place: p50 %.0f us, p99 %.0f us\n\n", median(times),
              quantile(times, 0.99));
}

int run(const std::set<std::string>& only, std::int64_t audited) {
  const std::vector<std::pair<std::string, std::function<std::vector<Row>()>>> parts = {
      {"one", rows_of_one_release},
      {"many", rows_of_many_releases},
      {"threads", rows_of_threads},
      {"processes", rows_of_processes},
      {"bytes", rows_of_bytes},
      {"blocks", rows_of_blocks},
      {"replica", rows_of_replica},
      {"commands", rows_of_commands},
      {"questions", rows_of_questions},
      {"http", rows_of_http},
      {"audit", [audited] { return audited > 0 ? rows_of_audit(audited) : std::vector<Row>(); }},
      {"history", [audited] { return audited > 0 ? rows_of_history(audited) : std::vector<Row>(); }}};
  print_raw_write();
  std::printf(kFormat, "what", "target", "measured", "floor", "ratio", "");
  for (const auto& [name, rows] : parts) {
    if (!only.empty() && !only.contains(name)) continue;
    in_own_process([&rows] {
      for (const Row& row : rows()) print(row);
    });
  }
  return 0;
}

int usage() {
  std::fputs(
      "usage: epsilog_ledger_targets [--only "
      "one|many|threads|processes|bytes|blocks|replica|commands|questions|http|audit|"
      "history]… [--audit DECISIONS]\n",
      stderr);
  return 2;
}

}  // namespace
}  // namespace epsilog::bench

int main(int argc, char** argv) {
  std::set<std::string> only;
  std::int64_t audited = 0;
  try {
    for (int i = 1; i < argc; i += 2) {
      const std::string option = argv[i];
      if (i + 1 == argc || (option != "--only" && option != "--audit")) return epsilog::bench::usage();
      if (option == "--only") {
        only.insert(argv[i + 1]);
      } else {
        audited = std::stoll(argv[i + 1]);
      }
    }
    return epsilog::bench::run(only, audited);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "epsilog_ledger_targets: %s\n", error.what());
    return 1;
  }
}
