// Scans of a CSV of ten columns with 10^6 rows, each of a unit of its own, against reading the same
// bytes with nothing but a memchr for line ends in the same run.
//
// Reports rows/s, and the process's peak resident set in MiB after the scan. The peak never falls
// again, so that only the first benchmark that raised it shows its own.
#include <benchmark/benchmark.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "epsilog/engine/exact_answer.hpp"

namespace {

using namespace epsilog::engine;

constexpr std::size_t kRows = 1'000'000;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using FilePointer = std::unique_ptr<std::FILE, CloseFile>;

FilePointer open_file(const std::string& path, const char* mode) {
  FilePointer file(std::fopen(path.c_str(), mode));
  if (!file) throw std::runtime_error("cannot open " + path);
  return file;
}

/// A generated file that is removed at exit.
class VisitsFile {
 public:
  VisitsFile()
      : path_((std::filesystem::temp_directory_path() /
               ("epsilog-csv-bench-" + std::to_string(::getpid()) + ".csv"))
                  .string()) {
    const FilePointer file = open_file(path_, "wb");
    std::fputs("patient_id,age,cost,score,ward,smoker,seen,site,note,weight\n", file.get());
    std::mt19937_64 random(1);
    for (std::size_t i = 0; i < kRows; ++i) {
      const auto draw = [&](std::uint64_t below) { return static_cast<unsigned>(random() % below); };
      std::fprintf(file.get(), "P%07zu,%u,%u.%02u,0.%06u,%c,%s,2024-%02u-%02u,site-%u,\"ok, %u\",%u.%u\n", i,
                   draw(120), draw(6000), draw(100), draw(1'000'000), "ABCD"[draw(4)],
                   draw(2) == 0 ? "true" : "false", 1 + draw(12), 1 + draw(28), draw(40), draw(1000),
                   40 + draw(80), draw(10));
    }
  }
  VisitsFile(const VisitsFile&) = delete;
  VisitsFile& operator=(const VisitsFile&) = delete;
  ~VisitsFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

const VisitsFile& visits_file() {
  static const VisitsFile kFile;
  return kFile;
}

Column number_column(const std::string& name, ColumnType type, const Rational& upper, unsigned scale = 0) {
  Column column;
  column.name = name;
  column.type = type;
  column.scale = scale;
  column.bounds = Bounds{0, upper};
  return column;
}

Dataset visits() {
  Dataset dataset;
  dataset.name = "visits";
  dataset.csv.emplace();
  dataset.csv->path = visits_file().path();
  dataset.csv->null = {"NA"};
  dataset.unit = {"patient_id", 3};
  dataset.rows = {2 * kRows, false};
  dataset.columns = {number_column("age", ColumnType::integer, 110),
                     number_column("cost", ColumnType::decimal, 5000, 2),
                     number_column("score", ColumnType::real, 1)};
  Column ward;
  ward.name = "ward";
  ward.values = {"A", "B", "C"};
  dataset.columns.push_back(ward);
  return dataset;
}

void report(benchmark::State& state) {
  state.SetItemsProcessed(static_cast<std::int64_t>(kRows) * state.iterations());
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["peak_MiB"] = static_cast<double>(usage.ru_maxrss) / 1024;
}

void scan(benchmark::State& state, const char* statistic, const char* by, const char* where) {
  const Dataset dataset = visits();
  const Question question =
      parse_question(statistic, *by == '\0' ? std::nullopt : std::optional<std::string>(by),
                     *where == '\0' ? std::nullopt : std::optional<std::string>(where));
  const Derivation derivation = derive(dataset, question);
  for (auto _ : state) {
    benchmark::DoNotOptimize(compute_exact_answer(dataset, question, derivation, "/"));
  }
  report(state);
}

void count_lines(benchmark::State& state) {
  const std::string path = visits_file().path();
  std::vector<char> buffer(std::size_t{1} << 20);
  for (auto _ : state) {
    const FilePointer file = open_file(path, "rb");
    std::size_t lines = 0;
    while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), file.get())) {
      const char* at = buffer.data();
      const char* const end = at + got;
      while (at < end) {
        const void* found = std::memchr(at, '\n', static_cast<std::size_t>(end - at));
        if (found == nullptr) break;
        at = static_cast<const char*>(found) + 1;
        ++lines;
      }
    }
    benchmark::DoNotOptimize(lines);
  }
  report(state);
}

BENCHMARK(count_lines)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(scan, sum_cost, "sum:cost", "", "")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(scan, mean_cost_by_ward_where_age, "mean:cost", "ward", "age > 65")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(scan, variance_score_by_ward, "variance:score", "ward", "")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(scan, units_by_ward, "units", "ward", "")->Unit(benchmark::kMillisecond);

}  // namespace
