// Does the time of a snapped draw tell of the noise, or of the answer? A test in the manner of dudect
// (Reparaz, Balasch, Verbauwhede, "Dude, is my code constant time?", DATE 2017): two classes of
// inputs in random order, Welch's t between their times, the slowest measurements cropped.
// |t| above 4.5 is what dudect calls a leak; with enough measurements any difference shows.
//
//   epsilog_snapping_timing [MEASUREMENTS] [SEED]        (default 200000 of each class, seed 1)
//
// The time of decide() and of the plain definition in MPFR is taken, without the conversion of the
// released value, which is public anyway.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "epsilog/mechanisms/snapping_mechanism.hpp"
#include "snapping_sampler.hpp"
#include "support/replay_bits.hpp"

namespace {

using namespace epsilog::mechanisms;
using epsilog::accounting::Epsilon;
using epsilog::test::SeededBits;
using Clock = std::chrono::steady_clock;

/// Draws timed together, so that the clock's own step does not drown one of 10 ns.
constexpr std::size_t kTogether = 16;

struct Times {
  std::vector<double> of_class[2];
};

/// How far apart the classes are.
struct Difference {
  double t;            ///< Welch's, without sign
  double nanoseconds;  ///< of the means of one draw, without sign
};

Difference welch(Times times) {
  // One threshold for both classes, or cropping would itself make a difference.
  std::vector<double> all = times.of_class[0];
  all.insert(all.end(), times.of_class[1].begin(), times.of_class[1].end());
  const auto crop = all.begin() + static_cast<std::ptrdiff_t>(all.size() * 9 / 10);
  std::nth_element(all.begin(), crop, all.end());
  double mean[2], variance[2], n[2];
  for (const int c : {0, 1}) {
    double sum = 0, squares = 0;
    n[c] = 0;
    for (const double time : times.of_class[c]) {
      if (time > *crop) continue;
      n[c] += 1;
      sum += time;
      squares += time * time;
    }
    mean[c] = sum / n[c];
    variance[c] = (squares - n[c] * mean[c] * mean[c]) / (n[c] - 1);
  }
  const double apart = std::fabs(mean[0] - mean[1]);
  return {apart / std::sqrt(variance[0] / n[0] + variance[1] / n[1]), apart / kTogether};
}

struct Input {
  SnappingSampler::Position position;
  Rational answer;
  std::vector<std::byte> attempt;
};

enum class Secret { noise, answer };

/// Class 0 holds one secret fixed at an extreme, class 1 varies it; everything else varies in both.
Input input(const SnappingSampler& sampler, Secret secret, int which, SeededBits& bits) {
  Input result;
  result.attempt.resize(sampler.bytes_per_answer());
  bits.fill(result.attempt);
  std::uint32_t draw = 0;
  bits.fill(std::as_writable_bytes(std::span(&draw, 1)));
  result.answer = draw % 1'000'001;
  if (which == 0 && secret == Secret::noise) {
    // U in [1 - 2^-21, 1): the noise is nearly nothing, which takes MPFR longest.
    result.attempt[0] = result.attempt[1] = std::byte{0xff};
    result.attempt[2] |= std::byte{0xf0};
    result.attempt[sampler.bytes_per_answer() - kExponentBytes - 1] |= std::byte{0x80};
  }
  if (which == 0 && secret == Secret::answer) result.answer = 0;
  result.position = *sampler.position(result.answer);
  return result;
}

template <class Draw>
Difference difference_of(const SnappingSampler& sampler, Secret secret, std::size_t measurements,
                         std::uint64_t seed, Draw draw) {
  SeededBits bits(seed);
  Times times;
  std::vector<Input> inputs;
  for (std::size_t i = 0; i < 2 * measurements; ++i) {
    std::byte coin{};
    bits.fill(std::span(&coin, 1));
    const int which = std::to_integer<int>(coin) & 1;
    inputs.clear();
    for (std::size_t j = 0; j < kTogether; ++j) inputs.push_back(input(sampler, secret, which, bits));
    const auto start = Clock::now();
    for (const Input& one : inputs) draw(one);
    times.of_class[which].push_back(std::chrono::duration<double, std::nano>(Clock::now() - start).count());
  }
  return welch(std::move(times));
}

template <class Value>
void keep(const Value& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

void print(const std::string& what, Difference noise, Difference answer) {
  std::printf("%-20s   |t| %6.1f, %8.2f ns   |t| %6.1f, %8.2f ns\n", what.c_str(), noise.t, noise.nanoseconds,
              answer.t, answer.nanoseconds);
}

}  // namespace

int main(int count, char** arguments) {
  const std::size_t measurements = count > 1 ? std::stoull(arguments[1]) : 200'000;
  const std::uint64_t seed = count > 2 ? std::stoull(arguments[2]) : 1;
  SnappingMechanism::Options options;
  options.epsilon = Epsilon::parse_down("0.1");
  options.sensitivity = 1;
  options.lower = 0;
  options.upper = 1'000'000;
  std::printf("%-20s %24s %24s\n", "time of a draw", "against the noise", "against the answer");
  for (const auto& [arithmetic, precision] :
       {std::pair(Arithmetic::mpfr, 53U), {Arithmetic::mpfr, 118U}, {Arithmetic::exact, 0U}}) {
    options.arithmetic = arithmetic;
    options.precision = {precision};
    const auto parameters = SnappingMechanism(options).parameters();
    const SnappingSampler fast(parameters, options.lower, options.upper);
    const SnappingSampler plain(parameters, options.lower, options.upper, SnappingTiers::mpfr_only);
    const auto with_integers = [&fast](const Input& one) {
      keep(fast.decide(one.position, one.attempt.data()).multiple);
    };
    std::vector<Rational> released;
    const auto with_mpfr = [&plain, &released](const Input& one) {
      std::vector<std::byte> bytes = one.attempt;
      bytes.resize(bytes.size() + 64, std::byte{0x5a});  // an exact draw may ask for more
      epsilog::test::ReplayBits bits(std::move(bytes));
      released.clear();
      plain.draw(std::span(&one.answer, 1), bits, released);
    };
    const std::string name = precision == 0 ? "exact" : "mpfr " + std::to_string(precision);
    const std::size_t fewer = std::max<std::size_t>(measurements / 20, 100);
    print(name + ", MPFR", difference_of(fast, Secret::noise, fewer, seed, with_mpfr),
          difference_of(fast, Secret::answer, fewer, seed + 1, with_mpfr));
    print(name + ", integers", difference_of(fast, Secret::noise, measurements, seed + 2, with_integers),
          difference_of(fast, Secret::answer, measurements, seed + 3, with_integers));
    std::fflush(stdout);
  }
}
