// What is not taken from whoever asks anew, of each question of a request. Never of a request that is on
// record. Thread-safety: pure functions.
#pragma once

#include <cstdint>

#include "plan.hpp"

namespace epsilog::engine {

/// Most candidates that all quantiles of one call select among, counted as for kCandidatesOfReleaseMax. A
/// selection may need eight random bytes for each, which are there before its turn.
inline constexpr std::uint64_t kCandidatesOfCallMax = 32'000'000;

/// So many the plan selects among, in all cells and levels of all its rows.
[[nodiscard]] std::uint64_t candidates_of(const Plan& plan);
/// Of what is asked in one call.
/// Throws  InvalidParameter beyond kCandidatesOfCallMax.
void require_selectable(std::uint64_t candidates);

/// Before it is planned, beside require_within_caps(): that the policy states no answer, and of a batch that
/// its rows are questions to the source.
/// Throws  InvalidParameter, Underivable; of a batch saying which row.
void require_askable(const Dataset& dataset, const Request& request);

/// Once it is planned: that some row can satisfy its conditions, that one decision can hold its cells, and
/// that it selects among no more candidates than one call may.
/// Throws  InvalidParameter; of a batch saying which row.
void require_answerable(const Dataset& dataset, const Request& request, const Plan& plan);

/// All of it, of what is planned again and again: one question, which can be derived.
/// Throws  as derive(), and InvalidParameter of a batch.
void require_one_question(const Dataset& dataset, const Request& request);

}  // namespace epsilog::engine
