#include "enough_search.hpp"

#include "loss_spectrum.hpp"
#include "support/catch.hpp"

namespace {

using namespace epsilog::accounting;

std::optional<MpfrNumber> value(double number) {
  return MpfrNumber::rounded(Rational(number), 64, MPFR_RNDN);
}

/// A bound e^-shape(epsilon) that crosses 1e-6 where shape is ln 1e6.
EnoughSearch::Bound falling(double (*shape)(double), int& calls) {
  return [shape, &calls](const Rational& epsilon) {
    ++calls;
    return value(std::exp(-shape(epsilon.get_d())));
  };
}

const Rational kDelta(1, 1'000'000);
const double kTarget = std::log(1e6);

}  // namespace

TEST_CASE("The search closes in on the crossing from any guess, however bent the bound is", "[pld][search]") {
  const ExponentRange range;
  struct Row {
    double (*shape)(double);
    double crossing;
  };
  const std::vector<Row> rows{{[](double x) { return 3 * x; }, kTarget / 3},
                              {[](double x) { return x * x; }, std::sqrt(kTarget)},
                              {[](double x) { return std::sqrt(x) * 4; }, kTarget * kTarget / 16},
                              {[](double x) { return x < 7 ? 0.01 * x : 500 + x; }, 7},
                              {[](double x) { return x < 1e-4 ? 0.0 : 700.0; }, 1e-4}};
  for (const Row& row : rows) {
    for (const double guess : {1e-3, 0.5, 4.0, 7.0, 39.0, 1e9}) {
      for (const double slope : {1e-6, 3.0, 1e5}) {
        CAPTURE(row.crossing, guess, slope);
        int calls = 0;
        EnoughSearch search(falling(row.shape, calls), kDelta, 40, Side::up);
        const Rational found = search.run(guess, slope);
        CHECK(found.get_d() >= row.crossing * (1 - 1e-12));
        CHECK(found.get_d() <= row.crossing * (1 + 1e-9));
        CHECK(calls <= 110);
        EnoughSearch below(falling(row.shape, calls), kDelta, 40, Side::down);
        const Rational not_enough = below.run(guess, slope);
        CHECK(not_enough.get_d() <= row.crossing * (1 + 1e-12));
        CHECK(not_enough.get_d() >= row.crossing * (1 - 1e-9));
      }
    }
  }
}

TEST_CASE("The search answers with an end it was given where nothing can be said",
          "[pld][search][negative]") {
  const ExponentRange range;
  const auto nothing = [](const Rational&) { return std::optional<MpfrNumber>(); };
  CHECK(EnoughSearch(nothing, kDelta, 3, Side::up).run(1, 1) >= 3);
  CHECK(EnoughSearch(nothing, kDelta, 3, Side::down).run(1, 1) == 0);
  const auto little = [](const Rational&) { return value(1e-9); };
  CHECK(EnoughSearch(little, kDelta, 3, Side::up).run(1, 1) == 0);
  const auto much = [](const Rational&) { return value(1e-3); };
  CHECK(EnoughSearch(much, kDelta, 3, Side::up).run(1, 1) == 3);
}

TEST_CASE("The search keeps what a bound before has shown", "[pld][search]") {
  const ExponentRange range;
  int calls = 0;
  EnoughSearch search(falling([](double x) { return 3 * x; }, calls), kDelta, 40, Side::up);
  const Rational found = search.run(4, 3);
  search.take([](const Rational&) { return value(1e-3); });
  CHECK(search.run(4, 3) == found);
  search.take(falling([](double x) { return 4 * x; }, calls));
  CHECK(search.run(found.get_d(), 4).get_d() < found.get_d() * 0.76);
}

TEST_CASE("Masses read off a spectrum are at most the binomial ones, and next to them", "[pld]") {
  const UnitRoots roots(16);
  const LossSpectrum spectrum(roots, {{{0.5, 0.5}, -1, 1, 10}});
  const std::vector<double> masses = spectrum.masses_down();
  REQUIRE(masses.size() == 16);
  double binomial = 0x1p-10;
  for (std::size_t plus = 0; plus <= 10; ++plus) {
    const double mass = masses[(plus + 6) % 16];  // ten less than plus steps, modulo 16
    CHECK(mass <= binomial);
    CHECK(mass >= binomial - 1e-13);
    binomial *= static_cast<double>(10 - plus) / static_cast<double>(plus + 1);
  }
  for (std::size_t i = 1; i < 6; ++i) CHECK(masses[i] <= 0);
}
