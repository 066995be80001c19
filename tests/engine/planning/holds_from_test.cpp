// Whether intervals hold given that they are shown narrower than the whole range: releases are drawn, and
// those that miss are counted, among all and among those that are shown so.
//
// Alpha    1/20.
// Size     2,000 releases at seven true sizes from 0 to 4 x holds_from of each question; [.long] 100,000 at
//          every one.
// Seed     20261126, std::mt19937_64.
// Chance   A count is wrong if a binomial law at the probability claimed has it, or more, with a probability
//          below e^-37 (Chernoff's bound). With fewer than 10,000 counts in all, one of them is so though all
//          claims hold with a probability below 10^-12.
#include "holds_from.hpp"

#include "clinic.hpp"
#include "epsilog/engine/checked_policy.hpp"
#include "plan_intervals.hpp"
#include "support/catch.hpp"
#include "table_box.hpp"
#include "toy_releases.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;
using namespace accounting;
using mechanisms::AnswerInterval;

namespace {

constexpr std::uint64_t kSeed = 20'261'126;
const Rational kAlpha(1, 20);

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

/// Of up to 2,000 rows, each a unit, with ages up to 4 and costs up to 2.
Plan sized_plan(const Request& asked, const std::string& mechanism) {
  std::string policy = clinic_policy("measure: approximate, epsilon: 1000, delta: 0.1",
                                     "    allow: {statistics: [count, units, sum, mean, variance, "
                                     "proportion, private_variance, ratio, quantile]}\n"
                                     "    release: {default: {mechanism: " +
                                         mechanism + "}}\n");
  policy = replaced(policy, "{id: patient_id, max_rows: 3}", "row");
  policy = replaced(policy, "max: 100000", "max: 2000");
  policy = replaced(policy, "[0, 110]", "[0, 4]");
  policy = replaced(policy, "{type: decimal, scale: 2, bounds: [0, 5000]}", "{type: int, bounds: [0, 2]}");
  policy = replaced(policy, "    queries:", "      band: {type: int, values: [0, 1]}\n    queries:");
  return make_plan(checked_policy(policy, "policy").dataset("clinic"), asked);
}

struct Case {
  const char* statistic;
  const char* mechanism;
  const char* epsilon;
  std::optional<std::string> by = std::nullopt;
  int suppress_below = 0;
};

Plan plan_of_case(const Case& one) {
  Request asked = request(one.statistic, one.epsilon, "", one.by);
  if (std::string(one.mechanism) == "discrete_gaussian") asked.delta = Rational(1, 1000);
  if (one.suppress_below > 0) suppress_below(asked.question, Rational(one.suppress_below));
  return sized_plan(asked, one.mechanism);
}

/// Draws one component, in steps of its grid from its centre.
class Noise {
 public:
  explicit Noise(const ledger::ComponentRecord& record) : record_(record) {
    if (record.centre) return;
    const Law law = discrete_law_of(record, 0);
    double sum = 0;
    for (const double probability : law.probabilities) up_to_.push_back(sum += probability);
    first_ = Rational(law.outputs.front() / record.grid).get_num().get_si();
  }

  [[nodiscard]] long steps(const Rational& answer, std::mt19937_64& random) const {
    const double u = std::uniform_real_distribution<double>(0, 1)(random);
    if (!record_.centre) {
      const auto found = std::upper_bound(up_to_.begin(), up_to_.end() - 1, u);
      return Rational(answer / record_.grid).get_num().get_si() + first_ + (found - up_to_.begin());
    }
    const double noise = u < 0.5 ? std::log(2 * u) : -std::log(2 - 2 * u);
    const double shifted = Rational(answer - *record_.centre).get_d() + record_.scale.get_d() * noise;
    const long last = accounting::ceil(*record_.bound / record_.grid).get_si();
    return std::clamp(std::lround(shifted / record_.grid.get_d()), -last, last);
  }

