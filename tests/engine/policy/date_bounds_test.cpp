// Bounds of date columns: what they are read as, what a policy with them implies, and how two differ.
#include "epsilog/engine/date.hpp"
#include "epsilog/engine/policy_diff.hpp"
#include "implied_object.hpp"
#include "invented_rows.hpp"
#include "policy_text.hpp"
#include "policy_values.hpp"
#include "rows_memory.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;

namespace {

std::string policy(const std::string& seen,
                   const std::string& more = "allow: {statistics: [count, quantile]}") {
  PolicyText text;
  text.columns = "{age: {type: int, bounds: [0, 110]}, seen: " + seen + "}";
  text.more = more;
  return text.yaml();
}

Dataset dataset_of(const std::string& seen) {
  return checked_policy(policy(seen), "p.yaml").dataset("clinic");
}

std::int64_t day(const std::string& text) {
  std::int64_t days = 0;
  REQUIRE(parse_date(text, days));
  return days;
}

const std::string kYear = "{type: date, bounds: [2024-01-01, 2024-12-31]}";

}  // namespace

TEST_CASE("date bounds: are days, counted as cells are, and written as dates", "[engine][policy][quantile]") {
  const Dataset dataset = dataset_of("{type: date, bounds: [1969-12-31, 2024-12-31]}");
  const Column& seen = *dataset.column("seen");
  REQUIRE(seen.bounds.has_value());
  CHECK(seen.bounds->lower == -1);
  CHECK(seen.bounds->upper == Rational(day("2024-12-31")));
  CHECK(value_text(seen) == "{type: date, bounds: [1969-12-31, 2024-12-31]}");
  const std::string implied = implied_object(checked_policy(policy(kYear), "p.yaml"));
  CHECK(
      implied.find(R"({"bounds":["2024-01-01","2024-12-31"],"column":"seen","name":"seen","type":"date"})") !=
      std::string::npos);
}

TEST_CASE("date bounds: make quantiles of the column, and nothing else of it, something to ask for",
          "[engine][policy][quantile]") {
  const Dataset dataset = dataset_of(kYear);
  const Derivation derived = derive(dataset, question("median:seen"));
  REQUIRE(derived.components.size() == 1);
  CHECK(derived.components[0].quantiles->candidates == 366);
  CHECK(derived.components[0].lower == Rational(day("2024-01-01")));
  CHECK(derived.components[0].upper == Rational(day("2024-12-31")));
  for (const char* statistic :
       {"sum:seen", "mean:seen", "variance:seen", "ratio:age,seen", "ratio:seen,age"}) {
    CHECK_THROWS_AS(derive(dataset, question(statistic)), Underivable);
  }
  CHECK_THROWS_AS(derive(dataset_of("{type: date}"), question("median:seen")), Underivable);
  CHECK(derive(dataset_of("{type: date, values: [2024-06-01, 2023-01-01]}"), question("median:seen"))
            .components[0]
            .quantiles->candidates == 2);
  // Nobody can sum them, so that nothing of that is tried when a policy is checked.
  CHECK(faults_of(policy(kYear, "allow: {statistics: [count, sum, ratio, quantile]}")).empty());
}

TEST_CASE("date bounds: under exact N a date without a constant keeps them", "[engine][policy][quantile]") {
  PolicyText text;
  text.rows = "{exact: 1000}";
  text.neighbours = "replace-one";
  text.columns = "{age: {type: int, bounds: [0, 110], missing: 0}, seen: " + kYear + "}";
  text.more = "allow: {statistics: [count, quantile]}";
  CHECK(faults_of(text).empty());
  CHECK(derive(text.dataset(), question("median:seen")).components[0].sensitivity == 3);
}

TEST_CASE("date bounds: policy diff says what their coming, going and moving means",
          "[engine][policy][quantile][diff]") {
  const auto said = [](const std::string& before, const std::string& after) -> std::string {
    const auto changes =
        diff(checked_policy(policy(before), "p.yaml"), checked_policy(policy(after), "p.yaml"));
    std::string text;
    for (const PolicyChange& change : changes) {
      text += change.path_text() + " " + std::string(name(change.direction)) + " " + change.before + " -> " +
              change.after + ": " + change.why + (change.refused_once_charged ? ", refused" : "") + "\n";
    }
    return text;
  };
  const std::string at = "datasets.clinic.columns.seen.bounds ";
  CHECK(said("{type: date}", kYear) ==
        at + "looser  -> [2024-01-01, 2024-12-31]: its quantiles can be asked for\n");
  CHECK(said(kYear, "{type: date}") ==
        at + "tighter [2024-01-01, 2024-12-31] -> : its quantiles cannot be asked for\n");
  CHECK(said(kYear, "{type: date, bounds: [2024-01-01, 2025-12-31]}") ==
        at + "neutral [2024-01-01, 2024-12-31] -> [2024-01-01, 2025-12-31]: its quantiles are other days\n");
  CHECK(said("{type: date, values: [2024-06-01]}",
             "{type: date, bounds: [2024-01-01, 2024-12-31], values: [2024-06-01]}") ==
        at + "neutral  -> [2024-01-01, 2024-12-31]: its quantiles are declared values\n");
}

TEST_CASE("date bounds: invented days are spread over them", "[engine][dummy][quantile]") {
  const Dataset dataset = dataset_of(kYear);
  InventedRows rows(dataset, {"patient_id", "seen"});
  std::vector<std::string> seen;
  std::vector<RawCell> cells(2);
  while (rows.next(cells) != RowSource::Record::none) {
    if (!cells[1].missing) seen.emplace_back(cells[1].text);
  }
  REQUIRE(seen.size() > 400);
  const auto [least, most] = std::minmax_element(seen.begin(), seen.end());
  CHECK(*least >= "2024-01-01");
  CHECK(*least < "2024-01-15");
  CHECK(*most > "2024-12-15");
  CHECK(*most <= "2024-12-31");
}
