#include "epsilog/engine/exact_answer.hpp"
#include "epsilog/engine/date.hpp"

#include <SQLiteCpp/SQLiteCpp.h>

#include <new>

#include "checked_rows.hpp"
#include "epsilog/engine/source_io.hpp"
#include "rows_memory.hpp"
#include "support/case_table.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;

namespace {

const NamedQuery kQuery = {"score", {0, 10}, 1, Rational(7, 2)};

Rational supplied(const std::string& text) {
  return parse_supplied_value(text, kQuery);
}

const char* const kFile =
    "id,age,cost,score,ward,smoker,seen\n"
    "p,30,10.00,0.5,A,true,2024-01-31\n"
    "p,200,10.001,0.5,Z,maybe,2024-01-30\n"
    "p,40,10,0.5,A,true,2024-01-31\n"
    "q,NA,6000,-2,,,\n"
    "broken\n"
    ",50,1,nan,B,false,2024-02-29\n";

}  // namespace

TEST_CASE("supplied value: numbers of any size are taken exactly", "[engine][supplied][exact]") {
  check_rows(EPSILOG_SOURCE_DIR "/tests/engine/data/supplied_values.tsv", "is",
             [](const CaseRow& row) { return accounting::text(supplied(row[1])); });
  CHECK(supplied("1e100000") == accounting::power_of_ten(100000));
  CHECK(supplied("1e-100000") == accounting::power_of_ten(-100000));
  CHECK(supplied(std::string(5000, '9')) == accounting::power_of_ten(5000) - 1);
}

TEST_CASE("supplied value: a number beyond what is taken exactly keeps its side",
          "[engine][supplied][exact]") {
  const Rational huge = accounting::power_of_ten(100000);
  CHECK(supplied("1e100001") == huge);
  CHECK(supplied("-1e99999999999999999999") == -huge);
  // What counts is the number, not how it is written.
  const std::string zeros(200'000, '0');
  CHECK(supplied("0." + zeros + "25e200000") == Rational(1, 4));
  CHECK(supplied("25" + zeros + "e-200002") == Rational(1, 4));
  CHECK(supplied(zeros + "7") == 7);
  CHECK(supplied("1e" + zeros + "2") == 100);
  CHECK(supplied("1" + zeros) == huge);
}

TEST_CASE("supplied value: whatever is no number becomes the query's value for it",
          "[engine][supplied][exact]") {
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/engine/data/no_values.tsv")) {
    const std::string& text = row.at(0);
    CAPTURE(text);
    CHECK(supplied(text) == Rational(7, 2));
  }
  CHECK(supplied(std::string("1\0", 2)) == Rational(7, 2));
  CHECK(supplied(std::string("\0", 1)) == Rational(7, 2));
}

TEST_CASE("supplied value: beyond 16 MiB no text is a number", "[engine][supplied][exact]") {
  std::string text(kSuppliedSizeMax - 1, ' ');
  text += '7';
  CHECK(supplied(text) == 7);
  CHECK(supplied(" " + text) == Rational(7, 2));
}

