// Many callers of one ledger: threads that share an Engine, processes that share the file.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <functional>
#include <thread>

#include "bare_groups.hpp"
#include "ledgers.hpp"
#include "targets.hpp"

namespace epsilog::bench {
namespace {

constexpr std::int64_t kReleases = 2'048;  // of all together
constexpr int kRounds = 5;

/// Releases a second of so many threads, of which `step` is one release of one.
double rate_of_threads(std::int64_t threads, const std::function<void(std::int64_t, std::int64_t)>& step) {
  std::atomic<bool> started = false;
  std::atomic<bool> failed = false;
  std::vector<std::thread> all;
  for (std::int64_t thread = 0; thread < threads; ++thread) {
    all.emplace_back([&, thread] {
      started.wait(false);
      try {
        for (std::int64_t i = 0; i < kReleases / threads; ++i) step(thread, i);
      } catch (const std::exception&) {
        failed = true;
      }
    });
  }
  const auto begin = Clock::now();
  started = true;
  started.notify_all();
  for (std::thread& thread : all) thread.join();
  if (failed) throw std::runtime_error("a release failed");
  return static_cast<double>(kReleases) * 1e6 / microseconds(Clock::now() - begin);
}

/// Waits for the pipe's other end to be closed.
void await_closed(int pipe_end) {
  char byte = 0;
  while (::read(pipe_end, &byte, 1) > 0) continue;
}

/// Releases a second of so many processes. `open` is called in each before the time counts, and gives one
/// release of its.
double rate_of_processes(std::int64_t processes,
                         const std::function<std::function<void(std::int64_t)>(std::int64_t)>& open) {
  std::array<int, 2> start{};
  std::array<int, 2> ready{};
  if (::pipe(start.data()) != 0 || ::pipe(ready.data()) != 0) throw std::runtime_error("no pipe");
  std::vector<pid_t> children;
  for (std::int64_t process = 0; process < processes; ++process) {
    const pid_t child = ::fork();
    if (child == 0) {
      try {
        ::close(start[1]);
        ::close(ready[0]);
        const std::function<void(std::int64_t)> release = open(process);
        ::close(ready[1]);
        await_closed(start[0]);
        for (std::int64_t i = 0; i < kReleases / processes; ++i) release(i);
        ::_exit(0);
      } catch (const std::exception&) {
        ::_exit(1);
      }
    }
    children.push_back(child);
  }
  ::close(start[0]);
  ::close(ready[1]);
  await_closed(ready[0]);
  ::close(ready[0]);
  const auto begin = Clock::now();
  ::close(start[1]);
  bool failed = false;
  for (const pid_t child : children) {
    int status = 0;
    failed = ::waitpid(child, &status, 0) != child || status != 0 || failed;
  }
  if (failed) throw std::runtime_error("a process failed");
  return static_cast<double>(kReleases) * 1e6 / microseconds(Clock::now() - begin);
}

double rate_of_library(const std::string& path, const std::string& round, std::int64_t processes) {
  return rate_of_processes(processes, [&](std::int64_t process) {
    auto engine = std::make_shared<engine::Engine>(engine::Engine::open(path));
    auto bits = std::make_shared<mechanisms::BufferedBits>();
    static_cast<void>(engine->budget(""));  // opens the connection that will write
    const std::string who = round + "." + std::to_string(process);
    return [=](std::int64_t i) { release_one(*engine, keyed_release(i, who), *bits); };
  });
}

/// The same turn: through a turnstile to the lock, so that processes alternate.
double rate_of_bare(const Ledgers& ledgers, std::int64_t processes) {
  return rate_of_processes(processes, [&](std::int64_t) {
    const auto lock_file = [&ledgers](const char* name) {
      return ::open(ledgers.folder.file(name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    };
    auto rows = std::make_shared<BareLedger>(ledgers.bare, ledgers.line);
    return [rows, queue = lock_file("bare.turnstile"), lock = lock_file("bare.turn")](std::int64_t) {
      ::flock(queue, LOCK_EX);
      ::flock(lock, LOCK_EX);
      ::flock(queue, LOCK_UN);
      rows->release(1);
      ::flock(lock, LOCK_UN);
    };
  });
}

std::string per_second(double rate) {
  return text("%.0f/s", rate);
}

}  // namespace

std::vector<Row> rows_of_threads() {
  constexpr std::int64_t kThreads = 64;
  const Ledgers ledgers;
  engine::Engine engine = engine::Engine::open(ledgers.path);
  BareGroups groups(ledgers.bare, ledgers.line);
  std::vector<double> one;
  std::vector<double> many;
  std::vector<double> bare;
  for (int round = 0; round < kRounds; ++round) {
    const auto rate = [&](std::int64_t threads) {
      return rate_of_threads(threads, [&](std::int64_t thread, std::int64_t i) {
        thread_local mechanisms::BufferedBits bits;
        const std::string who = text("%d.%d.%d", round, static_cast<int>(threads), static_cast<int>(thread));
        release_one(engine, keyed_release(i, who), bits);
      });
    };
    one.push_back(rate(1));
    many.push_back(rate(kThreads));
    bare.push_back(rate_of_threads(kThreads, [&](std::int64_t, std::int64_t) { groups.release(); }));
  }
  const double of_bare = median(many) / median(bare);
  const double of_one = median(many) / median(one);
  return {{.what = "64 threads of one Engine",
           .target = ">= 0.6x of bare",
           .measured = per_second(median(many)),
           .floor = per_second(median(bare)) + " bare groups",
           .ratio = text("%.2f", of_bare),
           .met = of_bare >= 0.6},
          {.what = "64 threads of one Engine",
           .target = ">= 3x of one",
           .measured = per_second(median(many)),
           .floor = per_second(median(one)) + " one thread",
           .ratio = text("%.2f", of_one),
           .met = of_one >= 3}};
}

std::vector<Row> rows_of_processes() {
  constexpr std::array<std::int64_t, 3> kProcesses = {1, 8, 64};
  const Ledgers ledgers;
  std::array<std::vector<double>, kProcesses.size()> library;
  std::array<std::vector<double>, kProcesses.size()> bare;
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < kProcesses.size(); ++i) {
      const std::string name = text("%d.%d", round, static_cast<int>(kProcesses[i]));
      library[i].push_back(rate_of_library(ledgers.path, name, kProcesses[i]));
      bare[i].push_back(rate_of_bare(ledgers, kProcesses[i]));
    }
  }
  std::vector<Row> rows;
  const double one = median(library[0]);
  const double bare_one = median(bare[0]);
  for (std::size_t i = 1; i < kProcesses.size(); ++i) {
    const double ratio = median(library[i]) / one;
    rows.push_back(
        {.what = text("%d processes", static_cast<int>(kProcesses[i])),
         .target = ">= 0.9x of one",
         .measured = text("%.0f of %.0f/s", median(library[i]), one),
         .floor = text("%.0f of %.0f/s: %.2f", median(bare[i]), bare_one, median(bare[i]) / bare_one),
         .ratio = text("%.2f", ratio),
         .met = ratio >= 0.9});
  }
  return rows;
}

}  // namespace epsilog::bench
