// What an engine says of a request: planned, refused, waiting or released.
//
// Thread-safety: values; const ones may be read by all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "epsilog/accounting/rational.hpp"
#include "epsilog/engine/decision.hpp"
#include "epsilog/engine/release_cost.hpp"
#include "epsilog/engine/request.hpp"
#include "epsilog/engine/request_state.hpp"
#include "epsilog/ledger/record.hpp"

namespace epsilog::engine {

/// What plan, release, show and history report.
struct Answer {
  bool granted = false;  ///< and released; for plan: whether it fits now
  bool replayed = false;
  /// What is recorded of it is known to be on disk; nothing for plan. Where it is not, or the ledger is
  /// poisoned, all values are withheld, and so is the token.
  std::optional<bool> durable = {};
  RequestState state = RequestState::refused;  ///< for plan: what a release would come to now
  std::string decision_id;                     ///< "" for plan
  std::int64_t seq = 0;                        ///< 0 for plan
  std::string ledger_id;
  std::string created_at;  ///< "" for plan
  std::string principal;
  std::string key;
  std::string dataset;
  std::string statistic;  ///< "mean:cost"
  std::string by;         ///< "" without
  std::string where;      ///< canonical; "" without
  std::string purpose;    ///< "" without
  std::int64_t policy_version = 0;
  std::int64_t decided_under = 0;        ///< the version active then; 0 for plan, and where not recorded
  ledger::Rules rules = ledger::kRules;  ///< it was decided under (docs/rules.md)
  ledger::Program program = {};          ///< that recorded it; empty for plan, and where not recorded
  ledger::ReleaseRecord record;          ///< as planned, refusals included
  std::optional<DeltaCost> delta;        ///< nothing for a pure mechanism
  std::optional<RhoCost> rho = {};       ///< where it was asked; epsilon and delta follow from it then
  std::vector<std::string> precision_reasons;   ///< per component; which rule of `auto` decided
  std::vector<std::vector<Accuracy>> accuracy;  ///< [component][alpha], of each cell of that component
  std::vector<ledger::AccountState> accounts;   ///< those touched, after the decision; for plan as they stand
  /// How the answer follows from what is drawn.
  accounting::PostProcessing::Kind post_processing = accounting::PostProcessing::Kind::none;
  std::vector<std::string> notes;        ///< what every report says about these budgets
  std::vector<std::string> advice = {};  ///< of a plan: what the policy could do better for the asker
  std::vector<Reason> reasons;           ///< of a recorded decision, the first of
  std::size_t reasons_count = 0;         ///< so many
  std::string parent;                    ///< the decision this one is about; "" without
  std::string deadline;                  ///< until when a reserved or pending one stays; "" otherwise
  Holding holding = Holding::none;       ///< as asked
  std::uint64_t approvals_required = 0;  ///< 0: it needs none
  std::vector<Approval> approvals;       ///< so far; not in a history
  std::string token;                     ///< the decision from which on the data may have been seen; ""
  std::string ended_by;                  ///< the decision that ended it without an answer; "" otherwise
  std::string why;                       ///< of a rejection, or policy_changed; "" = not said
  std::string same_question;             ///< for who sets it from Engine::same_question(); "" otherwise
  /// [component][cell]; empty unless released and durable
  std::vector<std::vector<Rational>> component_values;
  std::vector<Rational> values;  ///< [cell]; likewise
};

}  // namespace epsilog::engine
