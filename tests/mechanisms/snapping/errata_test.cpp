// The errors listed in docs/errata.md, each by a number: what the notes compute, what is true, and
// what this library answers instead.
//
// Source   Christian Covington, "Snapping Mechanism Notes", versions of August 29, September 9 and
//          September 11, 2019; their formulas are in notes_formulas.hpp.
// Margin   Probabilities are sums of a few exponentials in binary64, good to 1e-13. Inequalities
//          between them have gaps above 1e-5, or state the margin; so do equalities.
#include "epsilog/mechanisms/snapping.hpp"
#include "epsilog/mechanisms/snapping_mechanism.hpp"
#include "mechanisms/notes_formulas.hpp"
#include "snapping_draw.hpp"
#include "support/catch.hpp"
#include "support/replay_bits.hpp"

using namespace epsilog::mechanisms;
using namespace epsilog::test;
using namespace epsilog::accounting;

namespace {

bool near(double value, double expected, double margin) {
  return std::abs(value - expected) <= margin;
}

SnappingMechanism mechanism(const char* epsilon, const char* sensitivity, const char* bound,
                            Arithmetic arithmetic = Arithmetic::mpfr, unsigned bits = 0) {
  const Rational half_width = parse_rational(bound, "bound");
  return SnappingMechanism({.epsilon = Epsilon::parse_down(epsilon),
                            .sensitivity = parse_rational(sensitivity, "sensitivity"),
                            .lower = -half_width,
                            .upper = half_width,
                            .arithmetic = arithmetic,
                            .precision = {bits}});
}

/// Room for the error of binary64 where an exact quantile meets an output.
double with_room(const Rational& a) {
  return a.get_d() * (1 + 1e-12);
}

}  // namespace

TEST_CASE("errata: the data-independent accuracy takes a distribution function for its tail",
          "[mechanisms][errata][exact]") {
  const Law law{1, 1, 8};
  const double claimed = notes_get_accuracy_2(8, 1, 0.05);
  CHECK(near(claimed, 0.5513, 5e-5));
  CHECK(near(error_beyond(law, 0, claimed), std::exp(-0.5), 1e-12));  // 0.6065, not 0.05
  CHECK(near(worst_error_beyond(law, claimed), 0.6686, 2e-4));
  CHECK(notes_get_accuracy_2(8, 1, 0.9) > notes_get_accuracy_2(8, 1, 0.05));  // less sure, yet farther

  for (const Arithmetic arithmetic : {Arithmetic::exact, Arithmetic::mpfr}) {
    const SnappingMechanism ours = mechanism("1", "1", "8", arithmetic);
    const Rational a = ours.accuracy_up(parse_rational("0.05", "alpha"));
    CHECK(near(a.get_d(), 3.407546757, 1e-9));
    CHECK(worst_error_beyond(law, with_room(a)) <= 0.05 + 1e-12);
    CHECK(worst_error_beyond(law, a.get_d() - 0.003) > 0.05);
    CHECK(ours.accuracy_up(parse_rational("0.9", "alpha")) < a);
  }
}

TEST_CASE("errata: what is called a lower bound of P_U is an upper one", "[mechanisms][errata][exact]") {
  const Law law{1, 1, 8};
  const double exact = probability_of(law, 4, 8);
  CHECK(near(exact, 0.01510, 5e-6));
  CHECK(near(notes_p_u_minus(law, 4), 0.02489, 5e-6));
  for (int i = 0; i <= 70; ++i) CHECK(probability_of(law, i * 0.1, 8) < notes_p_u_minus(law, i * 0.1));
}

TEST_CASE("errata: case 4 of the answer-dependent accuracy is no bound", "[mechanisms][errata][exact]") {
  const Law law{1, 1, 8};
  const NotesAnswer notes = notes_algorithm_1(law, 8, 0.05);
  CHECK(notes.case_number == 4);
  CHECK(near(notes.a, 1.1438, 5e-5));
  CHECK(near(error_beyond(law, 8, notes.a), 0.1116, 5e-5));
  CHECK(smallest_error_at(law, 8, 0.05) == 2);
  const double ours = with_room(mechanism("1", "1", "8").accuracy_up(parse_rational("0.05", "alpha")));
  CHECK(error_beyond(law, 8, ours) <= 0.05);
}

