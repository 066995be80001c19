#include "epsilog/mechanisms/discrete_mechanism.hpp"

#include "directed_functions.hpp"
#include "discrete_calibration.hpp"
#include "discrete_sampler.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/mechanisms/discrete_gaussian.hpp"
#include "epsilog/mechanisms/discrete_laplace.hpp"
#include "epsilog/mechanisms/gaussian_calibration.hpp"
#include "epsilog/mechanisms/snapping.hpp"
#include "support/catch.hpp"
#include "support/invention_forge.hpp"
#include "support/receipt_forge.hpp"
#include "support/replay_bits.hpp"

using namespace epsilog::mechanisms;
using namespace epsilog;
using namespace epsilog::accounting;
using epsilog::ledger::Transaction;
using epsilog::test::SeededBits;
using Options = DiscreteMechanism::Options;

namespace {

Options laplace(const char* epsilon, const char* sensitivity, const char* lower, const char* upper) {
  Options options;
  options.loss = Epsilon::parse_down(epsilon);
  options.sensitivity = parse_rational(sensitivity, "sensitivity");
  options.lower = parse_rational(lower, "lower");
  options.upper = parse_rational(upper, "upper");
  return options;
}

Options gaussian(const char* epsilon, const char* delta, const char* l2, const char* lower,
                 const char* upper) {
  Options options = laplace(epsilon, l2, lower, upper);
  options.noise = DiscreteNoise::gaussian;
  options.loss.delta = Delta::parse_down(delta);
  options.sensitivity_l2_squared = options.sensitivity * options.sensitivity;
  return options;
}

void refused(Options wrong, const std::string& place) {
  CHECK_THAT(epsilog::test::message_thrown<InvalidParameter>([&] { return DiscreteMechanism(wrong); }),
             Catch::Matchers::StartsWith(place + ":"));
}

std::vector<Rational> released(const DiscreteMechanism& mechanism, const std::vector<Rational>& answers,
                               std::uint64_t seed) {
  Transaction transaction;
  SeededBits bits(seed);
  const auto release = mechanism.release(answers, transaction.receipt(mechanism.parameters().charged), bits);
  return Transaction::opened(release);
}

class BrokenBits final : public BitSource {
 public:
  void fill(std::span<std::byte>) override { throw EntropyUnavailable("no bits"); }
};

}  // namespace

TEST_CASE("discrete mechanism: a count has its own grid and loses exactly what was asked",
          "[mechanisms][discrete][exact]") {
  Options options = laplace("0.3", "1", "0", "1000");
  options.answer_step = 1;
  const DiscreteMechanism mechanism(options);
  const auto& p = mechanism.parameters();
  CHECK(p.grid == 1);
  CHECK(p.on_grid);
  CHECK(p.inflated == 1);
  CHECK(p.scale == Rational(10, 3));
  CHECK(p.adjusted == Rational(3, 10));
  CHECK(p.adjusted_delta == 0);
  CHECK(p.rho == 0);
  CHECK(p.charged == ApproximateLoss(Epsilon::parse_down("0.3")));
}

TEST_CASE("discrete mechanism: rounding to the grid inflates the sensitivity as stated",
          "[mechanisms][discrete][exact]") {
  Options options = laplace("1", "2.3", "0", "1000");
  options.grid = Rational(1, 2);
  CHECK(DiscreteMechanism(options).parameters().inflated == Rational(5, 2));
  options.coordinates = 3;
  CHECK(DiscreteMechanism(options).parameters().inflated == Rational(23, 10) + Rational(3, 2));
  options.answer_step = Rational(3, 2);
  CHECK(DiscreteMechanism(options).parameters().inflated == Rational(23, 10));
  CHECK(DiscreteMechanism(options).parameters().on_grid);
  options.lower = Rational(1, 3);  // clamping could leave the grid
  CHECK_FALSE(DiscreteMechanism(options).parameters().on_grid);
  CHECK(DiscreteMechanism(options).parameters().inflated == Rational(23, 10) + Rational(3, 2));
  options.lower = 0;
  options.coordinates = 1;  // answers stay on the grid, but 2.3 is not a multiple of it
  CHECK_FALSE(DiscreteMechanism(options).parameters().on_grid);
  CHECK(DiscreteMechanism(options).parameters().inflated == Rational(5, 2));

  Options normal = gaussian("1", "1e-6", "2.3", "0", "1000");
  normal.grid = Rational(1, 2);
  CHECK(DiscreteMechanism(normal).parameters().inflated == Rational(25, 4));
  normal.sensitivity_l2_squared = 2;
  CHECK(DiscreteMechanism(normal).parameters().inflated == Rational(9, 4));  // sqrt 2 = 1.41…
  normal.coordinates = 4;                                                    // (sqrt 2 + 1/2 * 2)^2
  const Rational vector = DiscreteMechanism(normal).parameters().inflated;
  CHECK((vector - 3) * (vector - 3) >= 8);
  CHECK((vector - 3) * (vector - 3) <= 8 + power_of_two(-100));
  normal.answer_step = Rational(1, 2);
  CHECK(DiscreteMechanism(normal).parameters().inflated == 2);
}

