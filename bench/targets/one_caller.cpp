// One caller: a release at a time, a thousand in one call, two thousand submitted.
#include <atomic>

#include "bare_ledger.hpp"
#include "ledgers.hpp"
#include "targets.hpp"

namespace epsilog::bench {
namespace {

Row at_most(const std::string& what, double target, double measured, double floor) {
  return {.what = what,
          .target = text("<= %.1fx", target),
          .measured = text("%.1f us", measured),
          .floor = text("%.1f us", floor),
          .ratio = text("%.2f", measured / floor),
          .met = measured <= target * floor};
}

template <class Step>
double time_of(Step step) {
  const auto begin = Clock::now();
  step();
  return microseconds(Clock::now() - begin);
}

double submitted(engine::Engine& engine, const std::string& who, std::int64_t count) {
  mechanisms::BufferedBits bits;
  std::atomic<std::int64_t> left = count;
  std::atomic<bool> granted = true;
  const double time = time_of([&] {
    for (std::int64_t i = 0; i < count; ++i) {
      engine.submit(keyed_release(i, who), bits, {}, [&](engine::SubmissionOutcome outcome) {
        if (!outcome.answer || !outcome.answer->recorded.granted) granted = false;
        if (--left == 0) left.notify_one();
      });
    }
    for (std::int64_t now = left; now > 0; now = left) left.wait(now);
  });
  if (!granted) throw std::runtime_error("a release was refused");
  return time;
}

}  // namespace

std::vector<Row> rows_of_one_release() {
  constexpr std::int64_t kReleases = 4'000;
  const Ledgers ledgers;
  engine::Engine engine = engine::Engine::open(ledgers.path);
  BareLedger rows(ledgers.bare, ledgers.line);
  mechanisms::BufferedBits bits;
  std::vector<double> released;
  std::vector<double> bare;
  for (std::int64_t i = 0; i < kReleases; ++i) {
    const engine::Request request = keyed_release(i);
    released.push_back(time_of([&] { release_one(engine, request, bits); }));
    bare.push_back(time_of([&] { rows.release(1); }));
  }
  return {at_most("one durable release, p50", 1.5, median(released), median(bare)),
          at_most("one durable release, p99", 3, quantile(released, 0.99), quantile(bare, 0.99))};
}

std::vector<Row> rows_of_many_releases() {
  constexpr std::int64_t kReleases = 1'000;
  constexpr int kRounds = 15;
  const Ledgers ledgers;
  engine::Engine engine = engine::Engine::open(ledgers.path);
  BareLedger rows(ledgers.bare, ledgers.line);
  mechanisms::BufferedBits bits;
  std::vector<double> released;
  std::vector<double> at_once;
  std::vector<double> bare;
  for (std::int64_t round = 0; round < kRounds; ++round) {
    std::vector<engine::Request> requests;
    for (std::int64_t i = 0; i < kReleases; ++i) requests.push_back(keyed_release(round * kReleases + i));
    released.push_back(time_of([&] {
                         if (!engine.release_many(requests, bits, {}).back().recorded.granted) {
                           throw std::runtime_error("a release was refused");
                         }
                       }) /
                       kReleases);
    at_once.push_back(submitted(engine, std::to_string(round), 2 * kReleases) / (2 * kReleases));
    bare.push_back(time_of([&] { rows.release(kReleases); }) / kReleases);
  }
  return {at_most("release_many of 1,000, each", 2, median(released), median(bare)),
          at_most("2,000 submitted by one thread, each", 4, median(at_once), median(bare))};
}

}  // namespace epsilog::bench