TEST_CASE("errata: case 1 does admit a tighter guarantee", "[mechanisms][errata][exact]") {
  const Law law{1, 1, 2};
  const NotesAnswer notes = notes_algorithm_1(law, 2, 0.02);
  CHECK(notes.case_number == 1);
  CHECK(notes.a == 4);
  CHECK(smallest_error_at(law, 2, 0.02) == 3);
  CHECK(near(error_beyond(law, 2, 3), 0.0151, 5e-5));
}

TEST_CASE("errata: the derivation of case 2 loses a sign, and its result is not the smallest",
          "[mechanisms][errata][exact]") {
  const Law law{1, 1, 64};
  const NotesAnswer notes = notes_algorithm_1(law, 0, 0.05);
  CHECK(notes.case_number == 2);
  CHECK(near(notes.a, 3.9957, 5e-5));
  const double as_derived = law.scale * (std::log(0.05 - notes_p_l_plus(law, 0)) - 1);
  CHECK(near(as_derived, -3.9957, 5e-5));  // from "eps' a + 1 = ln(...)": an error below zero
  CHECK(smallest_error_at(law, 0, 0.05) == 3);
}

TEST_CASE("errata: the probability of the lower end is no equality when the grid does not divide B",
          "[mechanisms][errata][exact]") {
  const Law law{1, 1, 8.3};
  CHECK(near(probability_of(law, 0, -8.3), 0.000101734, 1e-9));
  CHECK(near(laplace_cdf(-8.3 + 0.5, 1), 0.000204867, 1e-9));
  // The same equality is written for P_U.
  CHECK(near(probability_of(law, 0, 8.3), 0.000101734, 1e-9));
  CHECK(near(1 - laplace_cdf(8.3 - 0.5, 1), 0.000204867, 1e-9));
  const Rational end = parse_rational("8.3", "bound");
  CHECK(snapped_and_clamped(MpfrNumber::exactly(-8.4), 1, end) == -8);
  CHECK(snapped_and_clamped(MpfrNumber::exactly(-8.6), 1, end) == -end);
}

TEST_CASE("errata: the lower end is reached by rounding to it, not only below it",
          "[mechanisms][errata][exact]") {
  const Law law{1, 1, 8};
  CHECK(near(probability_of(law, 0, -8), 0.000276542, 1e-9));
  const double strictly_below = laplace_cdf(-8.5, 1);
  CHECK(near(strictly_below, 0.000101734, 1e-9));
  CHECK(snapped_and_clamped(MpfrNumber::exactly(-8.25), 1, 8) == -8);  // rounds to -B itself
}

TEST_CASE("errata: the carry of rounding is tested on the integral bits only",
          "[mechanisms][errata][exact]") {
  const std::pair<double, std::pair<double, double>> witnesses[] = {
      {1.75, {1, 2}}, {3.75, {2, 4}}, {1.5, {1, 2}}, {7.5, {4, 8}}};
  for (const auto& [x, expected] : witnesses) {
    CAPTURE(x);
    CHECK(notes_integer(x, Carry::printed) == expected.first);
    CHECK(round_to_multiple(x, 1.0) == expected.second);
    CHECK(round_to_multiple(Rational(x), Rational(1)) == Rational(expected.second));
    CHECK(round_to_multiple(MpfrNumber::exactly(x), 1.0).nearest_double() == expected.second);
  }
  // Exhaustive over numbers of 8 stored bits in [1, 256).
  int printed_wrong = 0;
  int integral_wrong = 0;
  for (int y = 0; y < 8; ++y) {
    for (std::uint64_t m = 0; m < 256; ++m) {
      const double right = round_to_multiple(std::ldexp(256.0 + static_cast<double>(m), y - 8), 1.0);
      if (notes_integer(false, y, m, 8, Carry::printed) != right) ++printed_wrong;
      if (notes_integer(false, y, m, 8, Carry::integral_bits) != right) ++integral_wrong;
    }
  }
  CHECK(printed_wrong == 247);
  CHECK(integral_wrong == 0);
}

TEST_CASE("errata: negative ties go toward plus infinity, not away from zero",
          "[mechanisms][errata][exact]") {
  CHECK(notes_integer(-0.5, Carry::printed) == -1);
  CHECK(notes_integer(-2.5, Carry::printed) == -3);
  CHECK(notes_integer(-1.5, Carry::integral_bits) == -2);
  CHECK(notes_integer(-1.5, Carry::printed) == -1);  // right by two errors: the carry is lost as well
  for (const double grid : {0.25, 1.0, 1024.0}) {
    CHECK(round_to_multiple(-0.5 * grid, grid) == 0);
    CHECK_FALSE(std::signbit(round_to_multiple(-0.5 * grid, grid)));
    CHECK(round_to_multiple(-1.5 * grid, grid) == -grid);
    CHECK(round_to_multiple(-2.5 * grid, grid) == -2 * grid);
  }
}

