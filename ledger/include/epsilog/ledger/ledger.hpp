// The ledger: accounts, decisions, charges and releases in one SQLite file.
//
// Definitions
//   L           the ledger's file; L-wal and L-shm are SQLite's, L.queue and L.lock our lock files,
//               L.poisoned the marker of an unknown outcome. All in one directory, on a local disk, and
//               of one owner: only that user and root write.
//   turn        what a writer holds: first among the threads of a Ledger, then flock on L.lock,
//               reached through the turnstile L.queue so that processes alternate.
//   durable     on disk after power loss, if the disk honours flush.
//
// Invariants, at every instant, for any number of threads and processes and after any crash
//   (1)  A value leaves the process only after the COMMIT that made its charge durable returned:
//        one transaction holds decision, charges and release. Of a decision that another process recorded
//        it leaves only if that one's COMMIT returned, or what it left behind was made durable since.
//   (2)  For every account 0 <= spent, 0 <= reserved, spent + reserved <= budget. A conditional UPDATE
//        decides, exactly one changed row is required, and a CHECK of the table stands behind both.
//   (3)  account.spent = sum of the charges of that account by granted and forfeited decisions,
//        account.reserved = sum of those by reserved decisions that are open.
//   (4)  A granted decision has at least one charge, one of them against a measure other than "delta",
//        and exactly one release. Each charge against "epsilon" is at least the epsilon its receipt
//        covered, and beside it one against "delta" of the same scope likewise unless that is zero. With
//        a parent its charges are the parent's. A reserved one has such charges and no release, a
//        forfeited one the charges of its parent and no release. No other has either.
//   (5)  Decisions are numbered 1, 2, … without gaps; ids ascend bytewise with the number; times never
//        go back: ledger time is max(last, wall clock).
//   (6)  A (principal, key) with key <> '' names at most one decision, for ever.
//   (7)  Rows of decision, charge, release, policy_version, limit_change, limit_removal, clock_event,
//        schema_migration and relocation never change.
//   (8)  All writes and all checkpoints happen on one connection of whoever holds the turn. While a COMMIT is
//        under way L.lock says from which decision on; whoever finds that there, settles it before any other
//        write: what can be read is durable then, and nothing else is left in the log.
//   (9)  Every connection has journal_mode WAL, synchronous FULL, power-safe overwrite off, foreign
//        keys on, and was refused otherwise: the settings were read back.
//   (10) While L.poisoned exists nobody writes, and no value is told.
//   (11) L is one regular file with one name, and no code of this process opens it but SQLite.
//   (12) A value stored equals post_process(recipe stored, component values stored).
//   (13) A decision is resolved at most once; what is about it comes after it and before that, has its
//        dataset and its policy version, and is of a kind that may follow it (Outcome). A principal
//        approves or rejects a decision once. A reservation whose token was issued is not voided.
//   (14) Rows of open_decision are the reserved and pending decisions that are not resolved.
//   (15) Calendar time, by which budgets renew, is ledger time unless the calendar is held: since the
//        wall clock was found more than five minutes ahead of what it was trusted with in this boot
//        plus CLOCK_BOOTTIME since, it is the ledger time before that, until confirm_clock().
//   (16) What is no decision (policy versions with their limits, clock events, migrations, relocations) is
//        numbered 1, 2, … in the order in which it happened, and says the last decision before it. So the
//        whole history has one order, which no time has a part in.
//
// States of a transaction, and who moves it
//   begin()             -> open        turn taken, BEGIN IMMEDIATE done, time fixed
//   charge()            open -> owing  debit applied, receipt out; nothing may be recorded before attach()
//   attach()            owing -> open  release stored, still sealed
//   post()              open -> owing  reservation turned into spend, receipt out; as after charge()
//   refuse(), reserve(), resolve(), note(), apply_policy(), relocate(), find_key() …   open -> open
//   commit()            open -> over   COMMIT returned; values visible
//   any exception, ~Transaction, commit() while owing   -> over   rolled back, nothing happened
//   I/O error           -> over, and the ledger -> poisoned
//   In state over every receipt of the transaction is dead and every call throws InvalidParameter.
//
// States of a ledger
//   absent -> usable    create(); never overwrites
//   schema 1 -> usable  migrate(); every other call finds it unusable
//   usable -> poisoned  SQLITE_IOERR*, CORRUPT or NOTADB while writing, COMMIT included: L.poisoned is
//                       written and synced before the turn ends (docs/recovery.md). Not for lack of room, nor
//                       for a checkpoint that fails: the log stays durable
//   poisoned -> usable  clear_poison(), after a reboot
//
// Not for forked children: an object of this header used in a child of the process that made it throws
// InvalidParameter, and is abandoned there rather than closed.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "epsilog/accounting/charge_receipt.hpp"
#include "epsilog/accounting/sealed_release.hpp"
#include "epsilog/ledger/clock.hpp"
#include "epsilog/ledger/record.hpp"

