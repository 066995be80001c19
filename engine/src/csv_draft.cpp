// The columns of a CSV file as a draft. Cells are looked at for the guess of types and nothing else: bounds
// and values taken from the data would publish them.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

#include "column_cell.hpp"
#include "draft_text.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/csv_records.hpp"
#include "epsilog/ledger/open_ledgers.hpp"
#include "policy_decoder.hpp"
#include "policy_values.hpp"
#include "yaml_writer.hpp"

namespace epsilog::engine {
namespace {

/// Cells that usually mean "missing". Only these may be named in a draft.
constexpr std::string_view kMissing[] = {"NA", "N/A", "NULL", "null", "NaN", "nan", "None", "-", "?"};

bool means_missing(std::string_view cell) {
  return std::find(std::begin(kMissing), std::end(kMissing), cell) != std::end(kMissing);
}

/// Which types every cell seen so far can be read as.
class TypeGuess final {
 public:
  void see(std::string_view cell) {
    if (cell.empty() || means_missing(cell)) return;
    seen_ = true;
    // A leading zero belongs to a code: 007 is not 7.
    const std::size_t digit = cell.starts_with('-') || cell.starts_with('+') ? 1 : 0;
    const bool code =
        cell.size() > digit + 1 && cell[digit] == '0' && cell[digit + 1] >= '0' && cell[digit + 1] <= '9';
    integer_ = integer_ && !code && reads(ColumnType::integer, '.', cell);
    point_ = point_ && !code && reads(ColumnType::real, '.', cell);
    comma_ = comma_ && !code && reads(ColumnType::real, ',', cell);
    boolean_ = boolean_ && !reads(ColumnType::integer, '.', cell) && reads(ColumnType::boolean, '.', cell);
    date_ = date_ && reads(ColumnType::date, '.', cell);
  }

  [[nodiscard]] bool needs_decimal_comma() const { return seen_ && comma_ && !point_; }
  [[nodiscard]] bool needs_decimal_point() const { return seen_ && point_ && !comma_; }
  [[nodiscard]] bool seen() const { return seen_; }
  [[nodiscard]] ColumnType type(char decimal_point) const {
    if (!seen_) return ColumnType::string;
    if (integer_) return ColumnType::integer;
    if (decimal_point == ',' ? comma_ : point_) return ColumnType::real;
    if (boolean_) return ColumnType::boolean;
    return date_ ? ColumnType::date : ColumnType::string;
  }

 private:
  static bool reads(ColumnType type, char decimal_point, std::string_view cell) {
    return !CellReader(type, 0, {decimal_point}).read({cell, false}).missing;
  }

  bool seen_ = false;
  bool integer_ = true;
  bool point_ = true;
  bool comma_ = true;
  bool boolean_ = true;
  bool date_ = true;
};

struct Glance {
  std::vector<std::string> header;
  std::vector<TypeGuess> guesses;    ///< of each column
  std::vector<std::string> missing;  ///< which of kMissing occurred, in that order
};

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw SourceError("csv '" + path + "': " + why);
}

std::ifstream opened(const std::string& path) {
  if (ledger::belongs_to_open_ledger(path)) fail(path, "belongs to a ledger that is in use");
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) fail(path, "is a directory");
  const bool exists = std::filesystem::exists(path, ignored);
  // A pipe would be empty when it is looked at again.
  if (exists && !std::filesystem::is_regular_file(path, ignored)) fail(path, "not a regular file");
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  if (!stream) fail(path, std::strerror(errno));
  return stream;
}

/// The header and the first rows under one delimiter.
Glance look(const std::string& path, char delimiter, std::size_t rows) {
  std::ifstream stream = opened(path);
  CsvRecords records({delimiter, false}, [&stream](char* data, std::size_t size) {
    stream.read(data, static_cast<std::streamsize>(size));
    return static_cast<std::size_t>(stream.gcount());
  });
  if (!records.next()) fail(path, "is empty: its first line must name the columns");
  if (records.malformed()) fail(path, "its first line must name the columns, in UTF-8 and correctly quoted");
  Glance glance;
  glance.header.assign(records.fields().begin(), records.fields().end());
  glance.guesses.resize(glance.header.size());
  std::set<std::string_view> missing;
  for (std::size_t row = 0; row < rows && records.next(); ++row) {
    if (records.malformed() || records.fields().size() != glance.header.size()) continue;
    for (std::size_t i = 0; i < glance.guesses.size(); ++i) {
      const std::string_view cell = records.fields()[i];
      glance.guesses[i].see(cell);
      for (const std::string_view known : kMissing) {
        if (cell == known) missing.insert(known);
      }
    }
  }
  for (const std::string_view known : kMissing) {
    if (missing.contains(known)) glance.missing.emplace_back(known);
  }
  return glance;
}

