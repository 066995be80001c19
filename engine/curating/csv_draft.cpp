// The columns of a CSV file as a draft. Cells are looked at for the guesses of types and of how the file is
// written, and nothing else: bounds and values taken from the data would publish them.
#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>

#include "csv_first_line.hpp"
#include "csv_misfit.hpp"
#include "csv_profile.hpp"
#include "draft_text.hpp"
#include "policy_decoder.hpp"
#include "policy_values.hpp"
#include "yaml_writer.hpp"

namespace epsilog::engine {
namespace {

/// How many columns could be read so, and how many of their cells. A column could be if nine cells of ten
/// can.
struct Fit {
  std::size_t columns = 0;
  std::uint64_t cells = 0;
  friend auto operator<=>(const Fit&, const Fit&) = default;

  void add(const ColumnProfile& column, const Reading& reading) {
    cells += reading.reads;
    columns += column.seen() > 0 && reading.reads * 10 >= column.seen() * 9 ? 1 : 0;
  }
};

/// The first of the formats that fit best.
std::size_t number_format_of(const CsvProfile& glance) {
  std::size_t best = 0;
  Fit most;
  for (std::size_t format = 0; format < number_formats(); ++format) {
    const CellDialect& dialect = number_format(format);
    const char delimiter = glance.dialect.delimiter;
    if (dialect.decimal_point == delimiter || dialect.thousands == std::string_view(&delimiter, 1)) continue;
    Fit fit;
    for (const ColumnProfile& column : glance.columns)
      fit.add(column, column.number(NumberKind::real, format));
    if (format > 0 && fit <= most) continue;
    best = format;
    most = fit;
  }
  return best;
}

/// Whether every number with a mark, as far as seen, is another number where the mark parts thousands:
/// 1.234 and 12.345.
bool is_ambiguous(const CsvProfile& glance, std::size_t format) {
  const CellDialect& dialect = number_format(format);
  const char delimiter = glance.dialect.delimiter;
  const bool plain = dialect.thousands.empty();
  const char mark = plain ? dialect.decimal_point : dialect.thousands.front();
  for (std::size_t other = 0; other < number_formats(); ++other) {
    const CellDialect& another = number_format(other);
    const std::string_view parted = plain ? std::string_view(another.thousands) : dialect.thousands;
    const bool exchanged = plain ? parted == std::string_view(&mark, 1)
                                 : another.thousands.empty() && another.decimal_point == mark;
    if (other == format || !exchanged || another.decimal_point == delimiter) continue;
    bool differs = false;
    bool as_well = true;
    for (const ColumnProfile& column : glance.columns) {
      const std::uint64_t here = column.number(NumberKind::real, format).reads;
      as_well = as_well && column.number(NumberKind::real, other).reads == here;
      differs = differs || column.number(NumberKind::whole, format).reads !=
                               column.number(NumberKind::whole, other).reads;
    }
    if (as_well && differs) return true;
  }
  return false;
}

struct Dates {
  std::size_t format = 0;  ///< in kDateFormats
  bool ambiguous = false;  ///< whether the day or the month stands first
};

Dates dates_of(const CsvProfile& glance) {
  std::array<Fit, kDateFormats.size()> fits;
  for (const ColumnProfile& column : glance.columns) {
    for (std::size_t format = 0; format < fits.size(); ++format)
      fits[format].add(column, column.date(format));
  }
  const auto best = std::max_element(fits.begin(), fits.end());
  const auto format = static_cast<std::size_t>(best - fits.begin());
  if (kDateFormats[format] != DateFormat::day_month_year || *best == Fit{}) return {format, false};
  // The month first is tried next: no column says which it is.
  const bool neither =
      std::all_of(glance.columns.begin(), glance.columns.end(), [&](const ColumnProfile& column) {
        return column.date(format).reads == column.date(format + 1).reads;
      });
  return {format, neither};
}

/// One column with the type that every cell of it has, or what stands in the way.
struct Guess {
  ColumnType type = ColumnType::string;
  const Reading* nearest = nullptr;  ///< of a string: as what most of its cells could be read
  ColumnType nearest_as = ColumnType::string;
  std::string_view nearest_type = {};
};

class Draft final {
 public:
  Draft(const CsvProfile& glance, std::string dataset, FirstLine first_line)
      : glance_(glance),
        names_are_told_(first_line == FirstLine::names || distinguishes_names(glance)),
        numbers_(number_format_of(glance)),
        dates_(dates_of(glance)),
        dataset_(std::move(dataset)) {
    name_columns();
  }

