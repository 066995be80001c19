// A first line that is a record, or stands above the table, gets into no draft and no message.
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/policy_draft.hpp"
#include "support/case_table.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;

namespace {

using Texts = std::vector<std::string>;

/// What `policy init` says of a file: a draft, or why there is none.
struct Said {
  std::optional<PolicyDraft> draft;
  std::string refusal;

  [[nodiscard]] std::string all() const {
    std::string text = refusal;
    if (!draft) return text;
    text += draft->yaml;
    for (const auto& remark : draft->todos) text += remark.message + "\n";
    for (const auto& remark : draft->notes) text += remark.message + "\n";
    return text;
  }
  [[nodiscard]] bool asks_for_the_first_line() const {
    return draft && std::any_of(draft->todos.begin(), draft->todos.end(), [](const auto& remark) {
             return remark.message.starts_with("source: make sure that the first line");
           });
  }
};

Said said_of(const std::string& path, FirstLine first_line = FirstLine::guessed) {
  try {
    return {draft_from_csv(path, "data.csv", "clinic", first_line), ""};
  } catch (const SourceError& error) {
    return {std::nullopt, error.what()};
  }
}

class CsvText final {
 public:
  explicit CsvText(const std::string& content) { std::ofstream(path(), std::ios::binary) << content; }
  [[nodiscard]] std::string path() const { return folder_.path("data.csv"); }
  [[nodiscard]] Said said(FirstLine first_line = FirstLine::guessed) const {
    return said_of(path(), first_line);
  }

 private:
  epsilog::test::TemporaryFolder folder_;
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// What becomes of a file: the words of the refusal; "" where a draft is begun; kAsked where it is begun and
/// asks whether the first line names the columns.
const std::string kAsked = "asked";
const std::map<std::string, std::string>& kept_files() {
  static const std::map<std::string, std::string> kFiles = [] {
    std::map<std::string, std::string> result;
    for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/engine/curating/kept_files.tsv")) {
      result[row.at(0)] = row.at(1);
    }
    return result;
  }();
  return kFiles;
}

}  // namespace

TEST_CASE("policy init: every kept file is drafted or refused as its table says, and no cell is shown",
          "[engine][draft]") {
  const std::filesystem::path folder = std::filesystem::path(EPSILOG_SOURCE_DIR) / "tests/fixtures/csv";
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() != ".csv") continue;
    found.insert(name);
    CAPTURE(name);
    const auto expected = kept_files().find(name);
    REQUIRE(expected != kept_files().end());
    const Said said = said_of(entry.path().string());
    INFO(said.all());
    CHECK(said.draft.has_value() == (expected->second.empty() || expected->second == kAsked));
    CHECK(said.asks_for_the_first_line() == (expected->second == kAsked));
    if (!said.draft) CHECK(has(said.refusal, expected->second));
    for (const char* cell :
         {"1017", "1018", "120.5", "410.25", "120,5", "1O5", "999", "fell", "said", "hospital", "Visits",
          "clinic,", "31.01", "1/31", "13:45", "31-Jan", "2024/01"}) {
      CAPTURE(cell);
      CHECK_FALSE(has(said.all(), cell));
    }
  }
  CHECK(found.size() == kept_files().size());
}

TEST_CASE("policy init: a first line that looks like a record is taken for names where the curator says so",
          "[engine][draft]") {
  for (const char* content : {"2019,2020\n1,2\n", "# id,ward\n1,A\n", "a:,b\n1,2\n",
                              "id,ward\n1,A,x\n2,B,x\n", "F,1.5\nM,2.5\n", "ward,n\nward,x\n"}) {
    CAPTURE(content);
    const CsvText file(content);
    CHECK_FALSE(file.said().draft);
    const Said told = file.said(FirstLine::names);
    CHECK(told.draft);
    CHECK_FALSE(told.asks_for_the_first_line());
  }
  // What is no text at all has no first line.
  for (const std::string& content : {std::string("a,b\r1,2\r3,4\r"), std::string("a\0b\n", 4)}) {
    CHECK_FALSE(CsvText(content).said(FirstLine::names).draft);
  }
}

