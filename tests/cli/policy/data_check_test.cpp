// data check, where a source cannot be right, and what other verbs say of a file that is no table of text.
#include "cli/workbench.hpp"
#include "support/catch.hpp"

using namespace epsilog::test;
using nlohmann::json;

namespace {

std::string policy_of(const std::string& file, const std::string& more = "") {
  return "version: 1\ndatasets:\n  clinic:\n    source: {csv: " + file + more +
         "}\n    unit: row\n    rows: {max: 9}\n    neighbours: add-remove\n    budget: {epsilon: 1}\n"
         "    columns:\n      age: {type: int, bounds: [0, 99]}\n"
         "      ward: {type: string, values: [A, B]}\n"
         "      wing: {from: ward, map: {A: north}}\n";
}

const std::vector<std::string> kCheck = {"data", "check", "--policy", "p.yaml"};

Result checked(const Workbench& bench, const std::vector<std::string>& more = {}) {
  std::vector<std::string> words = kCheck;
  words.insert(words.end(), more.begin(), more.end());
  return bench.run(words);
}

}  // namespace

TEST_CASE("data check: ends with 3 where most rows are malformed, and says why in every form", "[cli]") {
  const Workbench bench;
  bench.write("v.csv", "\"age\",\"ward\"\n\"1\",34,\"A\"\n\"2\",71,\"B\"\n");
  bench.write("p.yaml", policy_of("v.csv"));
  const std::string cause = "begins with the number of its row, as R writes it";
  const Result text = checked(bench);
  CHECK(text.exit == 3);
  CHECK(contains(text.out, "not usable: 2 of 2 rows are malformed"));
  CHECK(contains(text.out, cause));
  CHECK(text.err.empty());
  const Result object = checked(bench, {"--json"});
  CHECK(object.exit == 3);
  CHECK(object.json()["ok"] == false);
  CHECK(contains(object.json()["datasets"][0]["problems"][0].get<std::string>(), cause));
  const Result quiet = checked(bench, {"--quiet"});
  CHECK(quiet.exit == 3);
  CHECK(quiet.out.empty());
  CHECK(contains(quiet.err, cause));
  const Result rows = checked(bench, {"--format", "csv"});
  CHECK(rows.exit == 3);
  CHECK(lines(rows.out) == 4);
  CHECK(contains(rows.err, cause));

  // Half of them is no majority: their lines are named, and the others answer.
  bench.write("v.csv", "age,ward\n34,A\n71\n");
  const Result half = checked(bench, {"--json"});
  CHECK(half.exit == 0);
  CHECK(half.json()["ok"] == true);
  CHECK(half.json()["datasets"][0]["problems"] == json::array());
  CHECK(half.json()["datasets"][0]["malformed_at"] == json::array({3}));
}

TEST_CASE("data check: a source without a row ends with 3, unless --allow-empty", "[cli]") {
  const Workbench bench;
  bench.write("p.yaml", policy_of("v.csv"));
  bench.write("v.csv", "age,ward\n");
  const Result refused = checked(bench, {"--json"});
  CHECK(refused.exit == 3);
  CHECK(refused.json()["ok"] == false);
  CHECK(contains(refused.out, "--allow-empty"));
  const Result allowed = checked(bench, {"--json", "--allow-empty"});
  CHECK(allowed.exit == 0);
  CHECK(allowed.json()["ok"] == true);
  // Line ends of another kind are no empty source.
  bench.write("v.csv", "age,ward,id\r34,A,1\r71,B,2\r");
  const Result returns = checked(bench, {"--allow-empty"});
  CHECK(returns.exit == 3);
  CHECK(contains(returns.out, "has 3 carriage returns and no line feed"));
}

TEST_CASE("data check: another encoding is named where most lines are of it", "[cli]") {
  const Workbench bench;
  bench.write("p.yaml", policy_of("v.csv"));
  bench.write("v.csv", "age,ward,town\n34,A,K\xF6ln\n71,B,M\xFCnchen\n3,A,Bonn\n");
  const Result result = checked(bench);
  CHECK(result.exit == 3);
  CHECK(contains(result.out, "most lines are not utf-8: declare `encoding: windows-1252`"));
  bench.write("p.yaml", policy_of("v.csv", ", encoding: windows-1252"));
  CHECK(checked(bench).exit == 0);
}

TEST_CASE("data check: lines of values that are not declared are named, and of cells without a label",
          "[cli]") {
  const Workbench bench;
  bench.write("p.yaml", policy_of("v.csv"));
  bench.write("v.csv", "age,ward\n34,A\n35,C\n71,B\n3,\n4,C\n");
  const Result text = checked(bench);
  CHECK(text.exit == 0);
  CHECK(contains(text.out, "  ward: undeclared in lines 3 and 6\n"));
  CHECK(contains(text.out, "  wing: without a label in lines 3, 4 and 6\n"));
  const json columns = checked(bench, {"--json"}).json()["datasets"][0]["columns"];
  CHECK(columns[1]["undeclared_at"] == json::array({3, 6}));
  CHECK(columns[2]["undeclared_at"] == json::array({3, 4, 6}));
  std::string many = "age,ward\n";
  for (int row = 0; row < 8; ++row) many += "1,C\n";
  bench.write("v.csv", many);
  CHECK(contains(checked(bench).out, "  ward: undeclared in lines 2, 3, 4, 5, 6, …\n"));
}

