// Answers by several columns: what is in their cells, and what is refused. Their journey to the audit is in
// statistic_journey_test.cpp.
#include <SQLiteCpp/SQLiteCpp.h>

#include "banded_clinic.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/checked_policy.hpp"
#include "epsilog/engine/policy_diff.hpp"
#include "plan.hpp"
#include "row_answer.hpp"
#include "rows_memory.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::test;
using accounting::Rational;
using namespace engine;

namespace {

using CellKeys = std::vector<std::optional<std::string>>;

const std::string kDiscrete = "    release: {default: {mechanism: discrete_laplace}}\n";

/// Noise of this epsilon is 0: e^-1000 of the draws are not.
const std::string kNoiseless = "1000";

}  // namespace

TEST_CASE("tables: a cell is what its keys ask for as a condition, of two and of three columns",
          "[engine][table][exhaustive]") {
  engine::Dataset dataset;
  dataset.name = "toy";
  dataset.csv.emplace();
  dataset.unit = {"id", 100};
  dataset.rows = {100, false};
  dataset.columns = {number_column("x", engine::ColumnType::integer, -2, 3),
                     value_column("a", engine::ColumnType::string, {"p", "q", "r"}),
                     value_column("b", engine::ColumnType::boolean, {"false", "true"}),
                     value_column("c", engine::ColumnType::integer, {"7", "-1"})};
  std::mt19937_64 random(20240805);
  const auto pick = [&random](const std::vector<std::string>& list) { return list[random() % list.size()]; };
  MemoryTable table{{"id", "x", "a", "b", "c"}, {}};
  for (int i = 0; i < 60; ++i) {
    table.rows.push_back({pick({"u", "v", "w", ""}), pick({"-9", "0", "1", "9", ""}),
                          pick({"p", "q", "r", "s", ""}), pick({"true", "false", "0", "maybe"}),
                          pick({"7", "-1", "007", "2", ""})});
  }
  for (const char* statistic : {"count", "units", "sum:x"}) {
    for (const char* by : {"a,b", "b,a", "c,a", "a,b,c", "c,b,a"}) {
      CAPTURE(statistic, by);
      const engine::Question asked = question(statistic, by);
      const ledger::CellKeys keys = derive(dataset, asked).cells;
      const auto cells = answer(table, dataset, asked).front();
      REQUIRE(keys.size() == cells.size());
      for (std::size_t cell = 0; cell < cells.size(); ++cell) {
        std::string where;
        for (std::size_t i = 0; i < asked.by.size(); ++i) {
          const bool quoted = asked.by[i] == "a";
          const std::string mark = quoted ? "'" : "";
          where += (i == 0 ? "" : " and ") + asked.by[i] + " = " + mark + *keys.keys_of(cell)[i] + mark;
        }
        CAPTURE(where);
        CHECK(cells[cell] == answer(table, dataset, question(statistic, "", where)).front().front());
      }
    }
  }
}

TEST_CASE("tables: what was reserved is answered with the cells that it was asked for",
          "[engine][table][reservations]") {
  auto [clinic, engine] = Open<BandedClinic>("epsilon: 3", kDiscrete);
  engine::Request kept = held(request("count", "0.5", "a", "ward,band"));
  const Answer waits = engine.reserve(kept, {});
  REQUIRE(waits.recorded.state == engine::RequestState::reserved);
  kept.key = "b";
  const Answer other = engine.reserve(kept, {});
  const Answer committed = commit(engine, waits.recorded.decision_id);
  CHECK(committed.recorded.granted);
  CHECK(committed.released.values.size() == 6);

  std::string later = banded("epsilon: 3", kDiscrete);
  later.replace(later.find("[A, B, C]"), 9, "[A, B, D]");
  clinic.folder.write("later.yaml", later);
  engine.apply_policy(clinic.folder.path("later.yaml"), "curator", "another ward");
  const Answer ended = commit(engine, other.recorded.decision_id);
  CHECK(ended.recorded.granted);  // what was reserved is answered as it was asked
  CHECK(ended.planned.record.cells == committed.planned.record.cells);
  CHECK(release(engine, request("count", "0.5", "", "ward,band")).planned.record.cells.keys_of(4) ==
        CellKeys{"D", "[0,40)"});
  CHECK(engine::audit_verify(clinic.ledger()).faults.empty());
}

