#include "discrete_sampler.hpp"

#include "directed_functions.hpp"
#include "epsilog/accounting/errors.hpp"
#include "support/case_table.hpp"
#include "support/catch.hpp"
#include "support/replay_bits.hpp"

using namespace epsilog::mechanisms;
using epsilog::InvalidParameter;
using namespace epsilog::accounting;
using namespace epsilog::test;

namespace {

constexpr std::uint64_t kTop = std::uint64_t{1} << 63;

/// floor(2^bits e^-x) by MPFR.
Integer reference_floor(const Rational& x, unsigned bits) {
  if (x >= bits) return 0;
  const Rational scaled = power_of_two(bits);
  const Integer below = epsilog::accounting::floor(scaled * exp_down(-x, 4 * bits + 400));
  const Integer above = epsilog::accounting::floor(scaled * exp_up(-x, 4 * bits + 400));
  REQUIRE(below == above);
  return below;
}

Integer found_floor(const Rational& x, unsigned bits) {
  Integer result;
  floor_scaled_exp_minus(result.get_mpz_t(), x.get_num_mpz_t(), x.get_den_mpz_t(), bits);
  return result;
}

std::uint64_t random_word(SeededBits& bits) {
  std::array<std::byte, 8> bytes{};
  bits.fill(bytes);
  std::uint64_t word = 0;
  for (const std::byte byte : bytes) word = (word << 8) | std::to_integer<std::uint64_t>(byte);
  return word;
}

void append_word(std::vector<std::byte>& bytes, std::uint64_t word) {
  for (unsigned i = 0; i < 8; ++i) bytes.push_back(static_cast<std::byte>(word >> (8 * i)));
}

struct Drawn {
  Integer value;
  std::size_t bytes;
};

std::vector<Drawn> draws(const DiscreteSampler& sampler, std::uint64_t seed, unsigned word_bits, int count) {
  SeededBits bits(seed);
  RandomWords words(bits, 1, word_bits);
  std::vector<Drawn> result;
  for (int i = 0; i < count; ++i) {
    WipedInteger noise;
    sampler.draw(noise, words);
    result.push_back({Integer(noise.get()), bits.bytes()});
  }
  return result;
}

const std::vector<std::string> kDrawnScales = words_of(
    "1/1000 1/7 1/2 9/10 1 3/2 13/8 10 1000/3 123456789.123456789 18446744073709551615 "
    "18446744073709551615/18446744073709551614 18446744073709551616 1e30 "
    "10000000000000000000000000000000000000000/7 1152921504606846976000001/13 10.25");

}  // namespace

TEST_CASE("trial: the threshold is the exact floor of the exponential", "[mechanisms][discrete][exact]") {
  for (const unsigned bits : {1U, 2U, 3U, 8U, 63U, 64U, 128U, 200U}) {
    CHECK(found_floor(0, bits) == power_of_two(bits).get_num());
    for (const char* x : {"1e-60", "1/16", "1", "2", "43", "44", "63", "64", "127.999", "999/7", "1e9"}) {
      CAPTURE(bits, x);
      const Rational exponent = parse_rational(x, "x");
      CHECK(found_floor(exponent, bits) == reference_floor(exponent, bits));
    }
  }
  SeededBits random(11);
  for (int i = 0; i < 3000; ++i) {
    Rational x(Integer(static_cast<unsigned long>(random_word(random) >> (i % 60))),
               Integer(static_cast<unsigned long>(random_word(random) >> (i % 53)) + 1));
    x.canonicalize();
    const unsigned bits = 1 + static_cast<unsigned>(i) % 130;
    if (found_floor(x, bits) != reference_floor(x, bits)) FAIL("x = " << x << ", bits = " << bits);
  }
}

TEST_CASE("trial: the machine table holds the exact floors", "[mechanisms][discrete][exact]") {
  for (unsigned k = 0; k <= kExpTableLast; ++k) CHECK(exp_minus_integer(k) == reference_floor(k, 63));
}

