// The first tier against the plain definition: every byte string must give the same release.
#include "snapping_sampler.hpp"

#include "epsilog/mechanisms/snapping_mechanism.hpp"
#include "support/catch.hpp"
#include "support/replay_bits.hpp"

using namespace epsilog::mechanisms;
using epsilog::accounting::power_of_two;
using namespace epsilog::test;

namespace {

using Parameters = SnappingMechanism::Parameters;

struct Setting {
  Parameters parameters;
  Rational lower;
  Rational upper;

  [[nodiscard]] SnappingSampler sampler(SnappingTiers tiers = SnappingTiers::all,
                                        std::uint64_t timidity = 0) const {
    return {parameters, lower, upper, tiers, timidity};
  }
};

Setting calibrated(Arithmetic arithmetic, unsigned precision, const char* epsilon,
                   const Rational& sensitivity, const Rational& lower, const Rational& upper) {
  SnappingMechanism::Options options;
  options.epsilon = epsilog::accounting::Epsilon::parse_down(epsilon);
  options.sensitivity = sensitivity;
  options.lower = lower;
  options.upper = upper;
  options.arithmetic = arithmetic;
  options.precision = {precision};
  return {SnappingMechanism(options).parameters(), lower, upper};
}

std::vector<Setting> settings(Arithmetic arithmetic, unsigned precision) {
  return {
      calibrated(arithmetic, precision, "0.1", 1, 0, 1'000'000),
      calibrated(arithmetic, precision, "1", 1, -8, 8),
      calibrated(arithmetic, precision, "0.3", Rational(7, 3), Rational(-1, 7), Rational(2)),
      calibrated(arithmetic, precision, "2.5", Rational(1, 1000), 5, Rational(73, 7)),
      calibrated(arithmetic, precision, "0.001", power_of_two(40), -power_of_two(60), power_of_two(58)),
      calibrated(arithmetic, precision, "20", power_of_two(-60), 0, power_of_two(-40)),
  };
}

std::vector<Rational> spread_answers(const Setting& setting, SeededBits& bits, std::size_t count) {
  std::vector<Rational> answers;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t draw[2] = {};
    bits.fill(std::as_writable_bytes(std::span(draw)));
    Rational where(draw[0], i % 3 == 0 ? 4294967296UL : draw[1] | 1UL);
    where.canonicalize();
    if (i % 5 == 0) where = i % 10 == 0 ? Rational(1) : Rational(0);
    answers.push_back(setting.lower + (setting.upper - setting.lower) * where);
    if (i % 7 == 0) answers.back() = epsilog::accounting::floor(answers.back());
  }
  return answers;
}

/// As many releases as answers from each sampler and the same seed; the first that differs fails.
void expect_same(const SnappingSampler& first, const SnappingSampler& second,
                 const std::vector<Rational>& answers, std::uint64_t seed) {
  SeededBits bits(seed);
  SeededBits again(seed);
  std::vector<Rational> releases;
  std::vector<Rational> expected;
  first.draw(answers, bits, releases);
  second.draw(answers, again, expected);
  REQUIRE(releases.size() == answers.size());
  REQUIRE(expected.size() == answers.size());
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (releases[i] != expected[i])
      FAIL("answer " << i << " = " << answers[i] << ": " << releases[i] << " instead of " << expected[i]);
  }
}

std::vector<std::byte> attempt_of(const SnappingSampler& sampler, std::uint64_t leading, unsigned exponent,
                                  bool negative, std::byte rest) {
  const std::size_t significand = sampler.bytes_per_answer() - kExponentBytes - 1;
  std::vector<std::byte> bytes(sampler.bytes_per_answer(), std::byte{0});
  for (std::size_t i = 0; i < significand; ++i)
    bytes[i] = i < 8 ? static_cast<std::byte>(leading >> (56 - 8 * i)) : rest;
  bytes[significand + (exponent - 1) / 8] = static_cast<std::byte>(0x80U >> ((exponent - 1) % 8));
  bytes.back() = negative ? std::byte{1} : std::byte{0};
  return bytes;
}

constexpr struct {
  Arithmetic arithmetic;
  unsigned precision;
} kArithmetics[] = {
    {Arithmetic::mpfr, 53}, {Arithmetic::mpfr, 118}, {Arithmetic::mpfr, 200}, {Arithmetic::exact, 0}};

}  // namespace

