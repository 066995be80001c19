#include "noise_quantile.hpp"

#include "support/catch.hpp"

using namespace epsilog::mechanisms;
using namespace epsilog::accounting;

namespace {

constexpr unsigned kFine = 700;

/// At few bits a rounding in the wrong direction is as large as it can be, and cannot hide behind a later
/// one: `coarse` must lie on its side of the same function at many bits, and not far from it.
template <class Function>
void check_sides(const MpfrNumber& argument, unsigned bits, Function function) {
  const MpfrNumber fine_argument = MpfrNumber::rounded(argument.rational(), kFine, MPFR_RNDN);
  const Rational least = function(fine_argument, MPFR_RNDD).rational();
  const Rational most = function(fine_argument, MPFR_RNDU).rational();
  const Rational down = function(argument, MPFR_RNDD).rational();
  const Rational up = function(argument, MPFR_RNDU).rational();
  const Rational apart = most * power_of_two(12 - static_cast<long>(bits));
  CAPTURE(argument.nearest_double(), bits, down.get_d(), up.get_d());
  CHECK(least <= most);
  CHECK(most - least <= most * power_of_two(60 - static_cast<long>(kFine)));
  CHECK(down <= least);
  CHECK(up >= most);
  CHECK(least - down <= apart);
  CHECK(up - most <= apart);
}

constexpr const char* kLevels[] = {"1e-30", "0.001", "0.1",  "0.6", "0.692", "0.694",
                                   "0.8",   "1.7",   "5.25", "31",  "53.1",  "700"};

}  // namespace

TEST_CASE("quantile: levels round to the side named at any precision", "[mechanisms][tolerance][quantile]") {
  for (const unsigned bits : {24U, 53U, 100U}) {
    for (const char* level : kLevels) {
      const MpfrNumber y = MpfrNumber::rounded(parse_rational(level, "level"), bits, MPFR_RNDN);
      check_sides(y, bits, level_of_complement);
      for (const std::uint64_t n : {1UL, 2UL, 3UL, 10UL, 1000UL}) {
        check_sides(y, bits, [n](const MpfrNumber& v, mpfr_rnd_t d) { return level_over(v, n, d); });
        check_sides(y, bits, [n](const MpfrNumber& v, mpfr_rnd_t d) { return level_of_each(v, n, d); });
      }
    }
  }
}

TEST_CASE("quantile: the level of 10^-k rounds to the side named", "[mechanisms][tolerance][quantile]") {
  for (const char* k : {"1e-9", "1/3", "1", "23", "1000000"}) {
    const Rational flakiness = parse_rational(k, "k");
    for (const unsigned bits : {24U, 53U, 100U}) {
      CAPTURE(k, bits);
      const Rational exact = level_of_flakiness(flakiness, kFine, MPFR_RNDN).rational();
      CHECK(level_of_flakiness(flakiness, bits, MPFR_RNDD).rational() < exact);
      CHECK(level_of_flakiness(flakiness, bits, MPFR_RNDU).rational() > exact);
    }
  }
}

TEST_CASE("quantile: the normal quantile is certified on the side named",
          "[mechanisms][tolerance][quantile]") {
  for (const unsigned bits : {24U, 53U, 100U, 192U}) {
    for (const char* level : kLevels) {
      const MpfrNumber y = MpfrNumber::rounded(parse_rational(level, "level"), bits, MPFR_RNDN);
      check_sides(y, bits, [](const MpfrNumber& v, mpfr_rnd_t d) {
        return two_sided_quantile(NoiseLaw::gaussian, v, d);
      });
    }
  }
}

TEST_CASE("quantile: taking the complement twice changes nothing", "[mechanisms][tolerance][quantile]") {
  for (const char* level : kLevels) {
    CAPTURE(level);
    const Rational value = parse_rational(level, "level");
    if (value > 60) continue;  // 1 - e^-700 needs more bits than these
    const MpfrNumber y = MpfrNumber::rounded(value, 300, MPFR_RNDN);
    const MpfrNumber twice = level_of_complement(level_of_complement(y, MPFR_RNDN), MPFR_RNDN);
    CHECK(abs(twice.rational() - value) <= value * power_of_two(-190));
  }
}