TEST_CASE("discrete mechanism: neighbours on a fine lattice round to grid points within the inflation",
          "[mechanisms][discrete][exact]") {
  // Every pair of a lattice of step 1/16, every grid and sensitivity; clamped, then rounded.
  for (const Rational& grid : {Rational(1, 4), Rational(1), Rational(2)}) {
    for (int d = 1; d <= 40; d += 3) {
      Options options = laplace("1", "1", "-3/16", "37/16");
      options.sensitivity = Rational(d) / 16;
      options.grid = grid;
      const auto p = DiscreteMechanism(options).parameters();
      const long exponent = exponent_of_power_of_two(grid, "grid");
      const auto rounded = [&](int i) {
        const Rational y = std::clamp<Rational>(Rational(i) / 16, options.lower, options.upper);
        return Rational(grid * nearest_multiple_index(y, exponent));
      };
      Rational worst = 0;
      for (int i = -48; i <= 64; ++i) {
        for (int j = i; j <= std::min(i + d, 64); ++j) {
          const Rational apart = rounded(j) - rounded(i);
          worst = std::max(worst, apart);
          if (apart > p.inflated || apart / p.scale > options.loss.epsilon.rational())
            FAIL("grid " << grid << ", D " << options.sensitivity << ", " << i << ", " << j);
        }
      }
      const Rational width = rounded(64) - rounded(-48);
      if (width >= p.inflated) CHECK(worst == p.inflated);  // the inflation is needed
    }
  }
}

TEST_CASE("discrete mechanism: vectors that move by D move by at most the inflated L1 and L2",
          "[mechanisms][discrete][exact]") {
  Options options = laplace("1", "1", "-10", "10");
  options.coordinates = 2;
  options.grid = 1;
  Options normal = gaussian("1", "1e-6", "1", "-10", "10");
  normal.coordinates = 2;
  normal.grid = 1;
  for (int first = -12; first <= 12; ++first) {
    for (int second = -12; second <= 12; ++second) {
      if (first == 0 && second == 0) continue;
      options.sensitivity = Rational(std::abs(first) + std::abs(second)) / 8;
      normal.sensitivity_l2_squared = Rational(first * first + second * second) / 64;
      const Rational l1 = DiscreteMechanism(options).parameters().inflated;
      const Rational l2 = inflated_l2_squared(normal.sensitivity_l2_squared, 2, 1);
      for (int a = 0; a < 8; ++a) {
        for (int b = 0; b < 8; ++b) {
          const Integer x =
              nearest_multiple_index(Rational(a + first) / 8, 0) - nearest_multiple_index(Rational(a) / 8, 0);
          const Integer y = nearest_multiple_index(Rational(b + second) / 8, 0) -
                            nearest_multiple_index(Rational(b) / 8, 0);
          if (abs(x) + abs(y) > l1 || x * x + y * y > l2)
            FAIL(first << ", " << second << ", " << a << ", " << b);
        }
      }
    }
  }
}

