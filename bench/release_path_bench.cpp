// The whole release path as a library user sees it, from request to durable answer, against the disk.
//
// Each iteration also times one fdatasync of 4 KiB overwritten in place, so that both medians come from
// the same moments of the same disk: `ratio` = p50_us / raw_p50_us. Of many at once only what they get done
// together is told; a thread or a process is made before the time counts.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "epsilog/engine/engine.hpp"
#include "filled_ledger.hpp"

namespace {

using namespace epsilog;
using Clock = std::chrono::steady_clock;

double microseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

/// A ledger in a folder of the current directory, which is on the disk to be measured.
class Workplace {
 public:
  Workplace() {
    std::string pattern = (std::filesystem::current_path() / "release-bench-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary directory");
    path_ = pattern;
    std::ofstream(path_ / "policy.yaml") << bench::kFilledPolicy;
    engine::Engine::init((path_ / "policy.yaml").string(), (path_ / "ledger").string(), "bench");
    raw_ = ::open((path_ / "raw").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    (void)raw_write();
  }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;
  ~Workplace() {
    ::close(raw_);
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] engine::Engine open() const { return engine::Engine::open((path_ / "ledger").string()); }

  double raw_write() {
    block_[0] = static_cast<char>(block_[0] + 1);
    const auto begin = Clock::now();
    if (::pwrite(raw_, block_.data(), block_.size(), 0) != 4096 || ::fdatasync(raw_) != 0) {
      throw std::runtime_error("cannot write");
    }
    return microseconds(Clock::now() - begin);
  }

 private:
  std::filesystem::path path_;
  std::vector<char> block_ = std::vector<char>(4096, 'x');
  int raw_ = -1;
};

engine::Request request(std::int64_t number, const std::string& principal = "bench") {
  engine::Request result;
  result.dataset = "external";
  result.question = engine::parse_question("value:score", std::nullopt, std::nullopt);
  result.epsilon = accounting::Rational(1, 1000);
  result.principal = principal;
  result.key = std::to_string(number);
  result.supplied = "500";
  return result;
}

/// Arg: how many requests one call answers; 1 is Engine::release, more is Engine::release_many.
void durable_release(benchmark::State& state) {
  Workplace workplace;
  engine::Engine engine = workplace.open();
  mechanisms::BufferedBits bits;
  std::int64_t number = 0;
  std::vector<double> raw;
  std::vector<double> released;
  for (auto _ : state) {
    raw.push_back(workplace.raw_write());
    std::vector<engine::Request> requests;
    for (std::int64_t i = 0; i < state.range(0); ++i) requests.push_back(request(number++));
    const auto begin = Clock::now();
    if (requests.size() == 1) {
      benchmark::DoNotOptimize(engine.release(requests.front(), bits, {}));
    } else {
      benchmark::DoNotOptimize(engine.release_many(requests, bits, {}));
    }
    released.push_back(microseconds(Clock::now() - begin));
  }
  state.counters["p50_us"] = median(released);
  state.counters["raw_p50_us"] = median(raw);
  state.counters["ratio"] = median(released) / median(raw);
  state.counters["us_each"] = median(released) / static_cast<double>(state.range(0));
}
BENCHMARK(durable_release)->Arg(1)->Iterations(2000)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(durable_release)->Arg(1'000)->Iterations(20)->UseRealTime()->Unit(benchmark::kMicrosecond);

/// So many keyed releases, one after the other. True if every one was granted.
bool release_each(engine::Engine& engine, const std::string& principal, std::int64_t count) {
  mechanisms::BufferedBits bits;
  bool granted = true;
  for (std::int64_t i = 0; i < count; ++i) {
    granted = engine.release(request(i, principal), bits, {}).recorded.granted && granted;
  }
  return granted;
}

/// Arg: how many threads share one Engine.
void releases_of_threads(benchmark::State& state) {
  constexpr std::int64_t kReleases = 2'000;  // of all together
  Workplace workplace;
  engine::Engine engine = workplace.open();
  std::int64_t round = 0;
  std::atomic<bool> granted = true;
  for (auto _ : state) {
    std::atomic<bool> started = false;
    std::vector<std::thread> threads;
    for (std::int64_t i = 0; i < state.range(0); ++i) {
      threads.emplace_back([&, who = std::to_string(round) + "." + std::to_string(i)] {
        started.wait(false);
        if (!release_each(engine, who, kReleases / state.range(0))) granted = false;
      });
    }
    const auto begin = Clock::now();
    started = true;
    started.notify_all();
    for (std::thread& thread : threads) thread.join();
    state.SetIterationTime(microseconds(Clock::now() - begin) / 1e6);
    ++round;
  }
  if (!granted) state.SkipWithError("a release was refused");
  state.SetItemsProcessed(state.iterations() * (kReleases / state.range(0)) * state.range(0));
}
BENCHMARK(releases_of_threads)->Arg(1)->Arg(8)->Arg(64)->Iterations(3)->UseManualTime();

/// Arg: how many requests one thread submits before it waits for any.
void submitted_releases(benchmark::State& state) {
  Workplace workplace;
  engine::Engine engine = workplace.open();
  mechanisms::BufferedBits bits;
  std::int64_t round = 0;
  std::atomic<bool> granted = true;
  for (auto _ : state) {
    std::atomic<std::int64_t> left = state.range(0);
    const std::string who = std::to_string(round++);
    const auto begin = Clock::now();
    for (std::int64_t i = 0; i < state.range(0); ++i) {
      engine.submit(request(i, who), bits, {}, [&](engine::Submitted outcome) {
        if (!outcome.answer || !outcome.answer->recorded.granted) granted = false;
        if (--left == 0) left.notify_one();
      });
    }
    for (std::int64_t now = left; now > 0; now = left) left.wait(now);
    state.SetIterationTime(microseconds(Clock::now() - begin) / 1e6);
  }
  if (!granted) state.SkipWithError("a release was refused");
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(submitted_releases)->Arg(2'000)->Iterations(3)->UseManualTime();

/// Waits for the pipe's other end to be closed.
void await_closed(int pipe_end) {
  char byte = 0;
  while (::read(pipe_end, &byte, 1) > 0) continue;
}

/// Arg: how many processes write to one ledger.
void releases_of_processes(benchmark::State& state) {
  constexpr std::int64_t kReleases = 2'000;  // of all together
  Workplace workplace;
  std::int64_t round = 0;
  for (auto _ : state) {
    std::array<int, 2> start{};
    if (::pipe(start.data()) != 0) throw std::runtime_error("no pipe");
    std::vector<pid_t> children;
    for (std::int64_t i = 0; i < state.range(0); ++i) {
      const pid_t child = ::fork();
      if (child == 0) {
        ::close(start[1]);
        engine::Engine engine = workplace.open();
        await_closed(start[0]);
        const std::string who = std::to_string(round) + "." + std::to_string(i);
        ::_exit(release_each(engine, who, kReleases / state.range(0)) ? 0 : 1);
      }
      children.push_back(child);
    }
    ::close(start[0]);
    const auto begin = Clock::now();
    ::close(start[1]);
    for (const pid_t child : children) {
      int status = 0;
      if (::waitpid(child, &status, 0) != child || status != 0) state.SkipWithError("a process failed");
    }
    state.SetIterationTime(microseconds(Clock::now() - begin) / 1e6);
    ++round;
  }
  state.SetItemsProcessed(state.iterations() * (kReleases / state.range(0)) * state.range(0));
}
BENCHMARK(releases_of_processes)->Arg(1)->Arg(8)->Arg(64)->Iterations(3)->UseManualTime();

}  // namespace
