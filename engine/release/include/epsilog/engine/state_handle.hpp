// What an engine and its four facets have in common.
#pragma once

#include <memory>
#include <utility>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::engine {

struct EngineState;  // internal to the engine

/// The state of an engine; one that was moved from has none.
class StateHandle final {
 public:
  explicit StateHandle(std::shared_ptr<EngineState> state) : state_(std::move(state)) {}
  /// Throws  InvalidParameter once it was moved from.
  [[nodiscard]] const std::shared_ptr<EngineState>& shared() const {
    if (!state_) throw InvalidParameter("engine: it was moved from");
    return state_;
  }
  EngineState* operator->() const { return shared().get(); }
  EngineState& operator*() const { return *shared(); }

 private:
  std::shared_ptr<EngineState> state_;  // shared with sequences of plans only
};

}  // namespace epsilog::engine