TEST_CASE("tables: too many cells are refused before anything is read, and so are columns without values",
          "[engine][table][refused]") {
  std::string values;
  for (int i = 0; i < 101; ++i) values += (i == 0 ? "" : ", ") + std::to_string(i);
  std::string text = clinic_policy("epsilon: 3");
  text.insert(text.find("    queries:"), "      a: {type: int, values: [" + values +
                                             "]}\n      b: {type: int, values: [" +
                                             values.substr(0, values.rfind(',')) + "]}\n");
  const engine::Policy policy = engine::checked_policy(text, "policy.yaml");
  const engine::Dataset& dataset = policy.dataset("clinic");
  CHECK_THROWS_WITH(derive(dataset, question("count", "a,b")),
                    "by: 'a,b' has 10100 cells, as many as its columns' values combine to: at most 10000");
  CHECK(derive(dataset, question("count", "a")).cells.size() == 101);
  CHECK_THROWS_AS(derive(dataset, question("count", "a,cost")), Underivable);
  CHECK_THROWS_AS(derive(dataset, question("count", "b,nothing")), NotFound);
}

TEST_CASE("tables: snapping cuts no cell off, and a declared bound is refused of them with the remedy",
          "[engine][table][snapping]") {
  const auto planned = [](const std::string& more, const std::string& statistic, const std::string& by,
                          const std::string& epsilon = "0.5") {
    return engine::make_plan(engine::checked_policy(banded("epsilon: 3", more), "policy").dataset("clinic"),
                             request(statistic, epsilon, "", by));
  };
  const auto bound_of = [](const engine::Plan& plan) { return *plan.record.components.front().bound; };
  const std::string snapping = "    release: {default: {mechanism: snapping}}\n";
  const engine::Plan table = planned(snapping, "count", "ward,band");
  // 10^-9 for all six cells, and of a mean for both of its parts.
  const auto with_probability = [](const char* beta) {
    return std::string("    release: {default: {mechanism: snapping, binding_probability: ") + beta + "}}\n";
  };
  for (const char* epsilon : {"0.3", "0.37", "0.44", "0.5"}) {
    CHECK(bound_of(planned(snapping, "count", "ward,band", epsilon)) ==
          bound_of(planned(with_probability("1/6000000000"), "count", "ward", epsilon)));
    CHECK(bound_of(planned(snapping, "mean:age", "ward,band", epsilon)) ==
          bound_of(planned(with_probability("1/12000000000"), "mean:age", "ward", epsilon)));
  }
  // An end is met with probability e^(-distance / lambda) / 2 at most, ln(6 * 10^9) being 22.5.
  const Rational distance = bound_of(table) - bound_of(planned(snapping, "count", "ward"));
  CHECK(distance / table.record.components.front().scale > Rational(22));
  CHECK(table.mechanisms.front().can_release(-40));
  CHECK_FALSE(planned(snapping, "count", "ward").mechanisms.front().can_release(-40));
  const std::string finer = with_probability("1e-30");
  CHECK(bound_of(planned(finer, "count", "ward,band")) == bound_of(planned(finer, "count", "ward")));

  const std::string bounded = "    release: {count: {mechanism: snapping, bound: 60000}}\n";
  CHECK_THROWS_AS(planned(bounded, "count", "ward,band"), Underivable);
  CHECK_THROWS_WITH(planned(bounded, "count", "ward,band"),
                    says("declare `binding_probability` in place of"));
  CHECK(bound_of(planned(bounded, "count", "ward")) == 60000);
  // A bound is in units of the answer and says nothing about the parts of a quotient.
  const std::string of_means = "    release: {mean: {mechanism: snapping, bound: 50}}\n";
  CHECK(planned(of_means, "mean:age", "ward,band").mechanisms.size() == 2);
}

