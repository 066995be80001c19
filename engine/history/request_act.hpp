// What a decision about an earlier one does. It is stored where others have their request, in canonical
// JSON: keys sorted, no blanks.
#pragma once

#include <string>
#include <string_view>

#include "epsilog/ledger/record.hpp"

namespace epsilog::engine {

struct Act {
  enum class Verb {
    approve,
    reject,
    issue_token,  ///< to the asker, who shows it to whoever guards the data
    read_source,  ///< the token that a commit issues to itself before it reads the data
    cancel,
    expire,  ///< by the deadline; recorded in the name of who asked
  };
  Verb verb = Verb::approve;
  std::string decision;  ///< the parent's id
  std::string why =
      {};  ///< of approve and reject, and kPolicyChanged of a cancel that was none; "" = not said

  friend bool operator==(const Act&, const Act&) = default;
};

/// Why a reservation was ended by its own commit or token: the active policy allows it no more.
inline constexpr const char* kPolicyChanged = "policy_changed";

/// Ensures  parse_act() gives the act again.
[[nodiscard]] std::string act_json(const Act& act);
/// Throws  ledger::UnreadableRow unless the text is what act_json() makes.
[[nodiscard]] Act parse_act(std::string_view json);

/// Whether decisions of that outcome store an act rather than a request.
[[nodiscard]] bool stores_act(ledger::Outcome outcome);
/// Whether that is what such an act does.
[[nodiscard]] bool fits(Act::Verb verb, ledger::Outcome outcome);

}  // namespace epsilog::engine