TEST_CASE("sampler: integers and MPFR release the same value from the same bytes, 200,000 times",
          "[mechanisms][snapping][integers][exact]") {
  std::uint64_t seed = 100;
  for (const auto& [arithmetic, precision] : kArithmetics) {
    for (const Setting& setting : settings(arithmetic, precision)) {
      SeededBits choices(++seed);
      const std::vector<Rational> answers = spread_answers(setting, choices, 8'400);
      CAPTURE(precision, setting.lower, setting.upper);
      expect_same(setting.sampler(), setting.sampler(SnappingTiers::mpfr_only), answers, seed);
    }
  }
}

TEST_CASE("sampler: a first tier that declines nearly always releases the same values",
          "[mechanisms][snapping][integers][exact]") {
  std::uint64_t seed = 200;
  for (const auto& [arithmetic, precision] : kArithmetics) {
    for (const Setting& setting : settings(arithmetic, precision)) {
      SeededBits choices(++seed);
      const std::vector<Rational> answers = spread_answers(setting, choices, 500);
      // 2^55 of 2^57 units on either side: half of all draws go to MPFR.
      expect_same(setting.sampler(), setting.sampler(SnappingTiers::all, std::uint64_t{1} << 55), answers,
                  seed);
    }
  }
}

TEST_CASE("sampler: sums that hug a rounding boundary are released as defined",
          "[mechanisms][snapping][integers][exact]") {
  std::size_t declined = 0;
  std::size_t decided = 0;
  for (const auto& [arithmetic, precision] : kArithmetics) {
    const Setting setting = calibrated(arithmetic, precision, "1", 1, -64, 64);
    const SnappingSampler sampler = setting.sampler();
    const SnappingSampler plain = setting.sampler(SnappingTiers::mpfr_only);
    SeededBits bits(7);
    for (int i = 0; i < 400; ++i) {
      std::uint64_t leading = 0;
      bits.fill(std::as_writable_bytes(std::span(&leading, 1)));
      const bool negative = i % 2 == 1;
      const auto attempt =
          attempt_of(sampler, leading, static_cast<unsigned>(i % 9 + 1), negative, std::byte{0x5a});
      // The noise this attempt gives, to 300 bits; then the answer that puts the sum on a boundary.
      MpfrNumber noise(300);
      mpfr_set_ui(noise.get(), leading, MPFR_RNDN);
      mpfr_div_2ui(noise.get(), noise.get(), 64, MPFR_RNDN);
      mpfr_add_ui(noise.get(), noise.get(), 1, MPFR_RNDN);
      mpfr_div_2ui(noise.get(), noise.get(), static_cast<unsigned long>(i % 9 + 1), MPFR_RNDN);
      mpfr_log(noise.get(), noise.get(), MPFR_RNDN);
      Rational sum_without_y = noise.rational() * setting.parameters.scale * (negative ? 1 : -1);
      const Rational boundary = (Rational(2 * (i % 20) - 19) / 2) * setting.parameters.grid;
      for (const int hair : {-70, -64, -60, -58, -57, -56, -55, -54, -52, -50, -45}) {
        for (const int side : {-1, 1}) {
          const Rational answer =
              setting.parameters.centre + boundary - sum_without_y + side * power_of_two(hair);
          if (answer < -64 || answer > 64) continue;
          (sampler.decide(*sampler.position(answer), attempt.data()).decided ? decided : declined) += 1;
          std::vector<std::byte> more = attempt;
          more.insert(more.end(), 64, std::byte{0x33});
          ReplayBits one(more);
          ReplayBits two(more);
          std::vector<Rational> released;
          const std::vector<Rational> answers{answer};
          sampler.draw(answers, one, released);
          plain.draw(answers, two, released);
          if (released[0] != released[1])
            FAIL("p " << precision << ", " << i << ", 2^" << hair << " * " << side);
        }
      }
    }
  }
  CHECK(declined > 1000);
  CHECK(decided > 1000);
}

TEST_CASE("sampler: extreme significands and exponents are released as defined",
          "[mechanisms][snapping][integers][exact]") {
  for (const auto& [arithmetic, precision] : kArithmetics) {
    for (const Setting& setting : settings(arithmetic, precision)) {
      const SnappingSampler sampler = setting.sampler();
      const SnappingSampler plain = setting.sampler(SnappingTiers::mpfr_only);
      for (unsigned exponent = 1; exponent <= 64; ++exponent) {
        for (const std::uint64_t leading :
             {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}, ~std::uint64_t{1},
              std::uint64_t{1} << 63, std::uint64_t{0x0123456789abcdef}}) {
          for (const std::byte rest : {std::byte{0}, std::byte{0xff}}) {
            std::vector<std::byte> bytes = attempt_of(sampler, leading, exponent, exponent % 2 == 0, rest);
            bytes.insert(bytes.end(), 32, rest == std::byte{0} ? std::byte{0x11} : std::byte{0xee});
            for (const Rational& answer : {setting.lower, setting.upper, setting.parameters.centre}) {
              ReplayBits one(bytes);
              ReplayBits two(bytes);
              std::vector<Rational> released;
              const std::vector<Rational> answers{answer};
              sampler.draw(answers, one, released);
              plain.draw(answers, two, released);
              if (released[0] != released[1]) FAIL("p " << precision << ", exponent " << exponent);
            }
          }
        }
      }
    }
  }
}