namespace epsilog::ledger {

class Inspection;
class Ledger;
class LedgerState;
class Snapshot;

/// One BEGIN IMMEDIATE … COMMIT under the ledger's turn. Rolls back when destroyed uncommitted.
///
/// Every function throws LedgerBusy, LedgerIo or LedgerCorrupt when the storage fails, and
/// InvalidParameter when the transaction is over; after any exception it is over, save UnreadableRow
/// (unreadable_row.hpp) from what only looks up decisions, and from resolve(). What records a decision and
/// returns no receipt returns its id, so that another one can be about it.
/// Thread-safety: one owner.
class Transaction final {
 public:
  Transaction(Transaction&&) noexcept;
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

  /// The decision bound to the key, or none; key "" binds none.
  /// Ensures   the values of a decision recorded by this very transaction are withheld (empty): they
  ///           come out of commit().
  [[nodiscard]] std::optional<StoredDecision> find_key(const std::string& principal, const std::string& key);
  [[nodiscard]] std::int64_t active_policy_version();
  [[nodiscard]] PolicyVersion active_policy();
  /// All accounts of a dataset, ordered by (scope, measure).
  [[nodiscard]] std::vector<AccountState> accounts(const std::string& dataset);
  /// Those of the named accounts that exist, in the order of `names`; one look-up each.
  [[nodiscard]] std::vector<AccountState> accounts(std::span<const AccountName> names);
  /// Ledger time of everything in this transaction.
  [[nodiscard]] std::string now() const;
  /// What renewals of budgets go by: now(), or the time at which the calendar is held (invariant 15).
  [[nodiscard]] std::string calendar_time() const;
  /// Whether it is held.
  [[nodiscard]] bool calendar_held() const;
  /// The path of the last relocation of the dataset since the active policy version; none: the policy says
  /// where its source is.
  [[nodiscard]] std::optional<std::string> location(const std::string& dataset);
  /// As find_key, by id.
  [[nodiscard]] std::optional<StoredDecision> find_id(const std::string& id);
  /// The decisions about one, by seq; values withheld as by find_key.
  [[nodiscard]] std::vector<StoredDecision> children(const std::string& id);
  /// Ids of the open decisions with a deadline of now() or before, by (deadline, seq).
  [[nodiscard]] std::vector<std::string> overdue();
  /// The accounts of scopes "period:…" of which something is reserved, by id.
  [[nodiscard]] std::vector<AccountState> reserved_in_periods();
  /// Ids of the open reservations that charge the account, by seq.
  [[nodiscard]] std::vector<std::string> open_reservations_of(std::int64_t account);

  /// A new account with that name and limit, nothing spent.
  /// Requires  state open; a dataset, a measure and a limit in 0..2^61; no account of that name.
  /// Throws    InvalidParameter.
  AccountState open_account(const AccountState& fresh);

