// The bound that is charged, tried on a mechanism small enough to know every output probability, and
// every known way of building the mechanism wrongly, shown to break it. If a wrong mechanism passed,
// the enumerator would be worth nothing.
#include <span>

#include "epsilog/mechanisms/snapping.hpp"
#include "mechanisms/toy_mechanism.hpp"
#include "mechanisms/toy_survey.hpp"
#include "snapping_draw.hpp"
#include "support/catch.hpp"

using namespace epsilog::mechanisms;
using namespace epsilog::test;
using epsilog::accounting::power_of_two;

namespace {

void expect_broken(const Worst& worst, double lambda, const Rational& allowed) {
  CAPTURE(worst.extra, allowed.get_d(), worst.output);
  CHECK(certified_extra(worst, lambda).low > allowed);
}

}  // namespace

TEST_CASE("enumerator: its probabilities are those of the shipped mechanism, value by value",
          "[mechanisms][snapping][enumerator][exact]") {
  for (const ToySetting& s :
       {ToySetting{5, 1.0625, 2, 3.25}, ToySetting{6, 1, 1, 1.5}, ToySetting{6, 1.90625, 2, 0.75}}) {
    const int last = bands_for(reach(s), s.scale);
    const std::vector<Atom> atoms = conforming_uniform(s.precision, last);
    const NoiseTable noise = noise_of(s);
    const ToyOutputs outputs(s);
    for (const Rational& fraction :
         {Rational(-1), Rational(-3, 7), Rational(0), Rational(1, 3), Rational(127, 128)}) {
      // The nearest dyadic, so that the fast side can hold it; finer than p bits all the same.
      const double y = Rational(fraction * s.bound).get_d();
      std::map<Rational, Rational> masses;
      for (const Atom& atom : atoms) {
        const MpfrNumber u = MpfrNumber::exactly(atom.u);
        for (const bool negative : {false, true})
          masses[snapped(y, negative, u, Rational(s.scale), Rational(s.grid), Rational(s.bound),
                         s.precision)] += Rational(atom.probability) / 2;
      }
      masses[s.bound] += power_of_two(-last - 1);  // U* below the last band leads beyond either end
      masses[-Rational(s.bound)] += power_of_two(-last - 1);
      for (long k = -outputs.last(); k <= outputs.last(); ++k) {
        CAPTURE(s.precision, s.scale, y, k);
        CHECK(masses[outputs.output(k)] == Rational(probability(outputs, noise, k, y)));
      }
    }
  }
}

TEST_CASE("enumerator: the shipped U* has each value as often as the toy's",
          "[mechanisms][snapping][enumerator][exact]") {
  // p = 8: the first byte holds the seven random bits of the significand, the next eight the exponent.
  class Bytes final : public BitSource {
   public:
    std::array<std::byte, attempt_bytes(8)> bytes{};
    void fill(std::span<std::byte> wanted) override {
      REQUIRE(wanted.size() == bytes.size());
      std::copy(bytes.begin(), bytes.end(), wanted.begin());
    }
  } source;
  const int last = 12;
  std::map<double, double> drawn;
  for (int significand = 0; significand < 256; ++significand) {
    for (int exponent = 1; exponent <= last; ++exponent) {
      source.bytes[0] = static_cast<std::byte>(significand);
      source.bytes[1] = static_cast<std::byte>(exponent <= 8 ? 1 << (8 - exponent) : 0);
      source.bytes[2] = static_cast<std::byte>(exponent > 8 ? 1 << (16 - exponent) : 0);
      drawn[exact_double(draw_uniform(source, 8).u_star)] += std::ldexp(1.0, -8 - exponent);
    }
  }
  const std::vector<Atom> expected = conforming_uniform(8, last);
  REQUIRE(drawn.size() == expected.size());
  for (const Atom& atom : expected) {
    CAPTURE(atom.u);
    CHECK(drawn[atom.u] == atom.probability);
    CHECK(drawn[atom.u] == std::ldexp(1.0, std::ilogb(atom.u) - 7));  // its unit in the last place
  }
}

