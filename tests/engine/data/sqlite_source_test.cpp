#include "sqlite_source.hpp"
#include "epsilog/engine/source_io.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>
#include <unistd.h>

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

const char* const kVisitRows =
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
  const ClinicDatabase clinic(kVisitRows);
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
      "CREATE TABLE g(a, x AS (a || '!') STORED); INSERT INTO g(a) VALUES ('y');"
      "CREATE TABLE k(a TEXT COLLATE NOCASE, b, x, PRIMARY KEY(a COLLATE BINARY, b DESC)) WITHOUT ROWID;"
      "INSERT INTO k VALUES ('a', 1, '4'), ('B', 1, '2'), ('A', 1, '1'), ('a', 2, '3');");
  CHECK(clinic.texts("t", {"x"}) == std::vector<std::string>{"a", "b", "c"});
  CHECK(clinic.texts("w", {"x"}) == std::vector<std::string>{"a", "b", "c"});
  CHECK(clinic.texts("r", {"x"}) == std::vector<std::string>{"a", "b"});
  CHECK(clinic.texts("g", {"x"}) == std::vector<std::string>{"y!"});
  CHECK(clinic.texts("k", {"x"}) == std::vector<std::string>{"1", "2", "3", "4"});
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
  const ClinicDatabase clinic(std::string(kVisitRows) +
                              "CREATE VIEW seen AS SELECT * FROM visits; CREATE TABLE narrow(id, age);");
  const std::string file = "sqlite '" + clinic.folder().path("clinic.db") + "': ";
  const auto ask = [&](const Dataset& dataset) { return clinic.answer(dataset, question("count")); };
  CHECK_THROWS_WITH(ask(clinic.dataset("visit")), file + "has no table 'visit'");
  CHECK_THROWS_WITH(
      ask(clinic.dataset("seen")),
      file +
          "'seen' is a view, not a table: its rows have no fixed order. Make a table of it, CREATE "
          "TABLE … AS SELECT …");
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
  const ClinicDatabase clinic(kVisitRows);
  const auto before = std::filesystem::last_write_time(clinic.folder().path("clinic.db"));
  std::filesystem::permissions(clinic.folder().path("clinic.db"), std::filesystem::perms::owner_read);
  CHECK(clinic.answer("count") == 4);
  CHECK(std::filesystem::last_write_time(clinic.folder().path("clinic.db")) == before);
}