/// The one that cuts the header into the most names; a comma before the others. A header that is correctly
/// quoted for one may not be for another.
char delimiter_of(const std::string& path) {
  char best = ',';
  std::size_t most = 0;
  for (const char delimiter : {',', ';', '\t', '|'}) {
    try {
      const std::size_t names = look(path, delimiter, 0).header.size();
      if (names > most) best = delimiter;
      most = std::max(most, names);
    } catch (const SourceError&) {
      continue;  // said by the last look if it is so for all
    }
  }
  return best;
}

char decimal_point_of(const Glance& glance, char delimiter) {
  if (delimiter == ',') return '.';
  const auto count = [&glance](bool (TypeGuess::*needs)() const) {
    return std::count_if(glance.guesses.begin(), glance.guesses.end(),
                         [needs](const TypeGuess& guess) { return (guess.*needs)(); });
  };
  return count(&TypeGuess::needs_decimal_comma) > count(&TypeGuess::needs_decimal_point) ? ',' : '.';
}

std::string source_line(const std::string& source, char delimiter, char decimal_point) {
  std::string line = "source: {csv: " + yaml::scalar(source);
  if (delimiter != ',') line += ", delimiter: " + yaml::scalar(std::string(1, delimiter));
  if (decimal_point != '.') line += ", decimal: " + yaml::scalar(std::string(1, decimal_point));
  return line + "}";
}

void write_column(const std::string& name, const TypeGuess& guess, char decimal_point, DraftText& out) {
  Column column;
  column.type = guess.type(decimal_point);
  const std::string subject = "columns." + name + ".";
  if (!guess.seen()) {
    out.todo(3, subject + "type: no cell was seen; say what they hold");
  }
  switch (column.type) {
    case ColumnType::integer:
    case ColumnType::decimal:
    case ColumnType::real:
      out.todo(3, subject +
                      "bounds: [LOWER, UPPER], to sum or average it; from what is known of the matter, "
                      "never from the data");
      break;
    case ColumnType::string:
      out.todo(3, subject +
                      "values: [A, B, …], all that there may be, to group by it; from what is known of the "
                      "matter, never from the data");
      break;
    case ColumnType::boolean:
    case ColumnType::date:
      break;
  }
  column.values.clear();
  out.line(3, name + ": " + value_text(column));
}

void write_columns(const Glance& glance, char decimal_point, DraftText& out) {
  out.line(2, "columns:");
  std::size_t declared = 0;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < glance.header.size(); ++i) {
    const std::string& name = glance.header[i];
    if (!seen.insert(name).second) {
      out.todo(3, "columns: " + shown(name) + " stands twice in the header: rename one of them in the file");
    } else if (!is_column_name(name)) {
      out.todo(
          3,
          "columns: " + shown(name) +
              " cannot be named here: names are letters, digits and _, and no words of --where; rename it in "
              "the file, then");
      Column column;
      column.type = glance.guesses[i].type(decimal_point);
      out.commented_out(3, column_name_from(name) + ": " + value_text(column));
    } else {
      write_column(name, glance.guesses[i], decimal_point, out);
      ++declared;
    }
  }
  if (declared == 0) out.line(3, "{}");
}

}  // namespace

PolicyDraft draft_from_csv(const std::string& path, const std::string& source, const std::string& dataset) {
  const char delimiter = delimiter_of(path);
  const Glance glance = look(path, delimiter, kRowsGuessedFrom);
  const char decimal_point = decimal_point_of(glance, delimiter);

  DraftText out;
  out.explain(0, "A policy begun from the header of " + std::filesystem::path(path).filename().string() +
                     ". Decide every TODO; then `epsilog policy check` says whether the policy is complete.");
  out.explain(0, "");
  out.explain(
      0, "Types were guessed from the first " + std::to_string(kRowsGuessedFrom) +
             " rows at most: confirm each. Nothing else here comes from the data, and nothing should: a "
             "bound or a value copied from the data is published with this file, and tells of the people in "
             "it.");
  out.line(0, "version: 1");
  out.line(0, "datasets:");
  out.line(1, dataset + ":");
  if (!glance.missing.empty()) {
    out.todo(2, "source.null: cells such as " + joined(glance.missing) +
                    " were passed over in the guess of types; if they mean missing, add null: " +
                    yaml::sequence(glance.missing));
  }
  out.line(2, source_line(source, delimiter, decimal_point));
  out.explain(2, "Privacy is promised to a unit: everything that it contributes is hidden together.");
  out.todo(2, kUnitQuestion);
  out.explain(2, "How many rows there are is private; only a bound on it is public.");
  out.todo(2, kRowsQuestion);
  out.explain(2, "add-remove: one unit more or less is hidden. replace-one: one unit with other rows is.");
  out.line(2, "neighbours: add-remove");
  out.explain(2, "Each release takes a part of the budget; when it is spent, nothing is released any more.");
  out.todo(2, kBudgetQuestion);
  out.explain(
      2,
      "Types: int, decimal (with scale: DIGITS, for money), double, string, bool, date (2024-01-31). Cells "
      "that cannot be read as the type are missing.");
  write_columns(glance, decimal_point, out);
  return out.finish();
}

}  // namespace epsilog::engine
