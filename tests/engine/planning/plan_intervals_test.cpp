// Intervals as a plan tells them: which answers have them, on which lattice, and that they cover what the
// policy makes of the rows. The law itself is held in tests/mechanisms/laws/answer_interval_test.cpp.
#include "plan_intervals.hpp"

#include "clinic.hpp"
#include "epsilog/engine/checked_policy.hpp"
#include "plan.hpp"
#include "support/catch.hpp"
#include "toy_releases.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;
using namespace accounting;
using mechanisms::AnswerInterval;

namespace {

Plan planned(const std::string& more, const Request& asked) {
  const std::string policy = clinic_policy("measure: approximate, epsilon: 1000, delta: 0.1", more);
  return make_plan(checked_policy(policy, "policy").dataset("clinic"), asked);
}

bool within(const AnswerInterval& interval, const Rational& low, const Rational& high) {
  return low <= interval.low && interval.low <= interval.high && interval.high <= high;
}

const std::vector<Rational>& alphas() {
  static const std::vector<Rational> values{Rational(1, 20), Rational(1, 100)};
  return values;
}

}  // namespace

TEST_CASE("plan intervals: what is drawn once has them at each alpha, and within its public range",
          "[engine][intervals]") {
  for (const char* statistic : {"count", "units", "sum:age", "sum:cost", "value:score"}) {
    CAPTURE(statistic);
    const Plan plan = planned("", request(statistic, "2"));
    const PlanIntervals intervals(plan, alphas());
    const std::vector<CellIntervals> told = intervals.of({{4}}, std::vector<Rational>{4});
    REQUIRE(told.size() == 2);
    CHECK((told[0].alpha == Rational(1, 20) && told[1].alpha == Rational(1, 100)));
    const Component& component = plan.derivation.components.front();
    for (const CellIntervals& one : told) {
      REQUIRE(one.each.size() == 1);
      CHECK(one.together.empty());  // one answer is all there is
      CHECK(within(one.each.front(), component.lower, component.upper));
    }
    CHECK(within(told[0].each.front(), told[1].each.front().low, told[1].each.front().high));
    CHECK(intervals.of({{}}, {}).empty());
  }
}

