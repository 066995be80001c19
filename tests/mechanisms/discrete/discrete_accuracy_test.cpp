#include <mpfr.h>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/mechanisms/discrete_gaussian.hpp"
#include "epsilog/mechanisms/discrete_laplace.hpp"
#include "mechanisms/exact_number.hpp"
#include "support/catch.hpp"
#include "support/reference_table.hpp"

using namespace epsilog::mechanisms;
using namespace epsilog::accounting;
using namespace epsilog::test;

namespace {

/// One law's three questions.
struct NoiseLaw {
  Integer (*accuracy)(const Rational&, const Rational&);
  Rational (*scale_down)(const Rational&, const Rational&);
  Rational (*tail_up)(const Rational&, const Integer&);
};
constexpr NoiseLaw kGaussian = {discrete_gaussian_accuracy, discrete_gaussian_scale_down,
                                discrete_gaussian_tail_up};
constexpr NoiseLaw kLaplace = {discrete_laplace_accuracy, discrete_laplace_scale_down,
                               discrete_laplace_tail_up};

const Rational kResultError = power_of_two(-100);

/// The definition itself, in long double: the sum over |x| < a reaches (1 - alpha) of the whole.
int accuracy_by_definition(double scale, long double alpha, bool gaussian) {
  const auto weight = [&](int x) {
    const long double t = x / static_cast<long double>(scale);
    return (x == 0 ? 1 : 2) * std::exp(gaussian ? -t * t / 2 : -t);
  };
  long double tail = 0;
  int a = static_cast<int>(scale * 60) + 60;
  for (int x = a; x >= 0; --x) tail += weight(x);
  const long double total = tail;
  tail = 0;
  while (tail + weight(a) <= alpha * total) tail += weight(a--);
  return a + 1;
}

}  // namespace

TEST_CASE("discrete accuracy: accuracy, tail and scale are the reference values, rounded to the safe side",
          "[mechanisms][discrete_accuracy]") {
  const auto rows =
      epsilog::test::reference_table(EPSILOG_SOURCE_DIR "/tests/reference/discrete_accuracy.csv");
  REQUIRE(rows.size() == 360);
  for (const auto& row : rows) {
    CAPTURE(row.at("law"), row.at("scale"), row.at("alpha"));
    const NoiseLaw& law = row.at("law") == "gaussian" ? kGaussian : kLaplace;
    const Rational scale = number(row.at("scale"));
    const Rational alpha = number(row.at("alpha"));
    const Integer a(row.at("accuracy"));
    CHECK(law.accuracy(scale, alpha) == a);
    if (number(row.at("tail")) > 0) {
      CHECK(just_beyond(law.tail_up(scale, a), number(row.at("tail")), kResultError));
    }
    CHECK(just_beyond(law.scale_down(a, alpha), number(row.at("inverse")), -kResultError));
  }
}

TEST_CASE("discrete accuracy: a brute-force sum of the definition gives the same integers",
          "[mechanisms][discrete_accuracy]") {
  for (const double scale :
       {0.25, 0.5, 0.75, 1.0, 1.25, 2.0, 3.5, 5.0, 7.75, 10.0, 19.5, 33.25, 64.0, 150.0, 400.0}) {
    for (const double alpha : {0.99, 0.8, 0.5, 0.3, 0.1, 0.05, 0.01, 1e-3, 1e-5, 1e-8, 1e-12}) {
      CAPTURE(scale, alpha);
      CHECK(discrete_gaussian_accuracy(Rational(scale), Rational(alpha)) ==
            accuracy_by_definition(scale, alpha, true));
      CHECK(discrete_laplace_accuracy(Rational(scale), Rational(alpha)) ==
            accuracy_by_definition(scale, alpha, false));
    }
  }
}

TEST_CASE("discrete accuracy: published values of the inverse and the forward direction",
          "[mechanisms][discrete_accuracy]") {
  CHECK(discrete_gaussian_accuracy(1, Rational(1, 2)) == 2);
  CHECK(std::abs(discrete_gaussian_scale_down(1, Rational(1, 2)).get_d() - 0.797878994872694) < 1e-14);
  CHECK(std::abs(discrete_laplace_scale_down(1, Rational(1, 2)).get_d() - 0.9102392266268373) < 1e-14);
}

TEST_CASE("discrete accuracy: the next smaller integer and the next larger scale break the promise",
          "[mechanisms][discrete_accuracy]") {
  // Scales and alphas over the whole domain, spread by a fixed multiplicative walk.
  Rational scale = number("0.0011");
  int step = 0;
  for (; scale < number("1e15"); scale *= Rational(1913, 233), ++step) {
    const Rational alpha = Rational(step % 3 + 1, 4) * power_of_ten(-(step * 61 % 300));
    for (const NoiseLaw& law : {kGaussian, kLaplace}) {
      CAPTURE(scale.get_d(), alpha.get_d());
      const Integer a = law.accuracy(scale, alpha);
      CHECK(law.tail_up(scale, a) * (1 - kResultError) <= alpha);
      CHECK(law.tail_up(scale, a - 1) > alpha);
      const Rational back = law.scale_down(a, alpha);
      CHECK(back >= scale * (1 - kResultError));
      CHECK(law.accuracy(back, alpha) == a);
      CHECK(law.accuracy(back * (1 + kResultError), alpha) == a + 1);
    }
  }
  CHECK(step == 20);
}

