// Everything that was recorded about a request that waits or waited.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "epsilog/engine/request.hpp"
#include "epsilog/engine/request_state.hpp"
#include "epsilog/ledger/ledger.hpp"

namespace epsilog::engine {

struct RequestFamily {
  ledger::StoredDecision root;                         ///< pending or reserved, about no other decision
  std::optional<ledger::StoredDecision> reservation;   ///< of an approved one; a reserved root is its own
  std::vector<ledger::StoredDecision> approvals = {};  ///< by seq
  std::optional<ledger::StoredDecision> token = {};
  std::optional<ledger::StoredDecision> end = {};  ///< granted, refused, rejected, voided or forfeited

  /// What is open, or was last.
  [[nodiscard]] const ledger::StoredDecision& holder() const { return reservation ? *reservation : root; }
  /// What says how it stands: its end if that is an answer or a refusal, else the holder.
  [[nodiscard]] const ledger::StoredDecision& current_decision() const;
  [[nodiscard]] RequestState state() const;
  [[nodiscard]] bool open() const { return !end.has_value(); }
  /// Whether all of it is known to be on disk.
  [[nodiscard]] bool durable() const;
  /// Not durable for that alone.
  [[nodiscard]] bool replica_behind() const;
  [[nodiscard]] bool approved_by(const std::string& who) const;
  /// The seq of the newest of them.
  [[nodiscard]] std::int64_t newest() const;
  /// The request, with who asked it and under which key.
  [[nodiscard]] Request request() const;
};

/// What an approver saw: the family as it stands, and the version under which an approval would decide. No
/// blanks or quotes.
[[nodiscard]] std::string tag_of(const RequestFamily& family, std::int64_t active_version);

/// Of any decision that belongs to it; nothing for one that never waited, and for none of that id.
/// Throws  ledger::UnreadableRow if one of them cannot be read; a transaction goes on then.
[[nodiscard]] std::optional<RequestFamily> family_of(ledger::Snapshot& view, const std::string& id);
[[nodiscard]] std::optional<RequestFamily> family_of(ledger::Transaction& transaction, const std::string& id);

/// The decision by which the request that a decision answers or is about was asked; itself, if it is about
/// none.
[[nodiscard]] ledger::StoredDecision root_decision(ledger::Snapshot& view,
                                                   const ledger::StoredDecision& stored);

/// The policy version whose plan a reservation keeps.
[[nodiscard]] std::int64_t planning_version(const ledger::StoredDecision& reservation);

/// What one decision says by itself.
[[nodiscard]] RequestState state_of(const ledger::StoredDecision& stored);

}  // namespace epsilog::engine