namespace {

/// What reading the source to its end throws, "" if nothing.
std::string failure_of(RowSource& source, std::size_t columns) {
  std::vector<RawCell> row(columns);
  try {
    while (source.next(row) != RowSource::Record::none) continue;
  } catch (const SourceIo& error) {
    return error.what();
  }
  return "";
}

std::unique_ptr<RowSource> opened(const ClinicDatabase& clinic, const std::string& table,
                                  const std::vector<std::string>& columns) {
  return open_sqlite_source(clinic.folder().path("clinic.db"), table, columns, columns);
}

std::string what_opening_throws(const std::string& path) {
  try {
    (void)open_sqlite_source(path, "visits", {"id"}, {"id"});
  } catch (const SourceError& error) {
    return error.what();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A thousand rows on several hundred pages, the first of which is small.
const char* const kLarge =
    "CREATE TABLE visits(id, note); INSERT INTO visits VALUES ('p', 'x');"
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)"
    "INSERT INTO visits SELECT i, hex(zeroblob(1000)) FROM n;";

/// As long as it lives nobody may write to the folder, and root is nobody.
class Unprivileged {
 public:
  explicit Unprivileged(std::string folder) : folder_(std::move(folder)) {
    permit(0555);
    if (::geteuid() == 0) REQUIRE(::seteuid(kNobody) == 0);
  }
  ~Unprivileged() {
    if (::getuid() == 0) (void)(::seteuid(0) == 0);
    permit(0755);
  }
  Unprivileged(const Unprivileged&) = delete;
  Unprivileged& operator=(const Unprivileged&) = delete;

 private:
  static constexpr uid_t kNobody = 65534;
  void permit(unsigned mode) const {
    std::filesystem::permissions(folder_, static_cast<std::filesystem::perms>(mode));
  }
  std::string folder_;
};

const std::string kUnreadable = SourceIo(SourceIo::Cause::unreadable).what();

}  // namespace

TEST_CASE("sqlite source: a VIRTUAL column is refused where it is read, whatever it would compute",
          "[engine][sqlite][negative]") {
  // abs() of the least integer is an error of the row that holds it, once the column is read.
  const std::string table = "CREATE TABLE visits(id, raw, cost, score, ward, smoker, seen);";
  const std::string added = "ALTER TABLE visits ADD COLUMN age INT AS (abs(raw))";
  const ClinicDatabase harmless(table + "INSERT INTO visits(id, raw) VALUES ('p', 30), ('q', -40);" + added);
  const ClinicDatabase harmful(
      table + "INSERT INTO visits(id, raw) VALUES ('p', 30), ('q', -9223372036854775808);" + added);
  for (const ClinicDatabase* clinic : {&harmless, &harmful}) {
    const std::string why =
        "sqlite '" + clinic->folder().path("clinic.db") +
        "': column 'age' of table 'visits' is a VIRTUAL generated column: what it computes of "
        "one row could fail. Make it STORED";
    CHECK_THROWS_WITH(clinic->answer("sum:age"), why);
    CHECK_THROWS_WITH(clinic->answer("count", "age > 3"), why);
    CHECK_THROWS_WITH(check_data(clinic->dataset(), clinic->folder().path("")), why);
    CHECK(clinic->answer("count") == 2);
    CHECK(clinic->answer("sum:cost") == 0);
  }
}

TEST_CASE("sqlite source: what is computed once and STORED is read like any other column",
          "[engine][sqlite][exact]") {
  const ClinicDatabase clinic(
      "CREATE TABLE visits(id, raw, age INT AS (abs(raw)) STORED, cost, score, ward, smoker, seen);"
      "INSERT INTO visits(id, raw) VALUES ('p', 30), ('q', -40);");
  CHECK(clinic.answer("sum:age") == 70);
}

TEST_CASE("sqlite source: a text of more than 16 MiB is missing", "[engine][sqlite][exact]") {
  const ClinicDatabase clinic(
      "CREATE TABLE t(x TEXT, y, z);"
      "INSERT INTO t VALUES (substr(hex(zeroblob(8388609)), 1, 16777216), 1, 'a'),"
      " (substr(hex(zeroblob(8388609)), 1, 16777217), 2, 'b'),"
      " (CAST(zeroblob(16777217) AS TEXT), zeroblob(16777217), 'c'), (4, 4.5, 'd');");
  auto texts = clinic.texts("t", {"x", "y", "z"});
  for (std::string& text : texts) {
    if (text.size() > 10) text = std::to_string(text.size());
  }
  CHECK(texts ==
        std::vector<std::string>{"16777216", "1", "a", "?", "2", "b", "?", "?", "c", "4", "4.5", "d"});
}

TEST_CASE("sqlite source: names that shadow those of SQLite's own tables are the table's",
          "[engine][sqlite][exact]") {
  const ClinicDatabase clinic(
      "CREATE TABLE pragma_table_list(schema, name, type, wr); CREATE TABLE pragma_table_xinfo(arg);"
      "CREATE TABLE t(t, \"t.t\", text); INSERT INTO t VALUES (1, 2, 3);");
  CHECK(clinic.texts("t", {"t", "t.t", "text"}) == std::vector<std::string>{"1", "2", "3"});
}

TEST_CASE("sqlite source: a collation that is not there is an error before the first row or none at all",
          "[engine][sqlite][negative]") {
  const TemporaryFolder folder;
  SQLite::Database database(folder.path("clinic.db"), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  sqlite3_create_collation(database.getHandle(), "ours", SQLITE_UTF8, nullptr,
                           [](void*, int a, const void*, int b, const void*) { return a - b; });
  database.exec(
      "CREATE TABLE t(x TEXT COLLATE ours); INSERT INTO t VALUES ('bb'), ('a'); CREATE INDEX by_x ON t(x);"
      "CREATE TABLE w(x TEXT COLLATE ours PRIMARY KEY) WITHOUT ROWID; INSERT INTO w VALUES ('bb'), ('a');");
  const auto open = [&](const std::string& table) {
    return open_sqlite_source(folder.path("clinic.db"), table, {"x"}, {"x"});
  };
  CHECK(failure_of(*open("t"), 1).empty());
  CHECK_THROWS_AS(open("w"), SourceError);
}

TEST_CASE("sqlite source: what is renamed once the source is open is read as it was",
          "[engine][sqlite][exact]") {
  const ClinicDatabase clinic(
      "PRAGMA journal_mode = WAL; CREATE TABLE t(id, x); INSERT INTO t VALUES ('p', 'y');");
  const auto source = opened(clinic, "t", {"id", "x"});
  SQLite::Database writer(clinic.folder().path("clinic.db"), SQLite::OPEN_READWRITE);
  writer.exec("ALTER TABLE t RENAME COLUMN id TO code; INSERT INTO t VALUES ('q', 'z')");
  std::vector<RawCell> row(2);
  REQUIRE(source->next(row) == RowSource::Record::readable);
  CHECK(row[0].text == "p");
  CHECK(row[1].text == "y");
  CHECK(source->next(row) == RowSource::Record::none);
}

TEST_CASE("sqlite source: damage, a file cut short and lack of memory are told by one message",
          "[engine][sqlite][negative]") {
  const auto after = [](const auto& harm) {
    const ClinicDatabase clinic(kLarge);
    const auto source = opened(clinic, "visits", {"id", "note"});
    std::vector<RawCell> row(2);
    REQUIRE(source->next(row) == RowSource::Record::readable);
    harm(clinic.folder().path("clinic.db"));
    const std::string told = failure_of(*source, 2);
    sqlite3_hard_heap_limit64(0);
    return told;
  };
  CHECK(after([](const std::string&) {}).empty());
  CHECK(after([](const std::string& file) {
          std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
          stream.seekp(40 * 4096);
          stream << std::string(4096, '\xff');
        }) == kUnreadable);
  CHECK(after([](const std::string& file) { std::filesystem::resize_file(file, 40 * 4096); }) == kUnreadable);
  CHECK(after([](const std::string&) { sqlite3_hard_heap_limit64(sqlite3_memory_used() + 1); }) ==
        kUnreadable);
}

TEST_CASE("sqlite source: a hot journal and a log that cannot be used are told with their remedy",
          "[engine][sqlite][negative]") {
  const ClinicDatabase clinic(kLarge);
  const std::string file = clinic.folder().path("clinic.db");
  const std::string hot = clinic.folder().path("hot.db");
  {
    SQLite::Database writer(file, SQLite::OPEN_READWRITE);
    // So little cache that the change reaches the file before it is committed.
    writer.exec("PRAGMA cache_size = 10; BEGIN; UPDATE visits SET note = note || 'y'");
    std::filesystem::copy_file(file, hot);
    std::filesystem::copy_file(file + "-journal", hot + "-journal");
    writer.exec("ROLLBACK");
  }
  CHECK(has(what_opening_throws(hot), "hot journal"));
  CHECK(has(what_opening_throws(hot), "sqlite3 '" + hot + "' 'PRAGMA quick_check'"));

  SQLite::Database(file, SQLite::OPEN_READWRITE).exec("PRAGMA journal_mode = WAL");
  CHECK(what_opening_throws(file).empty());
  for (const bool with_log : {true, false}) {
    std::filesystem::remove(file + "-shm");
    if (!with_log) std::filesystem::remove(file + "-wal");
    const Unprivileged reader(clinic.folder().path(""));
    const std::string told = what_opening_throws(file);
    CAPTURE(with_log, told);
    CHECK(has(told, "'" + file + "-shm'"));
    CHECK(has(told, "'PRAGMA journal_mode = DELETE'"));
  }
}