  PolicyDraft to_policy_draft(const std::string& file, const std::string& source) {
    out_.explain(0,
                 "A policy begun from the header of " + file +
                     ". Decide every TODO; then `epsilog policy check` says whether the policy is complete.");
    out_.explain(0, "");
    out_.explain(
        0,
        "How the file is written and the types of its columns were guessed from the first " +
            std::to_string(kRowsGuessedFrom) +
            " rows at most: confirm each; `epsilog data check` counts the cells that do not read. "
            "No bound and no value here comes from the data, and none should: a bound or a value copied from "
            "the data is published with this file, and tells of the people in it.");
    out_.line(0, "version: 1");
    out_.line(0, "datasets:");
    out_.line(1, dataset_ + ":");
    write_source(source);
    out_.explain(2, "Privacy is promised to a unit: everything that it contributes is hidden together.");
    out_.todo(2, kUnitQuestion + candidates_for_unit());
    out_.explain(2, "How many rows there are is private; only a bound on it is public.");
    out_.todo(2, kRowsQuestion);
    out_.explain(2, "add-remove: one unit more or less is hidden. replace-one: one unit with other rows is.");
    out_.line(2, "neighbours: add-remove");
    out_.explain(2,
                 "Each release takes a part of the budget; when it is spent, nothing is released any more.");
    out_.todo(2, kBudgetQuestion);
    out_.explain(
        2,
        "Types: int, decimal (with scale: DIGITS, for money), double, string, bool (true, false), date. "
        "Cells that cannot be read as the type are missing.");
    write_columns();
    write_release(out_);
    return out_.finish();
  }

 private:
  /// A name for each column that can have one; "" for the others.
  void name_columns() {
    std::map<std::string_view, std::size_t> times;
    for (const std::string& header : glance_.header) ++times[header];
    std::set<std::string> taken;
    for (const std::string& header : glance_.header) {
      if (times[header] == 1 && is_column_name(header)) taken.insert(header);
    }
    for (const std::string& header : glance_.header) {
      if (times[header] > 1 || !is_column_header(header)) {
        names_.emplace_back();
      } else if (is_column_name(header)) {
        names_.push_back(header);
      } else {
        names_.push_back(distinct_name(column_name_from(header), taken));
      }
    }
  }

  void write_source(const std::string& source) {
    if (!names_are_told_) {
      out_.todo(
          2,
          "source: make sure that the first line of the file names its columns. Nothing below it tells: "
          "no column reads as numbers, dates, or true and false. If it is a record, delete this draft, "
          "which has that record in the names of its columns, and give the file a first line of names");
    }
    if (const auto why = why_other_shape(glance_)) {
      out_.todo(2, "source: " + *why + ". Mend the file first: as it is, most of its cells are missing");
    } else {
      explain_malformed();
      const bool whole = glance_.header.size() == 1 && !glance_.columns.front().has_a_type();
      if (whole && may_be_blank_separated(glance_.blanks)) {
        out_.todo(2,
                  "source: the lines have " + std::to_string(glance_.blanks.usual) +
                      " words each, parted by blanks, which are no delimiter. Where these are columns, save "
                      "the file with a comma, semicolon or tab between them");
      }
    }
    if (glance_.broken_line > 0) {
      out_.todo(
          2, "source: line " + std::to_string(glance_.broken_line) +
                 " is not UTF-8, though most lines are; such a line is malformed, its cells missing: mend it "
                 "in the file");
    }
    if (!glance_.missing.empty()) {
      out_.todo(2, "source.null: cells such as " + comma_list(glance_.missing) +
                       " were passed over in the guess of types; if they mean missing, add null: " +
                       yaml::sequence(glance_.missing));
    }
    if (dates_.ambiguous) {
      out_.todo(2,
                "source.date_format: every date seen reads both as DD/MM/YYYY and as MM/DD/YYYY; add the one "
                "that it "
                "is, since without it all of them are missing");
    }
    const CellDialect& numbers = number_format(numbers_);
    if (is_ambiguous(glance_, numbers_)) {
      out_.todo(
          2,
          "source.decimal, source.thousands: every number seen with a point or a comma reads both as "
          "one with a fraction and as one of thousands; say which it is, since they differ by a thousand");
    }
    const char delimiter = glance_.dialect.delimiter;
    std::string line = "source: {csv: " + yaml::scalar(source);
    const auto add = [&line](std::string_view key, std::string_view value) {
      line += ", " + std::string(key) + ": " + yaml::scalar(value);
    };
    if (delimiter != ',') add("delimiter", std::string(1, delimiter));
    if (numbers.decimal_point != '.') add("decimal", std::string(1, numbers.decimal_point));
    if (!numbers.thousands.empty()) add("thousands", numbers.thousands);
    if (glance_.dialect.encoding != Encoding::utf_8) add("encoding", name(glance_.dialect.encoding));
    const DateFormat format = kDateFormats[dates_.format];
    if (format != DateFormat::year_month_day && !dates_.ambiguous)
      line += ", date_format: " + std::string(name(format));
    out_.line(2, line + "}");
  }

