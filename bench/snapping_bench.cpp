// What one snapped release costs, beside the parts it cannot do without: its random bytes and one
// logarithm. The ratio of two lines of one run is the figure that travels between machines;
// nanoseconds do not.
//
//   draw, draw_batch   bytes in, multiple of Lambda out: what the mechanism itself adds. Limit: the
//                      lines buffered_bytes and libm_log of the same arithmetic's bytes.
//   draw_plain_mpfr    the same with MPFR variables reused: the definition, written as fast as MPFR goes.
//   release            receipt, rational answers and rational releases around it.
//
// Calibration is done once, and no ledger stands behind the receipt (bench/ledger_bench.cpp).
#include <benchmark/benchmark.h>
#include <mpfr.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "epsilog/accounting/charge_receipt.hpp"
#include "epsilog/mechanisms/snapping.hpp"
#include "epsilog/mechanisms/snapping_mechanism.hpp"
#include "snapping_sampler.hpp"

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

constexpr std::size_t kBatch = 64;

SnappingSampler count_sampler(Arithmetic arithmetic, unsigned precision) {
  const SnappingMechanism::Options options = count_options(arithmetic, precision);
  return {SnappingMechanism(options).parameters(), options.lower, options.upper};
}

void draw(benchmark::State& state, Arithmetic arithmetic, unsigned precision) {
  const SnappingSampler sampler = count_sampler(arithmetic, precision);
  const SnappingSampler::Position position = *sampler.position(271'828);
  BufferedBits bits;
  std::array<std::byte, 64> attempt{};
  std::int64_t undecided = 0;
  for (auto _ : state) {
    bits.fill(std::span(attempt).first(sampler.bytes_per_answer()));
    const IntegerVerdict verdict = sampler.decide(position, attempt.data());
    undecided += verdict.decided ? 0 : 1;
    benchmark::DoNotOptimize(verdict);
  }
  state.counters["undecided"] = static_cast<double>(undecided);
}
BENCHMARK_CAPTURE(draw, mpfr_53, Arithmetic::mpfr, 53);
BENCHMARK_CAPTURE(draw, mpfr_118, Arithmetic::mpfr, 118);
BENCHMARK_CAPTURE(draw, exact, Arithmetic::exact, 0);

void draw_batch(benchmark::State& state, Arithmetic arithmetic, unsigned precision) {
  const SnappingSampler sampler = count_sampler(arithmetic, precision);
  const SnappingSampler::Position position = *sampler.position(271'828);
  const std::size_t size = sampler.bytes_per_answer();
  BufferedBits bits;
  std::vector<std::byte> attempts(size * kBatch);
  std::array<IntegerVerdict, kBatch> verdicts;
  for (auto _ : state) {
    bits.fill(attempts);
    for (std::size_t i = 0; i < kBatch; ++i) verdicts[i] = sampler.decide(position, &attempts[i * size]);
    benchmark::DoNotOptimize(verdicts);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kBatch));
}
BENCHMARK_CAPTURE(draw_batch, mpfr_53, Arithmetic::mpfr, 53);
BENCHMARK_CAPTURE(draw_batch, mpfr_118, Arithmetic::mpfr, 118);
BENCHMARK_CAPTURE(draw_batch, exact, Arithmetic::exact, 0);

/// The definition in MPFR with every variable reused and the same buffered bytes.
void draw_plain_mpfr(benchmark::State& state) {
  const auto precision = static_cast<unsigned>(state.range(0));
  const auto parameters = SnappingMechanism(count_options(Arithmetic::mpfr, precision)).parameters();
  const MpfrNumber lambda = MpfrNumber::exactly(parameters.scale);
  const long grid = exponent_of_power_of_two(parameters.grid, "grid");
  MpfrNumber u(precision);
  MpfrNumber y(64);
  mpfr_set_si(y.get(), 271'828 - 500'000, MPFR_RNDN);
  BufferedBits bits;
  std::vector<std::byte> bytes(precision == 53 ? 16 : 24);
  mpz_t significand;
  mpz_init(significand);
  for (auto _ : state) {
    bits.fill(bytes);
    mpz_import(significand, bytes.size() - 9, 1, 1, 1, 0, bytes.data());
    mpz_setbit(significand, 8 * (bytes.size() - 9));
    std::uint64_t block = 0;
    std::memcpy(&block, &bytes[bytes.size() - 9], sizeof block);
    mpfr_set_z_2exp(u.get(), significand,
                    -std::countl_zero(block) - 1 - static_cast<long>(8 * (bytes.size() - 9)), MPFR_RNDZ);
    mpfr_log(u.get(), u.get(), MPFR_RNDN);
    mpfr_mul(u.get(), u.get(), lambda.get(), MPFR_RNDN);
    if ((bytes.back() & std::byte{1}) != std::byte{0}) mpfr_neg(u.get(), u.get(), MPFR_RNDN);
    mpfr_add(u.get(), u.get(), y.get(), MPFR_RNDN);
    mpfr_mul_2si(u.get(), u.get(), -grid, MPFR_RNDN);
    mpfr_add_d(u.get(), u.get(), 0.5, MPFR_RNDD);
    mpfr_floor(u.get(), u.get());
    benchmark::DoNotOptimize(mpfr_get_si(u.get(), MPFR_RNDD));
  }
  mpz_clear(significand);
}
BENCHMARK(draw_plain_mpfr)->Arg(53)->Arg(118);

/// `values` answers under one receipt.
void release(benchmark::State& state, Arithmetic arithmetic, unsigned precision, std::size_t values) {
  SnappingMechanism::Options options = count_options(arithmetic, precision);
  const SnappingMechanism mechanism(options);
  const std::vector<Rational> answers(values, Rational(271'828));
  const auto transaction = std::make_shared<epsilog::accounting::TransactionLiveness>();
  BufferedBits bits;
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
template <class Bits>
void random_bytes(benchmark::State& state) {
  Bits bits;
  std::vector<std::byte> buffer(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    bits.fill(buffer);
    benchmark::DoNotOptimize(buffer.data());
  }
}
BENCHMARK(random_bytes<BufferedBits>)->Name("buffered_bytes")->Arg(16)->Arg(17)->Arg(24)->Arg(24 * kBatch);
BENCHMARK(random_bytes<SystemBits>)->Name("system_bytes")->Arg(24);

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
  std::array<double, 256> arguments;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    arguments[i] = std::ldexp(257.0 + static_cast<double>(i), -9 - static_cast<int>(i % 7));
  std::size_t next = 0;
  for (auto _ : state) benchmark::DoNotOptimize(std::log(arguments[next++ % arguments.size()]));
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