TEST_CASE("tables: suppression is refused where no count of cells is released",
          "[engine][table][suppression]") {
  const auto refuses = [](const char* statistic, const char* by, const Rational& least, const char* why) {
    engine::Question asked = question(statistic, by);
    CHECK_THROWS_WITH(engine::suppress_below(asked, least), says(why));
    CHECK_FALSE(asked.suppress_below);
  };
  refuses("count", "", 5, "suppress_below: is of the cells of an answer");
  refuses("sum:age", "ward", 5, "no count of its cells is released with 'sum:age'");
  refuses("median:age", "ward", 5, "no count of its cells is released");
  refuses("quantiles:age:0.1,0.9", "", 5, "is of the cells of an answer");
  refuses("count", "ward", 0, "suppress_below: must be above 0");
  refuses("count", "ward", -1, "must be above 0");
  refuses("count", "ward", accounting::power_of_ten(40), "is longer than 40 characters");
  engine::Question histogram = question("histogram:ward");
  engine::suppress_below(histogram, 5);
  CHECK(histogram.suppress_below == Rational(5));
}

TEST_CASE("tables: a cell takes at most 20 bytes of the ledger, whatever is asked of it but a variance",
          "[engine][table][size]") {
  // Of 625 cells, so that chance moves their mean length little: it is 0.8 below each limit or more.
  std::string places = "[0";
  for (int i = 1; i < 25; ++i) places += ", " + std::to_string(i);
  places += "]";
  std::mt19937_64 random(20261126);
  std::string csv = "id,age,cost,ward,a,b\n";
  for (int i = 0; i < 2'000; ++i) {
    const auto below = [&random](std::uint64_t end) { return std::to_string(random() % end); };
    csv += "p" + below(1'500) + "," + below(111) + "," + below(5'000) + "." +
           std::to_string(10 + random() % 90) + ",A," + below(20) + "," + below(25) + "\n";
  }
  for (const char* mechanism : {"snapping", "discrete_laplace", "discrete_gaussian"}) {
    const TemporaryFolder folder;
    folder.write("visits.csv", csv);
    folder.write("policy.yaml",
                 "version: 1\ndatasets:\n  clinic:\n    source: {csv: visits.csv}\n"
                 "    unit: {id: id, max_rows: 3}\n    rows: {max: 100000}\n    neighbours: add-remove\n"
                 "    budget: {epsilon: 100, delta: 0.001}\n    columns:\n"
                 "      age: {type: int, bounds: [0, 110]}\n"
                 "      cost: {type: decimal, scale: 2, bounds: [0, 5000]}\n"
                 "      ward: {type: string, values: [A, B, C]}\n      a: {type: int, values: " +
                     places + "}\n      b: {type: int, values: " + places +
                     "}\n    allow: {statistics: [count, units, sum, mean, variance, count_of, proportion, "
                     "distinct, private_variance, ratio]}\n    release: {default: {mechanism: " +
                     mechanism + "}}\n");
    const std::string ledger = folder.path("clinic.ledger");
    (void)Engine::init(folder.path("policy.yaml"), ledger, "curator");
    Engine engine = Engine::open(ledger);
    for (const char* statistic :
         {"count", "units", "count:age", "sum:age", "sum:cost", "mean:age", "mean:cost", "variance:age",
          "variance:cost", "distinct:ward", "proportion:ward:A", "ratio:cost,age"}) {
      engine::Request asked = request(statistic, "0.1", statistic, "a,b");
      if (std::string(mechanism) == "discrete_gaussian") asked.delta = Rational(1, 1'000'000);
      const Answer table = release(engine, asked);
      REQUIRE(table.recorded.granted);
      SQLite::Database database(ledger, SQLite::OPEN_READONLY);
      const int bytes =
          database
              .execAndGet("SELECT length(component_values) + length(\"values\") FROM decision WHERE key = '" +
                          std::string(statistic) + "'")
              .getInt();
      CAPTURE(mechanism, statistic, bytes / 625.0);
      // Of a variance a cell has three draws, two of them in steps of 2^-20 of the noise.
      const bool three_draws = std::string_view(statistic).starts_with("variance:");
      CHECK(bytes <= (three_draws ? 26 : 20) * 625);
    }
    CHECK(engine::audit_verify(ledger).faults.empty());
  }
}
