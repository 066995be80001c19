// Ending a long computation at its next step, because its result is not wanted any more.
//
// Computations call stop_if_requested() between their steps. Without a StopScope on the thread that costs a look
// at one pointer, and nothing is ever stopped. Nothing that is recorded depends on it: who records has no
// scope. Thread-safety: each thread has scopes of its own.
#pragma once

#include <string_view>

#include "epsilog/accounting/callback.hpp"
#include "epsilog/accounting/errors.hpp"

namespace epsilog {

/// A computation was stopped before it had a result. Nothing was changed.
class Stopped final : public Error {
 public:
  Stopped() : Error("the computation was stopped") {}
  [[nodiscard]] std::string_view code() const noexcept override { return "stopped"; }
};

namespace accounting {

/// While it lives, computations on this thread ask `query` at each step, and end with Stopped once
/// it returns true. A scope within another one takes its place.
class StopScope final {
 public:
  using StopQuery = CallbackRef<bool()>;

  /// Requires  `query` outlives this, is quick, computes with no floating-point numbers and does not
  ///           throw: it is called thousands of times a second.
  explicit StopScope(StopQuery query) noexcept;
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;
  ~StopScope();

 private:
  StopQuery query_;
  const StopScope* outer_;

  friend void stop_if_requested();
};

/// Ends the computation of this thread if it is not wanted any more.
/// Throws  Stopped.
void stop_if_requested();

}  // namespace accounting
}  // namespace epsilog
