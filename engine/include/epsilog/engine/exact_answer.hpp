// The true answer to a question, computed exactly from a data source.
//
// What comes out of here is secret: it goes into a mechanism and nowhere else. No count of rows, no
// hash, no size is kept. Which rows are missing, dropped or out of bounds never decides whether an
// error appears (docs/rows.md); errors are only about shape.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "epsilog/engine/statistic.hpp"

namespace epsilog::engine {

/// Called now and then with the fraction read, 0..1; empty: no progress.
using Progress = std::function<void(double)>;

/// values[component][cell]; one cell without `by`. Not clamped to the component's range.
struct ExactAnswer {
  std::vector<std::vector<Rational>> values;
};

/// Reads the source once, streaming, and answers the question.
///
/// Requires  derivation = derive(dataset, question); dataset.has_source(); relative paths are taken
///           from `base_dir`.
/// Ensures   for neighbouring sources, values differ by at most the derived sensitivities.
/// Throws    SourceError (no such file or table, a declared column absent, duplicate header, row
///           count other than an exact N).
[[nodiscard]] ExactAnswer compute_exact_answer(const Dataset& dataset, const Question& question,
                                               const Derivation& derivation, const std::string& base_dir,
                                               const Progress& progress = {});

/// A value computed elsewhere: a number of any size; nan and infinities (any case, any sign) become
/// the query's `undefined:` value, and so does a number whose exponent is beyond +-100000. "-0" is 0.
/// Throws    InvalidParameter if the text is not a number at all; the message does not repeat it.
[[nodiscard]] Rational parse_supplied_value(std::string_view text, const NamedQuery& query);

/// What `epsilog data check` tells the curator, who may see it: exact counts. Never recorded.
struct DataReport {
  struct ColumnReport {
    std::string column;
    std::uint64_t missing = 0;        ///< cells that are missing, however
    std::uint64_t out_of_bounds = 0;  ///< parsed, but clamped
    std::uint64_t undeclared = 0;     ///< parsed, but not among the declared values
  };
  std::uint64_t rows = 0;       ///< records read, header excluded
  std::uint64_t malformed = 0;  ///< ragged, badly quoted or not UTF-8
  /// Dropped before anything else: in no block. Absent without `blocks`.
  std::optional<std::uint64_t> outside_blocks = {};
  std::uint64_t without_unit = 0;   ///< dropped: no unit id
  std::uint64_t over_max_rows = 0;  ///< dropped: beyond max_rows of their unit
  std::uint64_t units = 0;
  std::uint64_t beyond_rows_max = 0;  ///< kept rows beyond `rows.max`: only the clamp meets them
  std::vector<ColumnReport> columns;
};
[[nodiscard]] DataReport check_data(const Dataset& dataset, const std::string& base_dir,
                                    const Progress& progress = {});

}  // namespace epsilog::engine
