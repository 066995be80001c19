// What composing many releases costs: epsilon at a delta for a thousand to a million of them, both sides,
// with the gap between the sides in the label.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "epsilog/accounting/accountant.hpp"
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

/// As many Gaussian as Laplace releases of one scale.
void gaussian_with_laplace(benchmark::State& state) {
  ComposedLaw law;
  law.scale = parse_rational(std::to_string(std::sqrt(2.0 * static_cast<double>(state.range(0)))), "scale");
  law.sensitivity = 1;
  law.count = static_cast<std::uint64_t>(state.range(0));
  std::vector<ComposedLaw> laws(2, law);
  laws[0].kind = ComposedLaw::Kind::gaussian;
  const Rational delta = parse_rational("1e-6", "delta");
  for (auto _ : state) benchmark::DoNotOptimize(pld_epsilon_up(laws, delta));
  state.SetLabel("epsilon " + std::to_string(pld_epsilon_up(laws, delta)->get_d()));
}
BENCHMARK(gaussian_with_laplace)->Arg(1'000)->Arg(10'000)->Arg(500'000)->Unit(benchmark::kMillisecond);

/// Of every kind. {kind, accountant}: pld, and the optimum of their guarantees.
void a_billion(benchmark::State& state) {
  ComposedLaw law;
  law.kind = static_cast<ComposedLaw::Kind>(state.range(0));
  law.scale = parse_rational(law.kind == ComposedLaw::Kind::discrete_gaussian ? "10000" : "31622.8", "scale");
  law.sensitivity = 1;
  law.epsilon = parse_rational("0.00003", "epsilon");
  law.delta = law.kind == ComposedLaw::Kind::approximate ? parse_rational("1e-16", "delta") : Rational(0);
  law.count = 1'000'000'000;
  const std::vector<KnownLoss> losses{known_loss(law)};
  const auto accountant = static_cast<Accountant>(state.range(1));
  const Rational delta = parse_rational("1e-6", "delta");
  for (auto _ : state) benchmark::DoNotOptimize(composed_epsilon_up(accountant, losses, delta));
  state.SetLabel(std::string(name(accountant)));
}
BENCHMARK(a_billion)
    ->ArgsProduct({benchmark::CreateDenseRange(0, static_cast<int>(ComposedLaw::Kind::approximate), 1),
                   {static_cast<int>(Accountant::optimal), static_cast<int>(Accountant::pld)}})
    ->Unit(benchmark::kMillisecond);

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
