// Metadata of other systems as drafts.
#include <filesystem>
#include <set>

#include "draft_text.hpp"
#include "epsilog/accounting/errors.hpp"
#include "metadata_tables.hpp"
#include "policy_decoder.hpp"
#include "policy_file.hpp"
#include "policy_values.hpp"
#include "yaml_writer.hpp"

namespace epsilog::engine {

using accounting::text;

namespace {

ColumnType type_here(MetadataType type) {
  switch (type) {
    case MetadataType::integer:
      return ColumnType::integer;
    case MetadataType::real:
      return ColumnType::real;
    case MetadataType::boolean:
      return ColumnType::boolean;
    case MetadataType::datetime:
      return ColumnType::date;
    case MetadataType::string:
    case MetadataType::unknown:
      return ColumnType::string;
  }
  EPSILOG_INVARIANT(false);
}

bool is_numeric(const MetadataColumn& column) {
  return column.type == MetadataType::integer || column.type == MetadataType::real;
}

bool fits(const Rational& number, const MetadataColumn& column) {
  return column.type == MetadataType::real || number.get_den() == 1;
}

/// One table as a dataset. Remarks on a column stand above it.
class DatasetDraft final {
 public:
  DatasetDraft(const MetadataTable& table, const ImportOptions& options, DraftText& out)
      : table_(table), options_(options), out_(out) {
    for (const MetadataColumn& column : table.columns) taken_.insert(column.name);
  }

  void write(const std::string& name) {
    out_.line(1, name + ":");
    if (options_.dataset.empty() && name != table_.name && !table_.name.empty()) {
      out_.note(2, "the table was called " + quoted_excerpt(table_.name) +
                       "; here names are letters, digits and _, "
                       "and each dataset has its own");
    }
    out_.todo(2,
              "source: where the rows are, {csv: FILE} or {sqlite: FILE, table: NAME}, relative to this "
              "file; without one only values computed elsewhere can be asked");
    write_unit();
    write_rows();
    out_.line(2, "neighbours: add-remove");
    write_budget();
    for (const std::string& difference : table_.differing) out_.note(2, difference);
    if (!table_.columns.empty()) write_columns();
    write_release(out_);
  }

 private:
  void write_columns() {
    out_.line(2, "columns:");
    std::size_t declared = 0;
    for (const MetadataColumn& column : table_.columns) declared += write_column(column) ? 1 : 0;
    if (declared == 0) out_.line(3, "{}");
  }

  void write_unit() {
    std::vector<const MetadataColumn*> ids;
    for (const MetadataColumn& column : table_.columns) {
      if (column.private_id) ids.push_back(&column);
    }
    const std::uint64_t max_rows = table_.max_ids.value_or(1);
    if (table_.row_privacy && (!ids.empty() || max_rows > 1)) {
      return out_.todo(2, std::string(kUnitQuestion) + ". row_privacy: true protects a row there, though " +
                              (ids.empty() ? "max_ids is " + std::to_string(max_rows)
                                           : quoted_excerpt(ids.front()->name) + " is a private_id") +
                              ", which says that a person may have several");
    }
    if (table_.row_privacy) return out_.line(2, "unit: row");
    if (ids.size() != 1) {
      return out_.todo(2, std::string(kUnitQuestion) + (ids.empty() ? ". No column is a private_id"
                                                                    : ". Several columns are private_id"));
    }
    if (!is_column_header(ids.front()->name)) {
      return out_.todo(2, std::string(kUnitQuestion) + ". The name of the private_id, " +
                              quoted_excerpt(ids.front()->name) +
                              ", has control characters or more than 1024 bytes: rename it in the source");
    }
    if (!table_.max_ids) out_.note(2, "max_ids was not given, which is 1 there");
    UnitOfPrivacy unit;
    unit.id = ids.front()->name;
    unit.max_rows = max_rows;
    out_.line(2, "unit: " + value_text(unit));
  }