TEST_CASE("errata: exponent arithmetic fails for zero, subnormals and quotients out of range",
          "[mechanisms][errata][exact]") {
  constexpr double kLeast = std::numeric_limits<double>::denorm_min();
  // 0 / 8: the field 0 - 3 wraps around.
  CHECK(notes_quotient(0, 3) == std::ldexp(1.0, 1022));
  CHECK(round_to_multiple(0.0, 8.0) == 0);
  // 0 / 2^-1022, whose field does not wrap, is read as 1/2 and rounded up.
  CHECK(notes_integer(0, -1023 + 1022, 0, 52, Carry::integral_bits) == 1);
  CHECK(round_to_multiple(0.0, std::ldexp(1.0, -1022)) == 0);
  // The least subnormal over itself is 1.
  CHECK(notes_quotient(kLeast, -1074) == std::ldexp(1.0, 51) + 0.5);
  CHECK(round_to_multiple(kLeast, kLeast) == kLeast);
  // 2^1000 / 2^-100 is beyond a double, its rounding to 2^-100 is not.
  CHECK(notes_quotient(std::ldexp(1.0, 1000), -100) == std::ldexp(1.0, -948));
  CHECK(round_to_multiple(std::ldexp(1.0, 1000), std::ldexp(1.0, -100)) == std::ldexp(1.0, 1000));
}

TEST_CASE("errata: the uniform has as many bits as the precision that is charged",
          "[mechanisms][errata][exact]") {
  for (const unsigned p : {53U, 118U, 200U}) {
    CAPTURE(p);
    ReplayBits ones(std::vector<std::byte>(attempt_bytes(p), std::byte{0xff}));
    const UniformDraw draw = draw_uniform(ones, p);
    CHECK(draw.u_star.precision() == p);
    CHECK(draw.u_star.rational() == 1 - power_of_two(-static_cast<long>(p)));  // 1 - 2^-53 in the notes
  }
}

TEST_CASE("errata: the exponent of the uniform starts at one", "[mechanisms][errata][exact]") {
  // The first exponent, half of all draws, with the smallest and the largest significand. An exponent
  // of 0 would double these values: to 1 and above.
  constexpr unsigned kBits = 53;
  for (const std::byte significand : {std::byte{0x00}, std::byte{0xff}}) {
    std::vector<std::byte> bytes(attempt_bytes(kBits), significand);
    const std::size_t exponent_at = attempt_bytes(kBits) - 1 - kExponentBytes;
    bytes[exponent_at] = std::byte{0x80};
    ReplayBits bits(bytes);
    const Rational u = draw_uniform(bits, kBits).u_star.rational();
    CHECK(u >= Rational(1, 2));
    CHECK(u < 1);
  }
}

TEST_CASE("errata: a bound not above the scale leaves the domain of the published form",
          "[mechanisms][errata][exact]") {
  const SnappingMechanism small = mechanism("0.6", "1", "0.09375");
  const auto& p = small.parameters();
  CHECK(p.bound <= p.scale);
  CHECK_FALSE(p.published_note.empty());
  CHECK(*p.published < p.adjusted);
  CHECK(p.adjusted <= Rational(3, 5));
}