TEST_CASE("sampler: an exponent block of zeros is continued with fresh bytes",
          "[mechanisms][snapping][integers][exact]") {
  for (const auto& [arithmetic, precision] : kArithmetics) {
    const Setting setting = calibrated(arithmetic, precision, "1", 1, -400, 400);
    const SnappingSampler sampler = setting.sampler();
    std::vector<std::byte> bytes = attempt_of(sampler, 0, 1, false, std::byte{0});
    bytes[sampler.bytes_per_answer() - kExponentBytes - 1] = std::byte{0};  // now all zero
    bytes.insert(bytes.end(), {std::byte{0x20}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0},
                               std::byte{0}, std::byte{0}, std::byte{0}});
    ReplayBits bits(bytes);
    std::vector<Rational> released;
    sampler.draw(std::vector<Rational>{Rational(0)}, bits, released);
    // U = 2^-67: the noise is 67 ln 2 = 46.44, and Lambda = 1.
    CHECK(released == std::vector<Rational>{Rational(46)});
    CHECK(bits.exhausted());
  }
}

TEST_CASE("sampler: at toy precision every draw is the plain definition's",
          "[mechanisms][snapping][integers][enumerator][exact]") {
  std::size_t decided = 0;
  for (const unsigned p : {8U, 9U, 11U}) {
    for (const auto& [lambda, grid, bound] : {std::tuple(Rational(3, 2), Rational(2), Rational(9)),
                                              {Rational(33, 32), Rational(1), Rational(5, 2)},
                                              {Rational(1), Rational(1), Rational(1, 3)}}) {
      Setting setting;
      setting.parameters.arithmetic = Arithmetic::mpfr;
      setting.parameters.precision = p;
      setting.parameters.scale = lambda;
      setting.parameters.grid = grid;
      setting.parameters.bound = bound;
      setting.lower = -bound;
      setting.upper = bound;
      const SnappingSampler sampler = setting.sampler();
      const std::vector<Rational> answers{-bound, Rational(-1, 3), 0, grid / 2, Rational(127, 512), bound};
      for (const Rational& y : answers) {
        if (abs(y) > bound) continue;
        for (unsigned significand = 0; significand < 1U << (p - 1); ++significand) {
          const std::uint64_t leading = std::uint64_t{significand} << (65 - p);
          for (unsigned exponent = 1; exponent <= 20; ++exponent) {
            const bool negative = (significand + exponent) % 2 == 0;
            const auto attempt = attempt_of(sampler, leading, exponent, negative, std::byte{0});
            decided += sampler.decide(*sampler.position(y), attempt.data()).decided ? 1 : 0;
            ReplayBits bits(attempt);
            std::vector<Rational> released;
            sampler.draw(std::vector<Rational>{y}, bits, released);
            const MpfrNumber u =
                MpfrNumber::exactly((1 + Rational(significand) * power_of_two(1 - static_cast<long>(p))) *
                                    power_of_two(-static_cast<long>(exponent)));
            if (released[0] != snapped(y, negative, u, lambda, grid, bound, p))
              FAIL("p " << p << ", y " << y << ", significand " << significand << ", exponent " << exponent);
          }
        }
      }
    }
  }
  CHECK(decided > 100'000);
}

TEST_CASE("sampler: an answer range beyond the bound is clamped to its nearer end",
          "[mechanisms][snapping][integers]") {
  SnappingMechanism::Options options;
  options.epsilon = epsilog::accounting::Epsilon::parse_down("1");
  options.sensitivity = 16;  // Lambda = 16, so the centre of [3, 4] is 0
  options.lower = 3;
  options.upper = 4;
  options.bound = Rational(1, 2);
  options.arithmetic = Arithmetic::exact;
  const SnappingMechanism mechanism(options);
  REQUIRE(mechanism.parameters().centre == 0);
  const SnappingSampler sampler(mechanism.parameters(), 3, 4);
  SeededBits bits(6);
  SeededBits again(6);
  std::vector<Rational> released;
  sampler.draw(std::vector<Rational>(1000, Rational(2)), bits, released);
  for (const Rational& value : released) {
    // The range first, then the bound: every answer is 1/2.
    REQUIRE(value == snapped_exact(Rational(1, 2), mechanism.parameters().scale, 16, Rational(1, 2), again));
  }
}

TEST_CASE("sampler: a fixed number of bytes is read for each answer", "[mechanisms][snapping][integers]") {
  for (const auto& [arithmetic, precision] : kArithmetics) {
    const Setting setting = calibrated(arithmetic, precision, "0.1", 1, 0, 1'000'000);
    const SnappingSampler sampler = setting.sampler();
    CHECK(sampler.bytes_per_answer() == (precision == 0 ? 17 : attempt_bytes(precision)));
    SeededBits bits(8);
    std::vector<Rational> released;
    sampler.draw(std::vector<Rational>(1000, Rational(77)), bits, released);
    CHECK(bits.bytes() == 1000 * sampler.bytes_per_answer());
    CHECK(bits.fills() == 16);  // 64 answers at a time
  }
}
