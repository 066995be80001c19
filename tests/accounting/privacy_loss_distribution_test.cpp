#include "epsilog/accounting/privacy_loss_distribution.hpp"

#include "composition_reference.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/optimal_composition.hpp"
#include "support/catch.hpp"
#include "support/reference_table.hpp"

namespace {

using namespace epsilog::accounting;
using epsilog::InvalidParameter;
using namespace epsilog::test;
using Kind = ComposedLaw::Kind;

ComposedLaw noise(Kind kind, const std::string& scale, const std::string& sensitivity, std::uint64_t count) {
  ComposedLaw law;
  law.kind = kind;
  law.scale = number(scale);
  law.sensitivity = number(sensitivity);
  law.count = count;
  return law;
}

ComposedLaw guarantee(const std::string& epsilon, const std::string& delta, std::uint64_t count) {
  ComposedLaw law;
  law.kind = Kind::approximate;
  law.epsilon = number(epsilon);
  law.delta = number(delta);
  law.count = count;
  return law;
}

ComposedLaw pure(const std::string& epsilon, std::uint64_t count) {
  ComposedLaw law;
  law.kind = Kind::pure;
  law.epsilon = number(epsilon);
  law.count = count;
  return law;
}

Kind kind_of(const std::string& name) {
  if (name == "laplace") return Kind::laplace;
  if (name == "gaussian") return Kind::gaussian;
  if (name == "discrete_laplace") return Kind::discrete_laplace;
  if (name == "discrete_gaussian") return Kind::discrete_gaussian;
  REQUIRE(name == "pure");
  return Kind::pure;
}

/// Do the two bounds enclose the value, and lie within that part of it?
void encloses(const std::vector<ComposedLaw>& laws, const Rational& epsilon, const Rational& delta,
              const Rational& relative) {
  const Rational slack = delta * power_of_ten(-15);  // digits of the published values
  const Rational up = pld_delta_up(laws, epsilon);
  CHECK(up >= delta - slack);
  CHECK(up <= delta * (1 + relative) + slack);
  const Rational down = pld_delta_down(laws, epsilon);
  CHECK(down <= delta + slack);
  CHECK(down >= delta * (1 - relative) - slack);
}

}  // namespace

TEST_CASE("Composed delta is enclosed for every law whose composition has a closed form or a lattice",
          "[pld]") {
  const auto rows = reference_table(EPSILOG_SOURCE_DIR "/tests/reference/privacy_loss_distribution.csv");
  REQUIRE(rows.size() == 31);
  for (const auto& row : rows) {
    CAPTURE(row.at("kind"), row.at("scale"), row.at("sensitivity"), row.at("count"), row.at("epsilon"));
    ComposedLaw law;
    law.kind = kind_of(row.at("kind"));
    law.scale = law.epsilon = number(row.at("scale"));
    law.sensitivity = number(row.at("sensitivity"));
    law.count = std::stoull(row.at("count"));
    // Laws on a lattice and closed forms leave only rounding; Laplace noise has a grid.
    const Rational relative = law.kind == Kind::laplace ? number("2e-4") : number("1e-8");
    const Rational epsilon = number(row.at("epsilon"));
    const Rational delta = reference_value(row.at("delta"));
    if (law.kind == Kind::laplace && delta < power_of_ten(-12)) {
      // Next to the largest loss the lower bound may come to nothing.
      CHECK(pld_delta_up(std::vector{law}, epsilon) >= delta * (1 - power_of_ten(-15)));
      CHECK(pld_delta_up(std::vector{law}, epsilon) <= delta * number("1.1"));
      CHECK(pld_delta_down(std::vector{law}, epsilon) <= delta * (1 + power_of_ten(-15)));
    } else {
      encloses({law}, epsilon, delta, relative);
    }
  }
}

