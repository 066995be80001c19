// What a policy says becomes exactly what the model holds.
#include "epsilog/engine/checked_policy.hpp"
#include "epsilog/engine/nearest.hpp"
#include "epsilog/engine/policy.hpp"
#include "file_text.hpp"
#include "policy_text.hpp"
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
  CHECK_FALSE(clinic.allow.statistics.has_value());
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

TEST_CASE("policy: amounts are exact numbers rounded down onto their grid", "[engine][policy][exact]") {
  PolicyText text;
  text.budget = "{epsilon: 1/3, delta: 1e-6}";
  text.more = "per_release: {epsilon: '0.1'}";
  const Dataset clinic = text.dataset();
  CHECK(clinic.budget.epsilon.units() == 333'333'333'333);
  CHECK(clinic.budget.delta.units() == 1'000'000'000'000);
  CHECK(clinic.budget.measure == Measure::approximate);
  CHECK(clinic.per_release->epsilon->units() == 100'000'000'000);

  text.budget = "{epsilon: 0.1e1, delta: 1e-6, measure: approximate}";
  CHECK(text.dataset().budget.epsilon.text() == "1");
  text.budget = "{epsilon: 3, measure: pure}";
  CHECK(text.dataset().budget.measure == Measure::pure);
}

TEST_CASE("policy: the dialect of a CSV source is taken as declared", "[engine][policy][exact]") {
  PolicyText text;
  text.source =
      "{csv: \"data/in put.csv\", delimiter: ';', decimal: ',', null: ['', NA, 'n/a'], multiline: true}";
  const Dataset clinic = text.dataset();
  CHECK(clinic.csv->path == "data/in put.csv");
  CHECK(clinic.csv->delimiter == ';');
  CHECK(clinic.csv->decimal_point == ',');
  CHECK(clinic.csv->null == Texts{"", "NA", "n/a"});
  CHECK(clinic.csv->multiline);

  text.source = "{csv: visits.tsv, delimiter: \"\\t\"}";
  CHECK(text.dataset().csv->delimiter == '\t');
}

TEST_CASE("policy: an SQLite source has a file and a table", "[engine][policy][exact]") {
  PolicyText text;
  text.source = "{sqlite: clinic.db, table: visits 2024}";
  const Dataset clinic = text.dataset();
  CHECK_FALSE(clinic.csv.has_value());
  CHECK(clinic.sqlite->path == "clinic.db");
  CHECK(clinic.sqlite->table == "visits 2024");
}

TEST_CASE("policy: each row may be a unit, and the size may be public", "[engine][policy][exact]") {
  PolicyText text;
  text.unit = "row";
  text.rows = "{exact: 1000000000000}";
  text.neighbours = "replace-one";
  text.columns = "{age: {type: int, bounds: [0, 110], missing: 40}, note: {type: string}}";
  const Dataset clinic = text.dataset();
  CHECK(clinic.unit.is_row());
  CHECK(clinic.unit.max_rows == 1);
  CHECK(clinic.rows.exact);
  CHECK(clinic.rows.count == 1'000'000'000'000);
  CHECK(clinic.neighbours == Neighbours::replace_one);
  CHECK(*clinic.column("age")->missing == 40);
}

TEST_CASE("policy: columns of every type hold canonical values", "[engine][policy][exact]") {
  PolicyText text;
  text.columns =
      "\n      i: {type: int, bounds: [-5, 5], values: [-3, 0, 5], missing: -5}"
      "\n      d: {type: decimal, scale: 3, bounds: [-1.5, 2.125], missing: 0.125}"
      "\n      f: {type: double, bounds: [-1/3, 1e3], missing: 1/7}"
      "\n      s: {type: string, values: [no, 'a b', \"ü\", 01]}"
      "\n      b: {type: bool}"
      "\n      c: {type: bool, values: [true]}"
      "\n      t: {type: date, values: [2024-02-29, 0001-01-01], missing: skip}";
  const Dataset clinic = text.dataset();
  CHECK(clinic.column("i")->values == Texts{"-3", "0", "5"});
  CHECK(*clinic.column("i")->missing == -5);
  CHECK(clinic.column("d")->type == ColumnType::decimal);
  CHECK(*clinic.column("d")->missing == Rational(1, 8));
  CHECK(clinic.column("f")->type == ColumnType::real);
  CHECK(clinic.column("f")->bounds->lower == Rational(-1, 3));
  CHECK(*clinic.column("f")->missing == Rational(1, 7));
  CHECK(clinic.column("s")->values == Texts{"no", "a b", "ü", "01"});
  CHECK(clinic.column("b")->values == Texts{"false", "true"});
  CHECK(clinic.column("c")->values == Texts{"true"});
  CHECK(clinic.column("t")->values == Texts{"2024-02-29", "0001-01-01"});
  CHECK_FALSE(clinic.column("t")->missing.has_value());
}

TEST_CASE("policy: a dataset without a source needs no rows and has queries", "[engine][policy][exact]") {
  PolicyText text;
  text.source = text.rows = text.columns = "";
  text.more =
      "queries: {share: {bounds: [0, 1], sensitivity: 1/2500}, slope: {bounds: [-10, 30], sensitivity: 2, "
      "undefined: 0}}";
  const Dataset clinic = text.dataset();
  CHECK_FALSE(clinic.has_source());
  CHECK(clinic.rows.count == 0);
  REQUIRE(clinic.queries.size() == 2);
  CHECK(clinic.query("share")->sensitivity == Rational(1, 2500));
  CHECK(clinic.query("share")->undefined == Rational(1, 2));
  CHECK(clinic.query("share")->mark.line == 7);
  CHECK(clinic.query("slope")->undefined == 0);
}

TEST_CASE("policy: what a release entry leaves open comes from default", "[engine][policy][exact]") {
  PolicyText text;
  text.more =
      "queries: {q: {bounds: [0, 1], sensitivity: 1}}\n"
      "    release:\n"
      "      sum: {bound: 1/4}\n"
      "      default: {mechanism: snapping, precision: 256, binding_probability: 1e-3}\n"
      "      mean: {arithmetic: exact}\n"
      "      variance: {precision: binary64}\n"
      "      q: {precision: auto}";
  const Dataset clinic = text.dataset();
  CHECK(clinic.settings("default").precision.bits == 256);
  CHECK(*clinic.settings("count").binding_probability == Rational(1, 1000));
  CHECK(clinic.settings("sum").precision.bits == 256);
  CHECK(*clinic.settings("sum").bound == Rational(1, 4));
  CHECK_FALSE(clinic.settings("sum").binding_probability.has_value());
  CHECK(clinic.settings("sum").mark.line == 12);
  CHECK(clinic.settings("mean").arithmetic == ArithmeticChoice::exact);
  CHECK(clinic.settings("mean").precision.bits == 0);
  CHECK(*clinic.settings("mean").binding_probability == Rational(1, 1000));
  CHECK(clinic.settings("variance").precision.bits == 53);
  CHECK(clinic.settings("q").precision.bits == 0);
  CHECK(clinic.settings("units").mark.line == 13);
}

TEST_CASE("policy: a mechanism drops what it inherits of another's keys", "[engine][policy][exact]") {
  PolicyText text;
  text.budget = "{epsilon: 3, delta: 1e-6}";
  text.more =
      "release:\n"
      "      default: {mechanism: discrete_laplace, grid: 1/4}\n"
      "      count: {mechanism: discrete_gaussian}\n"
      "      units: {grid: auto}\n"
      "      sum: {mechanism: snapping, precision: 256}\n"
      "      mean: {mechanism: gaussian, grid: 8}";
  const Dataset clinic = text.dataset();
  CHECK(clinic.settings("default").mechanism == MechanismChoice::discrete_laplace);
  CHECK(*clinic.settings("variance").grid == Rational(1, 4));
  CHECK(clinic.settings("count").mechanism == MechanismChoice::discrete_gaussian);
  CHECK(*clinic.settings("count").grid == Rational(1, 4));
  CHECK(clinic.settings("units").mechanism == MechanismChoice::discrete_laplace);
  CHECK_FALSE(clinic.settings("units").grid.has_value());
  CHECK(clinic.settings("sum").mechanism == MechanismChoice::snapping);
  CHECK(clinic.settings("sum").precision.bits == 256);
  CHECK_FALSE(clinic.settings("sum").grid.has_value());
  CHECK(*clinic.settings("mean").grid == 8);

  text.more =
      "release:\n"
      "      default: {precision: 256, bound: 1000}\n"
      "      count: {mechanism: discrete_laplace}";
  CHECK(text.dataset().settings("count").precision.bits == 0);
  CHECK_FALSE(text.dataset().settings("count").bound.has_value());
  CHECK(text.dataset().settings("sum").precision.bits == 256);
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

TEST_CASE("policy: a Gaussian under a pure budget is a valid policy, whose releases will be refused",
          "[engine][policy][exact]") {
  PolicyText text;
  text.more = "release: {default: {mechanism: gaussian, grid: 1/8}}";
  CHECK(text.dataset().budget.measure == Measure::pure);
}

TEST_CASE("policy: allow distinguishes an absent list from an empty one", "[engine][policy][exact]") {
  PolicyText text;
  text.more = "allow: {statistics: [count, value], columns: [], by: [ward]}";
  const Allow allow = text.dataset().allow;
  CHECK(*allow.statistics == std::vector<StatisticKind>{StatisticKind::count, StatisticKind::value});
  CHECK(allow.columns->empty());
  CHECK(*allow.by == Texts{"ward"});
  CHECK_FALSE(allow.where.has_value());
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
