// Reading a ledger, at one instant.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "epsilog/ledger/credential_event.hpp"
#include "epsilog/ledger/key_event.hpp"
#include "epsilog/ledger/merkle_proof.hpp"
#include "epsilog/ledger/principal_charges.hpp"
#include "epsilog/ledger/record.hpp"
#include "epsilog/ledger/seal.hpp"

namespace epsilog::ledger {

class SnapshotState;

/// A row of the ledger that cannot be read as what it should be.
struct MalformedRecord {
  std::int64_t seq = 0;      ///< of the decision
  std::string id = {};       ///< of the decision, "" where not even that can be read
  std::string dataset = {};  ///< as id
  std::string message;       ///< names the record
};

/// A part of the decisions.
struct DecisionRange {
  std::string dataset = {};   ///< "" = all
  std::int64_t after = 0;     ///< those with a seq above it; newest first, below it, and 0 = from the newest
  std::int64_t limit = 0;     ///< the first so many of these; 0 = all
  bool newest_first = false;  ///< by falling seq
  std::string asker = {};  ///< of requests of this principal alone, and of all that is about them; "" = all
};

/// No index has who asked: so many decisions a part with an asker looks at, and then it ends.
inline constexpr std::int64_t kAskerWindow = 10'000;

/// Where a part of the decisions ended.
struct RangeEnd {
  /// The place from which the next part goes on, as DecisionRange::after: the seq of the last one, readable
  /// or not, or of the last that was looked at; DecisionRange::after if there was none.
  std::int64_t last = 0;
  bool more = false;  ///< whether another one follows; with an asker, whether one may
};

/// A line of the log that tells neither a decision nor a plan (docs/record_format.md).
struct EventLine {
  std::int64_t index = 0;
  std::int64_t after_decision = 0;  ///< the seq of the last decision before it, 0 if there is none
  std::string text = {};            ///< without a line feed; "" if it cannot be read
  std::string fault = {};           ///< why it cannot be read
};

/// How far back find_grant() looks.
inline constexpr std::int64_t kSameRequestWindow = 1'000;

/// A consistent read-only view. Takes no lock, and does not see what is committed after it was made.
/// Keep it short: while one is open the write-ahead log cannot begin anew. Making one may wait for up to 20
/// ms, once in a while, for a writer of this process that sees to that (Options::log_limit).
///
/// A decision that is not known to be durable comes without its values, StoredDecision::durable false: all of
/// a poisoned ledger, and what a process that was killed in COMMIT left. The latter is made durable, which
/// takes the turn, if that is free and this user may write; else a call that meets such a decision waits for
/// it, once and at most Options::wait.
///
/// Every function throws LedgerBusy, LedgerIo, or LedgerCorrupt naming a malformed record.
/// Thread-safety: one owner.
class Snapshot final {
 public:
  Snapshot(Snapshot&&) noexcept;
  Snapshot& operator=(Snapshot&&) = delete;
  ~Snapshot();
  /// From here on it is open only while one of its functions reads, and each shows what is committed by then:
  /// for what stays as it is once it is there (ledger.hpp, 7), which can so be read in slices. No function
  /// may be under way.
  void close_between_reads() noexcept;
  /// Held again, as one that is made now.
  void keep_open();
  [[nodiscard]] std::string ledger_id();
  [[nodiscard]] std::optional<StoredDecision> find_by_key(const std::string& principal,
                                                          const std::string& key);
  [[nodiscard]] std::optional<StoredDecision> find_by_id(const std::string& id);
  /// The decision that issued this data token, as 64 lower-case hexadecimal digits. Goes through all that
  /// were issued: no index has them.
  [[nodiscard]] std::optional<StoredDecision> find_by_token(const std::string& token);
  [[nodiscard]] std::int64_t active_policy_version();
  [[nodiscard]] PolicyVersion active_policy();
  /// Ordered by (dataset, scope, measure); `dataset` "" = all.
  [[nodiscard]] std::vector<AccountState> accounts(const std::string& dataset);
  /// Those of the named accounts that exist, in the order of `names`; one look-up each.
  [[nodiscard]] std::vector<AccountState> accounts(std::span<const AccountName> names);
  [[nodiscard]] std::int64_t decision_count();  ///< how many
  /// The seal that is its last line, if it is sealed.
  [[nodiscard]] std::optional<Seal> seal();
  /// As Transaction::location().
  [[nodiscard]] std::optional<std::string> location(const std::string& dataset);
  /// The id of the newest grant of exactly this request to the principal, if it is known to be durable and
  /// among the last kSameRequestWindow decisions: no index has the requests, and a long history is not read.
  [[nodiscard]] std::optional<std::string> find_grant(const std::string& principal,
                                                      const std::string& request);
  /// The decisions about one, by seq.
  [[nodiscard]] std::vector<StoredDecision> children(const std::string& id);
  /// What Transaction::now() and overdue_ids() would be if one began now and saw this snapshot.
  [[nodiscard]] std::string now();
  /// What Transaction::charges() would be if one began now and saw this snapshot.
  [[nodiscard]] PrincipalCharges charges(const ChargeWindow& window);
  [[nodiscard]] std::vector<std::string> overdue_ids();
  /// What Transaction::calendar_time() would be if one began now and saw this snapshot.
  [[nodiscard]] std::string calendar_time();
  /// The time at which the calendar is held until confirm_clock(), if one began now.
  [[nodiscard]] std::optional<std::string> calendar_held_at();
  /// Why nobody may write, if so; readers should warn.
  [[nodiscard]] std::optional<std::string> poison_reason() const;