  void write_rows() {
    if (!table_.rows) return out_.todo(2, kRowsQuestion);
    const std::string count = std::to_string(*table_.rows);
    if (table_.rows_exact) {
      out_.note(
          2,
          "rows_exact: " + count +
              " is an upper bound here; {exact: N} needs neighbours: replace-one, and a size that is public");
    } else {
      out_.note(2, "rows: " + count +
                       " may be rough there; here answers are clamped to what so many rows can give");
    }
    out_.line(2, "rows: {max: " + count + "}");
  }

  void write_budget() {
    if (!options_.epsilon) return out_.todo(2, kBudgetQuestion);
    Budget budget;
    budget.epsilon = *options_.epsilon;
    if (options_.delta) {
      budget.measure = Measure::approximate;
      budget.delta = *options_.delta;
    }
    out_.line(2, "budget: " + value_text(budget));
  }

  /// Whether it is declared.
  bool write_column(const MetadataColumn& metadata) {
    const std::string subject = "columns." + metadata.name + ": ";
    if (metadata.private_id) {
      out_.note(3, subject + "says whose row it is, and is not declared, so that nobody can ask about it");
      return false;
    }
    if (metadata.type == MetadataType::unknown) {
      out_.todo(3, subject + "its type is unknown there: declare it with a type, or leave it out");
      return false;
    }
    if (!is_column_header(metadata.name)) {
      out_.todo(3, "columns: the name " + quoted_excerpt(metadata.name) +
                       " has control characters, more than 1024 bytes or none: rename it in the source, then "
                       "declare it");
      return false;
    }
    Column column = to_policy_column(metadata);
    std::string name = metadata.name;
    if (!is_column_name(name)) {
      name = distinct_name(column_name_from(name), taken_);
      column.header = metadata.name;
      out_.note(3, "columns: " + quoted_excerpt(metadata.name) + " is named " + name +
                       " here: names are letters, digits and _, and no words of --where");
    }
    out_.line(3, name + ": " + value_text(column));
    return true;
  }

  Column to_policy_column(const MetadataColumn& metadata) {
    const std::string subject = "columns." + metadata.name + ".";
    Column column;
    column.type = type_here(metadata.type);
    add_bounds(metadata, subject, column);
    add_values(metadata, subject, column);
    add_missing(metadata, subject, column);
    if (metadata.type == MetadataType::datetime) {
      out_.note(3, subject + "type: dates are 2024-01-31 here; a cell with a time of day is missing");
    }
    for (const std::string& key : metadata.unused) {
      out_.note(3, subject + key + ": not used here; sensitivities follow from unit and bounds");
    }
    return column;
  }

  void add_bounds(const MetadataColumn& metadata, const std::string& subject, Column& column) {
    if (!is_numeric(metadata)) {
      if (metadata.dated_bounds)
        out_.note(3, subject + "bounds: those of a date were left out; only its quantiles need them");
      return;
    }
    const auto open = [&](const std::string& why) {
      out_.todo(
          3,
          subject + "bounds: [LOWER, UPPER], public and not taken from the data, to sum or average it" + why);
    };
    if (!metadata.lower || !metadata.upper) {
      const bool grouped_only = !metadata.categories.empty() && !metadata.lower && !metadata.upper;
      if (!grouped_only)
        open(metadata.lower || metadata.upper ? "; only one of lower and upper was given" : "");
    } else if (!(*metadata.lower < *metadata.upper)) {
      open("; the lower " + text(*metadata.lower) + " was not below the upper " + text(*metadata.upper));
    } else if (!fits(*metadata.lower, metadata) || !fits(*metadata.upper, metadata)) {
      open("; " + text(*metadata.lower) + " and " + text(*metadata.upper) + " are not both whole numbers");
    } else {
      column.bounds = Bounds{*metadata.lower, *metadata.upper};
    }
  }

  static std::string problem_of_integer(const std::string& category, const Column& column) {
    const Rational number = accounting::parse_rational(category, "values");
    if (number.get_den() != 1) return "is not a whole number";
    const bool outside = column.bounds && (number < column.bounds->lower || number > column.bounds->upper);
    return outside ? "is outside the bounds" : "";
  }