TEST_CASE("discrete mechanism: the automatic grid costs less than 2^-20", "[mechanisms][discrete]") {
  for (const char* epsilon : {"1e-9", "0.1", "1", "7.7", "1000"}) {
    for (const char* sensitivity : {"1e-30", "0.7", "1", "3", "1e30"}) {
      for (const std::uint64_t coordinates : {1UL, 2UL, 1000UL}) {
        CAPTURE(epsilon, sensitivity, coordinates);
        Options options = laplace(epsilon, sensitivity, "-1", "100.5");
        options.coordinates = coordinates;
        const auto p = DiscreteMechanism(options).parameters();
        CHECK(exponent_of_power_of_two(p.grid, "grid") < 200);
        CHECK_FALSE(p.on_grid);
        CHECK(p.inflated >= p.sensitivity);
        CHECK(p.inflated < p.sensitivity * (1 + power_of_two(-20)));
        CHECK(p.grid <= p.scale * power_of_two(-20));
        CHECK(p.grid * coordinates >= power_of_two(-23) * std::min(p.sensitivity, p.scale));
        CHECK(p.adjusted == options.loss.epsilon.rational());
        CHECK(p.scale * p.adjusted == p.inflated);
      }
    }
  }
  const auto p = DiscreteMechanism(gaussian("0.5", "1e-6", "3", "0", "10")).parameters();
  CHECK(p.grid == power_of_two(-20));
  CHECK(p.inflated == 9);
}

TEST_CASE("discrete mechanism: the answer's step becomes the grid if it is a power of two",
          "[mechanisms][discrete]") {
  Options options = laplace("1", "3", "0", "1000");
  const auto grid = [&] { return DiscreteMechanism(options).parameters().grid; };
  options.answer_step = 1;
  CHECK(grid() == 1);
  options.answer_step = Rational(1, 4);
  CHECK(grid() == Rational(1, 4));
  options.answer_step = 3;
  CHECK(grid() == power_of_two(-20));
  CHECK(DiscreteMechanism(options).parameters().on_grid);
  options.answer_step = Rational(1, 10);
  CHECK_FALSE(DiscreteMechanism(options).parameters().on_grid);
  options.answer_step = 1;
  options.upper = Rational(1999, 2);  // clamped answers may be 999.5
  CHECK(grid() == power_of_two(-20));
}

TEST_CASE("discrete mechanism: the Gaussian is charged by the discrete formula at the inflated distance",
          "[mechanisms][discrete][exact]") {
  Options options = gaussian("1", "1e-6", "1", "0", "100");
  options.answer_step = 1;
  const auto p = DiscreteMechanism(options).parameters();
  CHECK(p.on_grid);
  CHECK(p.adjusted == 1);
  CHECK(p.adjusted_delta <= options.loss.delta.rational());
  CHECK(p.adjusted_delta >= options.loss.delta.rational() * (1 - power_of_two(-40)));
  CHECK(discrete_gaussian_delta_up(p.scale, 1, 1) <= options.loss.delta.rational() * (1 + power_of_two(-90)));
  CHECK(discrete_gaussian_delta_up(p.scale * Rational(999, 1000), 1, 1) > options.loss.delta.rational());
  CHECK(p.rho == 1 / (2 * p.scale * p.scale));

  options.answer_step.reset();
  options.grid = 2;  // 1 becomes 2: twice the noise
  const auto coarse = DiscreteMechanism(options).parameters();
  CHECK(coarse.inflated == 4);
  CHECK(coarse.scale == 2 * p.scale);
  CHECK(coarse.adjusted_delta == p.adjusted_delta);
}

TEST_CASE("discrete mechanism: several coordinates are charged by zCDP", "[mechanisms][discrete][exact]") {
  Options options = gaussian("1", "1e-6", "1", "0", "100");
  options.coordinates = 2;
  options.sensitivity = 2;
  options.sensitivity_l2_squared = 2;
  options.answer_step = 1;
  const auto p = DiscreteMechanism(options).parameters();
  CHECK(p.inflated == 2);
  CHECK(p.rho == 2 / (2 * p.scale * p.scale));
  CHECK(p.rho <= zcdp_rho_down(1, options.loss.delta.rational()));
  CHECK(p.rho >= zcdp_rho_down(1, options.loss.delta.rational()) * (1 - power_of_two(-61)));
  CHECK(p.adjusted_delta <= options.loss.delta.rational());
  CHECK(p.adjusted_delta >= options.loss.delta.rational() * (1 - power_of_two(-40)));
}

