// What a question about the discrete laws costs: accuracy at a scale, scale for an accuracy, the tail. None
// of them may grow with the scale, so each is asked over sixty orders of magnitude of it.
#include <benchmark/benchmark.h>

#include <string>

#include "epsilog/mechanisms/discrete_gaussian.hpp"
#include "epsilog/mechanisms/discrete_laplace.hpp"

namespace {

using namespace epsilog::mechanisms;
using epsilog::accounting::parse_rational;

struct Question {
  const char* scale;
  const char* alpha;
};
constexpr Question kQuestions[] = {
    {"0.001", "0.05"}, {"1", "0.05"},     {"1", "1e-300"},  {"40", "0.05"},
    {"100", "1e-100"}, {"1e9", "0.5"},    {"1e9", "0.05"},  {"1e9", "1e-10"},
    {"1e9", "1e-100"}, {"1e9", "1e-300"}, {"1e15", "0.05"}, {"1e60", "0.05"},
};

struct Numbers {
  explicit Numbers(benchmark::State& state)
      : question(kQuestions[state.range(0)]),
        scale(parse_rational(question.scale, "scale")),
        alpha(parse_rational(question.alpha, "alpha")) {
    state.SetLabel(std::string("scale ") + question.scale + " alpha " + question.alpha);
  }
  Question question;
  Rational scale;
  Rational alpha;
};

void every_question(benchmark::internal::Benchmark* benchmark) {
  for (std::size_t i = 0; i < std::size(kQuestions); ++i) benchmark->Arg(static_cast<long>(i));
  benchmark->Unit(benchmark::kMicrosecond);
}

void gaussian_accuracy(benchmark::State& state) {
  const Numbers numbers(state);
  for (auto _ : state) benchmark::DoNotOptimize(discrete_gaussian_accuracy(numbers.scale, numbers.alpha));
}
BENCHMARK(gaussian_accuracy)->Apply(every_question);

void gaussian_scale(benchmark::State& state) {
  const Numbers numbers(state);
  const Rational accuracy = discrete_gaussian_accuracy(numbers.scale, numbers.alpha);
  for (auto _ : state) benchmark::DoNotOptimize(discrete_gaussian_scale_down(accuracy, numbers.alpha));
}
BENCHMARK(gaussian_scale)->Apply(every_question);

void gaussian_tail(benchmark::State& state) {
  const Numbers numbers(state);
  const Integer a = discrete_gaussian_accuracy(numbers.scale, numbers.alpha);
  for (auto _ : state) benchmark::DoNotOptimize(discrete_gaussian_tail_up(numbers.scale, a));
}
BENCHMARK(gaussian_tail)->Apply(every_question);

void laplace_accuracy(benchmark::State& state) {
  const Numbers numbers(state);
  for (auto _ : state) benchmark::DoNotOptimize(discrete_laplace_accuracy(numbers.scale, numbers.alpha));
}
BENCHMARK(laplace_accuracy)->Apply(every_question);

void laplace_scale(benchmark::State& state) {
  const Numbers numbers(state);
  const Rational accuracy = discrete_laplace_accuracy(numbers.scale, numbers.alpha);
  for (auto _ : state) benchmark::DoNotOptimize(discrete_laplace_scale_down(accuracy, numbers.alpha));
}
BENCHMARK(laplace_scale)->Apply(every_question);

}  // namespace
