// How accurate a quotient of so many rows is said to be, held to every table of as many and every output.
#include "assumed_count.hpp"

#include "clinic.hpp"
#include "epsilog/accounting/errors.hpp"
#include "support/catch.hpp"
#include "toy_releases.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;

namespace {

/// The largest probability that what is released is farther from the answer of a table of so many rows than
/// is said.
double worst_error(const Plan& plan, const Rational& alpha, const std::vector<Truth>& truths, long rows,
                   bool nearer) {
  std::vector<Truth> of_as_many;
  for (const Truth& truth : truths) {
    const bool counts = plan.record.components.size() == 1;
    if ((counts ? Rational(truth.parts[0] + truth.parts[1]) : truth.parts.back()) == rows)
      of_as_many.push_back(truth);
  }
  REQUIRE_FALSE(of_as_many.empty());
  const Rational said = accuracy_of_count_up(plan, rows, alpha);
  const Rational a = nearer ? Rational(said / 3) : said;
  const Outputs all = combined(plan);
  const std::vector<Rational> values =
      accounting::post_process(plan.derivation.post_processing, all.components);
  return largest_probability(plan, all, of_as_many, [&](std::size_t i, const Truth& truth) {
    return abs(Rational(values[i] - truth.answer)) > a;
  });
}

std::string released_by(const char* statistic, const char* mechanism) {
  return std::string("    release: {") + statistic + ": {mechanism: " + mechanism + "}}\n";
}

Request asked_of(const char* statistic, const char* epsilon, const char* mechanism) {
  Request asked = request(statistic, epsilon);
  if (std::string(mechanism) == "discrete_gaussian") asked.delta = Rational(1, 1000);
  return asked;
}

}  // namespace

TEST_CASE("assumed count: no mean of so many rows is farther from its release, but with probability alpha",
          "[engine][planning][exhaustive]") {
  const std::vector<Truth> truths = tables_of_ages(5, false);
  bool said = false;
  for (const char* mechanism : {"snapping", "discrete_laplace", "discrete_gaussian"}) {
    for (const char* epsilon : {"12", "40"}) {
      const Plan plan =
          small_plan("5", asked_of("mean:age", epsilon, mechanism), released_by("mean", mechanism));
      for (const Rational& alpha : {Rational(1, 2), Rational(1, 20)}) {
        for (const long rows : {1, 3, 5}) {
          CAPTURE(mechanism, epsilon, accounting::text(alpha), rows);
          CHECK(worst_error(plan, alpha, truths, rows, false) <= alpha.get_d() + 1e-9);
          if (accuracy_of_count_up(plan, rows, alpha) < 2) {
            said = true;
            CHECK(worst_error(plan, alpha, truths, rows, true) > alpha.get_d() / 10);
          }
        }
      }
    }
  }
  CHECK(said);
}

TEST_CASE("assumed count: no share of so many rows is farther from its release, but with probability alpha",
          "[engine][planning][exhaustive]") {
  const std::vector<Truth> truths = tables_of_shares(9);
  for (const char* mechanism : {"snapping", "discrete_laplace", "discrete_gaussian"}) {
    for (const char* epsilon : {"6", "20"}) {
      const Plan plan = small_plan("12", asked_of("proportion:ward:A", epsilon, mechanism),
                                   released_by("proportion", mechanism));
      for (const Rational& alpha : {Rational(1, 2), Rational(1, 20)}) {
        for (const long rows : {1, 4, 9}) {
          CAPTURE(mechanism, epsilon, accounting::text(alpha), rows);
          CHECK(worst_error(plan, alpha, truths, rows, false) <= alpha.get_d() + 1e-9);
        }
      }
    }
  }
}

TEST_CASE("assumed count: the more rows the more accurate, and never beyond the range",
          "[engine][planning]") {
  const Plan plan = small_plan("100000", request("mean:age", "1"));
  Rational before = 5;
  for (const std::int64_t rows : {1, 10, 100, 1000, 100'000}) {
    const Rational a = accuracy_of_count_up(plan, rows, Rational(1, 20));
    CHECK((a > 0 && a <= 4 && a <= before));
    before = a;
  }
  CHECK(accuracy_of_count_up(plan, 1, Rational(1, 20)) == 4);
  CHECK(before < Rational(1, 1000));
  const std::vector<Accuracy> told =
      accuracies_of_count(plan, 1000, std::vector{Rational(1, 20), Rational(1, 100)});
  REQUIRE(told.size() == 2);
  CHECK(told[0].a.rational() < told[1].a.rational());
}

TEST_CASE("assumed count: only what follows from it takes one, and no more than the policy declares",
          "[engine][planning]") {
  const auto assume = [](const char* statistic, std::int64_t rows) {
    const Request asked = request(statistic, "1");
    require_assumable(small_plan("50", asked).derivation, asked.question, rows);
  };
  for (const char* statistic : {"mean:age", "mean:cost", "proportion:ward:A"}) {
    CHECK_NOTHROW(assume(statistic, 1));
    CHECK_NOTHROW(assume(statistic, 50));
    CHECK_THROWS_AS(assume(statistic, 51), InvalidParameter);
    CHECK_THROWS_AS(assume(statistic, 0), InvalidParameter);
  }
  for (const char* statistic : {"count", "sum:age", "value:score"})
    CHECK_THROWS_AS(assume(statistic, 5), Underivable);
  const Request grouped = request("variance:age", "1", "", "ward");
  CHECK_THROWS_AS(require_assumable(small_plan("50", grouped).derivation, grouped.question, 5), Underivable);
}