TEST_CASE("plan intervals: of whole answers they end at whole numbers, whatever draws them",
          "[engine][intervals]") {
  for (const char* release : {"", "    release: {count: {mechanism: discrete_laplace}}\n",
                              "    release: {count: {mechanism: discrete_gaussian}}\n",
                              "    release: {count: {mechanism: gaussian}}\n",
                              "    release: {count: {arithmetic: exact, bound: 25/4}}\n"}) {
    for (const char* epsilon : {"0.7", "3", "30"}) {
      Request asked = request("count", epsilon);
      if (std::string(release).find("gaussian") != std::string::npos) asked.delta = Rational(1, 1000);
      const Plan plan = planned(release, asked);
      const ledger::ComponentRecord record = plan.record.components.front();
      // Values that can be released about the middle of the range, and at its lower end.
      const Rational centre = record.centre ? *record.centre : Rational(50'000);
      const std::vector<Rational> drawn{centre, centre + record.grid, centre - 3 * record.grid};
      const std::vector<Rational> values = accounting::post_process(plan.derivation.post_processing, {drawn});
      CAPTURE(release, epsilon, accounting::text(record.grid));
      for (const CellIntervals& one : PlanIntervals(plan, alphas()).of({drawn}, values)) {
        for (std::size_t i = 0; i < values.size(); ++i) {
          const Rational a = accuracy_up(plan, 0, one.alpha);
          CHECK((one.each[i].low <= values[i] || one.each[i].low.get_den() == 1));
          CHECK((one.each[i].low >= values[i] - a || record.bound));
          CHECK((one.each[i].high <= values[i] + a || record.bound));
          const bool some_whole = accounting::floor(values[i] + a) >= accounting::ceil(values[i] - a);
          if (some_whole) CHECK(one.each[i].low.get_den() == 1);
          if (some_whole) CHECK(one.each[i].high.get_den() == 1);
        }
      }
    }
  }
}

TEST_CASE("plan intervals: where no whole answer is plausible the nearest is told, and of two as near both",
          "[engine][intervals]") {
  Request asked = request("count", "1000", "", "ward");
  asked.delta = Rational(1, 1000);
  const Plan plan = planned("    release: {count: {mechanism: gaussian}}\n", asked);
  const Rational grid = plan.record.components.front().grid, far = Rational(1, 4);
  REQUIRE((grid < Rational(1, 8) && accuracy_up(plan, 0, Rational(1, 3)) < far));
  const std::vector<Rational> values{7 + far, 7 - far, Rational(15, 2)};
  const CellIntervals told = PlanIntervals(plan, std::vector{Rational(1, 3)}).of({values}, values).at(0);
  for (const auto& intervals : {told.each, told.together}) {
    CHECK((intervals.at(0).low == 7 && intervals.at(0).high == 7));
    CHECK((intervals.at(1).low == 7 && intervals.at(1).high == 7));
    CHECK((intervals.at(2).low == 7 && intervals.at(2).high == 8));
  }
}

TEST_CASE("plan intervals: those of all cells together are wider, and a refused alpha is none here",
          "[engine][intervals]") {
  const Plan plan = planned("", request("count", "1", "", "ward"));
  const std::vector<Rational> values{plan.record.components.front().centre.value(), 0, 100'000};
  for (const CellIntervals& one : PlanIntervals(plan, alphas()).of({values}, values)) {
    REQUIRE(one.each.size() == 3);
    REQUIRE(one.together.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(within(one.each[i], one.together[i].low, one.together[i].high));
      CHECK(one.together[i].high - one.together[i].low > one.each[i].high - one.each[i].low);
      CHECK(within(one.together[i], 0, 100'000));
    }
    // Clamped at 0 and at the largest number of rows, they go to one side only.
    CHECK(one.each[1].low == 0);
    CHECK(one.each[2].high == 100'000);
  }
}

namespace {

/// The largest probability, over the truths, that the interval of what is released misses the answer.
double worst_miss(const Plan& plan, const Rational& alpha, const std::vector<Truth>& truths) {
  const Outputs all = combined(plan);
  const std::vector<Rational> values =
      accounting::post_process(plan.derivation.post_processing, all.components);
  const std::vector<CellIntervals> told = PlanIntervals(plan, std::vector{alpha}).of(all.components, values);
  return largest_probability(plan, all, truths, [&](std::size_t i, const Truth& truth) {
    const AnswerInterval& interval = told.front().each[i];
    return truth.answer < interval.low || truth.answer > interval.high;
  });
}

}  // namespace

TEST_CASE("plan intervals: a released count covers the true one as often as it says", "[engine][intervals]") {
  std::vector<Truth> truths;
  for (int n = 0; n <= 40; ++n) truths.push_back({{n}, n});
  for (const char* epsilon : {"1", "2.9", "7", "16"}) {
    const Plan plan = small_plan("40", request("count", epsilon));
    for (const Rational& alpha : alphas()) {
      CAPTURE(epsilon, accounting::text(alpha));
      CHECK(worst_miss(plan, alpha, truths) <= alpha.get_d() + 1e-12);
    }
  }
}

TEST_CASE("plan intervals: a mean over a private number of rows covers the mean of every table of some rows",
          "[engine][intervals][exhaustive]") {
  const std::vector<Truth> truths = tables_of_ages(5, false);
  for (const char* release :
       {"", "mean: {mechanism: discrete_laplace}", "mean: {mechanism: discrete_gaussian}"}) {
    for (const char* epsilon : {"4", "12", "40"}) {
      if (*release != 0 && std::string(epsilon) == "4") continue;  // many outputs, and says nothing
      Request asked = request("mean:age", epsilon);
      if (std::string(release).find("gaussian") != std::string::npos) asked.delta = Rational(1, 1000);
      const Plan plan = small_plan("5", asked, std::string("    release: {") + release + "}\n");
      REQUIRE(plan.mechanisms.size() == 2);
      for (const Rational& alpha : {Rational(1, 2), Rational(1, 20)}) {
        CAPTURE(release, epsilon, accounting::text(alpha));
        const double miss = worst_miss(plan, alpha, truths);
        CHECK(miss <= alpha.get_d() + 1e-9);
        if (alpha == Rational(1, 2) && std::string(epsilon) == "40") CHECK(miss > 0.01);  // says something
      }
    }
  }
}

TEST_CASE("plan intervals: a proportion covers the share of every table of some rows",
          "[engine][intervals][exhaustive]") {
  const std::vector<Truth> truths = tables_of_shares(12);
  for (const char* release :
       {"", "proportion: {mechanism: discrete_laplace}", "proportion: {mechanism: discrete_gaussian}"}) {
    for (const char* epsilon : {"1", "4", "12", "40"}) {
      if (*release != 0 && std::string(epsilon).size() == 1) continue;  // many outputs, and as wide
      Request asked = request("proportion:ward:A", epsilon);
      if (std::string(release).find("gaussian") != std::string::npos) asked.delta = Rational(1, 1000);
      const Plan plan = small_plan("12", asked, std::string("    release: {") + release + "}\n");
      REQUIRE(plan.mechanisms.size() == 1);
      for (const Rational& alpha : {Rational(1, 2), Rational(1, 20)}) {
        CAPTURE(release, epsilon, accounting::text(alpha));
        const double miss = worst_miss(plan, alpha, truths);
        CHECK(miss <= alpha.get_d() + 1e-9);
        if (alpha == Rational(1, 2) && std::string(epsilon) == "12") CHECK(miss > 0.01);  // says something
      }
    }
  }
}

namespace {

/// What an interval for each part by itself makes of a mean, or a proportion: all quotients of numbers in
/// both.
AnswerInterval boxed(const Plan& plan, const Rational& alpha, const Rational& first, const Rational& second) {
  const Rational of_each = mechanisms::simultaneous_alpha_down(alpha, 2);
  const auto part = [&](const ComponentMechanism& mechanism, const Rational& released) {
    return mechanism.intervals(of_each, mechanisms::Shown::as_released)->of(released);
  };
  const AnswerInterval s = part(plan.mechanisms.front(), first), n = part(plan.mechanisms.back(), second);
  const PostProcessing& recipe = plan.derivation.post_processing;
  if (recipe.kind == PostProcessing::Kind::proportion)
    return {s.low / (s.low + n.high), s.high / (s.high + n.low)};
  const Rational fewest = std::max<Rational>(1, n.low);
  return {
      std::clamp<Rational>(recipe.centre + s.low / (s.low < 0 ? fewest : n.high), recipe.lower, recipe.upper),
      std::clamp<Rational>(recipe.centre + s.high / (s.high < 0 ? n.high : fewest), recipe.lower,
                           recipe.upper)};
}

}  // namespace

TEST_CASE(
    "plan intervals: a mean's are narrower than a box of its parts, where it is of more than a few rows",
    "[engine][intervals]") {
  double least = 1, most = 0;
  for (const char* mechanism : {"snapping", "discrete_laplace", "discrete_gaussian"}) {
    for (const char* epsilon : {"0.1", "0.33", "1", "20"}) {
      Request asked = request("mean:age", epsilon);
      if (std::string(mechanism) == "discrete_gaussian") asked.delta = Rational(1, 100'000);
      const Plan plan = planned(std::string("    release: {mean: {mechanism: ") + mechanism + "}}\n", asked);
      const ledger::ComponentRecord &of_sum = plan.record.components[0],
                                    &of_count = plan.record.components[1];
      const auto released = [](const ledger::ComponentRecord& part, const Rational& near) {
        const Rational centre = part.centre.value_or(0);
        return Rational(centre + accounting::floor((near - centre) / part.grid) * part.grid);
      };
      for (const Rational& alpha : {Rational(1, 10), Rational(1, 20), Rational(1, 100)}) {
        const PlanIntervals intervals(plan, std::vector{alpha});
        // Of fewer, a box is told that there is one row at least.
        const Rational few =
            1 + plan.mechanisms[1].accuracy_up(mechanisms::simultaneous_alpha_down(alpha, 2));
        for (const int times : {1, 3, 10, 100}) {
          const Rational count = released(of_count, times * few + of_count.grid);
          if (count > 90'000) continue;
          for (const int mean : {1, 20, 40, 55, 56, 80, 109}) {
            const Rational sum = released(of_sum, count * (mean - 55));
            const std::vector<std::vector<Rational>> parts{{sum}, {count}};
            const std::vector<Rational> values =
                accounting::post_process(plan.derivation.post_processing, parts);
            const AnswerInterval told = intervals.of(parts, values).front().each.front();
            const AnswerInterval box = boxed(plan, shown_alpha(plan, alpha), sum, count);
            CAPTURE(mechanism, epsilon, accounting::text(alpha), times, mean, told.low.get_d(),
                    told.high.get_d(), box.low.get_d(), box.high.get_d());
            CHECK(within(told, box.low, box.high));
            if (box.low > 0 && box.high < 110) {
              const double ratio = Rational((told.high - told.low) / (box.high - box.low)).get_d();
              least = std::min(least, ratio);
              most = std::max(most, ratio);
            }
          }
        }
      }
    }
  }
  CAPTURE(least, most);
  CHECK(least < 0.6);
  CHECK(most <= 1);
}

TEST_CASE("plan intervals: a proportion's are narrower than a box of its counts", "[engine][intervals]") {
  double least = 1, most = 0;
  for (const char* mechanism : {"snapping", "discrete_laplace", "discrete_gaussian"}) {
    for (const char* epsilon : {"0.2", "1"}) {
      Request asked = request("proportion:ward:A", epsilon);
      if (std::string(mechanism) == "discrete_gaussian") asked.delta = Rational(1, 100'000);
      const Plan plan =
          planned(std::string("    allow: {statistics: [proportion]}\n    release: {proportion: "
                              "{mechanism: ") +
                      mechanism + "}}\n",
                  asked);
      const ledger::ComponentRecord& part = plan.record.components[0];
      const auto released = [&part](const Rational& near) {
        const Rational centre = part.centre.value_or(0);
        return Rational(centre + accounting::floor((near - centre) / part.grid) * part.grid);
      };
      for (const Rational& alpha : alphas()) {
        const PlanIntervals intervals(plan, std::vector{alpha});
        for (const int rows : {2000, 50'000}) {
          for (const int percent : {12, 30, 50, 77}) {
            const Rational with = released(Rational(rows * percent / 100));
            const Rational other = released(rows - Rational(rows * percent / 100));
            const AnswerInterval told =
                intervals.of({{with, other}}, std::vector<Rational>{with / (with + other)})
                    .front()
                    .each.front();
            const AnswerInterval box = boxed(plan, shown_alpha(plan, alpha), with, other);
            CAPTURE(mechanism, epsilon, accounting::text(alpha), rows, percent);
            CHECK(within(told, box.low, box.high));
            const double ratio = Rational((told.high - told.low) / (box.high - box.low)).get_d();
            least = std::min(least, ratio);
            most = std::max(most, ratio);
          }
        }
      }
    }
  }
  CAPTURE(least, most);
  CHECK(least < 0.65);
  CHECK(most < 0.9);
}

TEST_CASE("plan intervals: a proportion's end where its parts do, and say nothing where there may be no rows",
          "[engine][intervals]") {
  const Plan plan = planned(
      "    allow: {statistics: [proportion]}\n    release: {proportion: {mechanism: "
      "discrete_laplace}}\n",
      request("proportion:ward:A", "30"));
  const Rational alpha(1, 20);
  const PlanIntervals intervals(plan, std::vector{alpha});
  const auto told = [&](const Rational& with, const Rational& other) {
    const std::vector<std::vector<Rational>> drawn{{with, other}};
    const std::vector<Rational> values = accounting::post_process(plan.derivation.post_processing, drawn);
    const std::vector<CellIntervals> all = intervals.of(drawn, values);
    REQUIRE(all.size() == 1);
    REQUIRE(all[0].each.size() == 1);
    CHECK(all[0].together.empty());
    CHECK(all[0].each[0].low <= values[0]);
    CHECK(all[0].each[0].high >= values[0]);
    return all[0].each[0];
  };
  const AnswerInterval most = told(900, 100);
  CHECK((most.low > Rational(89, 100) && most.high < Rational(91, 100)));
  const AnswerInterval nobody = told(-40, -40);
  CHECK((nobody.low == 0 && nobody.high == 1));
  CHECK(told(-40, 500).high == 0);
  CHECK(told(500, -40).low == 1);
  CHECK(intervals.of({{900}}, std::vector<Rational>{1}).empty());  // of a damaged record
}

TEST_CASE("plan intervals: a ratio covers that of every table whose denominator is above 0, or says nothing",
          "[engine][intervals][ratio][exhaustive]") {
  // Two columns of 0 to 2 and up to three rows.
  std::vector<Truth> truths;
  for (int rows = 1; rows <= 3; ++rows) {
    for (int above = 0; above <= 2 * rows; ++above) {
      for (int below = 1; below <= 2 * rows; ++below)
        truths.push_back({{above, below}, Rational(above) / Rational(below)});
    }
  }
  for (const char* epsilon : {"4", "12", "60"}) {
    std::string policy = clinic_policy("epsilon: 1000");
    policy.replace(policy.find("max: 100000"), 11, "max: 3");
    policy.replace(policy.find("[0, 110]"), 8, "[0, 2]");
    policy.replace(policy.find("{type: decimal, scale: 2, bounds: [0, 5000]}"), 44,
                   "{type: int, bounds: [0, 2]}");
    policy += "    allow: {statistics: [ratio]}\n";
    const Plan plan =
        make_plan(checked_policy(policy, "policy").dataset("clinic"), request("ratio:cost,age", epsilon));
    REQUIRE(plan.mechanisms.size() == 2);
    for (const Rational& alpha : {Rational(1, 2), Rational(1, 20)}) {
      CAPTURE(epsilon, accounting::text(alpha));
      const double miss = worst_miss(plan, alpha, truths);
      CHECK(miss <= alpha.get_d() + 1e-12);
      if (alpha == Rational(1, 2) && std::string(epsilon) == "60") CHECK(miss > 0);  // says something
    }
  }
}

TEST_CASE("plan intervals: a ratio's end where its parts do, and say nothing where 0 may divide it",
          "[engine][intervals][ratio]") {
  const Plan plan =
      planned("    allow: {statistics: [ratio]}\n    release: {ratio: {mechanism: discrete_laplace}}\n",
              request("ratio:cost,age", "30"));
  const Rational alpha(1, 20);
  const PlanIntervals intervals(plan, std::vector{alpha});
  const auto told = [&](const Rational& above, const Rational& below) {
    const std::vector<std::vector<Rational>> drawn{{above}, {below}};
    const std::vector<Rational> values = accounting::post_process(plan.derivation.post_processing, drawn);
    const CellIntervals one = intervals.of(drawn, values).at(0);
    CHECK(within(one.each.at(0), 0, 500'000'000));
    CHECK((one.each[0].low <= values[0] && values[0] <= one.each[0].high));
    return std::pair(one.each[0], one.is_whole_range(0, one.each[0]));
  };
  const auto [many, nothing] = told(8'000'000, 2'000'000);
  CHECK_FALSE(nothing);
  CHECK((many.low > Rational(399, 100) && many.high < Rational(401, 100)));
  CHECK(told(8'000'000, 20).second);                // 0 is as likely
  CHECK(told(8'000'000, -500).second);              // it is all that is likely
  CHECK_FALSE(told(-8'000'000, 2'000'000).second);  // noise took it below 0, where no sum is
  CHECK(told(-8'000'000, 2'000'000).first.high < Rational(1, 100));
  CHECK(intervals.of({{900}}, std::vector<Rational>{1}).empty());  // of a damaged record
}

TEST_CASE("plan intervals: a variance of a private number of rows covers that of every table of some rows",
          "[engine][intervals][exhaustive]") {
  const std::vector<Truth> truths = tables_of_ages(3, true);
  for (const char* epsilon : {"20", "90"}) {
    const Plan plan = small_plan("3", request("variance:age", epsilon));
    REQUIRE(plan.mechanisms.size() == 3);
    for (const Rational& alpha : {Rational(1, 2), Rational(1, 20)}) {
      CAPTURE(epsilon, accounting::text(alpha));
      CHECK(worst_miss(plan, alpha, truths) <= alpha.get_d() + 1e-12);
    }
  }
}

TEST_CASE("plan intervals: a variance by groups covers that of every group of some rows",
          "[engine][intervals][exhaustive]") {
  const std::vector<Truth> truths = tables_of_ages(3, true);
  for (const char* epsilon : {"20", "90"}) {
    const Plan plan = small_plan("3", request("variance:age", epsilon, "", "ward"));
    REQUIRE(plan.mechanisms.size() == 3);
    for (const Rational& alpha : {Rational(1, 2), Rational(1, 20)}) {
      CAPTURE(epsilon, accounting::text(alpha));
      CHECK(worst_miss(plan, alpha, truths) <= alpha.get_d() + 1e-12);
    }
  }
}

TEST_CASE("plan intervals: a quotient of many rows is told closely, one of no rows not at all",
          "[engine][intervals]") {
  const Plan plan = planned("", request("mean:age", "2"));
  const auto told = [&](const Rational& sum, const Rational& count) {
    const std::vector<std::vector<Rational>> parts{{sum}, {count}};
    const std::vector<Rational> values = accounting::post_process(plan.derivation.post_processing, parts);
    const CellIntervals one = PlanIntervals(plan, alphas()).of(parts, values).front();
    CHECK(within(one.each.front(), 0, 110));
    CHECK((one.each.front().low <= values.front() && values.front() <= one.each.front().high));
    return Rational(one.each.front().high - one.each.front().low);
  };
  const ledger::ComponentRecord &sum = plan.record.components[0], &count = plan.record.components[1];
  const Rational many = *count.centre, about = *sum.centre;
  CHECK(told(about, many) < Rational(1, 10));
  CHECK(told(about, 0) == 110);
  CHECK(told(about + 100 * sum.grid, 0) == 110);  // no such sum comes of so few rows
  // A value is in its interval, also where the sum is larger than any of so many rows could have.
  CHECK(told(about + 4000 * sum.grid, 20 * count.grid) > 0);
  CHECK(PlanIntervals(plan, alphas()).of({{about}}, std::vector<Rational>{55}).empty());  // a damaged record
}
