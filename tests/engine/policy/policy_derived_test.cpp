// Derived columns as they are declared, and in the object that a policy implies. Ways to be refused stand in
// invalid/.
#include "implied_object.hpp"
#include "policy_text.hpp"
#include "policy_values.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;

namespace {

using Texts = std::vector<std::string>;

PolicyText with_columns(const std::string& columns, const std::string& more = "") {
  PolicyText text;
  text.columns = columns;
  text.more = more;
  return text;
}

}  // namespace

TEST_CASE("policy derived: a column is a function of another, wherever that is declared",
          "[engine][policy][derived]") {
  const Dataset dataset = with_columns("{band: {from: age, bins: [0, 18, 1e2]}, age: {type: int}}").dataset();
  const Column& band = dataset.columns[0];
  REQUIRE(band.derived);
  CHECK(band.derived->from == "age");
  CHECK(band.derived->bins == std::vector<Rational>{0, 18, 100});
  CHECK(band.type == ColumnType::string);
  CHECK(band.values == Texts{"[0,18)", "[18,100)"});
  CHECK_FALSE(band.bounds.has_value());
  CHECK(dataset.read_from("band") == "age");
  CHECK(dataset.read_from("age") == "age");
  CHECK(dataset.read_from("patient_id") == "patient_id");
  CHECK(value_text(band) == "{from: age, bins: [0, 18, 100]}");
}

TEST_CASE("policy derived: columns called as the keys are, and one column behind several",
          "[engine][policy][derived]") {
  const Dataset dataset =
      with_columns(
          "{from: {type: int}, bins: {from: from, bins: [0, 1]}, map: {from: from, map: {1: "
          "a}, other: a}, other: {from: seen, per: year, first: 2024, last: 2024}, seen: "
          "{type: date}}")
          .dataset();
  CHECK(dataset.column("bins")->values == Texts{"[0,1)"});
  CHECK(dataset.column("map")->values == Texts{"a"});
  CHECK(dataset.column("other")->values == Texts{"2024"});
}

TEST_CASE("policy derived: as many periods as there may be blocks", "[engine][policy][derived]") {
  const auto days = [](const std::string& last) {
    return faults_of(with_columns(
        "{seen: {type: date}, day: {from: seen, per: day, first: 2000-01-01, last: " + last + "}}"));
  };
  CHECK(days("2011-03-19").empty());
  CHECK(days("2011-03-20").size() == 1);
  CHECK(faults_of(with_columns("{seen: {type: date}, day: {from: seen, per: day, first: 0000-01-01, last: "
                               "0000-01-01}, end: {from: seen, per: week, first: 9999-W51, last: 9999-W51}}"))
            .empty());
}

TEST_CASE("policy derived: a column may be listed under by for those derived from it alone",
          "[engine][policy][derived]") {
  const std::string columns = "{age: {type: int}, size: {type: int}, band: {from: age, bins: [0, 18]}}";
  for (const std::string list : {"allow: {by: [age]}", "allow: {by: [band]}", "forbid: [{by: [age]}]",
                                 "forbid: [{by: [band], where: [age, band]}]", "allow: {where: [band]}"}) {
    CAPTURE(list);
    CHECK(faults_of(with_columns(columns, list)).empty());
  }
  CHECK(faults_of(with_columns(columns, "allow: {by: [size]}")).size() == 1);
  CHECK(faults_of(with_columns(columns, "forbid: [{by: [size]}]")).size() == 1);
}

TEST_CASE("policy derived: what a broken column is mapped from is not reported a second time",
          "[engine][policy][derived][negative]") {
  CHECK(faults_of(with_columns("{age: {type: number}, band: {from: age, bins: [0, 18]}}")).size() == 1);
  CHECK(faults_of(with_columns("{age: {type: int}, band: {from: age, bin: [0, 18]}}")).size() == 1);
  CHECK(faults_of(with_columns("{age: {type: int}, band: {form: age, bins: [0, 18]}}")).size() == 1);
}

TEST_CASE("policy derived: the object that a policy implies says what each cell's label is",
          "[engine][policy][derived][implied]") {
  const std::string object = implied_object(Policy::parse_stored(
      with_columns("{age: {type: int}, seen: {type: date}, dx: {type: string, column: Diagnose},"
                   " band: {from: age, bins: [0, 0.5e1, 18]},"
                   " month: {from: seen, per: month, first: 2024-01, last: 2024-03},"
                   " kind: {from: dx, map: {C: lung, B: heart, A: lung}, other: rest}}")
          .yaml(),
      "p.yaml"));
  for (const char* part :
       {R"-({"bins":["0","5","18"],"from":"age","name":"band","type":"string","values":["[0,5)","[5,18)"]})-",
        R"-({"first":"2024-01","from":"seen","last":"2024-03","name":"month","per":"month","type":"string",)-"
        R"-("values":["2024-01","2024-02","2024-03"]})-",
        R"-({"from":"dx","map":[{"label":"lung","value":"A"},{"label":"heart","value":"B"},)-"
        R"-({"label":"lung","value":"C"}],"name":"kind","other":"rest","type":"string",)-"
        R"-("values":["heart","lung","rest"]})-"}) {
    CAPTURE(part, object);
    CHECK(object.find(part) != std::string::npos);
  }
}
