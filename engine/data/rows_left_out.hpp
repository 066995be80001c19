// Which rows of a table are in none of its cells, as far as the policy says that there can be any.
//
// A function of the policy alone: whether there are such rows in the data nobody is told.
// Thread-safety: pure function.
#pragma once

#include <string>

#include "epsilog/engine/policy.hpp"
#include "epsilog/engine/request.hpp"

namespace epsilog::engine {

/// Returns which rows are in no cell of an answer by columns, as the end of a sentence, "rows whose ward is
/// missing or none of these"; "" where the policy leaves room for none.
/// Requires  derive() accepted the question.
[[nodiscard]] std::string rows_left_out(const Dataset& dataset, const Question& question);

}  // namespace epsilog::engine