TEST_CASE("trial: the machine approximation stays within its bound", "[mechanisms][discrete]") {
  SeededBits random(12);
  Rational worst = 0;
  const auto check = [&](std::uint64_t whole, std::uint64_t fraction) {
    const Rational x = Rational(Integer(static_cast<unsigned long>(whole))) +
                       Rational(Integer(static_cast<unsigned long>(fraction))) * power_of_two(-64);
    const Rational found =
        8 * Rational(Integer(static_cast<unsigned long>(approximate_exp_minus(whole, fraction))));
    const Rational error = std::max<Rational>(abs(found - power_of_two(64) * exp_down(-x, 160)),
                                              abs(found - power_of_two(64) * exp_up(-x, 160)));
    worst = std::max(worst, error);
    if (error > kApproximationError) FAIL("whole = " << whole << ", fraction = " << fraction);
  };
  for (std::uint64_t whole = 0; whole <= 60; ++whole) {
    for (std::uint64_t sixteenth = 0; sixteenth < 16; ++sixteenth) {
      check(whole, sixteenth << 60);
      check(whole, (sixteenth << 60) - 1);
      check(whole, (sixteenth << 60) + 1);
    }
    for (int i = 0; i < 500; ++i) check(whole, random_word(random));
  }
  for (int i = 0; i < 20000; ++i) check(0, random_word(random));
  CHECK(worst > 4);  // the test measures something
}

TEST_CASE("trial: an approximation only decides what is certain", "[mechanisms][discrete][exact]") {
  // The value lies between 8 * 12 - 5 = 91 and 101 of 2^64; with 60-bit words between 5 and 6 of 2^60.
  CHECK(compare_with_approximation(90, 64, 12, 5) == Comparison::below);
  CHECK(compare_with_approximation(91, 64, 12, 5) == Comparison::undecided);
  CHECK(compare_with_approximation(101, 64, 12, 5) == Comparison::undecided);
  CHECK(compare_with_approximation(102, 64, 12, 5) == Comparison::above);
  CHECK(compare_with_approximation(4, 60, 12, 5) == Comparison::below);
  CHECK(compare_with_approximation(5, 60, 12, 5) == Comparison::undecided);
  CHECK(compare_with_approximation(6, 60, 12, 5) == Comparison::undecided);
  CHECK(compare_with_approximation(7, 60, 12, 5) == Comparison::above);
  CHECK(compare_with_approximation(0, 64, 0, 5) == Comparison::undecided);
}

TEST_CASE("trial: a geometric number drawn to its last bit goes on with fresh bits",
          "[mechanisms][discrete][exact]") {
  // All bits zero: above e^-k for no k that the drawn bits can tell. The next word settles it.
  const auto geometric = [](std::uint64_t first, std::vector<std::uint64_t> further, std::size_t& used) {
    std::vector<std::byte> bytes;
    for (const std::uint64_t word : further) append_word(bytes, word);
    ReplayBits bits(bytes);
    RandomWords words(bits, 1);
    const std::uint64_t value = geometric_of_e(first, 63, words);
    used = bits.fills().size();
    return value;
  };
  std::size_t used = 0;
  CHECK(geometric(kTop - 1, {}, used) == 0);
  CHECK(geometric(exp_minus_integer(1) + 1, {}, used) == 0);
  CHECK(geometric(exp_minus_integer(1) - 1, {}, used) == 1);
  CHECK(geometric(exp_minus_integer(1), {0}, used) == 1);
  CHECK(geometric(exp_minus_integer(1), {~0ULL}, used) == 0);
  CHECK(used == 1);
  // e^-87 = 2.80… 2^-127 and e^-86 = 7.6… 2^-127; e^-175 = 5.77… 2^-255 and e^-174 = 15.6… 2^-255.
  CHECK(geometric(0, {3}, used) == 86);
  CHECK(geometric(0, {7, 0}, used) == 86);
  CHECK(geometric(0, {7, ~0ULL}, used) == 85);
  CHECK(geometric(0, {0, 0, 6}, used) == 174);
  CHECK(used == 3);
}

