// Several requests of one body, decided as one: {"requests": [{...}, ...]} of POST /v1/releases.
//
// All of them are told apart, or none is decided: what is wrong with one is said with its index.
#pragma once

#include <cstddef>
#include <vector>

#include "call.hpp"
#include "parsed_request.hpp"

namespace epsilog::serve {

/// So many requests one body may have.
inline constexpr std::size_t kBatchRequestsMax = 500;

struct Batch {
  std::vector<engine::Request> requests;
  std::vector<std::vector<accounting::Rational>> alphas;  ///< of each request
};

/// The member `requests`, each of which is what the body of one release is; the call counts as so many.
/// Throws  BadBody, InvalidParameter, HttpProblem, all naming the index; HttpProblem (429): that many new questions
/// not now.
[[nodiscard]] Batch read_batch(Call& call, std::vector<BodyValue> elements);

/// Decides them in order, as one: 200 with every decision as it would be answered alone.
/// Throws  as Engine::release_many(), naming the index of the first that cannot be decided.
[[nodiscard]] Response release_batch(Call& call, const Batch& batch);

}  // namespace epsilog::serve
