// What a policy says becomes exactly what the model holds.
#include <map>
#include "epsilog/engine/checked_policy.hpp"
#include "epsilog/engine/nearest.hpp"
#include "epsilog/engine/policy.hpp"
#include "file_text.hpp"
#include "implied_object.hpp"
#include "policy_text.hpp"
#include "support/case_table.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;

using Texts = std::vector<std::string>;

TEST_CASE("policy: the smallest policy is decoded to its last digit", "[engine][policy][exact]") {
  const std::string yaml = file_text(EPSILOG_SOURCE_DIR "/tests/engine/policy/smallest.yaml");
  const Policy policy = checked_policy(yaml, "p.yaml");
  CHECK(policy.yaml() == yaml);
  REQUIRE(policy.datasets().size() == 1);
  const Dataset& clinic = policy.dataset("clinic");
  CHECK(clinic.name == "clinic");
  CHECK(clinic.mark.line == 3);
  CHECK(clinic.mark.column == 3);
  REQUIRE(clinic.has_source());
  REQUIRE(clinic.csv.has_value());
  CHECK_FALSE(clinic.sqlite.has_value());
  CHECK(clinic.csv->path == "visits.csv");
  CHECK(clinic.csv->delimiter == ',');
  CHECK(clinic.csv->decimal_point == '.');
  CHECK(clinic.csv->null.empty());
  CHECK_FALSE(clinic.csv->multiline);
  CHECK(clinic.unit.id == "patient_id");
  CHECK(clinic.unit.max_rows == 3);
  CHECK_FALSE(clinic.unit.is_row());
  CHECK(clinic.rows.count == 100'000);
  CHECK_FALSE(clinic.rows.exact);
  CHECK(clinic.neighbours == Neighbours::add_remove);
  CHECK(clinic.budget.epsilon == Epsilon::parse_down("3"));
  CHECK(clinic.budget.delta == Delta{});
  CHECK(clinic.budget.measure == Measure::pure);
  CHECK_FALSE(clinic.per_release.has_value());
  CHECK(clinic.mean_split == Rational(1, 2));
  CHECK(clinic.allow.statistics == default_statistics());
  REQUIRE(clinic.columns.size() == 3);
  CHECK(clinic.columns[0].name == "age");
  CHECK(clinic.columns[0].type == ColumnType::integer);
  CHECK(clinic.columns[0].bounds->upper == 110);
  CHECK(clinic.columns[1].mark.line == 11);
  CHECK(clinic.columns[1].mark.column == 7);
  CHECK(clinic.columns[1].scale == 2);
  CHECK(clinic.columns[1].bounds->upper == Rational(20001, 4));
  CHECK_FALSE(clinic.columns[1].missing.has_value());
  CHECK(clinic.columns[2].values == Texts{"A", "B", "C"});
  CHECK(clinic.column("cost") == &clinic.columns[1]);
  CHECK(clinic.column("weight") == nullptr);
  CHECK(clinic.query("score") == nullptr);
  CHECK(clinic.settings("sum").arithmetic == ArithmeticChoice::mpfr);
  CHECK(clinic.settings("sum").precision.bits == 0);
}

TEST_CASE("policy: what its parts say is in the object that it implies, to the last digit",
          "[engine][policy][askers][budget][exact]") {
  const std::map<std::string, std::string PolicyText::*> parts = {
      {"source", &PolicyText::source}, {"unit", &PolicyText::unit},
      {"rows", &PolicyText::rows},     {"neighbours", &PolicyText::neighbours},
      {"budget", &PolicyText::budget}, {"columns", &PolicyText::columns},
      {"more", &PolicyText::more},     {"principals", &PolicyText::principals}};
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/engine/policy/implied_parts.tsv")) {
    PolicyText text;
    std::vector<std::string> expected;
    for (const std::string& cell : row) {
      const std::size_t sign = cell.find('=');
      if (cell[0] == '"' || cell[0] == '!') {
        expected.push_back(cell);
      } else {
        text.*parts.at(cell.substr(0, sign)) = cell.substr(sign + 1);
      }
    }
    REQUIRE_FALSE(expected.empty());
    const std::string object = implied_object(checked_policy(text.yaml(), "p.yaml"));
    for (const std::string& part : expected) {
      CAPTURE(text.yaml(), object, part);
      const bool absent = part[0] == '!';
      CHECK((object.find(part.substr(absent ? 1 : 0)) == std::string::npos) == absent);
    }
  }
}

TEST_CASE("policy: an SQLite source has a file and a table", "[engine][policy][exact]") {
  PolicyText text;
  text.source = "{sqlite: clinic.db, table: visits 2024}";
  const Dataset clinic = text.dataset();
  CHECK_FALSE(clinic.csv.has_value());
  CHECK(clinic.sqlite->path == "clinic.db");
  CHECK(clinic.sqlite->table == "visits 2024");
  text.source = "{csv: \"data/in put.csv\"}";
  CHECK(text.dataset().csv->path == "data/in put.csv");
}