TEST_CASE("enumerator: bisection and the full list give the same tails",
          "[mechanisms][snapping][enumerator][exact]") {
  const NoiseArithmetic arithmetic{1.3125, 9};
  const NoiseTable table = conforming_noise(arithmetic, 9, 8);
  const BisectedNoise bisected(arithmetic, 9);
  for (double w = 0x1p-10; w < 8; w *= 1.03) {
    CHECK(table.at_least(w) == bisected.at_least(w));
    CHECK(table.more_than(w) == bisected.more_than(w));
  }
  for (std::size_t i = 0; i < table.magnitudes().size(); i += 29) {
    const double z = table.magnitudes()[i];
    if (z > 8) break;
    CHECK(table.at_least(z) == bisected.at_least(z));
    CHECK(table.more_than(z) == bisected.more_than(z));
    CHECK(table.at_least(z) > table.more_than(z));
  }
}

TEST_CASE("enumerator: at 8 bits no answers of any precision lose more than is charged",
          "[mechanisms][snapping][enumerator]") {
  Survey survey;
  over_settings(8, 1, 8, 2, [&](const ToySetting& s, const NoiseTable& noise) {
    survey.expect_below(s, worst_extra(ToyOutputs(s), noise, Answers::any), proved_extra(s));
  });
  CHECK(survey.settings == 2048);
  CHECK(survey.closest > 0.3);  // the search does find losses of the size that is charged for
}

TEST_CASE("enumerator: at 8 bits no answers of 8 bits lose more than was published",
          "[mechanisms][snapping][enumerator]") {
  Survey survey;
  over_settings(8, 1, 8, 2, [&](const ToySetting& s, const NoiseTable& noise) {
    survey.expect_below(s, worst_extra(ToyOutputs(s), noise, Answers::p_bits), published_extra(s));
  });
  CHECK(survey.settings == 2048);
  CHECK(survey.closest > 0.6);
}

TEST_CASE("enumerator: what is charged needs no lower limit on the bound",
          "[mechanisms][snapping][enumerator]") {
  Survey survey;
  for (int i = 0; i < 128; i += 3) {
    const double lambda = 1 + i / 128.0;
    const ToySetting widest{8, lambda, power_of_two_at_least(lambda), lambda};
    const NoiseTable noise = noise_of(widest);
    for (double part = 1; part > 0x1p-12; part *= 0.59375) {
      ToySetting s = widest;
      s.bound = MpfrNumber::rounded(Rational(lambda * part), 20, MPFR_RNDN).nearest_double();
      survey.expect_below(s, worst_extra(ToyOutputs(s), noise, Answers::any), proved_extra(s));
    }
  }
  CHECK(survey.settings > 600);
}

TEST_CASE("enumerator: what is charged holds for a grid slightly below lambda",
          "[mechanisms][snapping][enumerator]") {
  // Lambda is taken from D/eps, lambda from a little more; the proof allows Lambda >= lambda/(1 + 2^-5).
  Survey survey;
  for (const double lambda : {1 + 1 / 128.0, 1 + 1 / 64.0, 1 + 3 / 128.0, 1 + 1 / 32.0}) {
    const NoiseTable noise = noise_of(ToySetting{8, lambda, 1, 2 * lambda});
    for (double bound = 1 / 32.0; bound < 2 * lambda; bound += 3 / 64.0) {
      const ToySetting s{8, lambda, 1, bound};
      survey.expect_below(s, worst_extra(ToyOutputs(s), noise, Answers::any), proved_extra(s));
    }
  }
  CHECK(survey.settings > 150);
}

TEST_CASE("enumerator: at 10 bits both bounds hold out to the largest bound allowed",
          "[mechanisms][snapping][enumerator]") {
  Survey proved;
  Survey published;
  for (const double lambda : {1.0, 1.001953125, 1.5, 1.892578125, 1.998046875}) {
    const NoiseTable noise = noise_of(ToySetting{10, lambda, power_of_two_at_least(lambda), 8 * lambda});
    for (const double part : {1.03125, 2.0625, 4.125, 7.96875}) {
      const ToySetting s{10, lambda, power_of_two_at_least(lambda),
                         MpfrNumber::rounded(Rational(lambda * part), 10, MPFR_RNDD).nearest_double()};
      proved.expect_below(s, worst_extra(ToyOutputs(s), noise, Answers::any), proved_extra(s));
      published.expect_below(s, worst_extra(ToyOutputs(s), noise, Answers::p_bits), published_extra(s));
    }
  }
}

