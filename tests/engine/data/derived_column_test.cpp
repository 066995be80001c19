// Which label a cell has, for every rule and at every edge; what is read for it, and what can be asked.
#include <optional>
#include "blocks.hpp"
#include "calendar.hpp"
#include "checked_rows.hpp"
#include "column_reader.hpp"
#include "condition.hpp"
#include "epsilog/engine/date.hpp"
#include "open_source.hpp"
#include "policy_text.hpp"
#include "refused_for.hpp"
#include "rows_memory.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;

namespace {

using Texts = std::vector<std::string>;

Dataset with_columns(const std::string& columns, const std::string& more = "") {
  PolicyText text;
  text.columns = columns;
  text.more = more;
  return text.dataset();
}

std::string quoted(const std::string& label) {
  std::string result = "'";
  for (const char c : label) result += c == '\'' ? "''" : std::string(1, c);
  return result + "'";
}

/// Of one row with this cell the label of the derived column, "-" for none; conditions must say the same.
std::string label_of(const Dataset& dataset, const std::string& derived, const std::string& cell) {
  const MemoryTable table{{"patient_id", dataset.read_from(derived)}, {{"p", cell}}};
  const auto satisfies = [&](const std::string& where) {
    return answer(table, dataset, question("count", "", derived + " " + where))[0][0] == 1;
  };
  const Texts& labels = dataset.column(derived)->values;
  const auto cells = answer(table, dataset, question("count", derived))[0];
  std::string found = "-";
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (cells[i] == 0) continue;
    CHECK(found == "-");
    found = labels[i];
  }
  CAPTURE(derived, cell, found);
  for (const std::string& label : labels) {
    CHECK(satisfies("= " + quoted(label)) == (label == found));
    CHECK(satisfies("in (" + quoted(label) + ")") == (label == found));
    CHECK(satisfies("!= " + quoted(label)) == (label != found && found != "-"));
    CHECK(satisfies("not in (" + quoted(label) + ")") == (label != found && found != "-"));
  }
  CHECK(satisfies("is missing") == (found == "-"));
  CHECK(satisfies("is not missing") == (found != "-"));
  return found;
}

/// Why a new question is refused; "" if it is not.
std::string fault_of(const Dataset& dataset, const std::string& where) {
  const Question asked = question("count", "", where);
  (void)derive(dataset, asked);
  return refused_for<InvalidParameter>([&] { require_satisfiable(dataset, asked); });
}

}  // namespace

TEST_CASE(
    "derived column: a whole number is in the bin whose lower edge it reaches, for every number there is",
    "[engine][derived][exhaustive]") {
  const Dataset dataset =
      with_columns("{age: {type: int, bounds: [0, 110]}, band: {from: age, bins: [-3, 0, 18, 19, 111]}}");
  for (int age = -20; age <= 130; ++age) {
    const std::string expected = age < -3    ? "-"
                                 : age < 0   ? "[-3,0)"
                                 : age < 18  ? "[0,18)"
                                 : age == 18 ? "[18,19)"
                                 : age < 111 ? "[19,111)"
                                             : "-";
    CHECK(label_of(dataset, "band", std::to_string(age)) == expected);
  }
}

TEST_CASE("derived column: a day is in its period, for every day at both ends of every kind of period",
          "[engine][derived][exhaustive]") {
  struct Kind {
    std::string per;
    CalendarPeriod period;
    std::string first;
    std::string last;
    std::size_t labels;
  };
  const Kind kinds[] = {{"day", CalendarPeriod::day, "2024-02-27", "2024-03-02", 5},
                        {"week", CalendarPeriod::week, "2024-W01", "2024-W52", 52},
                        {"month", CalendarPeriod::month, "2024-01", "2024-12", 12},
                        {"quarter", CalendarPeriod::quarter, "2023-Q4", "2024-Q4", 5},
                        {"year", CalendarPeriod::year, "2023", "2024", 2}};
  for (const Kind& kind : kinds) {
    const Dataset dataset = with_columns("{seen: {type: date}, when: {from: seen, per: " + kind.per +
                                         ", first: " + kind.first + ", last: " + kind.last + "}}");
    const Texts& labels = dataset.column("when")->values;
    CHECK(labels.size() == kind.labels);
    CHECK(labels.front() == kind.first);
    CHECK(labels.back() == kind.last);
    const Column& when = *dataset.column("when");
    const CellLabels found(when, *dataset.column("seen"));
    const CellReader reader = CellReader::of(dataset, *dataset.column("seen"));
    std::int64_t begin = 0, end = 0;
    REQUIRE((parse_date("2022-12-25", begin) && parse_date("2025-01-08", end)));
    for (std::int64_t day = begin; day <= end; ++day) {
      const std::string name = period_name(kind.period, day);
      const auto declared = std::find(labels.begin(), labels.end(), name);
      const std::string text = date_text(day);
      const auto place = found.find(reader.read({text, false}));
      CAPTURE(kind.per, text);
      CHECK(place.has_value() == (declared != labels.end()));
      if (place) CHECK(labels[*place] == name);
    }
  }
}

