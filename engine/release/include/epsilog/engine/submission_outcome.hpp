// What became of a request that nobody waited for.
#pragma once

#include <exception>
#include <optional>

#include "epsilog/accounting/callback.hpp"
#include "epsilog/engine/answer.hpp"

namespace epsilog::engine {

/// One of the two. Thread-safety: a value.
struct SubmissionOutcome {
  std::optional<Answer> answer;
  std::exception_ptr fault;  ///< what release() or reserve() would have thrown
};

/// Told of it once.
using OnDone = accounting::Callback<void(SubmissionOutcome)>;

}  // namespace epsilog::engine