TEST_CASE("enumerator: at 8 bits every bound and every lambda stays below both bounds",
          "[mechanisms][snapping][enumerator][.long]") {
  Survey proved;
  Survey published;
  over_settings(8, 1, 1, 2, [&](const ToySetting& s, const NoiseTable& noise) {
    proved.expect_below(s, worst_extra(ToyOutputs(s), noise, Answers::any), proved_extra(s));
    published.expect_below(s, worst_extra(ToyOutputs(s), noise, Answers::p_bits), published_extra(s));
  });
  CHECK(proved.settings > 16'000);
}

TEST_CASE("enumerator: at 9 and 10 bits a grid of settings stays below both bounds",
          "[mechanisms][snapping][enumerator][.long]") {
  for (const unsigned p : {9U, 10U}) {
    Survey proved;
    Survey published;
    over_settings(p, 9, 41, std::ldexp(1.0, static_cast<int>(p) - 7),
                  [&](const ToySetting& s, const NoiseTable& noise) {
                    proved.expect_below(s, worst_extra(ToyOutputs(s), noise, Answers::any), proved_extra(s));
                    published.expect_below(s, worst_extra(ToyOutputs(s), noise, Answers::p_bits),
                                           published_extra(s));
                  });
    CHECK(proved.settings > 250);
  }
}

// The wrong mechanisms.

TEST_CASE("enumerator: a U* narrower than the arithmetic loses far more than is charged",
          "[mechanisms][snapping][enumerator]") {
  const ToySetting s{24, 1, 1, 3.9375};
  const NoiseTable narrow = conforming_noise(NoiseArithmetic{s.scale, 24}, 8, reach(s));
  const Worst worst = worst_extra(ToyOutputs(s), narrow, Answers::any);
  expect_broken(worst, s.scale, 3000 * proved_extra(s));
  // It is what 8 bits cost: within what would be charged at 8.
  CHECK(certified_extra(worst, s.scale).high < proved_extra({8, 1, 1, 3.9375}));
}

TEST_CASE("enumerator: a bound below lambda/8 breaks the published bound, not the charged one",
          "[mechanisms][snapping][enumerator]") {
  for (const unsigned p : {8U, 10U}) {
    const ToySetting s{p, 1.5, 2, 1.5 / 16};
    const Worst worst = worst_extra(ToyOutputs(s), noise_of(s), Answers::p_bits);
    expect_broken(worst, s.scale, published_extra(s) * Rational(5, 4));
    CHECK(certified_extra(worst, s.scale).high < proved_extra(s));
  }
}

TEST_CASE("enumerator: a capped exponent makes outputs impossible: infinite loss",
          "[mechanisms][snapping][enumerator]") {
  const ToySetting s{10, 1, 1, 7.5};
  const ToyOutputs outputs(s);
  const auto capped = [&s](int cap) {
    return NoiseTable({s.scale, s.precision},
                      floating_uniform(s.precision, 1, cap,
                                       [cap](int e) { return std::ldexp(1.0, e == cap ? 1 - e : -e); }),
                      0);
  };
  CHECK(std::isinf(worst_extra(outputs, capped(21), Answers::any).extra));
  // A cap that is reached but ends no output: finite, and still more than is charged.
  expect_broken(worst_extra(outputs, capped(22), Answers::any), s.scale, proved_extra(s));
  // A cap beyond every cut is no cap.
  CHECK(worst_extra(outputs, capped(24), Answers::any).extra ==
        worst_extra(outputs, noise_of(s), Answers::any).extra);
}

TEST_CASE("enumerator: a geometric exponent that starts at 0 loses 1.950 where 1.090 is published",
          "[mechanisms][snapping][enumerator]") {
  const ToySetting s{10, 1, 1, 7.5};
  const ToyOutputs outputs(s);
  const int last = bands_for(reach(s), s.scale);
  const NoiseTable noise(
      {s.scale, s.precision},
      floating_uniform(s.precision, 0, last, [](int e) { return std::ldexp(1.0, -e - 1); }),
      std::ldexp(1.0, -last - 1));
  expect_broken(worst_extra(outputs, noise, Answers::any), s.scale, proved_extra(s));
  double loss = 0;  // at distance 1
  for (long k = -outputs.last(); k <= outputs.last(); ++k) {
    for (double y = -7.5; y <= 6.5; y += 1 / 64.0) {
      const double ratio = probability(outputs, noise, k, y) / probability(outputs, noise, k, y + 1);
      loss = std::max(loss, std::fabs(std::log(ratio)));
    }
  }
  CHECK(loss > 1.950);
  CHECK(loss < 1.951);
  CHECK(Rational(1) / Rational(s.scale) + published_extra(s) < Rational(1091, 1000));
}

TEST_CASE("enumerator: a uniform of the form k/2^n makes outputs impossible: infinite loss",
          "[mechanisms][snapping][enumerator]") {
  const ToySetting s{24, 1, 1, 7.5};
  for (const int n : {10, 14}) {
    std::vector<Atom> atoms;
    for (int k = 1; k <= 1 << n; ++k) atoms.push_back({std::ldexp(k, -n), std::ldexp(1.0, -n)});
    CHECK(std::isinf(worst_extra(ToyOutputs(s), NoiseTable({s.scale, 24}, atoms, 0), Answers::any).extra));
  }
}

TEST_CASE("enumerator: answers finer than p bits break the published bound, not the charged one",
          "[mechanisms][snapping][enumerator]") {
  const ToySetting s{16, 1.99298095703125, 2, 257.5390625};
  const ToyOutputs outputs(s);
  const BisectedNoise noise({s.scale, 16}, 16);
  const double y = 257.404052734375;
  const double other = 257.419921875;
  const EnclosedExtra extra = certified_extra(probability(outputs, noise, -128, y),
                                              probability(outputs, noise, -128, other), other - y, s.scale);
  CHECK_FALSE(representable(y, 16));
  CHECK(extra.low > published_extra(s));
  CHECK(extra.high < proved_extra(s));
  CHECK(extra.low > Rational("244608/10000000"));
  CHECK(published_extra(s) < Rational("236921/10000000"));
}

TEST_CASE("enumerator: answers rounded before the addition break every bound",
          "[mechanisms][snapping][enumerator]") {
  SECTION("to fewer bits than the arithmetic has, as a binary64 answer under 118 bits would be") {
    const ToySetting s{24, 1, 1, 3.9375};
    const BisectedNoise noise({s.scale, 24}, 24);
    Worst worst;
    compare_rounded_first(ToyOutputs(s), noise, {3, 3 + 0x1p-6, 3 + 0x2p-6, 3 + 0x3p-6}, -2, worst);
    expect_broken(worst, s.scale, 3000 * proved_extra(s));
    // The same answers, not rounded, are within what is charged.
    Worst direct;
    for (const double y : {3.0, 3 + 0x1p-6, 3 + 0x2p-6, 3 + 0x3p-6}) {
      const Piece here{y, y, probability(ToyOutputs(s), noise, -2, y)};
      const Piece next{y + 0x1p-30, y + 0x1p-30, probability(ToyOutputs(s), noise, -2, y + 0x1p-30)};
      compare({here, next}, s.scale, -2, direct);
    }
    CHECK(direct.extra < proved_extra(s).get_d());
  }
  SECTION("to p bits before the shift to the centre") {
    const ToySetting s{8, 1, 1, 1.9375};
    const ToyOutputs outputs(s);
    const NoiseTable noise = noise_of(s);
    // A range about 1000: eight bits there resolve steps of 4, so that the whole range becomes 1000.
    // About 1002 it falls apart into 1000 and 1004, which are clamped to the two ends.
    const std::vector<Piece> pieces{{-s.bound, 0, probability(outputs, noise, 0, -s.bound)},
                                    {0, s.bound, probability(outputs, noise, 0, s.bound)}};
    const std::vector<Piece> ends{{-s.bound, 0, probability(outputs, noise, 2, -s.bound)},
                                  {0, s.bound, probability(outputs, noise, 2, s.bound)}};
    REQUIRE(representable_below(1002, 8) == 1000);
    REQUIRE(representable_above(1002, 8) == 1004);
    Worst worst;
    compare(pieces, s.scale, 0, worst);
    compare(ends, s.scale, 2, worst);
    expect_broken(worst, s.scale, 10 * proved_extra(s));
  }
}

// The exact arithmetic.

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// P(Laplace(lambda) >= d).
double laplace_beyond(double d, double lambda) {
  return d >= 0 ? std::exp(-d / lambda) / 2 : 1 - std::exp(d / lambda) / 2;
}

/// P(output k | y) of the ideal mechanism, without cancellation.
double ideal_probability(const ToySetting& s, long k, double y) {
  const long last = static_cast<long>(std::ceil(s.bound / s.grid));
  const double low = k == -last ? -kInfinity : (static_cast<double>(k) - 0.5) * s.grid - y;
  const double high = k == last ? kInfinity : (static_cast<double>(k) + 0.5) * s.grid - y;
  if (high < 0) return laplace_beyond(-high, s.scale) - laplace_beyond(-low, s.scale);
  return laplace_beyond(low, s.scale) - laplace_beyond(high, s.scale);
}

}  // namespace