TEST_CASE("policy: every key of another mechanism is refused at its place", "[engine][policy][negative]") {
  PolicyText text;
  text.more =
      "release:\n"
      "      default: {mechanism: gaussian, bound: 3, arithmetic: exact, precision: 128}\n"
      "      count: {mechanism: snapping, grid: 1}";
  CHECK(epsilog::test::faults_of(text) ==
        Texts{"11:38: release.default.bound: only snapping has it, and this entry is released by gaussian; "
              "remove it",
              "11:48: release.default.arithmetic: only snapping has it, and this entry is released by "
              "gaussian; remove it",
              "11:67: release.default.precision: only snapping has it, and this entry is released by "
              "gaussian; remove it",
              "12:36: release.count.grid: only a discrete mechanism or gaussian has it, and this entry is "
              "released by snapping; remove it"});
}

TEST_CASE("policy: several datasets keep their order and an unknown one is suggested", "[engine][policy]") {
  const std::string one = PolicyText{}.yaml();
  const std::string second = one.substr(one.find("  clinic:"));
  const Policy policy = checked_policy(one + "  archive" + second.substr(second.find(':')), "p.yaml");
  REQUIRE(policy.datasets().size() == 2);
  CHECK(policy.datasets()[1].name == "archive");
  CHECK_THROWS_WITH(policy.dataset("clinc"),
                    "dataset 'clinc' is not declared; declared: clinic, archive. Did you mean 'clinic'?");
  CHECK_THROWS_AS(policy.dataset("zzz"), NotFound);
}

TEST_CASE("policy: names of enumerators are the words of a policy", "[engine][policy][exact]") {
  CHECK(name(ColumnType::integer) == "int");
  CHECK(name(ColumnType::decimal) == "decimal");
  CHECK(name(ColumnType::real) == "double");
  CHECK(name(ColumnType::string) == "string");
  CHECK(name(ColumnType::boolean) == "bool");
  CHECK(name(ColumnType::date) == "date");
  CHECK(name(Neighbours::add_remove) == "add-remove");
  CHECK(name(Neighbours::replace_one) == "replace-one");
  CHECK(name(Measure::pure) == "pure");
  CHECK(name(Measure::approximate) == "approximate");
  CHECK(name(StatisticKind::count) == "count");
  CHECK(name(StatisticKind::units) == "units");
  CHECK(name(StatisticKind::sum) == "sum");
  CHECK(name(StatisticKind::mean) == "mean");
  CHECK(name(StatisticKind::variance) == "variance");
  CHECK(name(StatisticKind::value) == "value");
}

TEST_CASE("nearest: one slip is named, another word is not", "[engine][policy][exact]") {
  const Texts keys{"source", "unit", "rows", "neighbours", "budget", "columns", "int", "string"};
  CHECK(nearest("neighbors", keys) == "neighbours");
  CHECK(nearest("nieghbours", keys) == "neighbours");
  CHECK(nearest("Budget", keys) == "budget");
  CHECK(nearest("row", keys) == "rows");
  CHECK(nearest("integer", keys) == "int");
  CHECK(nearest("str", keys) == "string");
  CHECK(nearest("colmuns", keys) == "columns");
  CHECK(nearest("table", keys).empty());
  CHECK(nearest("x", keys).empty());
  CHECK(nearest("", keys).empty());
  CHECK(nearest(std::string(100'000, 'u'), keys).empty());
}

TEST_CASE("policy: a file that cannot be read is one fault at 1:1", "[engine][policy][negative]") {
  const auto fault_of = [](const std::string& path) {
    try {
      static_cast<void>(checked_policy_file(path));
    } catch (const PolicyError& error) {
      return error.faults().size() == 1 ? error.faults()[0].text() : "several faults";
    }
    return std::string("accepted");
  };
  CHECK(fault_of("/nonexistent/policy.yaml") ==
        "/nonexistent/policy.yaml:1:1: cannot be read: No such file or directory");
  CHECK(fault_of("/") == "/:1:1: cannot be read: Is a directory");

  const std::filesystem::path path = std::filesystem::temp_directory_path() /
                                     ("epsilog_policy_" + std::to_string(std::random_device{}()) + ".yaml");
  const std::size_t limit = std::size_t{256} * 1024;
  std::string text = PolicyText{}.yaml() + "#";
  text.resize(limit, 'x');
  std::ofstream(path, std::ios::binary) << text;
  CHECK(checked_policy_file(path.string()).yaml().size() == limit);
  std::ofstream(path, std::ios::binary) << text << "x";
  CHECK(fault_of(path.string()) == path.string() + ":1:1: larger than 256 KiB: a policy is a small text");
  std::filesystem::remove(path);
}
