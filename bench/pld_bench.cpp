// What composing many releases costs: epsilon at a delta for a thousand to a million of them, both sides,
// with the gap between the sides in the label.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <string>
#include <vector>

#include "epsilog/accounting/privacy_loss_distribution.hpp"

namespace {

using namespace epsilog::accounting;

constexpr const char* kDeltas[] = {"1e-6", "1e-9", "1e-12", "1e-15"};
struct Repetition {
  std::uint64_t count;
  const char* scale;  // a loss of about 1 in total
};
constexpr Repetition kRepetitions[] = {
    {1'000, "31.6227766"}, {10'000, "100"}, {100'000, "316.227766"}, {1'000'000, "1000"}};

void every_question(benchmark::internal::Benchmark* benchmark) {
  for (long repetition = 0; repetition < 4; ++repetition) {
    for (long delta = 0; delta < 4; ++delta) benchmark->Args({repetition, delta});
  }
  benchmark->Unit(benchmark::kMillisecond);
}

void repeated(benchmark::State& state, ComposedLaw::Kind kind) {
  const Repetition& repetition = kRepetitions[state.range(0)];
  ComposedLaw law;
  law.kind = kind;
  law.scale = parse_rational(repetition.scale, "scale");
  law.sensitivity = 1;
  law.count = repetition.count;
  const std::vector<ComposedLaw> laws{law};
  const Rational delta = parse_rational(kDeltas[state.range(1)], "delta");
  for (auto _ : state) benchmark::DoNotOptimize(pld_epsilon_up(laws, delta));
  const double up = pld_epsilon_up(laws, delta)->get_d();
  const double down = pld_epsilon_down(laws, delta)->get_d();
  char label[100];
  std::snprintf(label, sizeof label, "count %lu delta %s epsilon %.6f gap %.5f %%",
                static_cast<unsigned long>(repetition.count), kDeltas[state.range(1)], up,
                100 * (up - down) / up);
  state.SetLabel(label);
}

void laplace(benchmark::State& state) {
  repeated(state, ComposedLaw::Kind::laplace);
}
BENCHMARK(laplace)->Apply(every_question);

void gaussian(benchmark::State& state) {
  repeated(state, ComposedLaw::Kind::gaussian);
}
BENCHMARK(gaussian)->Apply(every_question);

void different_laplace_scales(benchmark::State& state) {
  std::vector<ComposedLaw> laws(static_cast<std::size_t>(state.range(0)));
  for (std::size_t i = 0; i < laws.size(); ++i) {
    laws[i].scale = Integer(static_cast<unsigned long>(400 + i));
    laws[i].sensitivity = 1;
  }
  const Rational delta = parse_rational("1e-6", "delta");
  for (auto _ : state) benchmark::DoNotOptimize(pld_epsilon_up(laws, delta));
}
BENCHMARK(different_laplace_scales)->Arg(100)->Arg(1'000)->Arg(10'000)->Unit(benchmark::kMillisecond);

}  // namespace