TEST_CASE("derived column: each cell has the label that its rule gives it, at every edge, or none",
          "[engine][derived]") {
  std::optional<Dataset> dataset;
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/engine/data/derived_labels.tsv")) {
    CAPTURE(row);
    if (row[0] == "columns") {
      dataset = with_columns(row.at(1));
    } else if (row[0] == "values") {
      CHECK(joined(dataset->column(row.at(1))->values) == row.at(2));
    } else {
      CHECK(label_of(*dataset, row.at(1), row.at(2)) == row.at(3));
    }
  }
}

TEST_CASE("derived column: the source's own columns are read, each once, and no other", "[engine][derived]") {
  const Dataset dataset = with_columns(
      "{age: {type: int, bounds: [0, 110]}, seen: {type: date}, ward: {type: string, values: [A]},"
      " band: {from: age, bins: [0, 18]}, old: {from: age, map: {99: old}},"
      " year: {from: seen, per: year, first: 2024, last: 2024}}");
  CHECK(
      wanted_columns(dataset, question("mean:age", "band", "old = 'old' and age > 3 and band = '[0,18)'")) ==
      Texts{"patient_id", "age"});
  CHECK(wanted_columns(dataset, question("count", "year")) == Texts{"patient_id", "seen"});
  CHECK(required_columns(dataset) == Texts{"patient_id", "age", "seen", "ward"});
  // A mean by band: the value is the clamped cell, the group that of the cell as it stands.
  const MemoryTable table{{"patient_id", "age"}, {{"p", "17"}, {"q", "-5"}, {"r", "4"}, {"s", ""}}};
  CHECK(answer(table, dataset, question("sum:age", "band"))[0] == std::vector<Rational>{21});
}

TEST_CASE("derived column: in files it is read from the column that its source is, in the file's dialect",
          "[engine][derived]") {
  TemporaryFolder folder;
  folder.write("visits.csv",
               "patient_id;Alter;Gesehen am\n"
               "p;1.017,5;31.01.2024\n"
               "q;-2,0;2024-02-01\n"
               "r;NA;29.02.2024\n");
  PolicyText text;
  text.source =
      "{csv: visits.csv, delimiter: ';', decimal: ',', thousands: '.', date_format: DD.MM.YYYY, null: [NA]}";
  text.columns =
      "{age: {type: decimal, scale: 1, column: Alter}, seen: {type: date, column: Gesehen am},"
      " band: {from: age, bins: [-2, 0, 1017.5, 2000]}, month: {from: seen, per: month, first: 2024-01, "
      "last: "
      "2024-02}}";
  const Dataset dataset = text.dataset();
  const auto counted = [&](const std::string& by) {
    const Question asked = question("count", by);
    return compute_exact_answer(dataset, asked, derive(dataset, asked), folder.path("")).values[0];
  };
  CHECK(counted("band") == std::vector<Rational>{1, 0, 1});
  CHECK(counted("month") == std::vector<Rational>{1, 1});
  const DataReport report = check_data(dataset, folder.path(""));
  REQUIRE(report.columns.size() == 4);
  CHECK(report.columns[2].column == "band");
  CHECK(report.columns[2].missing == 1);
  CHECK(report.columns[2].nulls == 1);
  CHECK(report.columns[2].undeclared == 0);
  CHECK(report.columns[3].unreadable == 1);
  CHECK(report.columns[3].undeclared == 0);
}

