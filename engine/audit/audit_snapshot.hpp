// What an audit reads at one instant, before it reads the history in slices.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "epsilog/engine/credentials.hpp"
#include "epsilog/ledger/inspection.hpp"

namespace epsilog::engine {

/// Rows that were read, as far as they could be, and why no further.
template <class Row>
struct RowsRead {
  std::vector<Row> rows;
  std::exception_ptr failure;

  template <class Reader>
  explicit RowsRead(const Reader& read) {
    try {
      read([this](const Row& row) { rows.push_back(row); });
    } catch (...) {
      failure = std::current_exception();
    }
  }
  /// As the reading would have told and thrown it.
  template <class Visit>
  void replay(const Visit& visit) const {
    for (const Row& row : rows) visit(row);
    if (failure) std::rethrow_exception(failure);
  }
};

/// What an audit reads at one instant, in one short transaction: whatever changes (the balances, what is
/// open, what meta counts), the events, which are few, and where the history ends. All else that it looks at
/// lies before that end and is what it was then, whenever it is read (ledger.hpp, 7): so decisions, with all
/// that they refer to, and lines are read later, in slices, and the whole is about this one instant.
/// Requires  the snapshot is held.
struct AuditSnapshot {
  /// Of what the view shows if it is made now, which it is; afterwards it is let go.
  [[nodiscard]] static AuditSnapshot of(ledger::Snapshot& view);

  using Unfounded = std::pair<std::int64_t, std::string>;  // seq, why

  std::vector<ledger::StoredFault> of_accounts;  // before what it is filled by
  RowsRead<ledger::ClockEvent> clock_events;
  RowsRead<ledger::PolicyVersion> versions;
  RowsRead<ledger::Relocation> relocations;
  RowsRead<Unfounded> unfounded_keys;
  RowsRead<std::string> first_credential;  // when it was recorded, once
  RowsRead<Credential> credentials;
  RowsRead<Unfounded> unfounded_credentials;
  RowsRead<ledger::LimitChange> limit_changes;
  RowsRead<ledger::LimitRemoval> limit_removals;
  RowsRead<ledger::AccountState> accounts;
  RowsRead<std::int64_t> decisions;  // how many, once
  RowsRead<std::string> open;        // ids
  ledger::HistoryEnd end;

 private:
  explicit AuditSnapshot(ledger::Snapshot& view);
};

}  // namespace epsilog::engine
