// Holds the two tiers of a snapped draw against one another on as many random inputs as one has
// patience for: random mechanisms, random answers, random bytes. One difference ends it with exit 1.
//
//   epsilog_snapping_agreement [DRAWS] [SEED]        (default 1000000 of each arithmetic, seed 1)
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "epsilog/mechanisms/snapping_mechanism.hpp"
#include "snapping_sampler.hpp"
#include "support/replay_bits.hpp"

namespace {

using namespace epsilog::mechanisms;
using epsilog::accounting::Epsilon;
using epsilog::accounting::power_of_two;
using epsilog::test::SeededBits;

constexpr std::size_t kAnswersOfAMechanism = 4096;

std::uint64_t number(SeededBits& bits) {
  std::uint64_t value = 0;
  bits.fill(std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

Rational unit(SeededBits& bits) {
  Rational value(number(bits) >> 1, 1UL << 63);
  value.canonicalize();
  return value;
}

SnappingMechanism::Options random_options(SeededBits& bits, Arithmetic arithmetic, unsigned precision) {
  SnappingMechanism::Options options;
  options.epsilon =
      Epsilon::from_units(1 + static_cast<std::int64_t>(number(bits) >> (22 + number(bits) % 24)));
  options.sensitivity = (1 + unit(bits)) * power_of_two(static_cast<long>(number(bits) % 24) - 12);
  const Rational ideal = options.sensitivity / options.epsilon.rational();
  options.lower = (unit(bits) - Rational(1, 2)) * ideal * power_of_two(static_cast<long>(number(bits) % 24));
  options.upper =
      options.lower + (1 + unit(bits)) * ideal * power_of_two(static_cast<long>(number(bits) % 20));
  options.arithmetic = arithmetic;
  options.precision = {precision};
  return options;
}

/// Returns how many draws the first tier declined; ends the process at the first difference.
std::uint64_t compare(const SnappingMechanism::Options& options, SeededBits& bits) {
  const auto parameters = SnappingMechanism(options).parameters();
  const SnappingSampler fast(parameters, options.lower, options.upper);
  const SnappingSampler plain(parameters, options.lower, options.upper, SnappingTiers::mpfr_only);
  std::vector<Rational> answers;
  for (std::size_t i = 0; i < kAnswersOfAMechanism; ++i)
    answers.push_back(options.lower + (options.upper - options.lower) * unit(bits));
  const std::uint64_t seed = number(bits);
  SeededBits first(seed);
  SeededBits second(seed);
  std::vector<Rational> released;
  std::vector<Rational> expected;
  fast.draw(answers, first, released);
  plain.draw(answers, second, expected);
  if (released != expected) {
    std::fprintf(stderr, "the tiers differ: precision %u, epsilon %s, seed %llu\n", options.precision.bits,
                 options.epsilon.text().c_str(), static_cast<unsigned long long>(seed));
    std::exit(1);
  }
  SeededBits third(seed);
  std::vector<std::byte> attempt(fast.bytes_per_answer());
  std::uint64_t declined = 0;
  for (const Rational& answer : answers) {
    third.fill(attempt);
    declined += fast.decide(*fast.position(answer), attempt.data()).decided ? 0 : 1;
  }
  return declined;
}

}  // namespace

int main(int count, char** arguments) {
  const std::uint64_t draws = count > 1 ? std::stoull(arguments[1]) : 1'000'000;
  const std::uint64_t seed = count > 2 ? std::stoull(arguments[2]) : 1;
  for (const auto& [arithmetic, precision] :
       {std::pair(Arithmetic::mpfr, 53U), {Arithmetic::mpfr, 118U}, {Arithmetic::exact, 0U}}) {
    SeededBits bits(seed);
    std::uint64_t done = 0;
    std::uint64_t declined = 0;
    for (; done < draws; done += kAnswersOfAMechanism) {
      try {
        declined += compare(random_options(bits, arithmetic, precision), bits);
      } catch (const epsilog::InvalidParameter&) {
        done -= kAnswersOfAMechanism;  // a mechanism that 53 bits cannot carry; the next one may be
      }
    }
    std::printf("%s %u: %llu draws agree, %llu of them left to MPFR\n",
                arithmetic == Arithmetic::exact ? "exact" : "mpfr", precision,
                static_cast<unsigned long long>(done), static_cast<unsigned long long>(declined));
    std::fflush(stdout);
  }
}