  void add_values(const MetadataColumn& metadata, const std::string& subject, Column& column) {
    if (metadata.type == MetadataType::boolean) return;
    if (metadata.categories.empty()) {
      if (metadata.type != MetadataType::string && !metadata.cardinality) return;
      const bool counted = metadata.cardinality && *metadata.cardinality > 0;
      return out_.todo(
          3, subject + "values: [A, B, …], all that there may be, to group by it; they are public" +
                 (counted ? " (" + text(*metadata.cardinality) + " there, none of them named)" : ""));
    }
    if (metadata.type == MetadataType::real || metadata.type == MetadataType::datetime) {
      return out_.note(3,
                       subject + "categories: not for this type; declare it as int or string to group by it");
    }
    std::set<std::string> seen;
    for (const std::string& category : metadata.categories) {
      std::string problem;
      if (category.empty()) problem = "is empty, which means missing here";
      if (metadata.type == MetadataType::integer) problem = problem_of_integer(category, column);
      if (!seen.insert(category).second) problem = "is listed twice";
      if (problem.empty()) {
        column.values.push_back(category);
      } else {
        out_.todo(3, subject + "values: " + quoted_excerpt(category) + " " + problem);
      }
    }
    if (metadata.cardinality && *metadata.cardinality != Rational(metadata.categories.size())) {
      out_.note(3, subject + "values: cardinality was " + text(*metadata.cardinality) + ", but " +
                       std::to_string(metadata.categories.size()) + " are listed");
    }
  }

  void add_missing(const MetadataColumn& metadata, const std::string& subject, Column& column) {
    if (!metadata.missing_value) return;
    if (!metadata.missing_number) {
      return out_.note(
          3, subject + "missing: " + quoted_excerpt(*metadata.missing_value) +
                 " cannot stand in for a cell of this type; such rows are left out where it is used");
    }
    const Rational& number = *metadata.missing_number;
    const bool inside = column.bounds && column.bounds->lower <= number && number <= column.bounds->upper;
    if (inside && fits(number, metadata)) {
      column.missing = number;
    } else {
      out_.todo(3, subject + "missing: " + text(number) +
                       " stood in for missing cells; here that needs a number in the bounds");
    }
  }

  const MetadataTable& table_;
  const ImportOptions& options_;
  DraftText& out_;
  std::set<std::string> taken_;  ///< names of columns, and of the unit id among them
};

std::vector<std::string> dataset_names(const std::vector<MetadataTable>& tables, const std::string& file,
                                       const ImportOptions& options) {
  if (!options.dataset.empty()) return {options.dataset};
  std::vector<std::string> names;
  std::set<std::string> taken;
  for (const MetadataTable& table : tables) {
    const std::string origin = table.name.empty() ? std::filesystem::path(file).stem().string() : table.name;
    std::string name = dataset_name_from(origin, "dataset");
    if (taken.contains(name)) name = dataset_name_from(table.schema + "_" + origin, "dataset");
    for (int i = 2; taken.contains(name); ++i) {
      name = dataset_name_from(origin, "dataset").substr(0, 56) + "_" + std::to_string(i);
    }
    taken.insert(name);
    names.push_back(name);
  }
  return names;
}

}  // namespace

PolicyDraft import_metadata(std::string_view yaml, const std::string& file, const ImportOptions& options) {
  const std::vector<MetadataTable> tables = read_metadata(yaml, file, options.from);
  if (!options.dataset.empty() && tables.size() > 1) {
    throw InvalidParameter("a name for the dataset, but there are " + std::to_string(tables.size()) +
                           " tables");
  }
  DraftText out;
  out.explain(0, "A policy begun from the metadata in " + std::filesystem::path(file).filename().string() +
                     ". Decide every TODO and read every NOTE; then `epsilog policy check` says whether "
                     "the policy is complete.");
  out.line(0, "version: 1");
  out.line(0, "datasets:");
  const std::vector<std::string> names = dataset_names(tables, file, options);
  for (std::size_t i = 0; i < tables.size(); ++i) DatasetDraft(tables[i], options, out).write(names[i]);
  return out.finish();
}

PolicyDraft import_metadata_file(const std::string& path, const ImportOptions& options) {
  return import_metadata(policy_text(path), path, options);
}

}  // namespace epsilog::engine