  /// Lines that are not as most are, of a file that is of one shape.
  void explain_malformed() {
    const CsvCut& cut = glance_.cut;
    if (glance_.dialect.multiline) {
      out_.todo(
          2,
          "source.multiline: some cells have line ends in them, so that their rows are malformed. Write "
          "the file without these, or declare multiline: true, which docs/rows.md says the risk of");
    }
    const std::size_t misfits = cut.rows - cut.fitting - cut.empty;
    if (misfits > 0) {
      out_.todo(2, "source: line " + std::to_string(cut.misfit_line) +
                       " is not quoted correctly or has other fields than the first line, and so have " +
                       std::to_string(misfits) + " of the first " + std::to_string(cut.rows) +
                       " rows: such a row is malformed, its cells missing. Mend it in the file");
    }
    if (cut.empty > 0) {
      out_.todo(2, "source: line " + std::to_string(cut.empty_line) +
                       " is empty, and an empty line is a row, which counts: take it away");
    }
  }

  std::string candidates_for_unit() const {
    std::vector<std::string> candidates;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (!names_[i].empty() && glance_.columns[i].all_differ()) candidates.push_back(names_[i]);
    }
    if (candidates.empty()) return "";
    return ". No two cells of " + comma_list(candidates) +
           " were the same among the rows read: such a column numbers rows, or has one row for each unit";
  }

  Guess guess_of(const ColumnProfile& column) const {
    if (column.seen() == 0) return {};
    struct Candidate {
      ColumnType type;
      const Reading& reading;
      std::string_view cells;
    };
    const Candidate candidates[] = {
        {ColumnType::integer, column.number(NumberKind::whole, numbers_), "whole numbers"},
        {ColumnType::real, column.number(NumberKind::real, numbers_), "numbers"},
        {ColumnType::boolean, column.truth(), "true or false"},
        {ColumnType::date, column.date(dates_.format), "dates"}};
    Guess guess;
    for (const Candidate& candidate : candidates) {
      if (candidate.reading.reads == column.seen()) return {.type = candidate.type};
      if (guess.nearest == nullptr || candidate.reading.reads > guess.nearest->reads) {
        guess.nearest = &candidate.reading;
        guess.nearest_as = candidate.type;
        guess.nearest_type = candidate.cells;
      }
    }
    return guess;
  }

  /// Why a cell that looks like what the column may be does not read as that here.
  std::string why_not_so(const ColumnProfile& column, const Guess& guess) const {
    const std::string_view kind = guess.nearest->miss.kind;
    const bool as_date = guess.nearest_as == ColumnType::date;
    if (kind == kNumber && !as_date && guess.nearest_as != ColumnType::boolean) {
      return ", written as no number is under this decimal and thousands: a source has one of each, neither "
             "of them its delimiter";
    }
    if (kind == kDate && (as_date || column.date(dates_.format).reads == 0)) {
      return ", written otherwise than other dates: a source has one date_format";
    }
    return "";
  }