TEST_CASE("policy init: names and cells are told apart by what they read as", "[engine][draft]") {
  const auto outcome = [](const std::string& content) {
    const Said said = CsvText(content).said();
    if (!said.draft) return std::string("refused");
    return said.asks_for_the_first_line() ? kAsked : std::string("drafted");
  };
  for (const char* names :
       {"age,ward\n1,A\n", "T1,T2\n1,2\n", "Visit 1,Weight at 6 months\n1,A\n", "_1,x2\n1,2\n",
        "24h urine,5-ALA\n0.5,1\n", ",age\n0,34\n1,71\n", "id,,age\n1,x,3\n", "seen\n2024-01-31\n",
        "flag\ntrue\nfalse\n", "Betrag\n1,5\n2,25\n", "2nd,1st\n1,2\n", "name,age\nanna,\nbert,3\n",
        "kin,age,cost\nson,4,1.5\nkin,39,2\n", "\"\",y,week\n1,y,0\n2,y,2\n"}) {
    CAPTURE(names);
    CHECK(outcome(names) == "drafted");
  }
  for (const char* texts : {"name,ward\nanna,A\nbert,B\n", "name\n", "anna,F\nbert,M\nclara,D\n",
                            "name age\nbo x\n", ",class,sex\n1,a,m\n2,b,m\n", ",class,sex\n0,a,m\n1,b,m\n"}) {
    CAPTURE(texts);
    CHECK(outcome(texts) == kAsked);
  }
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/engine/curating/first_lines_refused.tsv")) {
    const std::string& record = row.at(0);
    CAPTURE(record);
    CHECK(outcome(record) == "refused");
  }
}

namespace {

/// A cell of one kind of column, in words and numbers that occur in no draft.
class Cells final {
 public:
  enum class Kind { name, ward, whole, amount, iso_date, dotted_date, truth, code, person_id };

  explicit Cells(std::mt19937_64& random) : random_(random) {}

  [[nodiscard]] std::string cell(Kind kind) {
    const auto digits = [this](int count) {
      std::string text(1, static_cast<char>('1' + random_() % 9));
      while (static_cast<int>(text.size()) < count) text += static_cast<char>('0' + random_() % 10);
      return text;
    };
    const auto two = [this](std::uint64_t most) {
      const std::string text = std::to_string(10 + random_() % (most - 9));
      return text;
    };
    switch (kind) {
      case Kind::name: {
        std::string text = "Zq";
        for (int i = 0; i < 8; ++i) text += static_cast<char>('a' + random_() % 26);
        return text;
      }
      case Kind::ward:
        return std::string("Zward") + static_cast<char>('A' + random_() % 3);
      case Kind::whole:
        return digits(6);
      case Kind::amount:
        return digits(5) + "." + digits(2);
      case Kind::iso_date:
        return "19" + two(99) + "-" + two(12) + "-" + two(28);
      case Kind::dotted_date:
        return two(28) + "." + two(12) + ".19" + two(99);
      case Kind::truth:
        return random_() % 2 == 0 ? "true" : "false";
      case Kind::code:
        return "0" + digits(5);
      case Kind::person_id:
        return "Zp" + digits(6);
    }
    return "";
  }

 private:
  std::mt19937_64& random_;
};

struct Table {
  std::vector<Cells::Kind> kinds;
  std::vector<Texts> rows;
  std::string delimiter = ",";

  [[nodiscard]] std::string line(const Texts& cells) const {
    std::string text;
    for (const std::string& cell : cells) text += cell + delimiter;
    return text.substr(0, text.size() - delimiter.size()) + "\n";
  }
  [[nodiscard]] std::string lines() const {
    std::string text;
    for (const Texts& row : rows) text += line(row);
    return text;
  }
  [[nodiscard]] Texts names() const {
    Texts names;
    for (std::size_t i = 0; i < kinds.size(); ++i)
      names.push_back("field_" + std::string(1, static_cast<char>('a' + i)));
    return names;
  }
  /// Whether every column is one of texts of which the first tells nothing of the others.
  [[nodiscard]] bool of_texts() const {
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      const auto missing = [i](const Texts& row) { return row[i].empty() || row[i] == "NA"; };
      const bool nameless = rows.front()[i].empty();
      const bool nothing_below = std::all_of(rows.begin() + 1, rows.end(), missing);
      const bool unlike = kinds[i] == Cells::Kind::name || kinds[i] == Cells::Kind::ward ||
                          (kinds[i] == Cells::Kind::person_id && (nameless || nothing_below)) ||
                          (nameless && nothing_below);
      if (!unlike) return false;
    }
    return true;
  }
};