TEST_CASE("discrete mechanism: asked for rho it takes the least scale of that rho, whatever the coordinates",
          "[mechanisms][discrete][exact]") {
  for (const std::uint64_t coordinates : {1UL, 3UL}) {
    for (const char* rho : {"1/50", "1e-12", "5"}) {
      CAPTURE(coordinates, rho);
      Options options = gaussian("1", "1e-6", "3", "0", "100");
      options.coordinates = coordinates;
      options.answer_step = 1;
      options.rho = parse_rational(rho, "rho");
      options.loss.epsilon = Epsilon::from_rational_up(
          epsilog::accounting::zcdp_epsilon_up(*options.rho, options.loss.delta.rational()) +
          Epsilon::from_units(1).rational());
      const auto p = DiscreteMechanism(options).parameters();
      CHECK(p.charged == options.loss);
      CHECK(p.rho == p.inflated / (2 * p.scale * p.scale));
      CHECK(p.rho <= *options.rho);
      CHECK(p.rho > *options.rho * (1 - power_of_two(-60)));
      CHECK(p.adjusted_delta <= options.loss.delta.rational());
      CHECK(p.adjusted_delta > 0);
      // A tenth less of epsilon is not what that rho implies.
      options.loss.epsilon = Epsilon::from_rational_down(options.loss.epsilon.rational() * Rational(9, 10));
      if (options.loss.epsilon.units() > 1) refused(options, "rho");
    }
  }
}

TEST_CASE("discrete mechanism: releases are the rounded clamped answer plus the sampler's draw",
          "[mechanisms][discrete][exact]") {
  for (const DiscreteNoise noise : {DiscreteNoise::laplace, DiscreteNoise::gaussian}) {
    Options options = noise == DiscreteNoise::laplace ? laplace("0.7", "5/3", "-10/3", "50.3")
                                                      : gaussian("0.7", "1e-9", "5/3", "-10/3", "50.3");
    for (const char* grid : {"1/1024", "1", "4"}) {
      options.grid = parse_rational(grid, "grid");
      const DiscreteMechanism mechanism(options);
      const auto& p = mechanism.parameters();
      std::vector<Rational> answers;
      for (int i = -30; i < 270; ++i) answers.push_back(Rational(i) / 4 + Rational(i % 7) / 1000);
      answers.push_back(parse_rational("1e300", "answer"));
      answers.push_back(parse_rational("-1e300", "answer"));
      const std::vector<Rational> values = released(mechanism, answers, 4000);
      const DiscreteSampler sampler = noise == DiscreteNoise::laplace
                                          ? DiscreteSampler::laplace(p.scale / p.grid, SamplerTier::exact)
                                          : DiscreteSampler::gaussian(p.scale / p.grid, SamplerTier::exact);
      SeededBits bits(4000);
      RandomWords words(bits, 1);
      REQUIRE(values.size() == answers.size());
      for (std::size_t i = 0; i < answers.size(); ++i) {
        WipedInteger draw;
        sampler.draw(draw, words);
        const Rational clamped = std::clamp(answers[i], options.lower, options.upper);
        const Rational expected = round_to_multiple(clamped, p.grid) + p.grid * Integer(draw.get());
        if (values[i] != expected) FAIL("grid " << grid << ", answer " << answers[i]);
      }
      CHECK(released(mechanism, answers, 4000) == values);
      CHECK(released(mechanism, answers, 4001) != values);
    }
  }
}

TEST_CASE("discrete mechanism: the accuracy is the tail's, with the rounding of the answer",
          "[mechanisms][discrete][exact]") {
  Options options = laplace("0.1", "1", "0", "100");
  options.answer_step = 1;
  for (const char* text : {"0.5", "0.05", "0.01", "1e-9", "1e-100"}) {
    CAPTURE(text);
    const Rational alpha = parse_rational(text, "alpha");
    CHECK(DiscreteMechanism(options).accuracy_up(alpha) == discrete_laplace_accuracy(10, alpha) - 1);
    Options normal = gaussian("0.1", "1e-6", "1", "0", "100");
    normal.answer_step = 1;
    const DiscreteMechanism mechanism(normal);
    CHECK(mechanism.accuracy_up(alpha) ==
          discrete_gaussian_accuracy(mechanism.parameters().scale, alpha) - 1);
  }
  for (const Rational& alpha : {Rational(0), Rational(1), Rational(-1), Rational(2)})
    CHECK_THROWS_AS(DiscreteMechanism(options).accuracy_up(alpha), InvalidParameter);
}

