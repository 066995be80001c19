// Raw facts for an audit that trusts no balance. What they mean is the auditor's to say
// (epsilog/engine); nothing here decides or repairs.
//
// Every function throws LedgerBusy or LedgerIo; what is wrong inside the file is a returned fact where
// the file can be read at all, else LedgerCorrupt.
// Thread-safety: as the snapshot it looks at.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "epsilog/accounting/rational.hpp"
#include "epsilog/ledger/ledger.hpp"

namespace epsilog::ledger {

/// What meta claims, beside what is there.
struct Counts {
  std::int64_t claimed = 0;
  std::int64_t rows = 0;
  std::int64_t first = 0;  ///< lowest number; 0 when empty
  std::int64_t last = 0;   ///< highest number; 0 when empty
};

struct LedgerFacts {
  std::string ledger_id;
  std::string created_at;
  std::string last_time;
  Counts decisions;
  Counts policy_versions;
  Counts limit_changes;
};

/// A number missing, or a decision out of order with the one before it.
struct OrderFault {
  std::int64_t seq = 0;
  std::string message;
};

/// What the charges of an account add up to.
struct ChargeTotal {
  std::int64_t account = 0;
  std::int64_t charges = 0;
  accounting::Integer sum;  ///< exact, also if the rows were tampered with
};

class Inspection final {
 public:
  /// Requires  the snapshot outlives this.
  explicit Inspection(Snapshot& snapshot) : snapshot_(&snapshot) {}

  /// Tables, indices and triggers that are missing, added or different from the shipped schema, blanks
  /// aside; empty: the same.
  [[nodiscard]] std::vector<std::string> schema_differences();
  /// SQLite's quick_check, or integrity_check when `thorough`; at most 100 messages; empty: ok.
  [[nodiscard]] std::vector<std::string> storage_faults(bool thorough);
  /// Rows that refer to a row that is not there.
  [[nodiscard]] std::vector<std::string> reference_faults();
  [[nodiscard]] LedgerFacts facts();
  /// Where seq leaves a gap, ids do not ascend or times go back; at most 100.
  [[nodiscard]] std::vector<OrderFault> order_faults();
  /// Granted without a release or a charge, refused with either; ids of at most 100.
  [[nodiscard]] std::vector<OrderFault> completeness_faults();
  /// Ordered by account.
  [[nodiscard]] std::vector<ChargeTotal> charge_totals();

 private:
  Snapshot* snapshot_;
};

}  // namespace epsilog::ledger