  [[nodiscard]] Rational value(long steps) const {
    if (!record_.centre) return steps * record_.grid;
    return *record_.centre + std::clamp<Rational>(steps * record_.grid, -*record_.bound, *record_.bound);
  }

 private:
  ledger::ComponentRecord record_;
  std::vector<double> up_to_;
  long first_ = 0;
};

/// How many of so many releases are shown narrower than the whole range, and how many miss.
struct Counted {
  std::uint64_t all = 0;
  std::uint64_t shown = 0;
  std::uint64_t missed = 0;
};

/// Whether so many of `of` are more than a probability explains.
bool too_many(std::uint64_t found, std::uint64_t of, double probability) {
  if (of == 0) return false;
  const double share = static_cast<double>(found) / static_cast<double>(of);
  if (share <= probability) return false;
  const double relative = share * std::log(share / probability) +
                          (share < 1 ? (1 - share) * std::log((1 - share) / (1 - probability)) : 0);
  return static_cast<double>(of) * relative > 37;
}

Counted counted(const Plan& plan, const PlanIntervals& intervals, const Truth& truth, std::uint64_t releases,
                std::mt19937_64& random) {
  std::vector<Noise> noise;
  const std::size_t of_a_cell = accounting::values_of_a_cell(plan.derivation.post_processing.kind);
  for (std::size_t part = 0; part < truth.parts.size(); ++part)
    noise.emplace_back(plan.record.components[part / of_a_cell]);
  std::map<std::vector<long>, std::uint64_t> drawn;
  for (std::uint64_t i = 0; i < releases; ++i) {
    std::vector<long> one;
    for (std::size_t part = 0; part < noise.size(); ++part)
      one.push_back(noise[part].steps(truth.parts[part], random));
    ++drawn[one];
  }
  std::vector<std::vector<Rational>> components(plan.record.components.size());
  for (const auto& [one, times] : drawn) {
    for (std::size_t part = 0; part < one.size(); ++part)
      components[part / of_a_cell].push_back(noise[part].value(one[part]));
  }
  const std::vector<Rational> values = accounting::post_process(plan.derivation.post_processing, components);
  const CellIntervals told = intervals.of(components, values).at(0);
  Counted result;
  std::size_t cell = 0;
  for (const auto& [one, times] : drawn) {
    const AnswerInterval& interval = told.each[cell];
    result.all += times;
    if (!told.is_whole_range(cell++, interval)) result.shown += times;
    if (truth.answer < interval.low || truth.answer > interval.high) result.missed += times;
  }
  return result;
}

/// Tables of that size whose answers lie at an end of the range and in the middle.
std::vector<Truth> tables_of_size(const Plan& plan, long size) {
  const Rational rows(size), half(size / 2), rest = rows - half;
  switch (plan.derivation.post_processing.kind) {
    case PostProcessing::Kind::ratio:
      return {
          {{0, rows}, 0}, {{2 * rows, rows}, 2}, {{40, rows}, size > 0 ? Rational(40 / rows) : Rational(0)}};
    case PostProcessing::Kind::mean_about:
      return {{{2 * rows, rows}, size > 0 ? 4 : 2}, {{half, rows}, size > 0 ? Rational(2 + half / rows) : 2}};
    case PostProcessing::Kind::proportion:
      return {{{rows, 0}, size > 0 ? 1 : 0}, {{half, rest}, size > 0 ? Rational(half / rows) : 0}};
    case PostProcessing::Kind::variance_about: {
      const Rational mean = size > 0 ? Rational(2 * (half - rest) / rows) : 0;
      return {{{0, 0, rows}, 0},
              {{4 * rows, 2 * (half - rest), rows}, size > 0 ? Rational(4 - mean * mean) : 0}};
    }
    default:
      return {{{rows}, rows}};
  }
}

Rational holds_from_of(const PlanIntervals& intervals) {
  const std::optional<Rational> from = intervals.sizes().at(0).each_holds_from;
  REQUIRE(from.has_value());
  return *from;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"ratio:cost,age", "discrete_laplace", "6"}, {"ratio:cost,age", "snapping", "9"},
      {"mean:age", "discrete_laplace", "1"},       {"mean:age", "snapping", "2"},
      {"mean:age", "discrete_gaussian", "3"},      {"proportion:ward:A", "discrete_laplace", "1"},
      {"variance:age", "discrete_laplace", "30"},  {"count", "discrete_laplace", "1", "ward", 8},
      {"count", "snapping", "1", "ward", 8},       {"mean:age", "discrete_laplace", "1", "ward", 8}};
  return all;
}

