// Policies begun from something else, with everything left open that only a curator can decide.
//
// A draft never makes up a privacy decision: what its origin does not say is a `# TODO:` comment where the
// key would stand, and what means something else there than here is a `# NOTE:`. Nothing in a draft comes
// from the values in the data; of a CSV file only names and guessed types of its columns do, and guesses of
// how it is written.
// Thread-safety: pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "epsilog/engine/policy.hpp"

namespace epsilog::engine {

struct PolicyDraft {
  struct Remark {
    int line = 0;         ///< of the draft, from 1
    std::string message;  ///< one line, without "TODO: "
  };
  std::string yaml;
  std::vector<Remark> todos;  ///< what somebody has to decide, in order of line
  std::vector<Remark> notes;  ///< what has another meaning here than in the origin
  bool valid = false;         ///< whether checked_policy() accepts the draft as it stands
};

/// Metadata formats of other systems.
///   smartnoise   of SmartNoise SQL: COLLECTION: {SCHEMA: {TABLE: {max_ids, …, COLUMN: {type, …}}}}
///   lomas        of lomas, one dataset: {max_ids, rows, row_privacy, columns: {COLUMN: {type, …}}}
enum class MetadataFormat { smartnoise, lomas };

struct ImportOptions {
  std::optional<MetadataFormat> from;  ///< absent: lomas when there is a map `columns` at the top
  std::string dataset;                 ///< its name; "": that of the table, or of the file
  std::optional<Epsilon> epsilon;      ///< the budget of every dataset; absent: left open
  std::optional<Delta> delta;
};

/// Translates metadata. Numbers are taken exactly, as YAML 1.1 reads them where that is unambiguous
/// (`50_047`, `+1`, `.5`, `1e3`).
///
/// Requires  `file` is the name to show in faults; a delta only beside an epsilon.
/// Ensures   every table is a dataset, every column a column or a comment that says why it is none.
/// Throws    PolicyError with one fault: the first key or value that is not understood.
[[nodiscard]] PolicyDraft import_metadata(std::string_view yaml, const std::string& file,
                                          const ImportOptions& options);
/// Reads the file (at most 256 KiB) and translates it.
[[nodiscard]] PolicyDraft import_metadata_file(const std::string& path, const ImportOptions& options);

/// Rows of a CSV file looked at for the guess of types.
inline constexpr std::size_t kRowsGuessedFrom = 1000;

/// What the first line of a CSV file is.
///   guessed   names, unless it looks like a record: names become part of the policy, which is published
///   names     names, as somebody says who has looked
enum class FirstLine { guessed, names };

/// Begins a policy for the columns of a CSV file. `source` is how the draft names it.
///
/// Ensures   reads the first line and at most kRowsGuessedFrom rows, and of no more than the first 16 MiB
///           which bytes they are; no cell enters the draft, but for texts of a fixed list that usually mean
///           "missing" (NA, NULL, …), and the line of a cell for which a column is one of texts. Where every
///           column is one of texts, a TODO says that the first line may be a record.
/// Throws    SourceError when the file cannot be read, is no text, or has no readable first line; and, of a
///           guess, when that line looks like a record or like a line above the table. Its message quotes
///           nothing of the file.
[[nodiscard]] PolicyDraft draft_from_csv(const std::string& path, const std::string& source,
                                         const std::string& dataset,
                                         FirstLine first_line = FirstLine::guessed);

/// A legal name of a dataset that resembles `text`; `fallback` when nothing of it is left.
[[nodiscard]] std::string dataset_name_from(std::string_view text, std::string_view fallback);

}  // namespace epsilog::engine