TEST_CASE("A million Laplace releases are known from both sides to a two-hundredth at any delta", "[pld]") {
  struct Row {
    const char* scale;
    std::uint64_t count;
  };
  for (const Row& row :
       {Row{"31.622776", 1'000}, Row{"100", 10'000}, Row{"316.22776", 100'000}, Row{"1000", 1'000'000}}) {
    for (const char* delta : {"1e-6", "1e-9", "1e-12", "1e-15"}) {
      CAPTURE(row.count, delta);
      const std::vector<ComposedLaw> laws{noise(Kind::laplace, row.scale, "1", row.count)};
      const Rational up = pld_epsilon_up(laws, number(delta)).value();
      const Rational down = pld_epsilon_down(laws, number(delta)).value();
      CHECK(down > 0);
      CHECK(down <= up);
      CHECK((up - down) * 20'000 <= up);  // 0.005 %
      // The epsilon found keeps delta, asked the other way round with another tilt.
      CHECK(pld_delta_down(laws, up) <= number(delta));
    }
  }
}

TEST_CASE("A billion equal releases are known from both sides", "[pld]") {
  const Rational delta = number("1e-6");
  for (const ComposedLaw& law :
       {noise(Kind::laplace, "31622.8", "1", 1'000'000'000),
        noise(Kind::discrete_laplace, "31622.8", "1", 1'000'000'000), pure("0.00003", 1'000'000'000)}) {
    const Rational up = pld_epsilon_up(std::vector{law}, delta).value();
    const Rational down = pld_epsilon_down(std::vector{law}, delta).value();
    CHECK(down > 4);
    CHECK(down <= up);
    CHECK(up <= down * number("1.0005"));
  }
  // Of mechanisms with nothing but an epsilon the optimum is exact.
  const std::vector<ComposedLaw> few{pure("0.003", 100'000)};
  const LossGroup group{number("0.003"), 0, 100'000};
  const Rational best = optimal_epsilon_up({&group, 1}, delta).value();
  CHECK(pld_epsilon_up(few, delta).value() >= best * number("0.999999999999"));
  CHECK(pld_epsilon_up(few, delta).value() <= best * number("1.000001"));
}

TEST_CASE("A Gaussian law beside very many small losses costs what it does on their fine grid", "[pld]") {
  const auto mixture = [](const char* scale, std::uint64_t each) {
    return std::vector{noise(Kind::gaussian, scale, "1", each), noise(Kind::laplace, scale, "1", each)};
  };
  // A lower bound of its own, and one above that a Gaussian grid as fine as the other gave.
  const Rational thousand = pld_epsilon_up(mixture("45", 1'000), number("1e-6")).value();
  CHECK(thousand >= number("4.839337"));
  CHECK(thousand <= number("4.83944"));
  // Nearly Gaussian: mu is 1.
  const Rational limit =
      pld_epsilon_up(std::vector{noise(Kind::gaussian, "1", "1", 1)}, number("1e-6")).value();
  const Rational million = pld_epsilon_up(mixture("1000", 500'000), number("1e-6")).value();
  CHECK(million <= limit);
  CHECK(million >= limit * number("0.9998"));
  CHECK(pld_delta_up(mixture("1000", 500'000), million) <= number("1.001e-6"));
}

TEST_CASE("Gaussian laws compose as one of the root of the sum of squares", "[pld]") {
  const std::vector<ComposedLaw> two{noise(Kind::gaussian, "10", "1", 50),
                                     noise(Kind::gaussian, "5", "1", 50)};
  encloses(two, 4, number("0.01645567286410893"), number("1e-14"));
  const std::vector<ComposedLaw> three{noise(Kind::gaussian, "1", "0.3", 1),
                                       noise(Kind::gaussian, "1", "0.4", 1),
                                       noise(Kind::gaussian, "1", "1.2", 1)};
  const Rational epsilon = pld_epsilon_up(three, number("1e-6")).value();
  CHECK(epsilon >= number("6.605503086487620"));
  CHECK(epsilon <= number("6.605503086487622"));
}

TEST_CASE("A grid of losses agrees with the closed form when a Gaussian law is divided by another kind",
          "[pld]") {
  // Laplace noise of next to no effect sends the Gaussian law through the grid.
  const std::vector<ComposedLaw> laws{noise(Kind::gaussian, "1", "1", 1),
                                      noise(Kind::laplace, "1e9", "1", 1)};
  const Rational alone = number("0.12693673750664395");
  const Rational up = pld_delta_up(laws, 1);
  CHECK(up >= alone);
  CHECK(up <= alone * number("1.001"));
  const Rational down = pld_delta_down(laws, 1);
  CHECK(down >= alone * number("0.999"));
  CHECK(down <= alone * number("1.00000001"));
}

TEST_CASE("One law used once is its closed form", "[pld]") {
  encloses({noise(Kind::laplace, "2", "4", 1)}, number("0.5"), number("0.5276334472589853"), number("1e-15"));
  encloses({noise(Kind::gaussian, "0.5", "1", 1)}, 0, number("0.6826894921370859"), number("1e-15"));
  encloses({noise(Kind::discrete_gaussian, "5", "1", 1)}, 1, number("1.82933602487278e-8"), number("1e-14"));
  encloses({noise(Kind::discrete_laplace, "2", "4", 1)}, number("0.5"), number("0.54202001817102402351"),
           number("1e-15"));
  CHECK(pld_delta_up(std::vector{noise(Kind::laplace, "2", "4", 1)}, 2) == 0);
  CHECK(pld_epsilon_up(std::vector{pure("0.3", 1)}, 0) == number("0.3"));
}

TEST_CASE("Approximate laws lose what they lose outright", "[pld]") {
  const std::vector<ComposedLaw> laws{guarantee("1", "0.1", 1), guarantee("2", "0.2", 1)};
  CHECK(pld_delta_up(laws, 3) == number("0.28"));
  CHECK(pld_epsilon_up(laws, number("0.28")) == 3);
  CHECK_FALSE(pld_epsilon_up(laws, number("0.2799")).has_value());
  CHECK(pld_epsilon_up(laws, 1) == 0);
  const std::vector<ComposedLaw> thirty{guarantee("1", "0.001", 30)};
  const Rational epsilon = pld_epsilon_up(thirty, number("0.06")).value();
  CHECK(epsilon <= 22);
  Rational finite = 1;
  for (int use = 0; use < 30; ++use) finite *= number("0.999");
  encloses(thirty, 22, 1 - finite * (1 - number("0.0202762455498459618116002004558")), number("1e-10"));
  CHECK(pld_delta_up(std::vector{guarantee("0", "1e-7", 10'000)}, 1) <= number("0.00099950021658"));
  CHECK(pld_delta_down(std::vector{guarantee("0", "1e-7", 10'000)}, 1) >= number("0.00099950021657"));
}

TEST_CASE("Without an approximate part a bounded loss ends, and an unbounded one never does", "[pld]") {
  const std::vector<ComposedLaw> bounded{noise(Kind::laplace, "1", "1", 3),
                                         noise(Kind::laplace, "2", "1", 2)};
  CHECK(pld_epsilon_up(bounded, 0) == 4);
  CHECK(pld_delta_up(bounded, 4) == 0);
  const Rational nearly = pld_epsilon_up(bounded, number("1e-9")).value();
  CHECK(nearly > number("3.99999"));
  CHECK(nearly <= 4);
  CHECK_FALSE(pld_epsilon_up(std::vector{noise(Kind::gaussian, "1", "1", 1)}, 0).has_value());
  CHECK_FALSE(pld_epsilon_up(std::vector{noise(Kind::discrete_gaussian, "1", "1", 3)}, 0).has_value());
}

TEST_CASE("Ten thousand different laws are composed together", "[pld]") {
  std::vector<ComposedLaw> laws;
  for (unsigned i = 0; i < 10'000; ++i) laws.push_back(noise(Kind::laplace, std::to_string(400 + i), "1", 1));
  const Rational up = pld_epsilon_up(laws, number("1e-6")).value();
  // Between that many of the widest and of the narrowest noise.
  CHECK(up >
        pld_epsilon_down(std::vector{noise(Kind::laplace, "10400", "1", 10'000)}, number("1e-6")).value());
  CHECK(up < pld_epsilon_up(std::vector{noise(Kind::laplace, "400", "1", 10'000)}, number("1e-6")).value());
}

TEST_CASE("A few large losses are told as closely as many small ones", "[pld]") {
  const auto both = [](const std::vector<ComposedLaw>& laws, const char* delta, const char* relative) {
    const Rational up = pld_epsilon_up(laws, number(delta)).value();
    const Rational down = pld_epsilon_down(laws, number(delta)).value();
    CHECK(down > 0);
    CHECK(down <= up);
    CHECK(up <= down * (1 + number(relative)));
    return up;
  };
  CHECK(both({noise(Kind::laplace, "10", "1", 30)}, "1e-6", "1e-5") < number("2.29782"));
  CHECK(both({noise(Kind::laplace, "2", "1", 300)}, "1e-6", "1e-5") < number("67.632"));
  // Next to the largest loss, where delta is a part of one atom.
  CHECK(both({noise(Kind::laplace, "5", "1", 3)}, "1e-6", "1e-6") < number("0.6"));
  both({noise(Kind::laplace, "5", "1", 3)}, "1e-12", "1e-6");
}

TEST_CASE("Mixtures whose losses are on no common grid are enclosed", "[pld]") {
  const std::vector<ComposedLaw> laws{
      noise(Kind::discrete_laplace, "10", "3", 50), noise(Kind::laplace, "7", "1", 30), pure("0.0931", 200),
      noise(Kind::discrete_gaussian, "13", "2", 40), guarantee("0.05", "1e-9", 10)};
  const Rational up = pld_epsilon_up(laws, number("1e-6")).value();
  const Rational down = pld_epsilon_down(laws, number("1e-6")).value();
  CHECK(down <= up);
  CHECK(up <= down * number("1.0004"));
  CHECK(pld_delta_down(laws, down) > number("1e-6") * number("0.99"));
  CHECK(pld_delta_down(laws, up) <= number("1e-6"));
  CHECK(pld_delta_down(laws, up) > number("0.99e-6"));
}

TEST_CASE("Extreme parameters are answered, not guessed", "[pld]") {
  const std::vector<ComposedLaw> faint{noise(Kind::laplace, "1e200", "1", 5)};
  CHECK(pld_delta_up(faint, 0) >= 0);
  CHECK(pld_delta_up(faint, 0) <= number("1e-199"));
  CHECK(pld_epsilon_up(faint, number("1e-300")).value() <= number("5e-200"));
  const std::vector<ComposedLaw> harsh{noise(Kind::laplace, "1e-9", "1", 2)};
  CHECK(pld_delta_up(harsh, 1) > number("0.99"));
  CHECK(pld_delta_up(harsh, 1) <= 1);
}

TEST_CASE("What cannot be composed is refused by name", "[pld]") {
  const auto refused = [](const ComposedLaw& law, const std::string& message) {
    CHECK_THROWS_AS(pld_delta_up(std::vector{pure("1", 1), law}, 1), InvalidParameter);
    try {
      static_cast<void>(pld_epsilon_up(std::vector{pure("1", 1), law}, number("0.1")));
    } catch (const InvalidParameter& error) {
      CHECK(std::string(error.what()).starts_with(message));
    }
  };
  refused(noise(Kind::laplace, "0", "1", 1), "law 2 scale: ");
  refused(noise(Kind::gaussian, "1", "-1", 1), "law 2 sensitivity: ");
  refused(noise(Kind::discrete_laplace, "1", "1/2", 1), "law 2 sensitivity: ");
  refused(noise(Kind::discrete_gaussian, "10001", "1", 1), "law 2 scale: ");
  refused(noise(Kind::laplace, "1", "1", 0), "law 2 count: ");
  refused(pure("0", 1), "law 2 epsilon: ");
  refused(guarantee("0", "0", 1), "law 2: ");
  refused(guarantee("1", "1.5", 1), "law 2 delta: ");
  CHECK_THROWS_AS(pld_delta_up({}, 1), InvalidParameter);
  CHECK_THROWS_AS(pld_delta_up(std::vector{pure("1", 1)}, -1), InvalidParameter);
  CHECK_THROWS_AS(pld_epsilon_up(std::vector{pure("1", 1)}, 2), InvalidParameter);
}

namespace {

ComposedLaw snapping(const std::string& scale, const std::string& sensitivity, const std::string& extra,
                     std::uint64_t count) {
  ComposedLaw law = noise(Kind::snapping, scale, sensitivity, count);
  law.extra = number(extra);
  return law;
}

}  // namespace

TEST_CASE("Snapping in exact arithmetic costs what Laplace noise costs", "[pld][snapping]") {
  for (const std::uint64_t count : {1UL, 2UL, 100UL}) {
    const std::vector exact{snapping("10", "1", "0", count), guarantee("0.1", "1e-9", 2)};
    const std::vector laplace{noise(Kind::laplace, "10", "1", count), guarantee("0.1", "1e-9", 2)};
    CAPTURE(count);
    for (const char* delta : {"1e-3", "1e-6"})
      CHECK(pld_epsilon_up(exact, number(delta)) == pld_epsilon_up(laplace, number(delta)));
    for (const char* epsilon : {"0", "0.2", "1"})
      CHECK(pld_delta_up(exact, number(epsilon)) == pld_delta_up(laplace, number(epsilon)));
  }
}

TEST_CASE("Snapping costs e^X times Laplace noise at epsilon less X", "[pld][snapping]") {
  // 1 - e^((epsilon - X - E)/2) of one release, E = 1/2, X = 1/8, at epsilon = 3/8: e^(1/8) (1 - e^(-1/8)).
  const std::vector one{snapping("2", "1", "0.125", 1)};
  const Rational delta = pld_delta_up(one, number("0.375"));
  CHECK(delta >= number("0.13314845306682631682900722781"));
  CHECK(delta <= number("0.13314845306682631682900722782"));
  // Left of X, at 0: e^X - 1 + (1 - e^((X - E)/2)), X = 1/8.
  const Rational total = pld_delta_up(one, 0);
  CHECK(total >= number("0.30411933488642597381436171846"));
  CHECK(total <= number("0.30411933488642597381436171848"));
  CHECK(pld_delta_up(one, number("0.625")) == 0);
  CHECK(pld_epsilon_up(one, 0) == number("0.625"));
  CHECK(pld_epsilon_up(one, 1) == Rational(0));
}

TEST_CASE("Snapping never costs less than Laplace noise, nor more than its pure loss", "[pld][snapping]") {
  for (const char* extra : {"1e-30", "1e-12", "1e-4", "0.01"}) {
    const std::vector rounded{snapping("5", "1", extra, 60)};
    const std::vector ideal{noise(Kind::laplace, "5", "1", 60)};
    const std::vector worst{pure("0.2", 60), pure(extra, 60)};
    for (const char* delta : {"1e-3", "1e-9"}) {
      CAPTURE(extra, delta);
      const Rational epsilon = pld_epsilon_up(rounded, number(delta)).value();
      CHECK(epsilon >= pld_epsilon_up(ideal, number(delta)).value());
      CHECK(epsilon <= number("0.2") * 60 + 60 * number(extra));
      // Found from epsilon or from delta, the same up to the grids of the two questions.
      CHECK(pld_delta_up(rounded, epsilon) <= number(delta) * number("1.01"));
      if (number(extra) <= number("1e-12")) {
        CHECK(epsilon <= pld_epsilon_up(ideal, number(delta)).value() + number("1e-9"));
      }
    }
  }
}

TEST_CASE("Snapping beside a mechanism that fails leaves its failures as they are", "[pld][snapping]") {
  const std::vector both{snapping("5", "1", "0.001", 3), guarantee("0.1", "1e-6", 1)};
  CHECK(pld_epsilon_up(both, number("1e-6")) == number("0.703"));
  CHECK(pld_delta_up(both, number("0.703")) == number("1e-6"));
  CHECK_FALSE(pld_epsilon_up(both, number("0.9e-6")));
  CHECK(pld_epsilon_up(both, number("1e-3")).value() < number("0.703"));
}

TEST_CASE("Snapping is left out from below", "[pld][snapping]") {
  CHECK(pld_delta_down(std::vector{snapping("5", "1", "0", 3)}, 0) == 0);
  CHECK(pld_epsilon_down(std::vector{snapping("5", "1", "0", 3)}, number("1e-6")) == Rational(0));
  const std::vector both{snapping("5", "1", "0.1", 3), pure("0.5", 4)};
  CHECK(pld_delta_down(both, number("0.3")) == pld_delta_down(std::vector{pure("0.5", 4)}, number("0.3")));
}

TEST_CASE("Snapping whose rounding is most of its loss counts as pure", "[pld][snapping]") {
  // 100 (1/2 + 1) nats: the excess of 100 would multiply delta by e^100.
  const std::vector rough{snapping("2", "1", "1", 100)};
  const std::vector plain{pure("1.5", 100)};
  CHECK(pld_epsilon_up(rough, number("1e-6")) == pld_epsilon_up(plain, number("1e-6")));
  CHECK(pld_delta_up(rough, 100) == pld_delta_up(plain, 100));
}

TEST_CASE("Snapping with a negative extra is refused by name", "[pld][snapping][negative]") {
  CHECK_THROWS_WITH(pld_delta_up(std::vector{pure("1", 1), snapping("2", "1", "-0.1", 1)}, 1),
                    "law 2 extra: -0.1 is negative");
}

TEST_CASE("Discrete Gaussian noise on a fine grid costs what continuous noise costs, and a little",
          "[pld][fine_grid]") {
  struct Row {
    const char* scale;
    const char* sensitivity;
  };
  for (const Row& row : {Row{"10", "1"}, Row{"60", "7"}, Row{"300", "7"}, Row{"3000", "200"}}) {
    const ComposedLaw fine = fine_grid_gaussian(number(row.scale), number(row.sensitivity), 1);
    for (const std::uint64_t count : {1UL, 5UL}) {
      ComposedLaw counted = fine;
      counted.count = count;
      const std::vector approximated{counted};
      const std::vector lattice{noise(Kind::discrete_gaussian, row.scale, row.sensitivity, count)};
      const std::vector continuous{noise(Kind::gaussian, row.scale, row.sensitivity, count)};
      CHECK(pld_delta_up(approximated, number("0.01")) >=
            pld_delta_up(lattice, number("0.01")) * (1 - number("1e-6")));
      for (const char* delta : {"1e-2", "1e-6", "1e-12"}) {
        CAPTURE(row.scale, count, delta);
        const Rational bound = pld_epsilon_up(approximated, number(delta)).value();
        CHECK(bound >= pld_epsilon_up(lattice, number(delta)).value() * (1 - number("1e-6")));
        const Rational without = pld_epsilon_up(continuous, number(delta)).value();
        CHECK(bound >= without);
        CHECK(bound <= without + count * fine.extra * number("1.001") / number("0.05"));
        CHECK(pld_delta_up(approximated, bound) <= number(delta) * number("1.001"));
      }
    }
  }
}

TEST_CASE("Discrete Gaussian noise on a fine grid: each term of what it may lose more", "[pld][fine_grid]") {
  const ComposedLaw fine = fine_grid_gaussian(1'000'000, 2'000'000, 3);
  CHECK(fine.kind == Kind::gaussian);
  CHECK(fine.sensitivity == 2'000'000);
  // 3 ((50 + 2)^2/24 + 1/4) 10^-12.
  CHECK(fine.extra == number("338.75e-12"));
  CHECK(fine.delta == 3 * power_of_two(-1800));
  CHECK_FALSE(pld_epsilon_up(std::vector{fine}, power_of_two(-1800)));
  CHECK(pld_epsilon_up(std::vector{fine}, power_of_two(-1700)));
  CHECK(pld_delta_down(std::vector{fine}, 1) == 0);
  // What is lost outright is added once for each use.
  ComposedLaw failing = noise(Kind::gaussian, "5", "1", 2);
  failing.delta = number("0.01");
  const ComposedLaw sound = noise(Kind::gaussian, "5", "1", 2);
  CHECK(pld_delta_up(std::vector{failing}, 1) == pld_delta_up(std::vector{sound}, 1) + number("0.02"));
  CHECK(pld_epsilon_up(std::vector{failing}, number("0.03")) ==
        pld_epsilon_up(std::vector{sound}, number("0.01")));
  CHECK_FALSE(pld_epsilon_up(std::vector{failing}, number("0.019")));
  CHECK_THROWS_AS(fine_grid_gaussian(0, 1, 1), InvalidParameter);
  CHECK_THROWS_AS(fine_grid_gaussian(1, -1, 1), InvalidParameter);
  CHECK_THROWS_AS(fine_grid_gaussian(1, 1, 0), InvalidParameter);
  ComposedLaw bad = fine;
  bad.extra = -1;
  CHECK_THROWS_AS(pld_delta_up(std::vector{bad}, 1), InvalidParameter);
  bad.extra = 65;
  CHECK_THROWS_AS(pld_delta_up(std::vector{bad}, 1), InvalidParameter);
  bad = fine;
  bad.delta = 1;
  CHECK_THROWS_AS(pld_delta_up(std::vector{bad}, 1), InvalidParameter);
}