TEST_CASE("discrete mechanism: off the grid the accuracy holds for the worst answer, and no better does",
          "[mechanisms][discrete][exact]") {
  // P(|g X + e| > a) for every rounding error e of a lattice in [-g/2, g/2], from the exact law.
  Options options = laplace("1", "1", "-100", "100");
  options.grid = 1;  // s = 1
  const DiscreteMechanism mechanism(options);
  REQUIRE(mechanism.parameters().scale == 1);
  const auto at_least = [](const Integer& k) -> Rational {  // P(X >= k), up
    if (k >= 1) return discrete_laplace_tail_up(1, k) / 2;
    return 1 - discrete_laplace_tail_up(1, 1 - k) / 2 + power_of_two(-100);
  };
  const auto failure = [&](const Rational& a) {
    Rational worst = 0;
    for (int i = -8; i <= 8; ++i) {
      const Rational e = Rational(i) / 16;
      const Integer above = epsilog::accounting::floor(a - e) + 1;
      const Integer below = epsilog::accounting::floor(a + e) + 1;  // X <= -below
      worst = std::max<Rational>(worst, at_least(above) + at_least(below));
    }
    return worst;
  };
  for (int percent = 1; percent < 100; ++percent) {
    const Rational alpha = Rational(percent) / 100;
    const Rational a = mechanism.accuracy_up(alpha);
    CAPTURE(percent, a);
    CHECK(failure(a) <= alpha);
    CHECK((a == 0 || failure(a - Rational(1, 32)) > alpha));
  }
}

TEST_CASE("discrete mechanism: no release without a receipt of exactly its loss", "[mechanisms][discrete]") {
  const DiscreteMechanism pure(laplace("0.5", "1", "0", "10"));
  const DiscreteMechanism approximate(gaussian("0.5", "1e-6", "1", "0", "10"));
  const ApproximateLoss both(Epsilon::parse_down("0.5"), Delta::parse_down("1e-6"));
  const std::vector<Rational> answers = {5};
  SeededBits bits(1);
  Transaction transaction;
  CHECK_THROWS_AS(pure.release(answers, transaction.receipt(Epsilon::parse_down("0.4")), bits),
                  InvalidParameter);
  CHECK_THROWS_AS(pure.release(answers, transaction.receipt(Epsilon::parse_down("0.6")), bits),
                  InvalidParameter);
  CHECK_THROWS_AS(pure.release(answers, transaction.receipt(both), bits), InvalidParameter);
  CHECK_THROWS_AS(approximate.release(answers, transaction.receipt(Epsilon::parse_down("0.5")), bits),
                  InvalidParameter);
  CHECK_THROWS_AS(pure.release({}, transaction.receipt(Epsilon::parse_down("0.5")), bits), InvalidParameter);
  CHECK(bits.bytes() == 0);

  auto receipt = transaction.receipt(both, 7);
  const auto release = approximate.release(answers, std::move(receipt), bits);
  CHECK(release.decision() == 7);
  CHECK(release.charged() == both);
  CHECK(release.size() == 1);
  CHECK_FALSE(receipt.live());  // NOLINT(bugprone-use-after-move)
  CHECK_THROWS_AS(approximate.release(answers, std::move(receipt), bits), InvalidParameter);

  auto late = transaction.receipt(both);
  transaction.end();
  CHECK_THROWS_AS(approximate.release(answers, std::move(late), bits), InvalidParameter);
}

TEST_CASE("discrete mechanism: without randomness nothing is released and the charge stays",
          "[mechanisms][discrete]") {
  const DiscreteMechanism mechanism(laplace("0.5", "1", "0", "10"));
  Transaction transaction;
  BrokenBits bits;
  auto receipt = transaction.receipt(Epsilon::parse_down("0.5"));
  const std::vector<Rational> answers = {5};
  CHECK_THROWS_AS(mechanism.release(answers, std::move(receipt), bits), EntropyUnavailable);
  CHECK_FALSE(receipt.live());  // NOLINT(bugprone-use-after-move)
}