void check_coverage(const std::vector<long>& factors, std::uint64_t releases) {
  for (const Case& one : cases()) {
    const Plan plan = plan_of_case(one);
    const PlanIntervals intervals(plan, std::vector{kAlpha});
    const long from = accounting::ceil(holds_from_of(intervals)).get_si();
    REQUIRE((from > 0 && 4 * from <= 2000));
    std::vector<long> sizes;
    for (const long quarters : factors) sizes.push_back(from * quarters / 4);
    if (factors.empty()) {
      for (long size = 0; size <= 4 * from; ++size) sizes.push_back(size);
    }
    std::mt19937_64 random(kSeed);
    for (const long size : sizes) {
      std::vector<Truth> truths = tables_of_size(plan, size);
      // At every size one table is drawn, each time of another kind.
      if (factors.empty()) truths = {truths[static_cast<std::size_t>(size) % truths.size()]};
      for (const Truth& truth : truths) {
        const Counted found = counted(plan, intervals, truth, releases, random);
        CAPTURE(one.statistic, one.mechanism, from, size, accounting::text(truth.answer), found.all,
                found.shown, found.missed);
        CHECK_FALSE(too_many(found.missed, found.all, kAlpha.get_d()));
        if (size < from) continue;
        CHECK_FALSE(too_many(found.missed, found.shown, kAlpha.get_d()));
        CHECK_FALSE(too_many(found.all - found.shown, found.all, 0.05));
      }
    }
  }
}

}  // namespace

