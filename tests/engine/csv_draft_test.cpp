// A CSV file's columns as a draft, and that nothing else of it gets there.
#include <algorithm>
#include <fstream>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/policy_draft.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace epsilog;
using namespace epsilog::engine;

namespace {

class CsvFile final {
 public:
  explicit CsvFile(const std::string& content) { std::ofstream(path(), std::ios::binary) << content; }
  [[nodiscard]] std::string path() const { return folder_.path("data.csv"); }
  [[nodiscard]] PolicyDraft draft() const { return draft_from_csv(path(), "data.csv", "clinic"); }

 private:
  epsilog::test::TemporaryFolder folder_;
};

/// The dataset once the three decisions are made that the draft leaves open.
Dataset completed(const PolicyDraft& draft) {
  CHECK_FALSE(draft.valid);
  std::string yaml = draft.yaml;
  const std::string columns = "    columns:\n";
  const std::size_t at = yaml.find(columns);
  REQUIRE(at != std::string::npos);
  yaml.insert(at, "    unit: row\n    rows: {max: 10}\n    budget: {epsilon: 1}\n");
  INFO(yaml);
  return Policy::parse(yaml, "draft.yaml").dataset("clinic");
}

bool mentions(const std::vector<PolicyDraft::Remark>& remarks, const std::string& part) {
  return std::any_of(remarks.begin(), remarks.end(), [&](const PolicyDraft::Remark& remark) {
    return remark.message.find(part) != std::string::npos;
  });
}

std::string type_of(const std::vector<std::string>& cells) {
  std::string content = "id,c\n";
  for (const std::string& cell : cells) content += "x," + cell + "\n";
  return std::string(name(completed(CsvFile(content).draft()).column("c")->type));
}

}  // namespace

TEST_CASE("policy init: types are guessed from cells, strictly", "[engine][draft]") {
  CHECK(type_of({"1", "-20", "0"}) == "int");
  CHECK(type_of({"1", "", "NA"}) == "int");
  CHECK(type_of({"1", "2.5"}) == "double");
  CHECK(type_of({"1e3", "2"}) == "double");
  CHECK(type_of({"true", "False"}) == "bool");
  CHECK(type_of({"0", "1"}) == "int");
  CHECK(type_of({"true", "1"}) == "string");
  CHECK(type_of({"2024-02-29", "2023-01-01"}) == "date");
  CHECK(type_of({"2023-02-29"}) == "string");
  CHECK(type_of({"00123", "10123"}) == "string");
  CHECK(type_of({"1", "two"}) == "string");
  CHECK(type_of({"", "NA"}) == "string");
}

TEST_CASE("policy init: no value of the data gets into the draft", "[engine][draft]") {
  const CsvFile file(
      "patient,age,cost,ward,seen\nalice,97,8123.77,oncology,2031-12-05\nbob,13,5.25,maternity,1977-03-09\n");
  const PolicyDraft draft = file.draft();
  for (const char* cell :
       {"alice", "bob", "97", "13", "8123", "5.25", "oncology", "maternity", "2031", "1977"}) {
    CAPTURE(cell);
    CHECK(draft.yaml.find(cell) == std::string::npos);
  }
  const Dataset dataset = completed(draft);
  REQUIRE(dataset.columns.size() == 5);
  for (const Column& column : dataset.columns) {
    CHECK_FALSE(column.bounds.has_value());
    CHECK(column.values.empty());
    CHECK_FALSE(column.missing.has_value());
  }
  CHECK(dataset.settings("count").mechanism == MechanismChoice::discrete_laplace);
  CHECK(dataset.settings("units").mechanism == MechanismChoice::discrete_laplace);
  CHECK(dataset.settings("sum").mechanism == MechanismChoice::snapping);
  CHECK(mentions(draft.todos, "columns.age.bounds"));
  CHECK(mentions(draft.todos, "columns.ward.values"));
  CHECK(mentions(draft.todos, "unit: "));
  CHECK(mentions(draft.todos, "rows: "));
  CHECK(mentions(draft.todos, "budget: "));
}

TEST_CASE("policy init: only the first rows are read", "[engine][draft]") {
  std::string content = "c\n";
  for (std::size_t row = 0; row < kRowsGuessedFrom; ++row) content += "1\n";
  CHECK(completed(CsvFile(content + "word\n").draft()).column("c")->type == ColumnType::integer);
  CHECK(completed(CsvFile("c\nword\n" + content).draft()).column("c")->type == ColumnType::string);
}

TEST_CASE("policy init: the delimiter and the decimal character are recognised", "[engine][draft]") {
  const Dataset semicolons = completed(CsvFile("a;b\n1,5;x\n2;y\n").draft());
  CHECK(semicolons.csv->delimiter == ';');
  CHECK(semicolons.csv->decimal_point == ',');
  CHECK(semicolons.column("a")->type == ColumnType::real);
  const Dataset tabs = completed(CsvFile("a\tb\n1.5\tx\n").draft());
  CHECK(tabs.csv->delimiter == '\t');
  CHECK(tabs.csv->decimal_point == '.');
  CHECK(completed(CsvFile("\"a\",\"b\"\n1,x\n").draft()).columns.size() == 2);
}

TEST_CASE("policy init: texts that may mean missing are asked about", "[engine][draft]") {
  const PolicyDraft draft = CsvFile("c\n1\nNA\nNULL\n").draft();
  CHECK(mentions(draft.todos, "null: [NA, \"NULL\"]"));
  CHECK_FALSE(mentions(CsvFile("c\n1\n").draft().todos, "source.null"));
}

TEST_CASE("policy init: a header that cannot be declared is left open", "[engine][draft]") {
  const PolicyDraft names = CsvFile("ok,birth day,in,,ok,9\n1,2,3,4,5,6\n").draft();
  const Dataset dataset = completed(names);
  REQUIRE(dataset.columns.size() == 1);
  CHECK(mentions(names.todos, "'birth day' cannot be named here"));
  CHECK(mentions(names.todos, "'in' cannot be named here"));
  CHECK(mentions(names.todos, "'' cannot be named here"));
  CHECK(mentions(names.todos, "'ok' stands twice"));
  CHECK(names.yaml.find("# in_column: {type: int}") != std::string::npos);
  CHECK(names.yaml.find("# _9: {type: int}") != std::string::npos);
}

TEST_CASE("policy init: a file without a readable header is no source", "[engine][draft][negative]") {
  CHECK_THROWS_AS(CsvFile("").draft(), SourceError);
  CHECK_THROWS_AS(CsvFile("a,\xFF\n").draft(), SourceError);
  CHECK_THROWS_AS(CsvFile("a,\"b\n").draft(), SourceError);
  CHECK_THROWS_AS(draft_from_csv("/nowhere/data.csv", "data.csv", "clinic"), SourceError);
  CHECK_THROWS_AS(draft_from_csv("/dev", "data.csv", "clinic"), SourceError);
  CHECK_THROWS_AS(draft_from_csv("/dev/zero", "data.csv", "clinic"), SourceError);
}