TEST_CASE("supplied value: no text is an error", "[engine][supplied][property]") {
  std::mt19937_64 random(18);
  const std::string alphabet("0123456789..//eE+-- \nnaif\0\xff", 28);
  std::size_t numbers = 0;
  for (int round = 0; round < 50'000; ++round) {
    std::string text;
    for (std::uint64_t size = random() % 9; size > 0; --size) text += alphabet[random() % alphabet.size()];
    if (supplied(text) != Rational(7, 2)) ++numbers;
  }
  CHECK(numbers > 5'000);
  CHECK(numbers < 45'000);
}

TEST_CASE("exact answer: a file gives every component of a question", "[engine][exact_answer][exact]") {
  const TemporaryFolder folder;
  folder.write("visits.csv", kFile);
  const Dataset dataset = visits();
  const auto ask = [&](const Question& asked) {
    return compute_exact_answer(dataset, asked, derive(dataset, asked), folder.path("")).values;
  };
  using Values = std::vector<std::vector<Rational>>;
  CHECK(ask(question("count")) == Values{{3}});
  CHECK(ask(question("units")) == Values{{2}});
  CHECK(ask(question("sum:age")) == Values{{140}});
  CHECK(ask(question("mean:cost")) == Values{{10 - 2500 + 5000 - 2500}, {2}});
  CHECK(ask(question("histogram:ward")) == Values{{2, 0, 0}});
  CHECK(ask(question("mean:cost", "smoker", "age < 100")) == Values{{0, 2 * (10 - 2500)}, {0, 2}});
  CHECK(ask(question("units", "seen")) == Values{{1, 0}});
}

TEST_CASE("exact answer: progress grows to one and is told rarely", "[engine][exact_answer][exact]") {
  const TemporaryFolder folder;
  std::string content = "id,age,cost,score,ward,smoker,seen\n";
  for (int i = 0; i < 50'000; ++i) content += "p" + std::to_string(i) + ",30,,,A,,\n";
  folder.write("visits.csv", content);
  std::vector<double> told;
  const Dataset dataset = visits();
  const Question asked = question("count");
  const auto answer = compute_exact_answer(dataset, asked, derive(dataset, asked), folder.path(""),
                                           [&](double fraction) { told.push_back(fraction); });
  CHECK(answer.values[0][0] == 50'000);
  REQUIRE_FALSE(told.empty());
  CHECK(std::is_sorted(told.begin(), told.end()));
  CHECK(told.back() == 1.0);
  CHECK(told.size() < 100);
}

TEST_CASE("exact answer: lack of memory is told like any other failure to read",
          "[engine][exact_answer][negative]") {
  const TemporaryFolder folder;
  folder.write("visits.csv", kFile);
  const Dataset dataset = visits();
  const Question asked = question("count");
  const auto fails = [](double) { throw std::bad_alloc(); };
  CHECK_THROWS_WITH(compute_exact_answer(dataset, asked, derive(dataset, asked), folder.path(""), fails),
                    SourceIo(SourceIo::Cause::unreadable).what());
  CHECK_THROWS_AS(check_data(dataset, folder.path(""), fails), SourceIo);
}

TEST_CASE("exact answer: only a source can be read", "[engine][exact_answer][negative]") {
  Dataset dataset = visits();
  dataset.queries = {kQuery};
  const Question value = question("value:score");
  CHECK_THROWS_AS(compute_exact_answer(dataset, value, derive(dataset, value), "."), InvalidParameter);
  dataset.csv.reset();
  CHECK_THROWS_AS(compute_exact_answer(dataset, question("count"), {}, "."), InvalidParameter);
  CHECK_THROWS_AS(check_data(dataset, "."), InvalidParameter);
}

TEST_CASE("data check: it counts what was missing, dropped or out of bounds", "[engine][data_check][exact]") {
  const TemporaryFolder folder;
  folder.write("visits.csv", kFile);
  Dataset dataset = visits();
  dataset.rows.count = 2;
  const DataReport report = check_data(dataset, folder.path(""));
  CHECK(report.rows == 6);
  CHECK(report.malformed == 1);
  CHECK(report.without_unit == 2);
  CHECK(report.over_max_rows == 1);
  CHECK(report.units == 2);
  CHECK(report.beyond_rows_max == 1);
  REQUIRE(report.columns.size() == 6);
  const auto check = [&](std::size_t i, const char* column, std::uint64_t missing, std::uint64_t out,
                         std::uint64_t undeclared) {
    CAPTURE(column);
    CHECK(report.columns[i].column == column);
    CHECK(report.columns[i].missing == missing);
    CHECK(report.columns[i].out_of_bounds == out);
    CHECK(report.columns[i].undeclared == undeclared);
  };
  check(0, "age", 2, 1, 0);
  check(1, "cost", 2, 1, 0);
  check(2, "score", 2, 1, 0);
  check(3, "ward", 2, 0, 1);
  check(4, "smoker", 3, 0, 0);
  check(5, "seen", 2, 0, 1);

  dataset.unit = {"", 1};
  const DataReport by_row = check_data(dataset, folder.path(""));
  CHECK(by_row.units == 6);
  CHECK(by_row.without_unit == 0);
  CHECK(by_row.over_max_rows == 0);
  CHECK(by_row.beyond_rows_max == 4);
}

TEST_CASE("data check: rows in no block are dropped before anything else",
          "[engine][data_check][blocks][exact]") {
  const TemporaryFolder folder;
  folder.write("visits.csv", kFile);
  Dataset dataset = visits();
  CHECK_FALSE(check_data(dataset, folder.path("")).outside_blocks);
  // The row with an undeclared ward, the one without, the malformed one: the third of p is then its second.
  dataset.blocks = Blocks{"ward", std::nullopt};
  const DataReport by_ward = check_data(dataset, folder.path(""));
  CHECK(by_ward.rows == 6);
  CHECK(by_ward.outside_blocks == 3);
  CHECK(by_ward.without_unit == 1);
  CHECK(by_ward.over_max_rows == 0);
  CHECK(by_ward.units == 1);
  std::int64_t february = 0;
  REQUIRE(parse_date("2024-02-01", february));
  dataset.blocks = Blocks{"seen", CalendarPeriod::month, february, february + 28};
  dataset.unit = {"", 1};
  const DataReport by_month = check_data(dataset, folder.path(""));
  CHECK(by_month.outside_blocks == 5);
  CHECK(by_month.units == 1);
}

TEST_CASE("exact answer: the column of the blocks is read though the question does not name it",
          "[engine][exact_answer][blocks][exact]") {
  const TemporaryFolder folder;
  folder.write("visits.csv", kFile);
  Dataset dataset = visits();
  dataset.blocks = Blocks{"ward", std::nullopt};
  const auto asked = [&](const Dataset& of, const std::string& statistic, const std::string& where = "") {
    const Question asking = question(statistic, "", where);
    return compute_exact_answer(of, asking, derive(of, asking), folder.path("")).values[0][0];
  };
  CHECK(wanted_columns(dataset, question("count")) == std::vector<std::string>{"id", "ward"});
  CHECK(asked(visits(), "count") == 3);
  // Of p's three rows the second is in no ward, so the third is kept.
  CHECK(asked(dataset, "count") == 2);
  CHECK(asked(visits(), "sum:age") == 30 + 110);
  CHECK(asked(dataset, "sum:age") == 30 + 40);
  CHECK(asked(dataset, "count", "ward = 'B'") == 0);
  dataset.unit = {"", 1};
  CHECK(asked(dataset, "count") == 3);

  SQLite::Database database(folder.path("clinic.db"), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  database.exec("CREATE TABLE visits (id, age, cost, score, ward, smoker, seen)");
  database.exec("INSERT INTO visits (id, age, ward) VALUES ('p', 30, 'A'), ('p', 31, NULL), ('q', 32, 'Z')");
  dataset.csv.reset();
  dataset.sqlite = SqliteSource{"clinic.db", "visits"};
  CHECK(asked(dataset, "count") == 1);
  CHECK(asked(dataset, "sum:age") == 30);
}
