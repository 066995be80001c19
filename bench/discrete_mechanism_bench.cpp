// What one release of discrete Laplace or discrete Gaussian noise costs, beside what it cannot do
// without: its random bytes, and as yardstick one libm logarithm. The ratio of two lines of one run is the
// figure that travels between machines; nanoseconds do not.
//
// A release here is the mechanism's own work: calibration is done once, and no ledger stands behind
// the receipt (bench/ledger_bench.cpp measures that).
#include <benchmark/benchmark.h>

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "epsilog/accounting/charge_receipt.hpp"
#include "epsilog/mechanisms/discrete_mechanism.hpp"

// Stands in for the ledger's transaction, the only class that may make a receipt.
namespace epsilog::ledger {
class Transaction {
 public:
  static accounting::ChargeReceipt receipt(const accounting::ApproximateLoss& amount,
                                           std::shared_ptr<const accounting::TransactionLiveness> liveness) {
    return {1, amount, std::move(liveness)};
  }
};
}  // namespace epsilog::ledger

namespace {

using namespace epsilog::mechanisms;
using epsilog::accounting::Delta;
using epsilog::accounting::Epsilon;

/// Bytes of the attempts that a release fetches at once: three of three words.
constexpr std::size_t kReleaseBytes = 72;

/// A count between 0 and a million (on its own grid), or a value of the same range on the automatic one.
DiscreteMechanism::Options options(DiscreteNoise noise, const char* epsilon, bool count) {
  DiscreteMechanism::Options result;
  result.noise = noise;
  result.loss.epsilon = Epsilon::parse_down(epsilon);
  if (noise == DiscreteNoise::gaussian) result.loss.delta = Delta::parse_down("1e-6");
  result.sensitivity = 1;
  result.sensitivity_l2_squared = 1;
  result.lower = 0;
  result.upper = 1'000'000;
  if (count) result.answer_step = 1;
  return result;
}

void release(benchmark::State& state, DiscreteNoise noise, const char* epsilon, bool count,
             std::size_t values) {
  const DiscreteMechanism mechanism(options(noise, epsilon, count));
  const std::vector<Rational> answers(values, Rational(271'828));
  const auto transaction = std::make_shared<epsilog::accounting::TransactionLiveness>();
  BufferedBits bits;
  for (auto _ : state) {
    auto receipt = epsilog::ledger::Transaction::receipt(mechanism.parameters().charged, transaction);
    benchmark::DoNotOptimize(mechanism.release(answers, std::move(receipt), bits));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(values));
  state.counters["scale_in_steps"] =
      Rational(mechanism.parameters().scale / mechanism.parameters().grid).get_d();
}
BENCHMARK_CAPTURE(release, laplace_count_eps_0 .1, DiscreteNoise::laplace, "0.1", true, 1);
BENCHMARK_CAPTURE(release, laplace_count_eps_1e_9, DiscreteNoise::laplace, "0.000000001", true, 1);
BENCHMARK_CAPTURE(release, laplace_value_eps_0 .1, DiscreteNoise::laplace, "0.1", false, 1);
BENCHMARK_CAPTURE(release, laplace_value_eps_0 .123456789123, DiscreteNoise::laplace, "0.123456789123", false,
                  1);
BENCHMARK_CAPTURE(release, gaussian_count_eps_0 .1, DiscreteNoise::gaussian, "0.1", true, 1);
BENCHMARK_CAPTURE(release, gaussian_value_eps_0 .1, DiscreteNoise::gaussian, "0.1", false, 1);
BENCHMARK_CAPTURE(release, gaussian_value_eps_1e_6, DiscreteNoise::gaussian, "0.000001", false, 1);
BENCHMARK_CAPTURE(release, laplace_count_vector_of_1000, DiscreteNoise::laplace, "0.1", true, 1000);
BENCHMARK_CAPTURE(release, gaussian_count_vector_of_1000, DiscreteNoise::gaussian, "0.1", true, 1000);
BENCHMARK_CAPTURE(release, gaussian_value_vector_of_1000, DiscreteNoise::gaussian, "0.1", false, 1000);

/// What every release is a ratio to: the bytes of one release, then one logarithm.
void random_bytes_and_libm_log(benchmark::State& state) {
  BufferedBits bits;
  std::vector<std::byte> buffer(kReleaseBytes);
  double u = 0.3;
  for (auto _ : state) {
    bits.fill(buffer);
    benchmark::DoNotOptimize(buffer.data());
    benchmark::DoNotOptimize(u);
    benchmark::DoNotOptimize(std::log(u));
  }
}
BENCHMARK(random_bytes_and_libm_log);

/// The same share of a value in a vector: blocks of 512 bytes.
void random_bytes_of_a_block(benchmark::State& state) {
  BufferedBits bits;
  std::vector<std::byte> buffer(512);
  for (auto _ : state) {
    bits.fill(buffer);
    benchmark::DoNotOptimize(buffer.data());
  }
}
BENCHMARK(random_bytes_of_a_block);

void calibration(benchmark::State& state, DiscreteNoise noise, bool count) {
  const DiscreteMechanism::Options asked = options(noise, "0.1", count);
  for (auto _ : state) benchmark::DoNotOptimize(DiscreteMechanism(asked).parameters().coordinates);
}
BENCHMARK_CAPTURE(calibration, laplace_count, DiscreteNoise::laplace, true);
BENCHMARK_CAPTURE(calibration, laplace_value, DiscreteNoise::laplace, false);
BENCHMARK_CAPTURE(calibration, gaussian_count, DiscreteNoise::gaussian, true);
BENCHMARK_CAPTURE(calibration, gaussian_value, DiscreteNoise::gaussian, false);

}  // namespace