  /// Why a column of texts is one.
  void explain_string(const std::string& subject, const ColumnProfile& column, const Guess& guess) {
    const FirstMiss& miss = guess.nearest->miss;
    const Reading& nearest = *guess.nearest;
    const std::string where =
        "line " + std::to_string(miss.line) + " has " + std::string(miss.kind) + why_not_so(column, guess);
    const bool only_codes = nearest.codes > 0 && nearest.reads + nearest.codes == column.seen();
    if (nearest.reads * 2 > column.seen()) {
      out_.todo(3, subject + "type: a string, since " + where + "; most cells seen are " +
                       std::string(guess.nearest_type) +
                       (only_codes ? ". If zeros in front mean nothing, declare it so: all read"
                                   : ". Declared so, the others would be missing; words that mean missing "
                                     "may stand under source.null"));
    } else {
      out_.explain(3, subject + "type: a string, since " + where + ".");
    }
  }

  void write_column(const std::string& name, const std::string& header, const ColumnProfile& glance) {
    Column column;
    if (name != header) column.header = header;
    const Guess guess = guess_of(glance);
    column.type = guess.type;
    const std::string subject = "columns." + name + ".";
    if (glance.seen() == 0) out_.todo(3, subject + "type: no cell was seen; say what they hold");
    if (glance.is_padded()) {
      out_.todo(3,
                subject +
                    "type: a string, since most of its cells are numbers or dates with blanks around them, "
                    "which read as none: write the file without these blanks");
    } else if (guess.nearest != nullptr) {
      explain_string(subject, glance, guess);
    }
    switch (column.type) {
      case ColumnType::integer:
      case ColumnType::decimal:
      case ColumnType::real:
        out_.todo(3, subject +
                         "bounds: [LOWER, UPPER], to sum or average it; from what is known of the matter, "
                         "never from the data");
        break;
      case ColumnType::string:
        out_.todo(3,
                  subject +
                      "values: [A, B, …], all that there may be, to group by it; from what is known of the "
                      "matter, never from the data");
        break;
      case ColumnType::boolean:
      case ColumnType::date:
        break;
    }
    out_.line(3, name + ": " + value_text(column));
  }

  /// The places of a name that stands more than once, from 1.
  std::vector<std::string> column_numbers(const std::string& header) const {
    std::vector<std::string> places;
    for (std::size_t i = 0; i < glance_.header.size(); ++i) {
      if (glance_.header[i] == header) places.push_back(std::to_string(i + 1));
    }
    return places;
  }

  void write_columns() {
    out_.line(2, "columns:");
    std::set<std::string_view> told;
    std::size_t declared = 0;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const std::string& header = glance_.header[i];
      if (!names_[i].empty()) {
        write_column(names_[i], header, glance_.columns[i]);
        ++declared;
      } else if (header.empty()) {
        out_.todo(3, "columns: the column in place " + std::to_string(i + 1) +
                         " has no name in the header: give it one in the file to use it");
      } else if (!is_column_header(header)) {
        out_.todo(
            3, "columns: the name in place " + std::to_string(i + 1) +
                   " of the header has control characters or more than 1024 bytes: rename it in the file to "
                   "use it");
      } else if (told.insert(header).second) {
        out_.todo(3, "columns: the columns in places " + comma_list(column_numbers(header)) +
                         " have one name, so that none of them can be read: rename all but one in the file");
      }
    }
    if (declared == 0) out_.line(3, "{}");
  }

  const CsvProfile& glance_;
  bool names_are_told_;  ///< by somebody, or by a column of which the cells have a type and the name has not
  std::size_t numbers_;
  Dates dates_;
  std::string dataset_;
  std::vector<std::string> names_;
  DraftText out_;
};

}  // namespace

PolicyDraft draft_from_csv(const std::string& path, const std::string& source, const std::string& dataset,
                           FirstLine first_line) {
  const CsvProfile glance = profile_csv(path, kRowsGuessedFrom);
  if (first_line == FirstLine::guessed) {
    if (const auto why = why_no_names(glance)) {
      const bool of_shape = why == why_other_shape(glance);
      throw SourceError("csv '" + path + "': " + *why +
                        (of_shape
                             ? ". As it is, most of its cells would be missing, so no draft was begun"
                             : ". Names of columns become part of the policy, which is published, so no "
                               "draft was begun. Give the file a first line that names its columns; if it "
                               "has one, add --header"));
    }
  }
  return Draft(glance, dataset, first_line)
      .to_policy_draft(std::filesystem::path(path).filename().string(), source);
}

}  // namespace epsilog::engine