TEST_CASE("enumerator: the exact arithmetic has the ideal law", "[mechanisms][snapping][enumerator][exact]") {
  // Every first attempt of one significand byte is tried. What it decides is decided for every
  // continuation; what it leaves open is the width of the enclosure of each probability.
  struct Undecided {};
  class OneAttempt final : public BitSource {
   public:
    std::array<std::byte, 1 + kExponentBytes + 1> bytes{};
    bool used = false;
    void fill(std::span<std::byte> wanted) override {
      if (used) throw Undecided();
      REQUIRE(wanted.size() == bytes.size());
      std::copy(bytes.begin(), bytes.end(), wanted.begin());
      used = true;
    }
  };
  const int last_exponent = 12;
  for (const ToySetting& s : {ToySetting{0, 1.25, 2, 3.5}, ToySetting{0, 0.7, 1, 2}}) {
    const double y = 0.6;
    const Rational lambda = s.scale == 1.25 ? Rational(5, 4) : Rational(7, 10);  // need not be dyadic
    std::map<Rational, double> decided;
    double open = std::ldexp(1.0, -last_exponent);
    for (int e = 1; e <= last_exponent; ++e) {
      for (int significand = 0; significand < 256; ++significand) {
        for (int sign = 0; sign < 2; ++sign) {
          OneAttempt bits;
          bits.bytes[0] = static_cast<std::byte>(significand);
          bits.bytes[1] = static_cast<std::byte>(e <= 8 ? 1 << (8 - e) : 0);
          bits.bytes[2] = static_cast<std::byte>(e > 8 ? 1 << (16 - e) : 0);
          bits.bytes.back() = static_cast<std::byte>(sign);
          const double mass = std::ldexp(1.0, -e - 9);
          try {
            decided[snapped_exact(Rational(3, 5), lambda, Rational(s.grid), Rational(s.bound), bits, 1)] +=
                mass;
          } catch (const Undecided&) {
            open += mass;
          }
        }
      }
    }
    CHECK(open < 0.02);
    const long last = static_cast<long>(std::ceil(s.bound / s.grid));
    for (long k = -last; k <= last; ++k) {
      Rational output = Rational(s.grid) * k;
      if (k == last) output = s.bound;
      if (k == -last) output = -Rational(s.bound);
      const double ideal = ideal_probability(s, k, y);
      CAPTURE(s.scale, k, ideal, decided[output], open);
      CHECK(decided[output] <= ideal + 1e-12);
      CHECK(ideal <= decided[output] + open + 1e-12);
      CHECK(decided[output] > 0);
    }
  }
}

TEST_CASE("enumerator: the exact arithmetic loses the distance over lambda, no more and no less",
          "[mechanisms][snapping][enumerator]") {
  // Logarithms of the ideal probabilities are off by less than 1e-12 here.
  for (const ToySetting& s : {ToySetting{0, 1, 1, 7.5}, ToySetting{0, 1.9, 2, 3},
                              ToySetting{0, 1.25, 0.5, 0.3}, ToySetting{0, 0.4, 8, 20}}) {
    const long last = static_cast<long>(std::ceil(s.bound / s.grid));
    for (const double distance : {s.bound / 64, s.bound / 4}) {
      double most = 0;
      for (long k = -last; k <= last; ++k) {
        for (int i = -256; i <= 256; ++i) {
          const double y = s.bound * i / 256;
          if (y + distance > s.bound) break;
          const double ratio = ideal_probability(s, k, y) / ideal_probability(s, k, y + distance);
          most = std::max(most, std::fabs(std::log(ratio)));
        }
      }
      CAPTURE(s.scale, s.grid, s.bound, distance);
      CHECK(std::fabs(most - distance / s.scale) < 1e-12);
    }
  }
}
