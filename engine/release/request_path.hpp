// What is done to requests that wait: each function is one transition, in one transaction, except the commit
// of a statistic computed here, which has two:
//
//   commit   data_accessed  durable before the source is read: from then on the data may have been seen
//            granted       charge and release together
//
// Whatever a transition finds it decides on under the ledger's turn, so that of two that exclude each other
// the first wins, and the other one answers with what became of the request.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "engine_state.hpp"
#include "epsilog/engine/actor.hpp"
#include "epsilog/engine/exact_answer.hpp"

namespace epsilog::engine {

struct CommitOrder {
  const std::string& id;
  const Actor& by;
  const std::optional<std::string>& supplied;
};

// Each throws NotFound when no decision of that id ever waited, NotPermitted, and InvalidParameter when the
// request cannot take the transition in any state.

[[nodiscard]] Answer commit_reservation(EngineState& state, const CommitOrder& order,
                                        mechanisms::BitSource& bits, std::span<const Rational> alphas,
                                        const Progress& progress);
[[nodiscard]] Answer cancel_request(EngineState& state, const std::string& id, const Actor& by);
[[nodiscard]] Answer issue_data_token(EngineState& state, const std::string& id, const Actor& by);
/// Throws  RequestChanged.
[[nodiscard]] Answer approve_request(EngineState& state, const std::string& id, const Actor& by,
                                     const std::string& why, const std::optional<std::string>& seen);
[[nodiscard]] Answer reject_request(EngineState& state, const std::string& id, const Actor& by,
                                    const std::string& why);

}  // namespace epsilog::engine
