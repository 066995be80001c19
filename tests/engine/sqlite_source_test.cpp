#include "sqlite_source.hpp"

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "rows_memory.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;

namespace {

class ClinicDatabase {
 public:
  explicit ClinicDatabase(const std::string& script) {
    SQLite::Database database(folder_.path("clinic.db"), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    database.exec(script);
  }
  [[nodiscard]] const TemporaryFolder& folder() const { return folder_; }

  [[nodiscard]] Dataset dataset(const std::string& table = "visits") const {
    Dataset result = visits();
    result.csv.reset();
    result.sqlite = SqliteSource{"clinic.db", table};
    return result;
  }

  [[nodiscard]] std::vector<Rational> answer(const Dataset& dataset, const Question& asked) const {
    return compute_exact_answer(dataset, asked, derive(dataset, asked), folder_.path("")).values[0];
  }
  [[nodiscard]] Rational answer(const std::string& statistic, const std::string& where = "") const {
    return answer(dataset(), question(statistic, "", where))[0];
  }

  /// The texts of the table's columns, "?" for a missing cell.
  [[nodiscard]] std::vector<std::string> texts(const std::string& table,
                                               const std::vector<std::string>& columns) const {
    const auto source = open_sqlite_source(folder_.path("clinic.db"), table, columns, columns);
    std::vector<std::string> result;
    std::vector<RawCell> row(columns.size());
    while (source->next(row) != RowSource::Record::none) {
      for (const RawCell& cell : row) result.push_back(cell.missing ? "?" : std::string(cell.text));
    }
    return result;
  }

 private:
  TemporaryFolder folder_;
};

const char* const kVisits =
    "CREATE TABLE visits(id, age, cost, score, ward, smoker, seen);"
    "INSERT INTO visits VALUES"
    " (1, 30, 12.34, 0.1, 'A', 1, '2024-01-31'),"
    " ('1', '40', '0.66', '0.25', 'B', 'false', '2024-02-29'),"
    " (1.0, 50, 1, 1, 'A', 0, NULL),"
    " ('q', 60.0, 12.345, x'31', 'A', NULL, 'x'),"
    " ('r', NULL, '', 'nan', '', 2, ''),"
    " (NULL, 70, 5, 0, 'A', 1, '2024-01-31'),"
    " (x'71', 80, 5, 0, 'A', 1, '2024-01-31');";

}  // namespace

TEST_CASE("sqlite source: cells of every storage class are read by the rules for cells",
          "[engine][sqlite][exact]") {
  const ClinicDatabase clinic(kVisits);
  // 1, '1' and 1.0 are one unit, of whose three rows the first two are kept.
  CHECK(clinic.answer("units") == 3);
  CHECK(clinic.answer("count") == 4);
  CHECK(clinic.answer("sum:age") == 30 + 40 + 60);
  CHECK(clinic.answer("sum:cost") == 13);
  CHECK(clinic.answer("sum:score") == Rational(0.1) + Rational(1, 4));
  CHECK(clinic.answer("count", "smoker = true") == 1);
  CHECK(clinic.answer("count", "seen >= 2024-01-31") == 2);
  CHECK(clinic.answer(clinic.dataset(), question("count", "ward")) == std::vector<Rational>{2, 1, 0});
}

TEST_CASE("sqlite source: a real is the shortest text that denotes it, a blob is missing",
          "[engine][sqlite][exact]") {
  const ClinicDatabase clinic(
      "CREATE TABLE t(x); INSERT INTO t VALUES (3.0), (-0.0), (0.1), (1e21), (5e-324), (9e999), "
      "(-9223372036854775808),"
      " ('text'), (''), (x'61'), (NULL), (CAST(x'ff' AS TEXT));");
  const auto texts = clinic.texts("t", {"x"});
  CHECK(texts[0] == "3");
  CHECK(texts[1] == "0");
  CHECK(texts[2] == "0.1");
  CHECK(texts[3] == "1000000000000000000000");
  CHECK(std::strtod(texts[4].c_str(), nullptr) == 5e-324);
  CHECK(std::vector<std::string>(texts.begin() + 5, texts.end()) ==
        std::vector<std::string>{"?", "-9223372036854775808", "text", "?", "?", "?", "?"});
}

TEST_CASE("sqlite source: rows come in rowid order, or in that of the primary key",
          "[engine][sqlite][exact]") {
  const ClinicDatabase clinic(
      "CREATE TABLE t(n INTEGER PRIMARY KEY, x); INSERT INTO t VALUES (3, 'c'), (1, 'a'), (2, 'b');"
      "CREATE INDEX by_x ON t(x DESC, n);"
      "CREATE TABLE w(b, a, x, PRIMARY KEY(a, b)) WITHOUT ROWID; INSERT INTO w VALUES (1, 2, 'c'), (2, 1, "
      "'b'), (1, 1, 'a');"
      "CREATE TABLE r(rowid, x); INSERT INTO r VALUES (9, 'a'), (1, 'b');"
      "CREATE TABLE s(rowid, _rowid_, oid, x); INSERT INTO s VALUES (1, 1, 1, 'a');"
      "CREATE TABLE g(a, x AS (a || '!')); INSERT INTO g(a) VALUES ('y');");
  CHECK(clinic.texts("t", {"x"}) == std::vector<std::string>{"a", "b", "c"});
  CHECK(clinic.texts("w", {"x"}) == std::vector<std::string>{"a", "b", "c"});
  CHECK(clinic.texts("r", {"x"}) == std::vector<std::string>{"a", "b"});
  CHECK(clinic.texts("g", {"x"}) == std::vector<std::string>{"y!"});
  CHECK_THROWS_AS(clinic.texts("s", {"x"}), SourceError);
}

TEST_CASE("sqlite source: names are quoted, whatever they hold", "[engine][sqlite][exact]") {
  const ClinicDatabase clinic(
      "CREATE TABLE \"odd \"\"name\"\"; --\"(\"a b\", \"select\"); INSERT INTO \"odd \"\"name\"\"; --\" "
      "VALUES ('x', 'y');");
  CHECK(clinic.texts("odd \"name\"; --", {"select", "a b"}) == std::vector<std::string>{"y", "x"});
}

TEST_CASE("sqlite source: a source of the wrong shape is refused, naming file and column",
          "[engine][sqlite][negative]") {
  const ClinicDatabase clinic(std::string(kVisits) +
                              "CREATE VIEW seen AS SELECT * FROM visits; CREATE TABLE narrow(id, age);");
  const std::string file = "sqlite '" + clinic.folder().path("clinic.db") + "': ";
  const auto ask = [&](const Dataset& dataset) { return clinic.answer(dataset, question("count")); };
  CHECK_THROWS_WITH(ask(clinic.dataset("visit")), file + "has no table 'visit'");
  CHECK_THROWS_WITH(ask(clinic.dataset("seen")),
                    file + "'seen' is a view, not a table: its rows have no fixed order");
  CHECK_THROWS_WITH(ask(clinic.dataset("narrow")), file + "table 'narrow' has no column 'cost'");
  Dataset dataset = clinic.dataset();
  dataset.sqlite->path = "absent.db";
  CHECK_THROWS_WITH(ask(dataset), "sqlite '" + clinic.folder().path("absent.db") + "': no such file");
  dataset.sqlite->path = ".";
  CHECK_THROWS_AS(ask(dataset), SourceError);
  clinic.folder().write("text.db", std::string(4096, 'x'));
  dataset.sqlite->path = "text.db";
  CHECK_THROWS_AS(ask(dataset), SourceError);
}

TEST_CASE("sqlite source: reading changes nothing and needs no write permission",
          "[engine][sqlite][negative]") {
  const ClinicDatabase clinic(kVisits);
  const auto before = std::filesystem::last_write_time(clinic.folder().path("clinic.db"));
  std::filesystem::permissions(clinic.folder().path("clinic.db"), std::filesystem::perms::owner_read);
  CHECK(clinic.answer("count") == 4);
  CHECK(std::filesystem::last_write_time(clinic.folder().path("clinic.db")) == before);
}