  /// Records a granted decision and debits every charge. `loss` is what the receipt covers.
  /// Requires  state open; outcome granted, no parent, reasons "[]", the active policy version, a free
  ///           key; distinct accounts of the draft's dataset, one of a measure other than "delta"; a charge
  ///           of at least its part of `loss` against every account named with measure "epsilon" or
  ///           "delta"; for a loss with a delta, beside each account of measure "epsilon" that of measure
  ///           "delta" of the same scope; epsilon > 0; touched accounts of the draft's dataset.
  /// Ensures   state owing.
  /// Throws    InvalidParameter; LedgerCorrupt if a debit does not apply.
  [[nodiscard]] accounting::ChargeReceipt charge(const DecisionDraft& granted,
                                                 std::span<const Charge> charges,
                                                 const accounting::ApproximateLoss& loss);
  /// Records a reservation and reserves every charge.
  /// Requires  state open; outcome reserved, a deadline after now(); without a parent the active policy
  ///           version, or an open pending parent, which this resolves; otherwise as charge() of a draft,
  ///           and of charges without a loss.
  /// Throws    InvalidParameter; LedgerCorrupt if a reservation does not apply.
  std::string reserve(const DecisionDraft& reserved, std::span<const Charge> charges);
  /// Records a grant that posts its parent: the parent's charges, exactly, turn from reserved to spent.
  /// Requires  state open; outcome granted, an open reserved parent, of which the charges are enough for
  ///           `loss` as charge() demands; a free key.
  /// Ensures   state owing; the parent is resolved.
  /// Throws    InvalidParameter; LedgerCorrupt if the parent's charges are not reserved.
  [[nodiscard]] accounting::ChargeReceipt post(const DecisionDraft& granted,
                                               const accounting::ApproximateLoss& loss);
  /// Ends an open decision without a release: what a voided reservation kept is given back, what a
  /// forfeited one kept is spent.
  /// Requires  state open; outcome voided with an open pending parent, or an open reserved one whose
  ///           token was not issued; or outcome forfeited with an open reserved parent; a free key.
  /// Throws    InvalidParameter; UnreadableRow, and the transaction goes on as if nothing had been asked, if
  ///           what is stored of the parent does not go together: its charges are not reserved, say.
  std::string resolve(const DecisionDraft& voided_or_forfeited);
  /// Records what moves no balance.
  /// Requires  state open; outcome pending, with a deadline after now(), no parent and the active policy
  ///           version; or approved or rejected with an open pending parent this principal has neither
  ///           approved nor rejected; or token_issued with an open reserved parent that has none; a free key.
  /// Throws    InvalidParameter.
  std::string note(const DecisionDraft& noted);
  /// Lets renewals go on after the wall clock jumped forwards: whoever calls vouches for it.
  /// Requires  state open; the calendar is held; `by` not "".
  /// Throws    InvalidParameter; LedgerBusy while the wall clock stands more than a second before ledger
  ///           time, for then it was the jump that was wrong.
  void confirm_clock(const std::string& by);

  /// Stores the drawn values of the decision just charged; still sealed to everybody else.
  /// Requires  state owing; one sealed release a component of the record, paid for by that decision,
  ///           of the stated epsilon and delta, together exactly what the receipt covered; as many values
  ///           each as there are cells, one without.
  /// Throws    InvalidParameter.
  void attach(const ReleaseRecord& record, std::vector<accounting::SealedRelease> components,
              const accounting::PostProcessing& post_processing);
  /// Records a refusal; costs nothing.
  /// Requires  state open; outcome refused, reasons not "[]", a free key; the active policy version, or
  ///           an open pending parent, which this resolves.
  /// Throws    InvalidParameter.
  std::string refuse(const DecisionDraft& refused);

  /// `policy apply`: a new version, new accounts, changed limits (limit_change rows), limits that are none
  /// any more (limit_removal rows). The version's number, time and place in the order are assigned here;
  /// accounts not wanted any more stay as they are, `removed` or not.
  /// Requires  state open; sha256 is that of yaml; no limit below what is spent and reserved; `removed` are
  ///           accounts that exist and are not wanted.
  /// Throws    InvalidParameter.
  void apply_policy(PolicyVersion version, const std::vector<AccountState>& accounts_wanted,
                    const std::string& why, const std::vector<AccountName>& removed = {});
  /// From here on the source of the dataset is found at `path`.
  /// Requires  state open; an absolute path; dataset and `by` not "".
  /// Throws    InvalidParameter.
  void relocate(const std::string& dataset, const std::string& path, const std::string& by,
                const std::string& why);