TEST_CASE("errata: the bound enters the loss divided by the sensitivity", "[mechanisms][errata][exact]") {
  const Rational sensitivity(1, 100);
  const Rational bound = 100;
  const Rational epsilon = 1;
  const Rational eta = power_of_two(-53);
  const Rational notes_eps = (epsilon - 2 * eta) / (1 + 12 * bound * eta);
  const auto published = [&](const Rational& eps) {
    return Rational(eps * (1 + 12 * (bound / sensitivity) * eta) + 2 * eta);
  };
  CHECK(bound / sensitivity == 10'000);
  CHECK(published(notes_eps) > epsilon);  // more than was asked for

  const SnappingMechanism ours = mechanism("1", "0.01", "100", Arithmetic::mpfr, 53);
  const auto& p = ours.parameters();
  CHECK(*p.published == published(sensitivity / p.scale));
  CHECK(*p.published <= epsilon);
  CHECK(p.adjusted <= epsilon);
  CHECK(sensitivity / p.scale < notes_eps);
}

TEST_CASE("errata: the grid of the ideal scale can be smaller than the scale drawn with",
          "[mechanisms][errata][exact]") {
  const SnappingMechanism ours = mechanism("1", "1", "8");
  const auto& p = ours.parameters();
  CHECK(p.grid == 1);
  CHECK(p.scale > p.grid);  // so lambda'/2 <= Lambda/2 fails
  CHECK(power_of_two_at_least(p.scale) == 2);
  CHECK(p.scale <= p.grid * (1 + power_of_two(-5)));  // what the proved bound needs
  CHECK(p.adjusted <= 1);
  CHECK_FALSE(p.published_note.empty());

  CHECK(power_of_two_at_least(1.0) == 1);
  CHECK(power_of_two_at_least(Rational(1)) == 1);
}

TEST_CASE("errata: two bits above epsilon leave at most half of it for the noise",
          "[mechanisms][errata][exact]") {
  const auto notes_share = [](const Rational& epsilon, long m) {  // eps'/eps at p = m + 2, B = 1
    const Rational eta = power_of_two(-(m + 2));
    return Rational((epsilon - 2 * eta) / (1 + 12 * eta) / epsilon);
  };
  const Rational epsilon = power_of_two(-119) * (1 + power_of_two(-50));
  CHECK(power_of_two_at_least(epsilon) == power_of_two(-118));  // m = 118, p = 120
  CHECK(notes_share(epsilon, 118) * epsilon < power_of_two(-169));
  CHECK(notes_share(epsilon, 118) * epsilon > power_of_two(-170));
  CHECK(notes_share(power_of_two(-118), 118) < Rational(1, 2));  // the best case

  for (const char* asked : {"1e-12", "0.001", "1"}) {
    const SnappingMechanism ours = mechanism(asked, "1", "1000");
    const auto& p = ours.parameters();
    const Rational granted = p.charged.rational();
    CHECK(p.sensitivity / p.scale >= granted * (1 - power_of_two(-39)));
    CHECK(p.adjusted <= granted);
  }
}

TEST_CASE("errata: an exactly rounded logarithm needs no 118 bits", "[mechanisms][errata][exact]") {
  for (const double u : {0.5, 0.75, 0.1, 1e-300, 1 - 0x1p-53}) {
    CAPTURE(u);
    const MpfrNumber rounded = log_rounded(u, 53);
    const MpfrNumber reference = log_rounded(u, 400);
    const Rational half_ulp = power_of_two(static_cast<long>(mpfr_get_exp(rounded.get())) - 54);
    CHECK(abs(rounded.rational() - reference.rational()) < half_ulp);
    // The logarithm of 118 bits is another number, not the double the notes define.
    const MpfrNumber wide = log_rounded(u, 118);
    CHECK(Rational(wide.nearest_double()) != wide.rational());
  }
}

TEST_CASE("errata: accuracy does not scale with the sensitivity, because the grid does not",
          "[mechanisms][errata][exact]") {
  const Rational alpha(1, 2);
  const SnappingMechanism one = mechanism("1", "1", "8", Arithmetic::exact);
  const SnappingMechanism three = mechanism("1", "3", "24", Arithmetic::exact);
  CHECK(3 * one.parameters().grid == 3);
  CHECK(three.parameters().grid == 4);
  CHECK(3 * one.accuracy_up(alpha) == 3);
  CHECK(three.accuracy_up(alpha) == 4);
  CHECK(near(worst_error_beyond({3, 4, 24}, 3), 0.542, 1e-3));  // so 3 is no bound at alpha = 1/2
  CHECK(worst_error_beyond({3, 4, 24}, 4) <= 0.5);
}

TEST_CASE("errata: negative answers are outside what the answer-dependent accuracy covers",
          "[mechanisms][errata][exact]") {
  const Law law{1, 1, 8};
  CHECK(probability_of(law, -3, 8) > 0);  // an error of 11, where the notes' limit B + f is 5
  const NotesAnswer notes = notes_algorithm_1(law, -3, 0.001);
  CHECK(notes.case_number == 1);
  CHECK(notes.a == 5);
  CHECK(near(error_beyond(law, -3, 5), 0.00204, 5e-6));  // twice what was allowed
  const SnappingMechanism ours = mechanism("1", "1", "8");
  const double a = with_room(ours.accuracy_up(parse_rational("0.001", "alpha")));
  CHECK(error_beyond(law, -3, a) <= 0.001);
  CHECK(error_beyond(law, 3, a) <= 0.001);
}
