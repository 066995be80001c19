// Processor time, user and system, of the whole command: `epsilog release` of a count over 1,000 rows of CSV,
// and `epsilog budget`, with a ledger in memory where there is /dev/shm. Most of it is the loading of the
// program, so that each is held against `epsilog --version` of the same iteration; and against a process that
// does nothing but write one row to a bare SQLite file as durably.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <spawn.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

extern char** environ;

namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

/// The processor time of a child, once it ended well.
double time_of(pid_t child) {
  int status = 0;
  rusage usage{};
  if (::wait4(child, &status, 0, &usage) != child || status != 0) throw std::runtime_error("a child failed");
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// A ledger with a budget that no benchmark spends, its source and a bare database; gone at exit.
class Workplace {
 public:
  Workplace()
      : folder_((std::filesystem::exists("/dev/shm") ? "/dev/shm" : std::filesystem::temp_directory_path()) /
                ("epsilog-command-bench-" + std::to_string(::getpid()))) {
    std::filesystem::create_directory(folder_);
    std::ofstream csv(folder_ / "visits.csv");
    csv << "patient_id,age\n";
    for (int i = 0; i < 1'000; ++i) csv << 'P' << i << ',' << i % 100 << '\n';
    csv.close();
    std::ofstream(folder_ / "policy.yaml") << "version: 1\n"
                                              "datasets:\n"
                                              "  clinic:\n"
                                              "    source: {csv: visits.csv}\n"
                                              "    unit: {id: patient_id, max_rows: 3}\n"
                                              "    rows: {max: 100000}\n"
                                              "    neighbours: add-remove\n"
                                              "    budget: {epsilon: 100000}\n"
                                              "    columns: {age: {type: int, bounds: [0, 110]}}\n";
    static_cast<void>(command({"init", "--policy", folder_ / "policy.yaml", "--ledger", ledger()}));
    bare("CREATE TABLE entry(id INTEGER PRIMARY KEY, text TEXT)");
  }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;
  ~Workplace() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  [[nodiscard]] std::string ledger() const { return folder_ / "clinic.epsilog"; }

  /// The processor time of the command with these words; its output is thrown away.
  [[nodiscard]] static double command(std::vector<std::string> words) {
    words.insert(words.begin(), EPSILOG_COMMAND);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO})
      posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_WRONLY, 0);
    pid_t child = 0;
    const int error = ::posix_spawn(&child, EPSILOG_COMMAND, &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) throw std::runtime_error("cannot run " EPSILOG_COMMAND);
    return time_of(child);
  }

  /// The processor time of a forked process that runs SQL on the bare database.
  double bare(const std::string& sql) const {
    const pid_t child = ::fork();
    if (child != 0) return time_of(child);
    sqlite3* database = nullptr;
    const std::string all = "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; " + sql;
    int rc = sqlite3_open((folder_ / "bare.db").c_str(), &database);
    if (rc == SQLITE_OK) rc = sqlite3_exec(database, all.c_str(), nullptr, nullptr, nullptr);
    sqlite3_close(database);
    ::_exit(rc == SQLITE_OK ? 0 : 1);
  }

 private:
  std::filesystem::path folder_;
};

Workplace& workplace() {
  static Workplace place;
  return place;
}

/// Both in every iteration, so that what else the machine does meets both.
void against_loading(benchmark::State& state, const std::function<double()>& measured) {
  double loading = 0;
  double total = 0;
  for ([[maybe_unused]] auto _ : state) {
    loading += Workplace::command({"--version"});
    const double time = measured();
    total += time;
    state.SetIterationTime(time);
  }
  state.counters["version_ms"] = benchmark::Counter(loading * 1e3, benchmark::Counter::kAvgIterations);
  state.counters["of_version"] = total / loading;
}

void release(benchmark::State& state) {
  against_loading(state, [] {
    return Workplace::command(
        {"release", "clinic", "count", "--epsilon", "0.0001", "--ledger", workplace().ledger()});
  });
}

void budget(benchmark::State& state) {
  against_loading(state, [] { return Workplace::command({"budget", "--ledger", workplace().ledger()}); });
}

void bare_transaction(benchmark::State& state) {
  against_loading(state, [] {
    return workplace().bare("BEGIN IMMEDIATE; INSERT INTO entry(text) VALUES('a release'); COMMIT");
  });
}

BENCHMARK(release)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(200);
BENCHMARK(budget)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(200);
BENCHMARK(bare_transaction)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(200);

}  // namespace