 private:
  friend class Ledger;
  struct State;
  explicit Transaction(std::unique_ptr<State> state);
  template <class Operation>
  auto guarded(const char* doing, Operation operation);
  std::unique_ptr<State> state_;
};

/// A row of the ledger that cannot be read as what it should be.
struct MalformedRecord {
  std::int64_t seq = 0;      ///< of the decision
  std::string id = {};       ///< of the decision, "" where not even that can be read
  std::string dataset = {};  ///< as id
  std::string message;       ///< names the record
};

/// How far back find_grant() looks.
inline constexpr std::int64_t kSameRequestWindow = 1'000;

/// A consistent read-only view. Takes no lock, and does not see what is committed after it was made.
/// Keep it short: while one is open the write-ahead log cannot be recycled.
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
  [[nodiscard]] std::string ledger_id();
  [[nodiscard]] std::optional<StoredDecision> find_key(const std::string& principal, const std::string& key);
  [[nodiscard]] std::optional<StoredDecision> find_id(const std::string& id);
  [[nodiscard]] PolicyVersion active_policy();
  /// Ordered by (dataset, scope, measure); `dataset` "" = all.
  [[nodiscard]] std::vector<AccountState> accounts(const std::string& dataset);
  /// Those of the named accounts that exist, in the order of `names`; one look-up each.
  [[nodiscard]] std::vector<AccountState> accounts(std::span<const AccountName> names);
  [[nodiscard]] std::int64_t decisions();  ///< how many
  /// As Transaction::location().
  [[nodiscard]] std::optional<std::string> location(const std::string& dataset);
  /// The id of the newest grant of exactly this request to the principal, if it is known to be durable and
  /// among the last kSameRequestWindow decisions: no index has the digests, and a long history is not read.
  [[nodiscard]] std::optional<std::string> find_grant(const std::string& principal,
                                                      const std::string& request_digest);
  /// The decisions about one, by seq.
  [[nodiscard]] std::vector<StoredDecision> children(const std::string& id);
  /// What Transaction::now() and overdue() would be if one began now and saw this snapshot.
  [[nodiscard]] std::string now();
  [[nodiscard]] std::vector<std::string> overdue();
  /// What Transaction::calendar_time() would be if one began now and saw this snapshot.
  [[nodiscard]] std::string calendar_time();
  /// The time at which the calendar is held until confirm_clock(), if one began now.
  [[nodiscard]] std::optional<std::string> calendar_held_at();
  /// Why nobody may write, if so; readers should warn.
  [[nodiscard]] std::optional<std::string> poisoned() const;

  /// Calls back in order of seq, one row in memory at a time; `dataset` "" = all; the last `limit` ones,
  /// 0 = all. With `malformed`, a row that cannot be read is reported there and the rest goes on;
  /// without, it throws LedgerCorrupt. The callbacks may use this snapshot.
  void each_decision(const std::string& dataset, std::int64_t limit,
                     const std::function<void(const StoredDecision&)>& visit,
                     const std::function<void(const MalformedRecord&)>& malformed = {});
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
  /// By seq.
  void each_relocation(const std::function<void(const Relocation&)>& visit);
  /// By seq.
  void each_clock_event(const std::function<void(const ClockEvent&)>& visit);
  /// By version.
  [[nodiscard]] std::vector<SchemaMigration> schema_migrations();

