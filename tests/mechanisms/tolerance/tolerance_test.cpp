#include "epsilog/mechanisms/tolerance.hpp"

#include "epsilog/accounting/errors.hpp"
#include "mechanisms/exact_number.hpp"
#include "support/catch.hpp"
#include "support/reference_table.hpp"

using namespace epsilog::mechanisms;
using namespace epsilog::accounting;
using namespace epsilog::test;

namespace {

/// `reference` is right to 60 digits.
bool just_above(const Rational& value, const Rational& reference, long bits) {
  return value >= reference * (1 - power_of_ten(-59)) && value <= reference * (1 + power_of_two(-bits));
}
bool just_below(const Rational& value, const Rational& reference, long bits) {
  return value <= reference * (1 + power_of_ten(-59)) && value >= reference * (1 - power_of_two(-bits));
}

/// 128 significant bits at most, over a power of two.
bool is_dyadic(const Rational& value) {
  return mpz_popcount(value.get_den_mpz_t()) == 1 && mpz_sizeinbase(value.get_num_mpz_t(), 2) <= 128;
}

template <class Call>
void refused(const std::string& place, Call call) {
  CHECK_THAT(message_thrown<epsilog::InvalidParameter>(call), Catch::Matchers::StartsWith(place + ":"));
}

}  // namespace

TEST_CASE("tolerance: the document's example comes out in every digit", "[mechanisms][tolerance]") {
  const NoiseTolerance found = laplace_tolerance(50, 1, 23, false, 1);
  CHECK(text_down(found.tolerance, 30).starts_with("1.05918914277726101464827606915"));
  CHECK(text_up(found.tolerance, 6) <= "1.05919");
  // At 53 bits 1 - 10^-23 is 1 and the complementary tolerance 1.1e-16/50; it is 1e-23/50 (1 + 10^-23/2).
  const Rational leading = power_of_ten(-23) / 50;
  CHECK(found.complementary > leading);
  CHECK(found.complementary < leading * (1 + power_of_ten(-23)));
}

TEST_CASE("tolerance: every digit of the reference table, on the side promised",
          "[mechanisms][tolerance][reference]") {
  for (const auto& row : reference_table(EPSILOG_SOURCE_DIR "/tests/reference/tolerance.csv")) {
    CAPTURE(row.at("law"), row.at("scale"), row.at("k"), row.at("partitions"));
    const auto at = row.at("law") == "laplace" ? laplace_tolerance_at : gaussian_tolerance_at;
    const auto partitions = number(row.at("partitions")).get_num().get_ui();
    const NoiseTolerance found = at(number(row.at("scale")), number(row.at("k")), false, partitions);
    CHECK(just_above(found.tolerance, number(row.at("tolerance")), 120));
    CHECK(just_below(found.complementary, number(row.at("complementary")), 120));
    CHECK(is_dyadic(found.tolerance));
    CHECK(is_dyadic(found.complementary));
    const NoiseTolerance whole = at(number(row.at("scale")), number(row.at("k")), true, partitions);
    CHECK(whole.tolerance == number(row.at("integer")));
    CHECK(whole.complementary == found.complementary);
  }
}

TEST_CASE("tolerance: epsilon, delta and l2 give the analytic sigma", "[mechanisms][tolerance][reference]") {
  for (const auto& row : reference_table(EPSILOG_SOURCE_DIR "/tests/reference/tolerance_gaussian.csv")) {
    CAPTURE(row.at("epsilon"), row.at("delta"), row.at("l2"));
    const NoiseTolerance found =
        gaussian_tolerance(number(row.at("epsilon")), number(row.at("delta")), number(row.at("l2")),
                           number(row.at("k")), false, number(row.at("partitions")).get_num().get_ui());
    CHECK(just_above(found.tolerance, number(row.at("tolerance")), 98));
    CHECK(just_below(found.complementary, number(row.at("complementary")), 97));
  }
}