TEST_CASE("derived column: data check counts the cells that are there and have no label",
          "[engine][derived]") {
  const Dataset dataset = with_columns(
      "{age: {type: int, bounds: [0, 110], missing: 3}, band: {from: age, bins: [0, 18, 65]},"
      " two: {from: age, map: {2: two}, other: more}}");
  const MemoryTable table{{"patient_id", "age"},
                          {{"p", "64"}, {"q", "65"}, {"r", "999"}, {"s", "-1"}, {"t", ""}, {"u", "x"}, {}}};
  MemorySource source(table, required_columns(dataset));
  const DataReport report = report_rows(source, dataset, {});
  CHECK(report.columns[0].out_of_bounds == 2);
  CHECK(report.columns[1].undeclared == 3);
  CHECK(report.columns[1].missing == 3);
  CHECK(report.columns[1].nulls == 1);
  CHECK(report.columns[1].out_of_bounds == 0);
  CHECK(report.columns[2].undeclared == 0);
}

TEST_CASE("derived column: it has groups and equality, and neither sums nor order",
          "[engine][derived][negative]") {
  const Dataset dataset =
      with_columns("{age: {type: int, bounds: [0, 110]}, band: {from: age, bins: [0, 18, 65]}}");
  CHECK(derive(dataset, question("histogram:band")).cells == Texts{"[0,18)", "[18,65)"});
  CHECK(derive(dataset, question("mean:age", "band")).cells.size() == 2);
  for (const char* statistic : {"sum:band", "mean:band", "variance:band"}) {
    CAPTURE(statistic);
    CHECK_THROWS_AS(derive(dataset, question(statistic)), Underivable);
  }
  for (const char* where :
       {"band < '[18,65)'", "band <= '[18,65)'", "band > '[0,18)'", "band >= '[0,18)'",
        "band between '[0,18)' and '[18,65)'", "band = 18", "band in (true)", "band = 2024-01-31"}) {
    CAPTURE(where);
    CHECK_THROWS_AS(derive(dataset, question("count", "", where)), InvalidParameter);
  }
}

TEST_CASE("derived column: a new condition that no cell can satisfy is refused, and no other",
          "[engine][derived]") {
  const Dataset dataset = with_columns(
      "{age: {type: int, bounds: [0, 110]}, filled: {type: int, bounds: [0, 110], missing: 0},"
      " s: {type: double}, yes: {type: bool}, band: {from: age, bins: [0, 18, 65]},"
      " whole: {from: filled, map: {0: zero}, other: more}, part: {from: filled, bins: [0, 18]},"
      " most: {from: filled, bins: [-1e36, 0, 1e37]}, thin: {from: s, bins: [0, 1.00000000000000001, "
      "1.00000000000000002, 2]},"
      " habit: {from: yes, map: {true: smokes, false: none}, other: unknown}}",
      "");
  check_parts(EPSILOG_SOURCE_DIR "/tests/engine/data/derived_conditions.tsv", "where",
              [&](const CaseRow& row) { return fault_of(dataset, row[1]); });
  // Between 1 and the next double there is none.
  CHECK_THAT(fault_of(dataset, "thin = '" + dataset.column("thin")->values[1] + "'"),
             says("no cell of column 's' has such a label"));
}

TEST_CASE("derived column: a condition on it covers every block, whatever it is derived from",
          "[engine][derived][blocks]") {
  const Dataset dataset = with_columns(
      "{seen: {type: date}, ward: {type: string, values: [A, B]},"
      " month: {from: seen, per: month, first: 2024-01, last: 2024-02}}",
      "lifetime: {epsilon: 9}\n    blocks: {by: seen, per: month, from: 2024-01, to: 2024-03}");
  const auto covered = [&](const std::string& where) {
    return covered_blocks(dataset, question("count", "", where).where);
  };
  CHECK(covered("month = '2024-01'") == block_names(dataset));
  CHECK(covered("month = '2024-01' and seen < 2024-02-15") == Texts{"2024-01", "2024-02"});
}