TEST_CASE("sampler: every tier draws the same values from the same bytes", "[mechanisms][discrete][exact]") {
  std::uint64_t seed = 100;
  for (const std::string& text : kDrawnScales) {
    const Rational scale = parse_rational(text, "scale");
    for (const unsigned word_bits : {3U, 8U, 17U, 64U}) {
      for (const auto make : {&DiscreteSampler::laplace, &DiscreteSampler::gaussian}) {
        const auto machine = draws(make(scale, SamplerTier::machine, word_bits), seed, word_bits, 300);
        const auto general = draws(make(scale, SamplerTier::general, word_bits), seed, word_bits, 300);
        const auto exact = draws(make(scale, SamplerTier::exact, word_bits), seed, word_bits, 300);
        for (std::size_t i = 0; i < machine.size(); ++i) {
          if (machine[i].value != exact[i].value || general[i].value != exact[i].value ||
              machine[i].bytes != exact[i].bytes || general[i].bytes != exact[i].bytes)
            FAIL("scale " << text << ", " << word_bits << " bits, draw " << i);
        }
        ++seed;
      }
    }
  }
}

TEST_CASE("sampler: words that hug the threshold are decided alike by every tier",
          "[mechanisms][discrete][exact]") {
  SeededBits random(13);
  std::size_t extended = 0;
  const auto check = [&](auto make, const Rational& scale, bool gaussian) {
    const DiscreteSampler machine = make(scale, SamplerTier::machine, kWordBits);
    const DiscreteSampler exact = make(scale, SamplerTier::exact, kWordBits);
    REQUIRE(machine.fits_machine());
    const Integer span = gaussian ? Integer(epsilog::accounting::floor(scale) + 1) : Integer(scale.get_num());
    for (int round = 0; round < 200; ++round) {
      const std::uint64_t uniform = random_word(random);
      // Every exponent of V occurs: shift the word down.
      const std::uint64_t joint = random_word(random) >> (round % 64);
      const Integer offset = (Integer(static_cast<unsigned long>(uniform)) * span) >> 64;
      Rational x(offset, span);
      x.canonicalize();
      if (gaussian) {
        std::uint64_t whole = 0;
        while (whole < kExpTableLast && (joint >> 1) < exp_minus_integer(static_cast<unsigned>(whole) + 1))
          ++whole;
        const Rational away =
            Rational(offset + span * static_cast<unsigned long>(whole)) - scale * scale / span;
        x += away * away / (2 * scale * scale);
      }
      if (x == 0) continue;
      const Integer threshold = found_floor(x, 64);
      for (const long step : {-300L, -257L, -33L, -2L, -1L, 0L, 1L, 2L, 33L, 257L, 300L}) {
        const Integer word = threshold + step;
        if (word < 0 || word >= power_of_two(64).get_num()) continue;
        std::vector<std::byte> bytes;
        append_word(bytes, uniform);
        append_word(bytes, joint);
        append_word(bytes, word.get_ui());
        append_word(bytes, random_word(random));
        append_word(bytes, random_word(random));
        ReplayBits first_bits(bytes);
        ReplayBits second_bits(bytes);
        RandomWords first_words(first_bits, 1);
        RandomWords second_words(second_bits, 1);
        WipedInteger first;
        WipedInteger second;
        const bool accepted = machine.attempt(first, first_words);
        if (accepted != exact.attempt(second, second_words) || first_bits.fills() != second_bits.fills() ||
            (accepted && mpz_cmp(first.get(), second.get()) != 0))
          FAIL("scale " << scale << ", x = " << x << ", step " << step);
        extended += first_bits.fills().size() - 3;
      }
    }
  };
  for (const char* scale : {"1/7", "1", "13/8", "1000/3", "123456789.123456789", "9e18"}) {
    check(&DiscreteSampler::laplace, parse_rational(scale, "scale"), false);
    check(&DiscreteSampler::gaussian, parse_rational(scale, "scale"), true);
  }
  CHECK(extended > 500);
}

TEST_CASE("sampler: machine integers serve every scale whose numbers fit a word", "[mechanisms][discrete]") {
  const auto fits = [](const char* scale) {
    return DiscreteSampler::laplace(parse_rational(scale, "scale")).fits_machine();
  };
  CHECK(fits("18446744073709551615"));
  CHECK_FALSE(fits("18446744073709551616"));
  CHECK(fits("1/18446744073709551615"));
  CHECK_FALSE(fits("1/18446744073709551616"));
  CHECK(DiscreteSampler::gaussian(parse_rational("18446744073709551614.9999999", "scale")).fits_machine());
  CHECK_FALSE(DiscreteSampler::gaussian(parse_rational("18446744073709551615", "scale")).fits_machine());
}