TEST_CASE("tolerance: levels far beyond a double are as good as any", "[mechanisms][tolerance]") {
  const Rational once = laplace_tolerance_at(1, 1, false, 1).tolerance;
  CHECK(just_above(laplace_tolerance_at(1, 1'000'000, false, 1).tolerance, 1'000'000 * once, 119));
  CHECK(just_below(laplace_tolerance_at(1, 5000, false, 1).complementary, power_of_ten(-5000), 120));
  // erfc(x) lies between e^-x^2/(x sqrt pi) (1 - 1/(2x^2)) and that without the bracket.
  const Rational t = gaussian_tolerance_at(1, 100'000, false, 1).tolerance;
  CHECK(std::abs(t.get_d() - 678.6041017677149) < 1e-9);
}

TEST_CASE("tolerance: an integer tolerance is the least that rounded noise respects",
          "[mechanisms][tolerance]") {
  // Rounded noise exceeds n when the noise passes n + 1/2; the document rounds t up instead of t - 1/2.
  int document_is_larger = 0;
  int cases = 0;
  for (const char* epsilon : {"0.1", "0.7", "1", "1.3", "2", "5", "9.9", "23", "50", "400"}) {
    for (const char* k : {"0.1", "0.5", "1", "2", "3", "7", "12", "23"}) {
      for (const std::uint64_t partitions : {1UL, 10UL}) {
        const Rational t = laplace_tolerance(number(epsilon), 1, number(k), false, partitions).tolerance;
        const Rational n = laplace_tolerance(number(epsilon), 1, number(k), true, partitions).tolerance;
        CAPTURE(epsilon, k, partitions, n.get_d(), t.get_d());
        CHECK(n.get_den() == 1);
        CHECK(n >= 0);
        CHECK(n + Rational(1, 2) >= t);
        CHECK((n == 0 || n - Rational(1, 2) < t));
        document_is_larger += n < ceil(t) ? 1 : 0;
        ++cases;
      }
    }
  }
  CHECK(document_is_larger > cases / 2);
  // The document's own examples: 1.1 needs 1, 2.6 needs 3.
  CHECK(laplace_tolerance_at(Rational(11, 10) / laplace_tolerance_at(1, 1, false, 1).tolerance, 1, true, 1)
            .tolerance == 1);
  CHECK(laplace_tolerance_at(Rational(26, 10) / laplace_tolerance_at(1, 1, false, 1).tolerance, 1, true, 1)
            .tolerance == 3);
}

TEST_CASE("tolerance: an integer tolerance is decided however near a half the real one comes",
          "[mechanisms][tolerance]") {
  // The scale that gives 5/2 is irrational; these are 2^-300 of it below and above.
  Rational below = 1;
  Rational above = 2;
  const auto reaches = [](const Rational& scale) {
    return laplace_tolerance_at(scale, 1, true, 1).tolerance > 2;
  };
  for (int step = 0; step < 300; ++step) {
    const Rational middle = (below + above) / 2;
    (reaches(middle) ? above : below) = middle;
  }
  CHECK_FALSE(reaches(below));
  CHECK(reaches(above));
  // 5/(2 ln 10), digits from mpmath.
  const Rational scale =
      number("1.08573620475812956912782229729151270573599251450916641528613445791466162302217693682");
  CHECK(abs(above - scale) < power_of_ten(-79));
}

TEST_CASE("tolerance: several partitions cost a little less than the union bound",
          "[mechanisms][tolerance]") {
  for (const auto at : {laplace_tolerance_at, gaussian_tolerance_at}) {
    for (const char* k : {"0.5", "1", "3", "23"}) {
      Rational before = at(1, number(k), false, 1).tolerance;
      Rational spared = at(1, number(k), false, 1).complementary;
      for (const std::uint64_t n : {2UL, 3UL, 10UL, 100UL, 100'000UL}) {
        CAPTURE(k, n);
        const NoiseTolerance found = at(1, number(k), false, n);
        CHECK(found.tolerance > before);
        CHECK(found.complementary < spared);
        before = found.tolerance;
        spared = found.complementary;
      }
      // Ten partitions: k + 1 is enough and nearly needed, the document's k + 2 is too much.
      const Rational ten = at(1, number(k), false, 10).tolerance;
      CHECK(ten < at(1, number(k) + 1, false, 1).tolerance);
      if (at == laplace_tolerance_at) {
        const Rational tenth = at(1, number(k), false, 1).complementary / 10;
        CHECK(abs(at(1, number(k), false, 10).complementary - tenth) <= tenth * power_of_two(-120));
      }
    }
  }
}

TEST_CASE("tolerance: more epsilon, less sensitivity or less trust in luck each mean what they should",
          "[mechanisms][tolerance]") {
  const Rational start = laplace_tolerance(1, 1, 3, false, 1).tolerance;
  CHECK(laplace_tolerance(2, 2, 3, false, 1).tolerance == start);
  CHECK(laplace_tolerance(2, 1, 3, false, 1).tolerance * 2 == start);
  CHECK(laplace_tolerance(1, 1, number("3.0001"), false, 1).tolerance > start);
  CHECK(gaussian_tolerance_at(3, 3, false, 1).tolerance >= 3 * number("3.2905267314918947932"));
  // Complementary and ordinary tolerance meet where both probabilities are one half.
  const Rational half = number("0.30102999566398119521373889472449302676818988146210854131");  // log10 2
  for (const auto at : {laplace_tolerance_at, gaussian_tolerance_at}) {
    const NoiseTolerance found = at(1, half, false, 1);
    CHECK(abs(found.tolerance - found.complementary) < power_of_ten(-36));
  }
}

TEST_CASE("tolerance: each impossible parameter is refused by name", "[mechanisms][tolerance][negative]") {
  for (const char* k : {"0", "-1", "-1e-9", "1000001"}) {
    refused("flakiness", [k] { static_cast<void>(laplace_tolerance(1, 1, number(k), false, 1)); });
    refused("flakiness",
            [k] { static_cast<void>(gaussian_tolerance(1, number("1e-5"), 1, number(k), false, 1)); });
  }
  refused("epsilon", [] { static_cast<void>(laplace_tolerance(0, 1, 1, false, 1)); });
  refused("epsilon", [] { static_cast<void>(laplace_tolerance(-1, 1, 1, false, 1)); });
  refused("l1", [] { static_cast<void>(laplace_tolerance(1, 0, 1, false, 1)); });
  refused("l1", [] { static_cast<void>(laplace_tolerance(1, -3, 1, false, 1)); });
  refused("partitions", [] { static_cast<void>(laplace_tolerance(1, 1, 1, false, 0)); });
  refused("partitions", [] { static_cast<void>(gaussian_tolerance(1, Rational(1, 2), 1, 1, false, 0)); });
  refused("epsilon", [] { static_cast<void>(gaussian_tolerance(0, Rational(1, 2), 1, 1, false, 1)); });
  for (const char* delta : {"0", "-1e-5", "1", "1.5"}) {
    refused("delta", [delta] { static_cast<void>(gaussian_tolerance(1, number(delta), 1, 1, false, 1)); });
  }
  refused("l2", [] { static_cast<void>(gaussian_tolerance(1, Rational(1, 2), 0, 1, false, 1)); });
  refused("scale", [] { static_cast<void>(laplace_tolerance_at(0, 1, false, 1)); });
  refused("sigma", [] { static_cast<void>(gaussian_tolerance_at(0, 1, false, 1)); });
}
