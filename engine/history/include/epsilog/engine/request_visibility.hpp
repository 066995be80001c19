// Decides who sees what of a request: here alone, for the verbs that act on one and for whatever reads one.
//
//   viewer               values  token  balances            reasons
//   asked it             yes     yes *  those that bind it  whole
//   hands its value in   no      yes    those that bind it  codes, and figures of those balances
//   may approve it       no      no     those that bind it  codes, and figures of those balances
//   duty audit           yes     no     all                 whole
//   duty curate          no      no     all                 whole
//   anybody else         there is no such request
//
// * unless the policy has others hand the value in. "Those that bind it": see sees_account().
//
// A viewer who is several of these sees what any of them sees. All of it goes by the active policy. Under a
// policy without principals no viewer can be told from another, and everybody sees everything.
//
// Sight is access control and no part of the privacy claim. Thread-safety: pure functions.
#pragma once

#include <string>

#include "epsilog/engine/answer.hpp"
#include "epsilog/engine/policy.hpp"
#include "epsilog/ledger/record.hpp"

namespace epsilog::engine {

struct Viewer {
  std::string name;  ///< of a principal
  /// Root or the daemon's own user, who hold every duty and have asked nothing, whatever the name.
  bool keeper = false;
};

/// Whether the viewer is a declared principal with that duty, or the keeper.
[[nodiscard]] bool has_duty(const Policy& active, const Viewer& viewer, Duty duty);

struct Visibility {
  bool request = false;   ///< that there is one, and all of it that is none of the following
  bool values = false;    ///< what was released, and its intervals
  bool token = false;     ///< the data token
  bool balances = false;  ///< of every account; without it those of sees_account()
  bool reasons = false;   ///< whole; without it the figures of accounts of sees_account() alone
  bool line = false;      ///< a proof of what the log says of it, where that holds nothing hidden
};

[[nodiscard]] Visibility visibility_of(const Policy& active, const Viewer& viewer, const Answer& answer);

/// Whether the balance of that account is the viewer's to see: it binds what they may ask, or they curate or
/// audit.
[[nodiscard]] bool sees_account(const Policy& active, const Viewer& viewer,
                                const ledger::AccountName& account);

/// Whether the dataset is there for the viewer: it is declared, and they may ask about it, curate or audit.
[[nodiscard]] bool sees_dataset(const Policy& active, const Viewer& viewer, const std::string& dataset);
/// Whether a list of budgets shows the viewer that account. `limited`: the active policy declares a limit for
/// it; those without one are for those who curate or audit.
[[nodiscard]] bool lists_account(const Policy& active, const Viewer& viewer,
                                 const ledger::AccountName& account, bool limited);
/// Returns whose requests a list of decisions shows the viewer, each as redacted_answer() has it: their own; "",
/// which is everybody's, for those who curate or audit.
[[nodiscard]] std::string listed_asker(const Policy& active, const Viewer& viewer);

/// Returns the answer without what the viewer does not see. A reason about an account that they do not see
/// keeps its code alone. Of a request that they see nothing of it leaves no value, token or balance either.
[[nodiscard]] Answer redacted_answer(const Policy& active, const Viewer& viewer, Answer answer);

/// A proof shows the line of a decision whole or not at all.
enum class LineVisibility { nothing, hidden, whole };
/// Whether the viewer may be shown the line, which is of the request in `answer`. Whoever acted on a request
/// sees the line of that act as the asker does, where it says nothing that they do not see.
[[nodiscard]] LineVisibility line_visibility(const Policy& active, const Viewer& viewer, const Answer& answer,
                                             const ledger::StoredDecision& line);

}  // namespace epsilog::engine