TEST_CASE("every verb that reads a source names what is no table of text, whatever encoding is declared",
          "[cli]") {
  const std::vector<std::pair<std::string, std::string>> kinds = {
      {std::string("\xFF\xFE"
                   "a\0g\0e\0\n\0",
                   10),
       "is UTF-16"},
      {"PK\x03\x04 workbook", "is a workbook"},
      {"\x1F\x8B\x08 packed", "is compressed"},
      {std::string("a\0g\0e\0,\0w\0\r\0\n\0", 14), "UTF-16"}};
  for (const auto& [bytes, words] : kinds) {
    for (const char* encoding : {"", ", encoding: latin-1"}) {
      const Workbench bench;
      bench.write("v.csv", bytes);
      bench.write("p.yaml", policy_of("v.csv", encoding));
      CAPTURE(words, encoding);
      bench.init(policy_of("v.csv", encoding));
      for (const std::vector<std::string>& verb :
           {std::vector<std::string>{"release", "clinic", "count", "--epsilon", "0.1"},
            {"data", "check"},
            {"release", "clinic", "mean:age", "--epsilon", "0.1"}}) {
        const Result result = bench.with_ledger(verb);
        CAPTURE(verb, result.err);
        CHECK(result.exit == 3);
        CHECK(contains(result.err, words));
      }
      CHECK(bench.with_ledger({"history", "--quiet"}).out.empty());
    }
  }
}

TEST_CASE("every verb that reads a source says where the first line shows why a column is not there",
          "[cli]") {
  const Workbench bench(policy_of("v.csv"));
  const auto says = [&](const std::string& content, const std::string& words) {
    bench.write("v.csv", content);
    const Result result = bench.with_ledger({"release", "clinic", "mean:age", "--epsilon", "0.1"});
    CAPTURE(content, result.err);
    CHECK(result.exit == 3);
    CHECK(contains(result.err, words));
    CHECK_FALSE(contains(result.err, "Zoe"));
  };
  says("sep=,\nage,ward\n1,A\n", "has no column 'age': its first line is the `sep=`");
  says("# of Zoe\nage,ward\n1,A\n", "its first line begins with #");
  says("age;ward\n1;A\n", "it has under `delimiter: ';'`");
  says("\"age\";\"ward\"\n1;\"A\"\n", "it has under `delimiter: ';'`");
  says("age\tward\n1\tA\n", "it has under `delimiter: \"\\t\"`");
  says("\nage,ward\n1,A\n", "its first line is empty");
  says("\"age\", \"ward\"\n1, \"A\"\n", "blanks stand between its delimiters and its quotes");
  says("age ward\n1 A\n", "its names are parted by blanks");
  says("\"age\" \"ward\"\n1 \"A\"\n", "its names are parted by blanks");
  says("Age, ward,Zoe\n1,A,x\n", "differs in capitals or in the blanks around it");
  bench.write("v.csv", "name,ward\nZoe,A\n");
  CHECK(contains(bench.with_ledger({"release", "clinic", "mean:age", "--epsilon", "0.1"}).err,
                 "v.csv': has no column 'age'\n"));
}

TEST_CASE("batch tables: one that a spreadsheet wrote otherwise says how it has to be written", "[cli]") {
  const Workbench bench(policy_of("v.csv"));
  const auto says = [&](const std::string& table, const std::string& words) {
    bench.write("b.csv", table);
    for (const std::vector<std::string>& verb :
         {std::vector<std::string>{"release", "clinic", "--batch", "b.csv"}, {"plan", "--batch", "b.csv"}}) {
      const Result result = bench.with_ledger(verb);
      CAPTURE(table, verb, result.err);
      CHECK(result.exit == 2);
      CHECK(contains(result.err, words));
    }
  };
  says("statistic;by;epsilon\ncount;ward;0,1\n",
       "write commas between columns, which here are parted by semicolons");
  says("statistic\tepsilon\ncount\t0.1\n", "which here are parted by tabs");
  says("Statistic,epsilon\ncount,0.1\n", "unknown column 'Statistic', write statistic,");
  says("statistic, by,epsilon\ncount,ward,0.1\n", "unknown column ' by', write by,");
  says(std::string("\xFF\xFEs\0t\0\n\0", 8), "the table is UTF-16");
  says("statistic,epsilonn\ncount,0.1\n", "unknown column 'epsilonn'; the columns of");
  Streams input;
  input.input = "Epsilon;bound\n1;2\n";
  const Result calculated = bench.run({"accuracy", "snapping", "--batch", "-"}, input);
  CHECK(calculated.exit == 2);
  CHECK(contains(calculated.err, "parted by semicolons"));
}