TEST_CASE("holds from: from that size on an interval that is shown covers as often as it says",
          "[engine][intervals][statistical]") {
  check_coverage({0, 1, 2, 4, 5, 8, 16}, 2'000);
}

TEST_CASE("holds from: at every size up to four times it intervals cover as often as they say",
          "[engine][intervals][statistical][.long]") {
  check_coverage({}, 100'000);
}

TEST_CASE("holds from: intervals of nearly empty cells that are shown narrow miss far more often",
          "[engine][intervals][statistical]") {
  // What the size is for: without it, so many of those that are shown would be wrong.
  struct Few {
    Case asked;
    Truth truth;
  };
  for (const Few& few : {Few{{"ratio:cost,age", "discrete_laplace", "2"}, {{2, 1}, 2}},
                         Few{{"count", "discrete_laplace", "1", "ward", 8}, {{3}, 3}}}) {
    const Plan plan = plan_of_case(few.asked);
    const PlanIntervals intervals(plan, std::vector{kAlpha});
    std::mt19937_64 random(kSeed);
    const Counted found = counted(plan, intervals, few.truth, 50'000, random);
    CAPTURE(few.asked.statistic, found.shown, found.missed);
    CHECK(found.shown > 20);
    CHECK(too_many(found.missed, found.shown, kAlpha.get_d()));
    CHECK_FALSE(too_many(found.missed, found.all, kAlpha.get_d()));
  }
}

TEST_CASE("holds from: given that all cells are shown narrow, all together miss no more often than they say",
          "[engine][intervals][statistical]") {
  const Plan plan = plan_of_case({"mean:age", "discrete_laplace", "1", "ward"});
  const PlanIntervals intervals(plan, std::vector{kAlpha});
  const PlannedSizes sizes = intervals.sizes().at(0);
  REQUIRE((sizes.each_holds_from && sizes.together_holds_from));
  CHECK(*sizes.each_holds_from < *sizes.together_holds_from);
  const Truth truth = tables_of_size(plan, accounting::ceil(*sizes.together_holds_from).get_si()).front();
  const Noise of_sum(plan.record.components[0]), of_count(plan.record.components[1]);
  std::mt19937_64 random(kSeed);
  std::uint64_t shown = 0, missed = 0;
  constexpr std::uint64_t kReleases = 1'000;
  for (std::uint64_t i = 0; i < kReleases; ++i) {
    std::vector<std::vector<Rational>> drawn(2);
    for (int cell = 0; cell < 3; ++cell) {
      drawn[0].push_back(of_sum.value(of_sum.steps(truth.parts[0], random)));
      drawn[1].push_back(of_count.value(of_count.steps(truth.parts[1], random)));
    }
    const auto values = accounting::post_process(plan.derivation.post_processing, drawn);
    const CellIntervals told = intervals.of(drawn, values).at(0);
    bool all = true, any = false;
    for (std::size_t cell = 0; cell < 3; ++cell) {
      all = all && !told.is_whole_range(cell, told.together[cell]);
      any = any || truth.answer < told.together[cell].low || truth.answer > told.together[cell].high;
    }
    shown += all ? 1 : 0;
    missed += all && any ? 1 : 0;
  }
  CHECK_FALSE(too_many(missed, shown, kAlpha.get_d()));
  CHECK_FALSE(too_many(kReleases - shown, kReleases, 0.05));
}

TEST_CASE("holds from: the rows of a batch share what is not shown, so that each holds from a larger size on",
          "[engine][intervals][batch]") {
  const Plan plan = plan_of_case({"mean:age", "discrete_laplace", "1"});
  const Rational alone = holds_from_of(PlanIntervals(plan, std::vector{kAlpha}));
  CHECK(holds_from_of(PlanIntervals(plan, std::vector{kAlpha}, 50)) > alone);
  CHECK(holds_from_of(PlanIntervals(plan, std::vector{Rational(1, 1000)})) > alone);
}

TEST_CASE(
    "holds from: an interval that is never the whole range holds at every size, one that may be at none",
    "[engine][intervals]") {
  for (const char* mechanism : {"snapping", "discrete_laplace"}) {
    const PlannedSizes told =
        PlanIntervals(plan_of_case({"count", mechanism, "1"}), std::vector{kAlpha}).sizes()[0];
    CHECK(told.each_holds_from == Rational(0));
    CHECK(told.together_holds_from == Rational(0));
    const Plan blurred = plan_of_case({"count", mechanism, "0.001"});
    CHECK_FALSE(PlanIntervals(blurred, std::vector{kAlpha}).sizes()[0].each_holds_from);
    const Plan suppressed = plan_of_case({"count", mechanism, "1", "ward", 1'999});
    CHECK_FALSE(PlanIntervals(suppressed, std::vector{kAlpha}).sizes()[0].each_holds_from);
    const Plan few = plan_of_case({"mean:age", mechanism, "0.001"});
    CHECK_FALSE(PlanIntervals(few, std::vector{kAlpha}).sizes()[0].each_holds_from);
  }
  // Below what a mechanism says anything at, every interval is the whole range.
  const Plan plan = plan_of_case({"ratio:cost,age", "snapping", "3"});
  const std::vector<Rational> least{accounting::power_of_two(-17'000)};
  CHECK_FALSE(PlanIntervals(plan, least).sizes()[0].each_holds_from);
}

TEST_CASE("holds from: a cell that is not shown has the whole range, whatever was drawn",
          "[engine][intervals]") {
  const Plan plan = plan_of_case({"mean:age", "discrete_laplace", "20", "ward", 8});
  const PlanIntervals intervals(plan, std::vector{kAlpha});
  const std::vector<std::vector<Rational>> drawn{{10, 100, 10}, {7, 400, 8}};
  const auto values = accounting::post_process(plan.derivation.post_processing, drawn);
  const CellIntervals told = intervals.of(drawn, values).at(0);
  CHECK(told.is_whole_range(0, told.each[0]));
  CHECK(told.is_whole_range(0, told.together[0]));
  CHECK_FALSE(told.is_whole_range(1, told.each[1]));
  CHECK((told.each[0].low == 0 && told.each[0].high == 4));
}

TEST_CASE("holds from: a quantile has all candidates, and nothing holds of a narrower interval",
          "[engine][intervals][quantile]") {
  for (const char* statistic : {"median:age", "quantiles:age:0.25,0.5"}) {
    const Plan plan = plan_of_case({statistic, "snapping", "1", "ward"});
    const std::size_t cells = plan.derivation.cells.size();
    const std::vector<Rational> values(cells, Rational(3));
    const CellIntervals told = PlanIntervals(plan, std::vector{kAlpha}).of({values}, values).at(0);
    REQUIRE(told.each.size() == cells);
    for (std::size_t cell = 0; cell < cells; ++cell) {
      CHECK((told.each[cell].low == 0 && told.each[cell].high == 4));
      CHECK(told.is_whole_range(cell, told.each[cell]));
      CHECK(told.is_whole_range(cell, told.together[cell]));
    }
    CHECK_FALSE(told.groups[0].each_holds_from);
  }
}

namespace {

Plan consistent_plan(const char* by, const char* mechanism, const char* epsilon,
                     const char* statistic = "count") {
  Request asked = request(statistic, epsilon, "", by);
  with_totals(asked.question, Rational(3, 10), true);
  return sized_plan(asked, mechanism);
}

/// Of a table that adds up, with these cells.
std::vector<Rational> with_sums(const accounting::TableMargins& margins, const std::vector<Rational>& cells) {
  std::vector<Rational> all(margins.cells());
  for (const auto& margin : margins.all()) {
    for (std::uint64_t cell = 0; cell < cells.size(); ++cell)
      all[margin.first + margins.within(margins.table(), margin, cell)] += cells[cell];
  }
  return all;
}

}  // namespace

TEST_CASE("consistent: every cell and total has an interval that covers it, and all of them together do",
          "[engine][intervals][totals][statistical]") {
  for (const char* mechanism : {"discrete_laplace", "snapping"}) {
    for (const long size : {0L, 1L, 40L}) {
      const Plan plan = consistent_plan("ward,band", mechanism, "3");
      const PlanIntervals intervals(plan, std::vector{kAlpha});
      const accounting::TableMargins margins = plan.derivation.cells.margins();
      const std::vector<Rational> truth =
          with_sums(margins, std::vector<Rational>(margins.table().cells, size));
      std::mt19937_64 random(kSeed);
      std::vector<std::uint64_t> missed(truth.size());
      std::uint64_t any = 0;
      constexpr std::uint64_t kReleases = 150;
      for (std::uint64_t i = 0; i < kReleases; ++i) {
        std::vector<std::vector<Rational>> drawn;
        for (std::size_t part = 0; part < margins.all().size(); ++part) {
          const Noise noise(plan.record.components[part]);
          const auto& margin = margins.all()[part];
          drawn.emplace_back();
          for (std::uint64_t cell = 0; cell < margin.cells; ++cell)
            drawn.back().push_back(noise.value(noise.steps(truth[margin.first + cell], random)));
        }
        const auto values = ledger::released_values(plan.record, plan.derivation.post_processing, drawn);
        const CellIntervals told = intervals.of(drawn, values).at(0);
        REQUIRE((told.each.size() == truth.size() && told.together.size() == truth.size()));
        bool one_missed = false;
        for (std::size_t cell = 0; cell < truth.size(); ++cell) {
          const AnswerInterval &each = told.each[cell], &together = told.together[cell];
          const Rational value = std::clamp<Rational>(values[cell], 0, 2000);
          CHECK((each.low <= value && value <= each.high && together.low <= value && value <= together.high));
          missed[cell] += truth[cell] < each.low || truth[cell] > each.high ? 1 : 0;
          one_missed = one_missed || truth[cell] < together.low || truth[cell] > together.high;
          CHECK(told.group_of(cell).each_holds_from == Rational(0));
          CHECK_FALSE(told.is_whole_range(cell, each));
        }
        any += one_missed ? 1 : 0;
      }
      CAPTURE(mechanism, size);
      for (const std::uint64_t of_cell : missed) CHECK_FALSE(too_many(of_cell, kReleases, kAlpha.get_d()));
      CHECK_FALSE(too_many(any, kReleases, kAlpha.get_d()));
    }
  }
}

TEST_CASE("consistent: adding up leaves every table that lies in the box, and narrows what can be narrowed",
          "[engine][intervals][totals]") {
  std::mt19937_64 random(kSeed);
  const auto below = [&random](long most) {
    return static_cast<long>(random() % static_cast<unsigned long>(most));
  };
  std::size_t narrowed = 0;
  for (int round = 0; round < 300; ++round) {
    const std::size_t columns = 1 + round % 3;
    std::vector<std::uint64_t> sizes;
    for (std::size_t column = 0; column < columns; ++column)
      sizes.push_back(static_cast<std::uint64_t>(1 + below(3)));
    const accounting::TableMargins margins(sizes);
    std::vector<Rational> cells;
    for (std::uint64_t cell = 0; cell < margins.table().cells; ++cell) cells.push_back(below(20) - 5);
    const std::vector<Rational> truth = with_sums(margins, cells);
    std::vector<AnswerInterval> box;
    for (const Rational& one : truth) box.push_back({one - below(9), one + below(9)});
    const std::vector<AnswerInterval> before = box;
    narrow_by_sums(margins, box);
    for (std::size_t i = 0; i < truth.size(); ++i) {
      CHECK((box[i].low <= truth[i] && truth[i] <= box[i].high));
      CHECK((before[i].low <= box[i].low && box[i].high <= before[i].high));
      narrowed += box[i].low > before[i].low || box[i].high < before[i].high ? 1 : 0;
    }
  }
  CHECK(narrowed > 300);
  // 3 + 4 is 7, and 5 of 7 leave 2.
  const accounting::TableMargins margins({2});
  std::vector<AnswerInterval> box{{3, 3}, {4, 4}, {0, 100}};
  narrow_by_sums(margins, box);
  CHECK((box[2].low == 7 && box[2].high == 7));
  box = {{0, 100}, {5, 5}, {7, 7}};
  narrow_by_sums(margins, box);
  CHECK((box[0].low == 2 && box[0].high == 2));
  // No table is in these; what contradicts stays.
  box = {{0, 1}, {0, 1}, {7, 7}};
  narrow_by_sums(margins, box);
  CHECK((box[2].low == 7 && box[0].low == 0));
}

TEST_CASE("suppressed: a consistent table has no hidden cells, whichever is asked first",
          "[engine][totals]") {
  const char* why = "give every hidden one back";
  Question question = request("count", "1", "", "ward").question;
  with_totals(question, Rational(1, 5), true);
  CHECK_THROWS_WITH(suppress_below(question, 5), says(why));
  CHECK_FALSE(question.suppress_below);
  question = request("count", "1", "", "ward").question;
  suppress_below(question, 5);
  CHECK_THROWS_WITH(with_totals(question, Rational(1, 5), true), says(why));
  CHECK_FALSE(question.totals);
  with_totals(question, Rational(1, 5), false);
  CHECK(question.totals);
}
