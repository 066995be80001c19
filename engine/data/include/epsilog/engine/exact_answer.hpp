// The true answer to a question, computed exactly from a data source.
//
// What comes out of here is secret: it goes into a mechanism and nowhere else. No count of rows, no
// hash, no size is kept. Which rows are missing, dropped or out of bounds never decides whether an
// error appears (docs/rows.md); errors are only about shape, and about the machine: a damaged file, a
// failing disk, too little memory. Of those no message of a library is handed on, which could quote a cell.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "epsilog/engine/derivation.hpp"
#include "epsilog/engine/progress.hpp"
#include "epsilog/engine/source_io.hpp"

namespace epsilog::engine {

/// values[component][cell]; one cell without `by`. Not clamped to the component's range.
struct ExactAnswer {
  std::vector<std::vector<Rational>> values;
  /// [cell]: of quantiles, in place of values, how many rows are nearest to each candidate.
  std::vector<std::vector<mechanisms::CandidateRows>> counts = {};
};

/// Reads the source once, streaming, and answers the question.
///
/// Requires  derivation = derive(dataset, question); dataset.has_source(); relative paths are taken
///           from `base_dir`.
/// Ensures   for neighbouring sources, values differ by at most the derived sensitivities.
/// Throws    SourceError (no such file or table, a declared column absent, duplicate header, a file of an
///           open ledger, row count other than an exact N), SourceIo.
[[nodiscard]] ExactAnswer compute_exact_answer(const Dataset& dataset, const Question& question,
                                               const Derivation& derivation, const std::string& base_dir,
                                               const Progress& progress = {});

/// What answers a batch, each row of it by its own derivation.
struct DerivedQuestion {
  const Question& question;
  const Derivation& derivation;
};

/// The same of several questions: the source is read once, in one state of it, and rows are bounded for each
/// question as if it were asked alone.
/// Ensures   one answer for each, in their order.
[[nodiscard]] std::vector<ExactAnswer> compute_exact_answers(const Dataset& dataset,
                                                             std::span<const DerivedQuestion> questions,
                                                             const std::string& base_dir,
                                                             const Progress& progress = {});

/// Beyond this many bytes a supplied text is no number, whatever it says.
inline constexpr std::size_t kSuppliedSizeMax = std::size_t{16} << 20;

/// A value computed elsewhere. Its text comes from the true answer, so every text is taken: a number,
/// exactly, and whatever is none as the query's `undefined:` value. Numbers are decimals, with or without
/// exponent, and fractions, of any length, blanks around them; beyond 10^100000, either way, they are taken
/// as that, and nearer to zero than 10^-100000 as 0.
[[nodiscard]] Rational parse_supplied_value(std::string_view text, const NamedQuery& query);

/// What `epsilog data check` tells the curator, who may see it: exact counts. Never recorded.
struct DataReport {
  struct ColumnReport {
    std::string column;
    std::uint64_t missing =
        0;                    ///< cells that are missing, however; not null nor unreadable: of malformed rows
    std::uint64_t nulls = 0;  ///< of these, said to be missing: empty, NULL or listed under `null`
    std::uint64_t unreadable = 0;                   ///< of these, no cell of the column's type
    std::vector<std::uint64_t> unreadable_at = {};  ///< where the first kPositionsMax of them stand
    std::uint64_t out_of_bounds = 0;                ///< parsed, but clamped
    /// Parsed, but not among the declared values; of a derived column, whose other counts are those of the
    /// column that it is a function of, without a label.
    std::uint64_t undeclared = 0;
    std::vector<std::uint64_t> undeclared_at = {};  ///< where the first kPositionsMax of them stand
  };
  /// Places are lines of a CSV file, or numbers of rows in the order of an SQLite table, from 1.
  static constexpr std::size_t kPositionsMax = 5;
  std::uint64_t rows = 0;                        ///< records read, header excluded
  std::uint64_t malformed = 0;                   ///< ragged, badly quoted or not in the encoding
  std::vector<std::uint64_t> malformed_at = {};  ///< where the first kPositionsMax of them stand
  /// Dropped before anything else: in no block. Absent without `blocks`.
  std::optional<std::uint64_t> outside_blocks = {};
  std::uint64_t without_unit = 0;   ///< dropped: no unit id
  std::uint64_t over_max_rows = 0;  ///< dropped: beyond max_rows of their unit
  std::uint64_t units = 0;
  std::uint64_t kept = 0;             ///< rows that are not dropped whatever is asked
  Rows declared = {};                 ///< what the policy says of their number
  std::uint64_t beyond_rows_max = 0;  ///< kept rows beyond `rows.max`: only the clamp meets them
  std::vector<ColumnReport> columns;
};
/// Throws    as compute_exact_answer.
[[nodiscard]] DataReport check_data(const Dataset& dataset, const std::string& base_dir,
                                    const Progress& progress = {});

}  // namespace epsilog::engine
