// What is not taken from whoever asks anew, of each question of a request. Never of a request that is on
// record. Thread-safety: pure functions.
#pragma once

#include "plan.hpp"

namespace epsilog::engine {

/// Before it is planned, beside require_within_caps(): that the policy states no answer, and of a batch that
/// its rows are questions to the source. Throws  InvalidParameter, Underivable; of a batch saying which row.
void require_askable(const Dataset& dataset, const Request& request);

/// Once it is planned: that some row can satisfy its conditions, and that one decision can hold its cells.
/// Throws  InvalidParameter; of a batch saying which row.
void require_answerable(const Dataset& dataset, const Request& request, const Plan& plan);

/// All of it, of what is planned again and again: one question, which can be derived.
/// Throws  as derive(), and InvalidParameter of a batch.
void require_one_question(const Dataset& dataset, const Request& request);

}  // namespace epsilog::engine