TEST_CASE("discrete mechanism: each impossible option is refused by name", "[mechanisms][discrete]") {
  {
    Options of_laplace = laplace("1", "1", "0", "10");
    of_laplace.rho = Rational(1, 2);
    refused(of_laplace, "rho");
    Options nothing = gaussian("1", "1e-6", "1", "0", "10");
    nothing.rho = Rational(0);
    refused(nothing, "rho");
  }
  const Options pure = laplace("1", "1", "0", "10");
  const Options approximate = gaussian("1", "1e-6", "1", "0", "10");
  const auto with = [](Options options, auto change) {
    change(options);
    return options;
  };
  for (const Options& right : {pure, approximate}) {
    refused(with(right, [](Options& o) { o.loss.epsilon = Epsilon(); }), "epsilon");
    refused(with(right, [](Options& o) { o.sensitivity = 0; }), "sensitivity");
    refused(with(right, [](Options& o) { o.sensitivity = -1; }), "sensitivity");
    refused(with(right, [](Options& o) { o.coordinates = 0; }), "coordinates");
    refused(with(right, [](Options& o) { o.upper = 0; }), "range");
    refused(with(right, [](Options& o) { o.lower = 11; }), "range");
    for (const Rational& grid : {Rational(0), Rational(-1), Rational(3), Rational(3, 4), Rational(-1, 2)})
      refused(with(right, [&](Options& o) { o.grid = grid; }), "grid");
    refused(with(right, [](Options& o) { o.answer_step = 0; }), "answer_step");
    refused(with(right, [](Options& o) { o.answer_step = -1; }), "answer_step");
  }
  refused(with(pure, [](Options& o) { o.loss.delta = Delta::parse_down("1e-6"); }), "delta");
  refused(with(approximate, [](Options& o) { o.loss.delta = Delta(); }), "delta");
  refused(with(approximate, [](Options& o) { o.loss.delta = Delta::parse_down("1"); }), "delta");
  refused(with(approximate, [](Options& o) { o.sensitivity_l2_squared = 0; }), "sensitivity_l2_squared");
  refused(with(approximate, [](Options& o) { o.sensitivity_l2_squared = -1; }), "sensitivity_l2_squared");
}

TEST_CASE("discrete mechanism: a calibrated scale and delta have 64 bits, so that any machine finds the same",
          "[mechanisms][discrete][exact]") {
  for (const std::uint64_t coordinates : {1U, 3U}) {
    DiscreteMechanism::Options options;
    options.noise = DiscreteNoise::gaussian;
    options.loss = {epsilog::accounting::Epsilon::parse_down("0.7"),
                    epsilog::accounting::Delta::parse_down("1e-7")};
    options.sensitivity = 3;
    options.sensitivity_l2_squared = 3;
    options.coordinates = coordinates;
    options.lower = 0;
    options.upper = 1000;
    const auto parameters = DiscreteMechanism(options).parameters();
    for (const Rational& figure : {parameters.scale, parameters.adjusted_delta}) {
      CHECK(MpfrNumber::rounded(figure, 64, MPFR_RNDZ).rational() == figure);
    }
    CHECK(parameters.adjusted_delta <= options.loss.delta.rational());
  }
}

TEST_CASE(
    "discrete mechanism: what is drawn from invented answers is what a release of them draws from the same "
    "bits",
    "[mechanisms][discrete]") {
  const std::vector<Rational> answers{-100, 0, Rational(1, 3), 999, 5000};
  for (const Options& options :
       {laplace("0.3", "1", "-5", "1000"), gaussian("0.3", "1e-6", "1", "-5", "1000")}) {
    const DiscreteMechanism mechanism(options);
    SeededBits bits(11);
    CHECK(mechanism.draw_invented(epsilog::engine::InventedData::of(answers), bits) ==
          released(mechanism, answers, 11));
  }
}

TEST_CASE("discrete mechanism: nothing is drawn of no invented answer, or without bits",
          "[mechanisms][discrete][negative]") {
  const DiscreteMechanism mechanism(laplace("0.3", "1", "0", "1000"));
  SeededBits bits(1);
  CHECK_THROWS_AS(mechanism.draw_invented({}, bits), InvalidParameter);
  CHECK(bits.fills() == 0);
  BrokenBits broken;
  CHECK_THROWS_AS(mechanism.draw_invented(epsilog::engine::InventedData::of({1}), broken),
                  EntropyUnavailable);
}