 private:
  friend class Inspection;
  friend class Ledger;
  struct State;
  explicit Snapshot(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

struct Options {
  std::chrono::milliseconds wait{30'000};  ///< for the turn, then LedgerBusy; 0: do not wait
  Clock clock = system_clock_reading;      ///< another one only in tests
  /// Called under the turn right before each COMMIT. Must not throw, nor use the ledger.
  std::function<void()> before_commit = {};
  /// Told in one sentence of what failed without harm to what was recorded: that the log could not be moved
  /// into the database, say. Must not use the ledger.
  std::function<void(const std::string&)> warn = {};
  /// Told in one sentence, and only after a second, who it is that a call waits for. Must not use the ledger.
  std::function<void(const std::string&)> waiting = {};
};

/// What migrate() did.
struct Migration {
  std::int64_t from = 0;  ///< schema found
  std::int64_t to = 0;    ///< schema left; equal: there was nothing to do
  std::string copy;       ///< path of the copy of the old file; "" when there was nothing to do
};

/// Whether and why a ledger is poisoned, and whether that may be cleared.
struct RecoveryState {
  bool poisoned = false;
  std::string reason;                 ///< of the first failure; "" unless poisoned
  std::string poisoned_at;            ///< RFC 3339 UTC; "" if unknown
  bool rebooted = false;              ///< since then: the page cache that may lie is gone
  std::vector<std::string> problems;  ///< what SQLite's quick_check says; empty: ok
  std::string advice;                 ///< what to do next, one sentence; "" unless poisoned
};

class Ledger final {
 public:
  /// Makes a new ledger file of mode 0600, its directory (0750) too if only that is missing. Nothing
  /// is ever overwritten. The policy becomes version 1. Returns the ledger_id, 32 hexadecimal digits.
  /// Throws  LedgerUnusable (something is there), InvalidParameter (accounts or policy make no sense),
  ///         LedgerBusy, LedgerIo.
  static std::string create(const std::string& path, const PolicyVersion& policy,
                            const std::vector<AccountState>& accounts, const Options& options = {});
  /// Brings a ledger of an older schema to this one's, in one transaction under the turn; its rows stay
  /// what they were. The old file is kept as L.schema1, mode 0400, durable before the ledger is touched.
  /// Repeatable: after a crash the ledger is whole in either schema, and the copy may be made again.
  /// Throws  LedgerUnusable (no ledger, newer schema, something else lies at L.schema1, or a copy that holds
  ///         what the ledger lacks), LedgerCorrupt,
  ///         LedgerBusy, LedgerIo (poisoned, or now is).
  static Migration migrate(const std::string& path, const Options& options = {});
  /// For reading and writing; thread-safe (transactions of one process take turns).
  /// Throws  LedgerUnusable (no ledger, not one, newer or older schema, a link),
  ///         LedgerCorrupt (truncated, malformed), LedgerBusy, LedgerIo (a setting does not hold). Opening
  ///         a poisoned ledger succeeds; begin() refuses.
  [[nodiscard]] static Ledger open(const std::string& path, const Options& options);
  /// Only snapshot() works. Also for directories one cannot write to.
  [[nodiscard]] static Ledger open_read_only(const std::string& path, const Options& options = {});

  /// What `epsilog recover` decides on. Writes nothing.
  /// Throws  as open_read_only.
  [[nodiscard]] static RecoveryState recovery_state(const std::string& path);
  [[nodiscard]] static RecoveryState recovery_state(const std::string& path, const std::string& boot_id);
  /// Removes the marker, after the caller verified the ledger's content.
  /// Requires  recovery_state(path): poisoned, rebooted, no problems.
  /// Throws    LedgerIo saying which of these fails and what to do; LedgerBusy; LedgerCorrupt.
  static void clear_poison(const std::string& path, const Options& options = {});
  static void clear_poison(const std::string& path, const std::string& boot_id, const Options& options = {});

  Ledger(Ledger&&) noexcept;
  Ledger& operator=(Ledger&&) noexcept;
  ~Ledger();

  [[nodiscard]] const std::string& ledger_id() const;
  /// Why nobody may write, if so; readers should warn.
  [[nodiscard]] std::optional<std::string> poisoned() const;

  /// Waits for the turn, at most Options::wait. A thread that already holds a transaction of this
  /// ledger would wait for itself.
  /// Throws  LedgerBusy; LedgerIo (poisoned); LedgerUnusable (the file was replaced); InvalidParameter.
  [[nodiscard]] Transaction begin();
  /// COMMIT, fdatasync included. The decisions recorded by this transaction in order; only now are
  /// their values visible.
  /// Requires  the transaction is of this ledger and open, not owing.
  /// Throws    LedgerBusy: nothing happened. LedgerIo: outcome unknown, nothing is acknowledged.
  ///           InvalidParameter.
  [[nodiscard]] std::vector<StoredDecision> commit(Transaction transaction);
  [[nodiscard]] Snapshot snapshot() const;

 private:
  explicit Ledger(std::shared_ptr<LedgerState> state);
  std::shared_ptr<LedgerState> state_;
};

}  // namespace epsilog::ledger
