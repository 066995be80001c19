// The exact answer to a question over any row source. The rules are those of docs/rows.md.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "epsilog/engine/derivation.hpp"
#include "epsilog/engine/exact_answer.hpp"
#include "epsilog/engine/policy.hpp"
#include "row_source.hpp"

namespace epsilog::engine {

/// The columns of the source that the questions read: the unit id first if there is one, then each other one
/// once.
[[nodiscard]] std::vector<std::string> wanted_columns(const Dataset& dataset,
                                                      std::span<const DerivedQuestion> questions);
[[nodiscard]] std::vector<std::string> wanted_columns(const Dataset& dataset, const Question& question);

/// As compute_exact_answers, over rows whose cells are in the order of wanted_columns.
[[nodiscard]] std::vector<ExactAnswer> answer_rows(RowSource& rows, const Dataset& dataset,
                                                   std::span<const DerivedQuestion> questions,
                                                   const Progress& progress);
[[nodiscard]] ExactAnswer answer_rows(RowSource& rows, const Dataset& dataset, const Question& question,
                                      const Derivation& derivation, const Progress& progress);

/// As check_data, over rows whose cells are in the order of required_columns.
[[nodiscard]] DataReport report_rows(RowSource& rows, const Dataset& dataset, const Progress& progress);

}  // namespace epsilog::engine