Table drawn_table(std::mt19937_64& random) {
  static const Texts kDelimiters = {",", ",", ";", "\t", "|", " ", ":"};
  Table table;
  table.delimiter = kDelimiters[random() % kDelimiters.size()];
  const bool known = table.delimiter != " " && table.delimiter != ":";
  const std::size_t columns = (known ? 1 : 2) + random() % 5;
  Cells cells(random);
  for (std::size_t i = 0; i < columns; ++i) table.kinds.push_back(static_cast<Cells::Kind>(random() % 9));
  for (std::uint64_t rows = 2 + random() % 10; rows > 0; --rows) {
    Texts row;
    for (const Cells::Kind kind : table.kinds) row.push_back(cells.cell(kind));
    // A cell may be missing, but of one column: an empty line is no record.
    if (known && columns > 1 && random() % 4 == 0) row[random() % columns] = random() % 2 == 0 ? "" : "NA";
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// Lines that people and programs leave above a table, with a name in them.
std::string line_above(std::mt19937_64& random, const std::string& name) {
  switch (random() % 4) {
    case 0:
      return "# exported for " + name + "\n";
    case 1:
      return "Report about " + name + "\n";
    case 2:
      return "Patient:\t" + name + "\n";
    default:
      return "\n";
  }
}

void require_unsaid(const Said& said, const Texts& cells) {
  for (const std::string& cell : cells) {
    if (cell.size() < 3 || cell == "true" || cell == "false") continue;  // words of every draft
    CAPTURE(cell);
    CHECK_FALSE(has(said.all(), cell));
  }
}

/// How many tables were refused, drafted with the question, and drafted with their true names.
struct Counts {
  int refused = 0, asked = 0, drafted = 0;
};

Counts judge_tables(std::uint64_t seed, int tables) {
  std::mt19937_64 random(seed);
  Counts counts;
  for (int i = 0; i < tables; ++i) {
    const Table table = drawn_table(random);
    const std::string records = table.lines();
    CAPTURE(seed, i, records);

    const Said without = CsvText(records).said();
    if (without.draft) {
      // Of texts alone it cannot be told.
      CHECK(table.of_texts());
      CHECK(without.asks_for_the_first_line());
      ++counts.asked;
    } else {
      require_unsaid(without, table.rows.front());
      ++counts.refused;
    }

    const std::string above = line_above(random, "Zqmeyerin");
    const bool known = table.delimiter != " " && table.delimiter != ":";
    if (known && table.kinds.size() > 1) {
      const Said titled = CsvText(above + table.line(table.names()) + records).said();
      CAPTURE(above);
      CHECK_FALSE(titled.draft);
      require_unsaid(titled, {"Zqmeyerin"});
      const Said named = CsvText(table.line(table.names()) + records).said();
      CAPTURE(named.refusal);
      CHECK(named.draft);
      for (const Texts& row : table.rows) require_unsaid(named, row);
      ++counts.drafted;
    }
  }
  return counts;
}

}  // namespace

TEST_CASE(
    "policy init: the first record of a table without names is in no draft and no message, of random tables",
    "[engine][draft]") {
  const Counts counts = judge_tables(20261126, 700);
  CHECK(counts.refused > 450);
  CHECK(counts.asked > 9);
  CHECK(counts.drafted > 320);
}

TEST_CASE("policy init: the first record of many more random tables is in no draft and no message",
          "[engine][draft][.long]") {
  CHECK(judge_tables(std::random_device()(), 60'000).refused > 40'000);
}
