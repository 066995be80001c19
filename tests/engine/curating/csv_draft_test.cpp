// A CSV file's columns as a draft, and that nothing else of it gets there.
#include "checked_rows.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/checked_policy.hpp"
#include "epsilog/engine/policy_draft.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;

namespace {

const std::string kDrafts = EPSILOG_SOURCE_DIR "/tests/engine/curating/drafts.tsv";

class CsvFile final {
 public:
  explicit CsvFile(const std::string& content) { std::ofstream(path(), std::ios::binary) << content; }
  [[nodiscard]] std::string path() const { return folder_.path("data.csv"); }
  [[nodiscard]] PolicyDraft draft(FirstLine first_line = FirstLine::guessed) const {
    return draft_from_csv(path(), "data.csv", "clinic", first_line);
  }

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
  return checked_policy(yaml, "draft.yaml").dataset("clinic");
}

bool mentions(const std::vector<PolicyDraft::Remark>& remarks, const std::string& part) {
  return std::any_of(remarks.begin(), remarks.end(), [&](const PolicyDraft::Remark& remark) {
    return remark.message.find(part) != std::string::npos;
  });
}

}  // namespace

TEST_CASE("policy init: types are guessed from cells, strictly", "[engine][draft]") {
  check_rows(kDrafts, "types", [](const CaseRow& row) {
    std::string content = "id,c\nx,";
    for (const char c : row[1]) content += c == ',' ? "\nx," : std::string(1, c);
    return std::string(name(completed(CsvFile(content + "\n").draft()).column("c")->type));
  });
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
  CHECK(completed(CsvFile("c\nword\n" + content.substr(2)).draft()).column("c")->type == ColumnType::string);
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

TEST_CASE("policy init: a header that is no name here is declared under one", "[engine][draft]") {
  const Dataset dataset =
      completed(CsvFile("ok,birth day,in,9,Größe (m²),GROESSE,%,größe m,ok_2,a:b,\"q\"\"x\"\n")
                    .draft(FirstLine::names));
  const auto header = [&](std::size_t column) {
    return dataset.columns[column].name + "=" + dataset.header(dataset.columns[column].name);
  };
  REQUIRE(dataset.columns.size() == 11);
  CHECK(completed(CsvFile("Missing,between\n").draft()).columns[0].name == "Missing_column");
  CHECK(header(0) == "ok=ok");
  CHECK(header(1) == "birth_day=birth day");
  CHECK(header(2) == "in_column=in");
  CHECK(header(3) == "_9=9");
  CHECK(header(4) == "Groesse_m=Größe (m²)");
  CHECK(header(6) == "column=%");
  CHECK(header(7) == "groesse_m=größe m");
  CHECK(header(8) == "ok_2=ok_2");
  CHECK(header(9) == "a_b=a:b");
  CHECK(header(10) == "q_x=q\"x");
  const Dataset crowded = completed(CsvFile("a b,a_b,a-b,a.b_2,a_b_2\n").draft());
  REQUIRE(crowded.columns.size() == 5);
  CHECK(crowded.header("a_b_3") == "a b");
  CHECK(crowded.header("a_b_4") == "a-b");
  CHECK(crowded.header("a_b_2_2") == "a.b_2");
}

TEST_CASE("policy init: a header without name, or with one twice, is said to be of no use",
          "[engine][draft][negative]") {
  const PolicyDraft draft = CsvFile("ok,,x,x,\"b\x07\"\n1,2,3,4,5\n").draft();
  const Dataset dataset = completed(draft);
  REQUIRE(dataset.columns.size() == 1);
  CHECK(mentions(draft.todos, "the column in place 2 has no name in the header"));
  CHECK(mentions(draft.todos, "the columns in places 3, 4 have one name"));
  CHECK(mentions(draft.todos, "the name in place 5 of the header has control characters"));
  CHECK(completed(CsvFile("x,x\n").draft()).columns.empty());
}

TEST_CASE("policy init: the encoding is recognised", "[engine][draft]") {
  check_rows(kDrafts, "encoding", [](const CaseRow& row) {
    return std::string(name(completed(CsvFile(row[1]).draft()).csv->encoding));
  });
  CHECK(completed(CsvFile("gr\xF6\xDF"
                          "e\n1\n")
                      .draft())
            .header("groesse") == "größe");
  // One broken line is no other encoding.
  const PolicyDraft broken = CsvFile("größe\nä\nö\n\xFF\n").draft();
  CHECK(completed(broken).csv->encoding == Encoding::utf_8);
  CHECK(mentions(broken.todos, "line 4 is not UTF-8"));
  try {
    (void)CsvFile(std::string("\xFF\xFEn\0a\0", 6)).draft();
    FAIL("UTF-16 was read");
  } catch (const SourceError& error) {
    CHECK(std::string(error.what()).find("is UTF-16") != std::string::npos);
  }
}

TEST_CASE("policy init: decimals, thousands and dates are recognised together", "[engine][draft]") {
  const Dataset german = completed(
      CsvFile("Betrag;Anzahl;Datum;Quote\n1.234,50;1.234;01.02.2024;0,5\n-12,5;17;31.12.2023;1,25\n")
          .draft());
  CHECK(german.csv->delimiter == ';');
  CHECK(german.csv->decimal_point == ',');
  CHECK(german.csv->thousands == ".");
  CHECK(german.csv->date_format == DateFormat::day_month_year_dotted);
  CHECK(german.column("Betrag")->type == ColumnType::real);
  CHECK(german.column("Anzahl")->type == ColumnType::integer);
  CHECK(german.column("Datum")->type == ColumnType::date);
  CHECK(german.column("Quote")->type == ColumnType::real);
  const Dataset swiss = completed(CsvFile("a,b\n1'234.5,1'000\n12.25,7\n").draft());
  CHECK(swiss.csv->thousands == "'");
  CHECK(swiss.column("b")->type == ColumnType::integer);
  const Dataset french = completed(CsvFile("a;b\n1\u202F234,5;x\n").draft());
  CHECK(french.csv->thousands == "\u202F");
  // Nothing is guessed that a plainer way of writing reads as well.
  CHECK(completed(CsvFile("a;b\n1.234;x\n").draft()).csv->thousands.empty());
  CHECK(completed(CsvFile("a;b\n1.234;x\n").draft()).csv->decimal_point == '.');
  check_rows(kDrafts, "date format", [](const CaseRow& row) {
    return std::string(name(completed(CsvFile(row[1]).draft()).csv->date_format));
  });
  const PolicyDraft ambiguous = CsvFile("d\n01/02/2024\n").draft();
  CHECK(mentions(ambiguous.todos, "reads both as DD/MM/YYYY and as MM/DD/YYYY"));
  CHECK(ambiguous.yaml.find(", date_format: ") == std::string::npos);
  CHECK(completed(ambiguous).column("d")->type == ColumnType::date);
  CHECK(completed(CsvFile("a,b;c\n1;2\n3;4\n").draft()).csv->delimiter == ';');
}

TEST_CASE("policy init: a draft says where a column became one of texts, and never what stands there",
          "[engine][draft]") {
  const auto reason = [](const std::string& cell, const std::string& others) {
    std::string content = "c;d\n";
    for (int i = 0; i < 5; ++i) content += others + ";x\n";
    const std::string yaml = CsvFile(content + "\"" + cell + "\";x\n" + others + ";x\n").draft().yaml;
    std::string flat;
    for (const char c : yaml) {
      if (c != '\n') flat += c;
    }
    for (std::size_t at = flat.find("      # "); at != std::string::npos; at = flat.find("      # ", at))
      flat.replace(at, 8, " ");
    const std::size_t begin = flat.find("since line ");
    REQUIRE(begin != std::string::npos);
    return flat.substr(begin, std::min(flat.find(';', begin), flat.find(". ", begin)) - begin);
  };
  check_rows(kDrafts, "reason", [&](const CaseRow& row) { return reason(row[1], row.at(2)); });
  CHECK(CsvFile("f\ntrue\nfalse\n1\n").draft().yaml.find("f: {type: bool}") != std::string::npos);
  CHECK(CsvFile("f\n0\n1\n1\n").draft().yaml.find("f: {type: int") != std::string::npos);
  CHECK(CsvFile("n\nalice\nbob\n").draft().yaml.find("columns.n.type: a string, since line 2 has a text.") !=
        std::string::npos);
}

TEST_CASE("policy init: each of these is asked of the curator, or is not", "[engine][draft]") {
  for (const bool said : {true, false}) {
    for (const CaseRow& row : rows_of(kDrafts, said ? "said" : "unsaid")) {
      CAPTURE(row);
      CHECK(mentions(CsvFile(row[1]).draft().todos, row.at(2)) == said);
    }
  }
}

TEST_CASE("policy init: every word for missing is passed over, and asked about", "[engine][draft]") {
  for (const char* word : {"n/a", ".", "--", "#N/A", "<NA>", "unknown", "Unknown", "k.A.", "k. A.", "NA",
                           "N/A", "NULL", "null", "NaN", "nan", "None", "-", "?"}) {
    CAPTURE(word);
    const PolicyDraft draft = CsvFile(std::string("c\n1\n") + word + "\n").draft();
    CHECK(completed(draft).column("c")->type == ColumnType::integer);
    CHECK(mentions(draft.todos, std::string("cells such as ") + word + " were"));
  }
}

TEST_CASE("policy init: a file without a readable header is no source", "[engine][draft][negative]") {
  CHECK_THROWS_AS(CsvFile("").draft(), SourceError);
  CHECK_THROWS_AS(CsvFile("a,\"b\n").draft(), SourceError);
  CHECK_THROWS_AS(draft_from_csv("/nowhere/data.csv", "data.csv", "clinic"), SourceError);
  CHECK_THROWS_AS(draft_from_csv("/dev", "data.csv", "clinic"), SourceError);
  CHECK_THROWS_AS(draft_from_csv("/dev/zero", "data.csv", "clinic"), SourceError);
}