TEST_CASE("discrete accuracy: grows with the scale and with confidence", "[mechanisms][discrete_accuracy]") {
  for (const NoiseLaw& law : {kGaussian, kLaplace}) {
    for (const char* alpha : {"0.9", "0.05", "1e-40"}) {
      Integer before = 1;
      for (Rational scale = number("0.2"); scale < 200; scale *= Rational(23, 20)) {
        const Integer a = law.accuracy(scale, number(alpha));
        CHECK(a >= before);
        before = a;
      }
    }
    for (const char* scale : {"0.4", "37", "1e11"}) {
      Integer before = 1;
      Rational tail_before = 1;
      for (Rational alpha = Rational(9, 10); alpha > power_of_ten(-90); alpha /= 37) {
        const Integer a = law.accuracy(number(scale), alpha);
        CHECK(a >= before);
        const Rational tail = law.tail_up(number(scale), a);
        CHECK(tail <= tail_before);
        before = a;
        tail_before = tail;
      }
    }
  }
}

TEST_CASE("discrete accuracy: a fraction of a step asks for no more than its ceiling",
          "[mechanisms][discrete_accuracy]") {
  for (const NoiseLaw& law : {kGaussian, kLaplace}) {
    CHECK(law.scale_down(number("2.7"), Rational(1, 20)) == law.scale_down(3, Rational(1, 20)));
    CHECK(law.scale_down(number("0.01"), Rational(1, 20)) == law.scale_down(1, Rational(1, 20)));
    CHECK(law.scale_down(number("2.7"), Rational(1, 20)) > law.scale_down(2, Rational(1, 20)));
  }
  // Accuracy 1 of the discrete Laplace law: P(X != 0) = 2q/(1+q) = alpha has the solution
  // 1/ln((2-alpha)/alpha).
  const Rational closed = Rational(1 / std::log(39.0));
  CHECK(abs(discrete_laplace_scale_down(1, Rational(1, 20)) - closed) < closed * power_of_ten(-15));
}

TEST_CASE("discrete accuracy: numbers far outside the ordinary are answered too",
          "[mechanisms][discrete_accuracy]") {
  for (const NoiseLaw& law : {kGaussian, kLaplace}) {
    CHECK(law.accuracy(power_of_ten(-300), power_of_ten(-390)) == 1);
    CHECK(law.tail_up(power_of_ten(-300), 1) == power_of_two(-16384));
    CHECK(law.tail_up(1, Integer(power_of_ten(200).get_num())) == power_of_two(-16384));
    CHECK(law.tail_up(1, 0) == 1);
    CHECK(law.tail_up(1, -5) == 1);
    const Integer a = law.accuracy(power_of_ten(300), Rational(1, 20));
    CHECK(law.tail_up(power_of_ten(300), a) * (1 - kResultError) <= Rational(1, 20));
    const Rational nearly_one = 1 - power_of_ten(-200);
    CHECK(law.accuracy(power_of_ten(190), nearly_one) == 1);
    CHECK(law.accuracy(power_of_ten(210), nearly_one) > 1'000'000);
    const Rational wide = law.scale_down(1, nearly_one);
    CHECK(law.accuracy(wide, nearly_one) == 1);
    CHECK(law.accuracy(wide * (1 + kResultError), nearly_one) == 2);
  }
}

TEST_CASE("discrete accuracy: an alpha that is the tail itself, rounded up or down, is told apart",
          "[mechanisms][discrete_accuracy]") {
  for (const char* scale : {"0.7", "12", "41", "1e7"}) {
    for (const NoiseLaw& law : {kGaussian, kLaplace}) {
      const Integer a = law.accuracy(number(scale), Rational(1, 50));
      const Rational tail = law.tail_up(number(scale), a);
      CHECK(law.accuracy(number(scale), tail) == a);
      CHECK(law.accuracy(number(scale), tail * (1 - kResultError)) == a + 1);
    }
  }
}

TEST_CASE("discrete accuracy: a program that narrows MPFR's exponent range gets the same answers",
          "[mechanisms][discrete_accuracy]") {
  const Rational alpha = power_of_ten(-380);
  for (const NoiseLaw& law : {kGaussian, kLaplace}) {
    const Integer a = law.accuracy(50, alpha);
    const Rational tail = law.tail_up(50, a);
    const Rational scale = law.scale_down(a, alpha);
    const mpfr_exp_t emin = mpfr_get_emin();
    mpfr_set_emin(-1073);
    const Integer a_narrow = law.accuracy(50, alpha);
    const Rational tail_narrow = law.tail_up(50, a);
    const Rational scale_narrow = law.scale_down(a, alpha);
    mpfr_set_emin(emin);
    CHECK(a_narrow == a);
    CHECK(tail_narrow == tail);
    CHECK(scale_narrow == scale);
  }
}

TEST_CASE("discrete accuracy: each argument outside its domain is named", "[mechanisms][discrete_accuracy]") {
  const Rational half(1, 2);
  for (const NoiseLaw& law : {kGaussian, kLaplace}) {
    for (const Rational& bad : {Rational(0), Rational(-1), Rational(-1, 1000)}) {
      CHECK_THROWS_WITH(law.accuracy(bad, half), Catch::Matchers::StartsWith("scale: "));
      CHECK_THROWS_WITH(law.tail_up(bad, 3), Catch::Matchers::StartsWith("scale: "));
      CHECK_THROWS_WITH(law.scale_down(bad, half), Catch::Matchers::StartsWith("accuracy: "));
    }
    for (const Rational& bad : {Rational(0), Rational(1), Rational(-1, 2), Rational(3, 2)}) {
      CHECK_THROWS_WITH(law.accuracy(1, bad), Catch::Matchers::StartsWith("alpha: "));
      CHECK_THROWS_WITH(law.scale_down(1, bad), Catch::Matchers::StartsWith("alpha: "));
      CHECK_THROWS_AS(law.accuracy(1, bad), epsilog::InvalidParameter);
    }
  }
}
