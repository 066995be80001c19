// One person's cell against the sources themselves: a CSV file, and tables of SQLite of every encoding and
// affinity. Whatever the cell is, there is an answer, and it keeps to the derived sensitivity.
#include <SQLiteCpp/SQLiteCpp.h>

#include "neighbours.hpp"
#include "support/case_table.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;

namespace {

const std::vector<std::string> kTypedColumns = {"id", "x", "y", "g", "d", "b"};
const std::vector<std::string> kPlain = {"q", "2", "1.5", "B", "2024-02-29", "true"};

/// Unit `id` with one row each; an integer, a double, a string, a date and a boolean.
Dataset toy() {
  Dataset dataset;
  dataset.name = "toy";
  dataset.unit = {"id", 1};
  dataset.rows = {10, false};
  dataset.neighbours = Neighbours::replace_one;
  dataset.columns = {
      number_column("x", ColumnType::integer, -2, 3), number_column("y", ColumnType::real, -2, 3),
      value_column("g", ColumnType::string, {"A", "B"}), value_column("d", ColumnType::date, {}),
      value_column("b", ColumnType::boolean, {"false", "true"})};
  return dataset;
}

std::vector<Setting> settings(const Dataset& dataset) {
  std::vector<Setting> result;
  for (const auto& [statistic, by, where] :
       {std::tuple("count", "g", "d >= 2024-02-01"), std::tuple("units", "b", "y > 0 and g != 'Z'"),
        std::tuple("mean:x", "", "b = true"), std::tuple("variance:y", "g", "x >= -5")}) {
    Setting setting{dataset, question(statistic, by, where), {}};
    setting.derivation = derive(dataset, setting.question);
    result.push_back(std::move(setting));
  }
  return result;
}

Values answered_from(const Setting& setting, const TemporaryFolder& folder) {
  return compute_exact_answer(setting.dataset, setting.question, setting.derivation, folder.path("")).values;
}

std::string in_quotes(const std::string& cell) {
  std::string result = "\"";
  for (const char c : cell) result += c == '"' ? "\"\"" : std::string(1, c);
  return result + "\"";
}

/// As somebody would write it who does not know of quotes, or quoted; a line end in it makes two lines.
std::string csv_of(std::vector<std::string> cells) {
  std::string line;
  for (const std::string& cell : cells) line += (line.empty() ? "" : ",") + cell;
  return "id,x,y,g,d,b\np,1,1,A,2024-01-31,true\n" + line + "\nr,3,2,B,2024-02-29,false\n";
}

/// SQLite's literals of every storage class, the hostile texts among them.
std::vector<std::string> hostile_literals() {
  std::vector<std::string> result = words_of(
      "NULL x'' x'ff00' zeroblob(5000) 9e999 -9e999 1e308 -5e-324 -0.0 "
      "9007199254740993.0 9223372036854775807 -9223372036854775808 '' hex(zeroblob(5000))");
  for (const std::string& text : hostile_cells()) {
    std::string hex;
    for (const char c : text) {
      constexpr const char* kDigits = "0123456789abcdef";
      hex += kDigits[static_cast<unsigned char>(c) >> 4U];
      hex += kDigits[static_cast<unsigned char>(c) & 15U];
    }
    result.push_back("CAST(x'" + hex + "' AS TEXT)");
  }
  return result;
}

void insert(SQLite::Database& database, const std::string& table, const std::vector<std::string>& literals) {
  std::string values;
  for (const std::string& literal : literals) values += (values.empty() ? "" : ", ") + literal;
  database.exec("INSERT INTO " + table + " VALUES (" + values + ")");
}

/// A table with the plain row, and one for each literal in each of its cells.
std::size_t fill(SQLite::Database& database, const std::string& affinity) {
  std::size_t tables = 0;
  const auto add = [&](const std::vector<std::string>& literals) {
    const std::string table = "t" + std::to_string(tables++);
    std::string columns;
    for (const std::string& column : kTypedColumns)
      columns += (columns.empty() ? "" : ", ") + column + " " + affinity;
    database.exec("CREATE TABLE " + table + "(" + columns + ")");
    insert(database, table, {"'p'", "1", "1", "'A'", "'2024-01-31'", "'true'"});
    insert(database, table, literals);
    insert(database, table, {"'r'", "3", "2", "'B'", "'2024-02-29'", "'false'"});
  };
  const std::vector<std::string> plain = {"'q'", "2", "1.5", "'B'", "'2024-02-29'", "'true'"};
  add(plain);
  for (const std::string& literal : hostile_literals()) {
    for (std::size_t place = 0; place < plain.size(); ++place) {
      std::vector<std::string> literals = plain;
      literals[place] = literal;
      add(literals);
    }
  }
  return tables;
}

}  // namespace

TEST_CASE("hostile cell: no cell of a CSV file decides whether there is an answer",
          "[engine][neighbour][hostile][csv]") {
  const TemporaryFolder folder;
  Dataset dataset = toy();
  dataset.csv.emplace();
  dataset.csv->path = "toy.csv";
  for (const Setting& setting : settings(dataset)) {
    folder.write("toy.csv", csv_of(kPlain));
    const Values before = answered_from(setting, folder);
    for (const std::string& hostile : hostile_cells()) {
      for (std::size_t place = 0; place < kPlain.size(); ++place) {
        for (const std::string& cell : {hostile, in_quotes(hostile)}) {
          std::vector<std::string> cells = kPlain;
          cells[place] = cell;
          folder.write("toy.csv", csv_of(cells));
          CAPTURE(setting.question.statistic.text(), place, cell);
          Values after;
          REQUIRE_NOTHROW(after = answered_from(setting, folder));
          REQUIRE(fault_between(setting.derivation, before, after).empty());
        }
      }
    }
  }
}

TEST_CASE("hostile cell: no cell of an SQLite table decides whether there is an answer",
          "[engine][neighbour][hostile][sqlite]") {
  for (const std::string encoding : {"UTF-8", "UTF-16le", "UTF-16be"}) {
    for (const std::string affinity : {"", "INTEGER", "REAL", "NUMERIC", "TEXT", "BLOB"}) {
      // Every encoding with two affinities, every affinity with one encoding.
      if (encoding != "UTF-8" && affinity != "" && affinity != "TEXT") continue;
      const TemporaryFolder folder;
      std::size_t tables = 0;
      {
        SQLite::Database database(folder.path("toy.db"), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
        database.exec("PRAGMA encoding = '" + encoding + "'; PRAGMA journal_mode = OFF; BEGIN");
        tables = fill(database, affinity);
        database.exec("COMMIT");
      }
      Dataset dataset = toy();
      dataset.sqlite = SqliteSource{"toy.db", "t0"};
      std::vector<Setting> asked = settings(dataset);
      for (std::size_t i = 0; i < asked.size(); ++i) {
        Setting& setting = asked[i];
        const Values before = answered_from(setting, folder);
        for (std::size_t table = 1; table < tables; ++table) {
          if (table % asked.size() != i) continue;
          setting.dataset.sqlite->table = "t" + std::to_string(table);
          CAPTURE(encoding, affinity, setting.question.statistic.text(), table);
          Values after;
          REQUIRE_NOTHROW(after = answered_from(setting, folder));
          REQUIRE(fault_between(setting.derivation, before, after).empty());
        }
      }
    }
  }
}