  /// Calls back in order of seq, one row in memory at a time; `dataset` "" = all; the last `limit` ones,
  /// 0 = all. With `malformed`, a row that cannot be read is reported there and the rest goes on;
  /// without, it throws LedgerCorrupt. The callbacks may use this snapshot.
  void each_decision(const std::string& dataset, std::int64_t limit,
                     const std::function<void(const StoredDecision&)>& visit,
                     const std::function<void(const MalformedRecord&)>& malformed = {});
  /// The place, as DecisionRange::after, from which on there are `limit` decisions; of all for 0.
  [[nodiscard]] std::int64_t seq_before_last(const std::string& dataset, std::int64_t limit);
  /// The same for a part, which is found by index: it costs what it holds, wherever it begins; with an asker,
  /// what it looks at.
  RangeEnd each_decision(const DecisionRange& range, const std::function<void(const StoredDecision&)>& visit,
                         const std::function<void(const MalformedRecord&)>& malformed = {});
  /// The same, but the part also ends with the first decision of which `visit` returns false.
  RangeEnd each_decision_while(const DecisionRange& range,
                               const std::function<bool(const StoredDecision&)>& visit,
                               const std::function<void(const MalformedRecord&)>& malformed = {});
  /// Those with a seq above `after`, in order of seq. Reads a few numbers of each, and leaves out one of
  /// which they cannot be read. The callback may use this snapshot, but not for this.
  void each_outcome(std::int64_t after, const std::function<void(const DecisionOutcome&)>& visit);
  /// How many decisions were recorded before that ledger time: the seq of the last of them. Looks at a few,
  /// because ledger time never runs back.
  /// Throws  InvalidParameter for what is no ledger time.
  [[nodiscard]] std::int64_t decision_count_before(const std::string& time);
  /// The lines of the log from that index on (docs/record_format.md), without line feeds. The callback may
  /// use this snapshot.
  /// Throws  LedgerIo at a line that is not known to be durable: neither a value leaves, nor what may go
  ///         again; LedgerCorrupt naming the line whose row cannot be read, or has not the leaf beside it.
  void each_line(std::int64_t from, const std::function<void(std::string_view line)>& visit);
  /// The same, and none from `end` on.
  void each_line(std::int64_t from, std::int64_t end,
                 const std::function<void(std::string_view line)>& visit);
  /// Tells what was recorded besides decisions and plans, in the order of the log, after the decision with
  /// that seq; for 0 all of it. A line that cannot be read hides no other. The callback may use this
  /// snapshot.
  void each_event_line(std::int64_t after_decision, const std::function<void(const EventLine&)>& visit);
  /// The tree of all lines.
  [[nodiscard]] TreeHead tree();
  /// That of the first `size`, from leaves and nodes as they are stored, and the proofs that
  /// verify_inclusion() and verify_consistency() accept.
  /// Throws  InvalidParameter unless there are so many lines, and index < size, older <= newer; LedgerCorrupt
  ///         if a leaf or node is missing.
  [[nodiscard]] TreeHead tree(std::uint64_t size);
  [[nodiscard]] std::vector<Hash> inclusion_proof(std::uint64_t index, std::uint64_t size);
  [[nodiscard]] std::vector<Hash> consistency_proof(std::uint64_t older, std::uint64_t newer);
  /// Where the line of a decision stands: in the tree that is given, if it is in there, else in that of all
  /// lines which are known to be durable. None if the decision is not.
  /// Requires  `tree` is what a COMMIT made durable.
  /// Throws    LedgerCorrupt if the log has no such line of it, or lacks a leaf or node of the tree.
  [[nodiscard]] std::optional<LogPosition> log_position(const StoredDecision& decision,
                                                        const std::optional<TreeHead>& tree = std::nullopt);
  /// The leaf of a line.
  /// Throws  LedgerCorrupt if there is none.
  [[nodiscard]] Hash leaf(std::int64_t index);
  /// In order of version.
  void each_policy_version(const std::function<void(const PolicyVersion&)>& visit);
  /// In order of application.
  void each_limit_change(const std::function<void(const LimitChange&)>& visit);
  /// In order of application.
  void each_limit_removal(const std::function<void(const LimitRemoval&)>& visit);
  /// The reserved and pending decisions that are not resolved, by seq; `dataset` "" = all. `malformed` as for
  /// each_decision. The callbacks may use this snapshot.
  void each_open(const std::string& dataset, const std::function<void(const StoredDecision&)>& visit,
                 const std::function<void(const MalformedRecord&)>& malformed = {});
  /// The same for a part, as each_decision_while().
  /// Requires  oldest first, and no asker.
  RangeEnd each_open_while(const DecisionRange& range,
                           const std::function<bool(const StoredDecision&)>& visit,
                           const std::function<void(const MalformedRecord&)>& malformed = {});
  /// By seq.
  void each_relocation(const std::function<void(const Relocation&)>& visit);
  /// By seq.
  void each_key_event(const std::function<void(const KeyEvent&)>& visit);
  /// By seq.
  void each_credential_event(const std::function<void(const CredentialEvent&)>& visit);
  /// How many of those there are, without reading them: whoever keeps what they say reads again when it grew.
  [[nodiscard]] std::int64_t credential_event_count();
  /// By seq.
  void each_clock_event(const std::function<void(const ClockEvent&)>& visit);
  /// The files of replicas that the policy names no more and that do not say so yet.
  [[nodiscard]] std::vector<std::string> stale_replicas();

 private:
  friend class Inspection;
  friend class Ledger;
  explicit Snapshot(std::unique_ptr<SnapshotState> state);
  std::unique_ptr<SnapshotState> state_;
};

}  // namespace epsilog::ledger
