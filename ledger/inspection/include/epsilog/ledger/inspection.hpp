// Raw facts for an audit that trusts no balance. What they mean is the auditor's to say
// (epsilog/engine); nothing here decides or repairs.
//
// Every function throws LedgerBusy or LedgerIo; what is wrong inside the file is a returned fact where
// the file can be read at all, else LedgerCorrupt.
// Thread-safety: as the snapshot it looks at.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "epsilog/accounting/rational.hpp"
#include "epsilog/ledger/history_end.hpp"
#include "epsilog/ledger/record.hpp"
#include "epsilog/ledger/snapshot.hpp"
#include "epsilog/ledger/stored_fault.hpp"

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
  Counts clock_events;
  Counts accounts;
  Counts limit_removals;
  Counts relocations;
};

/// A number missing, or a decision out of order with the one before it.
struct OrderFault {
  std::int64_t seq = 0;
  std::string message;
};

/// What the charges of an account add up to; exact, also if the rows were tampered with.
struct ChargeTotal {
  std::int64_t account = 0;
  std::int64_t charges = 0;
  accounting::Integer spent;     ///< by granted and forfeited decisions
  accounting::Integer reserved;  ///< by reserved decisions that are open
};

/// The key of a decision, as its row has it.
struct DecisionKey {
  std::int64_t seq = 0;
  std::string id;
  std::string principal;
  std::string key;
};

/// The ids of decisions that begin alike.
struct IdRange {
  std::int64_t count = 0;
  std::string first;  ///< "" when there are none
};

/// A slice that is not to end.
inline constexpr std::chrono::milliseconds kUnlimitedSlice = std::chrono::hours(24 * 365);

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
  /// Where seq leaves a gap, ids do not ascend or times go back; at most 100 of the decisions, then as
  /// many of the clock events, each named by the decision it came after; then event_faults().
  [[nodiscard]] std::vector<OrderFault> order_faults();
  /// Where the order of policy versions, clock events and relocations leaves a gap, contradicts
  /// their own numbers, the decisions they stand between or their times; `seq` is the place in that order;
  /// at most 100.
  [[nodiscard]] std::vector<OrderFault> event_faults();
  /// A release or charges missing, or there where the outcome has none; at most 100.
  [[nodiscard]] std::vector<OrderFault> completeness_faults();
  /// What is about another decision and cannot be, or moves other charges than it; what is resolved twice,
  /// approved twice by one principal, or voided after its token was issued; what is listed as open and is
  /// not, or the other way round; at most 100.
  [[nodiscard]] std::vector<OrderFault> lifecycle_faults();
  /// A calendar held, or not, other than the clock events say.
  [[nodiscard]] std::vector<std::string> clock_faults();
  /// What meta, policy versions, changes and removals of limits, clock events and relocations say of each
  /// other: gaps in the numbers of events, an order of events that is not that of decisions or
  /// times, a limit change that is not of its policy version, a last time that nothing has.
  [[nodiscard]] std::vector<StoredFault> record_faults();
  /// Every account by id, whatever its checksum, which is a fault if it is wrong.
  void each_account(const std::function<void(const AccountState&)>& visit,
                    const std::function<void(const StoredFault&)>& fault);
  /// The decisions whose ids begin with that text, by the index of ids.
  /// Throws  LedgerCorrupt if the index has none and the rows, whose ids ascend, have one.
  [[nodiscard]] IdRange ids_with_prefix(const std::string& text);
  /// The decisions that the index of keys says have this one, by seq; whether they do is in their rows.
  /// Throws  LedgerCorrupt also if there is no such index.
  [[nodiscard]] std::vector<std::int64_t> decisions_with_key(const std::string& principal,
                                                             const std::string& key);
  /// Of one decision; nothing if it is not there, or has none that can be read.
  [[nodiscard]] std::optional<DecisionKey> key_of(std::int64_t seq);
  /// Of every decision below that seq which has one that can be read, by seq and from the rows alone.
  void each_key(std::int64_t below, const std::function<void(const DecisionKey&)>& visit);
  /// Ids of the decisions that are listed as open.
  [[nodiscard]] std::vector<std::string> open_ids();
  /// Every decision by seq, also one whose values are not known to be durable, and are told to nobody, or do
  /// not follow from its components, which is for the auditor to say. A fault is what its columns say
  /// otherwise than other columns or rows: its id and its time, its rules and program, the policy version it
  /// was decided under, the accounts it lists, the parameters that stand beside its components, texts that
  /// are not written as they would be.
  void each_decision(const std::function<void(const StoredDecision&)>& visit,
                     const std::function<void(const MalformedRecord&)>& malformed,
                     const std::function<void(const StoredFault&)>& fault);
  /// Where the history ends that the snapshot shows.
  [[nodiscard]] HistoryEnd end();
  /// The same of the decisions, lines and nodes up to that end. Of a snapshot that was let go no slice is
  /// longer than that by more than one row, and what is read is told between two of them: whoever is told may
  /// take his time, and use the snapshot.
  /// Throws  LedgerBusy if another history was put in the place of that one meanwhile.
  void each_decision(const HistoryEnd& end, std::chrono::milliseconds slice,
                     const std::function<void(const StoredDecision&)>& visit,
                     const std::function<void(const MalformedRecord&)>& malformed,
                     const std::function<void(const StoredFault&)>& fault);
  /// Ordered by account.
  [[nodiscard]] std::vector<ChargeTotal> charge_totals();

 private:
  Snapshot* snapshot_;
};

}  // namespace epsilog::ledger