TEST_CASE("sampler: an attempt reads the same bytes whatever it draws", "[mechanisms][discrete]") {
  for (const char* scale : {"1/7", "1000/3", "1e40"}) {
    for (const auto make : {&DiscreteSampler::laplace, &DiscreteSampler::gaussian}) {
      const DiscreteSampler sampler = make(parse_rational(scale, "scale"), SamplerTier::machine, kWordBits);
      SeededBits bits(14);
      RandomWords words(bits, 1);
      WipedInteger noise;
      for (std::size_t i = 1; i <= 2000; ++i) {
        static_cast<void>(sampler.attempt(noise, words));
        if (bits.fills() != i * sampler.attempt_words()) FAIL("attempt " << i);
      }
    }
  }
}

TEST_CASE("sampler: blocks change how bytes are fetched, not what is drawn", "[mechanisms][discrete]") {
  const DiscreteSampler sampler = DiscreteSampler::gaussian(Rational(40, 3));
  const auto one_by_one = draws(sampler, 15, kWordBits, 1000);
  SeededBits bits(15);
  RandomWords words(bits, 1'000'000);
  for (const Drawn& each : one_by_one) {
    WipedInteger noise;
    sampler.draw(noise, words);
    if (Integer(noise.get()) != each.value) FAIL("differs");
  }
  CHECK(bits.bytes() == bits.fills() * RandomWords::kBlockBytesMax);
}

TEST_CASE("sampler: recorded bytes give recorded values", "[mechanisms][discrete][exact]") {
  // t = 10: offset floor(10 u), V by e^-1 = 0.367…, trial e^(-offset/10).
  const auto value = [](const DiscreteSampler& sampler, std::uint64_t uniform, std::uint64_t joint,
                        std::uint64_t trial) {
    std::vector<std::byte> bytes;
    for (const std::uint64_t word : {uniform, joint, trial}) append_word(bytes, word);
    ReplayBits bits(bytes);
    RandomWords words(bits, 3);
    WipedInteger noise;
    return sampler.attempt(noise, words) ? Integer(noise.get()).get_str() : "rejected";
  };
  const std::uint64_t tenth = ~std::uint64_t{0} / 10;
  const DiscreteSampler ten = DiscreteSampler::laplace(10);
  CHECK(value(ten, 7 * tenth + 9, kTop + 0, 4 * tenth) == "7");  // e^-0.7 = 0.496…
  CHECK(value(ten, 7 * tenth + 9, kTop + 1, 4 * tenth) == "-7");
  CHECK(value(ten, 7 * tenth + 9, kTop + 0, 5 * tenth) == "rejected");
  CHECK(value(ten, 7 * tenth + 9, 3 * tenth & ~1ULL, 4 * tenth) == "17");
  CHECK(value(ten, 7 * tenth + 9, tenth | 1, 4 * tenth) == "-27");  // e^-2 = 0.135…, e^-3 = 0.049…
  CHECK(value(ten, 99, kTop | 1, 0) == "rejected");                 // minus zero
  CHECK(value(ten, 99, kTop, 0) == "0");
  CHECK(value(ten, 0, kTop, 0) == "rejected");  // 2^64 mod 10 = 6 products are left out
  CHECK(value(DiscreteSampler::laplace(Rational(10, 3)), 7 * tenth + 9, 3 * tenth & ~1ULL, 4 * tenth) == "5");
  CHECK(value(DiscreteSampler::gaussian(Rational(99, 10)), 7 * tenth + 9, kTop, 4 * tenth) == "7");
}

TEST_CASE("sampler: a scale that is not positive is refused", "[mechanisms][discrete]") {
  CHECK_THROWS_AS(DiscreteSampler::laplace(0), InvalidParameter);
  CHECK_THROWS_AS(DiscreteSampler::laplace(-1), InvalidParameter);
  CHECK_THROWS_AS(DiscreteSampler::gaussian(0), InvalidParameter);
  CHECK_THROWS_AS(DiscreteSampler::gaussian(Rational(-1, 3)), InvalidParameter);
}
