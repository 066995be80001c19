// What one snapped release costs, beside the parts it cannot do without: its random bytes and one
// correctly rounded logarithm. The ratio of two lines of one run is the figure that travels between
// machines; nanoseconds do not.
//
// A release here is the mechanism's own work: calibration is done once, and no ledger stands behind
// the receipt (bench/ledger_bench.cpp measures that).
#include <benchmark/benchmark.h>
#include <mpfr.h>

#include <array>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "epsilog/accounting/charge_receipt.hpp"
#include "epsilog/mechanisms/snapping.hpp"
#include "epsilog/mechanisms/snapping_mechanism.hpp"

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

using epsilog::accounting::Epsilon;
using epsilog::accounting::Rational;
using namespace epsilog::mechanisms;

/// A count between 0 and a million at epsilon 0.1: what a curator releases most.
SnappingMechanism::Options count_options(Arithmetic arithmetic, unsigned precision) {
  SnappingMechanism::Options options;
  options.epsilon = Epsilon::parse_down("0.1");
  options.sensitivity = 1;
  options.lower = 0;
  options.upper = 1'000'000;
  options.arithmetic = arithmetic;
  options.precision = {precision};
  return options;
}

/// `values` answers under one receipt.
void release(benchmark::State& state, Arithmetic arithmetic, unsigned precision, std::size_t values) {
  SnappingMechanism::Options options = count_options(arithmetic, precision);
  const SnappingMechanism mechanism(options);
  const std::vector<Rational> answers(values, Rational(271'828));
  const auto transaction = std::make_shared<epsilog::accounting::TransactionLiveness>();
  SystemBits bits;
  for (auto _ : state) {
    auto receipt = epsilog::ledger::Transaction::receipt(options.epsilon, transaction);
    benchmark::DoNotOptimize(mechanism.release(answers, std::move(receipt), bits));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(values));
}
BENCHMARK_CAPTURE(release, mpfr_53, Arithmetic::mpfr, 53, 1);
BENCHMARK_CAPTURE(release, mpfr_118, Arithmetic::mpfr, 118, 1);
BENCHMARK_CAPTURE(release, exact, Arithmetic::exact, 0, 1);
BENCHMARK_CAPTURE(release, mpfr_118_vector_of_1000, Arithmetic::mpfr, 118, 1000);
BENCHMARK_CAPTURE(release, exact_vector_of_1000, Arithmetic::exact, 0, 1000);

/// The bytes of one draw: significand, exponent, sign.
void random_bytes(benchmark::State& state) {
  SystemBits bits;
  std::vector<std::byte> buffer(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    bits.fill(buffer);
    benchmark::DoNotOptimize(buffer.data());
  }
}
BENCHMARK(random_bytes)->Arg(16)->Arg(24)->Arg(32);

/// mpfr_log alone, over arguments spread as U* is.
void correctly_rounded_log(benchmark::State& state) {
  const auto precision = static_cast<mpfr_prec_t>(state.range(0));
  gmp_randstate_t random;
  gmp_randinit_default(random);
  std::array<mpfr_t, 256> arguments;
  for (auto& argument : arguments) {
    mpfr_init2(argument, precision);
    do {
      mpfr_urandom(argument, random, MPFR_RNDD);
    } while (mpfr_zero_p(argument));
  }
  mpfr_t result;
  mpfr_init2(result, precision);
  std::size_t next = 0;
  for (auto _ : state) {
    mpfr_log(result, arguments[next++ % arguments.size()], MPFR_RNDN);
    benchmark::DoNotOptimize(result[0]);
  }
  mpfr_clear(result);
  for (auto& argument : arguments) mpfr_clear(argument);
  gmp_randclear(random);
}
BENCHMARK(correctly_rounded_log)->Arg(53)->Arg(118);

/// libm's logarithm: not correctly rounded, hence only the yardstick of how fast one could be.
void libm_log(benchmark::State& state) {
  double u = 0.3;
  for (auto _ : state) {
    benchmark::DoNotOptimize(u);
    benchmark::DoNotOptimize(std::log(u));
  }
}
BENCHMARK(libm_log);

/// What `plan` does before anything is drawn.
void calibration(benchmark::State& state, Arithmetic arithmetic) {
  const SnappingMechanism::Options options = count_options(arithmetic, 0);
  for (auto _ : state) benchmark::DoNotOptimize(SnappingMechanism(options).parameters().grid.get_num_mpz_t());
}
BENCHMARK_CAPTURE(calibration, mpfr_auto, Arithmetic::mpfr);
BENCHMARK_CAPTURE(calibration, exact, Arithmetic::exact);

void accuracy(benchmark::State& state) {
  const SnappingMechanism mechanism(count_options(Arithmetic::mpfr, 0));
  const Rational alpha(1, 20);
  for (auto _ : state) benchmark::DoNotOptimize(mechanism.accuracy_up(alpha));
}
BENCHMARK(accuracy);

}  // namespace
