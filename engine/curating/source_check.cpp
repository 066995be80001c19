#include "epsilog/engine/source_check.hpp"

#include <filesystem>
#include <optional>

#include "csv_first_line.hpp"
#include "csv_misfit.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/policy_draft.hpp"

namespace epsilog::engine {
namespace {

std::string path_of(const CsvSource& csv, const std::string& base_dir) {
  return (std::filesystem::path(base_dir) / csv.path).string();
}

/// What the file's own error says behind its path, or nothing where `look` finds none.
template <class Look>
std::optional<std::string> find_cause(const std::string& path, const Look& look) {
  try {
    return look();
  } catch (const SourceError& error) {
    const std::string why = error.what();
    const std::string subject = "csv '" + path + "': ";
    return why.starts_with(subject) ? why.substr(subject.size()) : why;
  }
}

bool most_fit(const CsvCut& cut) {
  return cut.rows > 0 && 2 * cut.fitting > cut.rows;
}

/// Why most lines under the declared dialect are malformed, or why there are none.
std::optional<std::string> why_unreadable_rows(const CsvSource& csv, const std::string& path) {
  const Encoding seen = detected_encoding(path);
  const CsvRecords::Dialect declared{csv.delimiter, csv.multiline, csv.encoding};
  const CsvCut cut = cut_by(path, declared, kRowsGuessedFrom);
  if (cut.rows == 0 || most_fit(cut)) return std::nullopt;
  CsvRecords::Dialect other = declared;
  other.encoding = seen;
  if (seen != csv.encoding && most_fit(cut_by(path, other, kRowsGuessedFrom))) {
    return "most lines are not " + std::string(name(csv.encoding)) +
           ": declare `encoding: " + std::string(name(seen)) + "`";
  }
  return why_misfit(cut);
}

/// Why a CSV file has not the names that are declared, as its lines show it.
std::optional<std::string> why_unnamed(const std::string& path) {
  return why_no_names(profile_csv(path, kRowsGuessedFrom));
}

std::string as_sentence(std::string sentence) {
  return sentence.ends_with('.') ? sentence : sentence + '.';
}

DataReport counts_of(const Dataset& dataset, const std::string& base_dir, const Progress& progress) {
  try {
    return check_data(dataset, base_dir, progress);
  } catch (const SourceError& error) {
    if (!dataset.csv) throw;
    const std::string said = error.what();
    const std::string path = path_of(*dataset.csv, base_dir);
    const auto why = find_cause(path, [&] { return why_unnamed(path); });
    if (!why || said.find(*why) != std::string::npos) throw;
    throw SourceError(said + ". Cause: " + *why);
  }
}

}  // namespace

SourceCheck check_source(const Dataset& dataset, const std::string& base_dir, EmptySource empty,
                         const Progress& progress) {
  SourceCheck check{counts_of(dataset, base_dir, progress), {}};
  const DataReport& counts = check.counts;
  const bool none = counts.rows == 0;
  if (!none && 2 * counts.malformed <= counts.rows) return check;
  std::optional<std::string> why;
  if (dataset.csv) {
    const std::string path = path_of(*dataset.csv, base_dir);
    why = find_cause(path, [&] { return why_unreadable_rows(*dataset.csv, path); });
  }
  if (none && !why && empty == EmptySource::allowed) return check;
  const std::string found = none ? "there is no row"
                                 : std::to_string(counts.malformed) + " of " + std::to_string(counts.rows) +
                                       " rows are malformed, so their cells are missing";
  const std::string remedy = none ? ": put rows into it, or accept none with --allow-empty"
                                  : ": see the lines that are named with the counts";
  check.problems.push_back(as_sentence(found + (why ? ". Cause: " + *why : remedy)));
  return check;
}

}  // namespace epsilog::engine
