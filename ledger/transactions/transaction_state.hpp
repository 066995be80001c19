// What a Transaction holds, and the steps it is made of.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "account_rows.hpp"
#include "epsilog/accounting/approximate_loss.hpp"
#include "epsilog/accounting/callback.hpp"
#include "epsilog/accounting/charge_receipt.hpp"
#include "epsilog/ledger/record.hpp"
#include "ledger_clock.hpp"
#include "ledger_state.hpp"
#include "queries.hpp"
#include "record_log.hpp"
#include "record_rows.hpp"

namespace epsilog::ledger {

class TransactionState;

/// What a transaction keeps in memory, as it was when a SAVEPOINT was set. What it keeps only so as not to
/// read it again is not here: that is forgotten when something is undone, and read again.
class SavepointMemory final {
 public:
  explicit SavepointMemory(const TransactionState& state);
  /// Requires  the rows were undone to that SAVEPOINT.
  void restore(TransactionState& state) noexcept;

 private:
  Meta meta_;
  std::string last_id_;
  ClockObservation clock_;
  ClockReading reading_;
  std::int64_t policy_version_;
  bool changed_;
  bool dated_;
  std::size_t recorded_;  // how many decisions
  RecordLog log_;
  /// For the receipts that come after what is undone; its own die.
  std::shared_ptr<accounting::TransactionLiveness> later_;
};

/// What a transaction does about the replica that the active policy names.
enum class ReplicaUse {
  required,   ///< nothing is recorded that does not get into it
  if_usable,  ///< where it cannot be used, whoever writes next sees to it
  later,      ///< whoever writes next does
};

/// What a transaction does about a ledger that is sealed.
enum class OnSeal {
  refuse,  ///< throws LedgerSealed
  go_on,   ///< begins: it records nothing, or looks first
};

/// What a release loses, and accounts have to cover.
struct OwedLoss {
  const accounting::ApproximateLoss& sum;
  const accounting::ComposedCharge* composed;  ///< of draws that are charged as one; else nullptr
  std::span<const ScopeLoss> parts;
};

class TransactionState final {
 public:
  /// Takes the turn and begins, waiting for it as Options::wait says. Where it is not to be had `within` the
  /// time given instead, `has_writer_lock` is false and the transaction over.
  /// `next`: the policy that will be applied, if any.
  explicit TransactionState(std::shared_ptr<LedgerState> ledger,
                            std::optional<std::chrono::milliseconds> within = {},
                            const PolicyVersion* next = nullptr, ReplicaUse use = ReplicaUse::required,
                            OnSeal on_seal = OnSeal::refuse);
  ~TransactionState();
  TransactionState(const TransactionState&) = delete;
  TransactionState& operator=(const TransactionState&) = delete;

  /// Kills the receipts, rolls back what is not committed and gives the turn back. Repeatable.
  void end() noexcept;
  void require_open() const;
  /// Runs one step. Whatever it throws ends the transaction, or the member it belongs to: a half-done step
  /// must not be committed.
  template <class Operation>
  auto run_step(const char* doing, Operation operation) {
    require_open();
    try {
      return operation(*this);
    } catch (const StorageFailure& failure) {
      try {
        fail(failure, doing);
      } catch (...) {
        end_or_give_up_savepoint();
        throw;
      }
    } catch (...) {
      end_or_give_up_savepoint();
      throw;
    }
  }

  // savepoint.cpp
  /// As Transaction::savepoint().
  void run_in_savepoint(accounting::CallbackRef<void()> step);
  /// Leaves nothing of it; if that fails, nothing of anybody.
  void undo_savepoint(SavepointMemory& before);
  /// Of what SQLite refuses, a constraint is a member's own: nothing is known to be wrong with the storage.
  [[noreturn]] void fail(const StorageFailure& failure, const char* doing);
  void end_or_give_up_savepoint() noexcept;
  /// Takes the values out of a decision recorded here: they come out of commit().
  void withhold(StoredDecision& decision) const;

  // decisions.cpp
  /// Holds a draft against everything that can be said without its charges. Returns its parent, if any.
  std::optional<StoredDecision> require_recordable(const DecisionDraft& draft);
  StoredDecision require_parent(const DecisionDraft& draft);
  /// Sorted by account: the order in which a storage with row locks would have to take them.
  /// `loss` null: reserved, for a loss that is not known yet.
  std::vector<Charge> checked_charges(const DecisionDraft& draft, std::span<const Charge> charges,
                                      const OwedLoss* loss);
  /// What a charge does to its account.
  enum class MovementKind { spend, reserve, spend_reserved, give_back };
  /// One UPDATE of account a charge, each of exactly one row.
  void apply_movement(MovementKind kind, const std::vector<Charge>& charges);
  /// Before a reservation is settled: a charge in which a bit has flipped would give back more than it holds.
  void require_reserved_sums(const std::vector<Charge>& charges);
  [[nodiscard]] std::vector<AccountState> accounts_after(const DecisionDraft& draft,
                                                         const std::vector<Charge>& moved);
  /// What `kind` did with the charges, beside the accounts that the decision shows.
  [[nodiscard]] std::vector<Movement> movements_of(const StoredDecision& decision, MovementKind kind,
                                                   const std::vector<Charge>& moved);
  /// Numbers and dates a decision; opens it, or closes its parent. `moved` are the charges whose accounts it
  /// changed, `charged` those that are its own. Returns its id. A grant is stored with its release.
  std::string record(const DecisionDraft& draft, MovementKind kind, const std::vector<Charge>& moved,
                     std::vector<Charge> charged);
  /// Writes rows and lines of this transaction.
  [[nodiscard]] Recorder recorder() { return {ledger->writer(), meta, log}; }
  /// Does a step whole or not at all. Returns why it was undone: what is stored does not go together. The
  /// transaction goes on either way; anything else that the step throws comes out.
  [[nodiscard]] std::optional<std::string> try_step(const std::function<void()>& step);
  /// Transaction::charge() and commit_reservation() but for the receipt, which only that can make.
  void charge(const DecisionDraft& granted, std::span<const Charge> charges, const OwedLoss& loss);
  void commit_reservation(const DecisionDraft& granted, const OwedLoss& loss);
  /// From here on a receipt of that loss is out.
  void owe(const OwedLoss& loss);

  // transaction_replica.cpp
  /// Tells replaced replicas that they are, those that can be told now. Each that was told is forgotten.
  /// Requires  no transaction is open.
  void close_stale_replicas() noexcept;
  /// Before COMMIT: notes what this transaction replaced.
  void note_replaced_replica();
  /// Sees to the replica before anything is written. One that cannot be used is passed over if `next` does
  /// not name it any more.
  void prepare_replica(const LedgerTip& tip, const PolicyVersion* next);
  void find_replica(const LedgerTip& tip, const PolicyVersion* next);
  /// Of a sealed ledger: the replica gets the lines that it lacks, if that is possible now. It may have gone
  /// on with the ledger elsewhere.
  void prepare_replica_of_sealed(const LedgerTip& tip, OnSeal on_seal);
  /// From here on the lines go where this version says.
  void replicate_under(const PolicyVersion& version);
  /// Before COMMIT: what will be written has a place. Returns what meta says of the replica.
  [[nodiscard]] std::int64_t reserve_in_replica();
  /// After it.
  /// Throws  ReplicaBehind with what was recorded.
  void write_to_replica(const TreeHead& tree, std::vector<StoredDecision>& committed);

  // transaction.cpp
  /// Opens an account that no index has and no row is; the rows are looked through once a transaction.
  void open_new_account(const AccountState& fresh);
  void insert_limit_change(const AccountState& before, std::int64_t new_limit, const PolicyVersion& version,
                           const std::string& why);
  void insert_limit_removal(const AccountState& account, const PolicyVersion& version,
                            const std::string& why);
  void insert_clock_event(ClockEvent event);
  void insert_seal(const std::string& by, const std::string& why);
  /// Its number and time are those that come next.
  void insert_recovery(RecoveryEvent event);
  /// Writes what was noticed of the clocks at the beginning, unless that is done. It stands before every
  /// decision of this transaction, all of which went by it.
  void insert_noticed_clock_events();

  std::shared_ptr<LedgerState> ledger;
  const ReplicaUse replica_use;
  bool has_writer_lock;
  std::shared_ptr<accounting::TransactionLiveness> liveness =
      std::make_shared<accounting::TransactionLiveness>();
  Meta meta;               // as it will be written
  std::string last_id;     // of the last decision, "" when there is none
  ClockObservation clock;  // at the beginning; its now_ms is the time of everything in this transaction
  ClockReading reading;    // that it was made from
  std::int64_t policy_version = 0;
  std::int64_t decisions_before = 0;                                  // how many there were at the beginning
  std::int64_t lines_before = 0;                                      // likewise
  std::string last_time_before;                                       // at the beginning
  std::optional<std::set<AccountName>> existing_accounts;             // by a scan, once something is opened
  std::optional<std::map<std::int64_t, std::int64_t>> reserved_sums;  // of open decisions, by account
  AccountRows account_rows;
  RecordLog log;                     // with the lines of this transaction
  std::optional<StaleReplica> replaced;      // by the policy that this transaction applied
  std::vector<StaleReplica> stale_replicas;  // as it will be after COMMIT
  std::optional<Seal> seal;               // likewise
  std::optional<Replica> replica;    // that the active policy names, of this transaction's if it has one
  bool replica_ready = true;         // it holds what the ledger does, or there is none
  std::vector<Movement> owed_movements;  // of the granted decision that waits for its release
  std::optional<std::pair<std::string, std::string>> free_key;  // (principal, key) just found to name nothing
  bool changed = false;
  bool dated = false;                   // something has the time of this transaction
  bool owing = false;                   // a granted decision waits for its release
  accounting::ApproximateLoss receipt;  // what the receipt of that decision covers, the sum of its draws
  accounting::Epsilon expected_epsilon;             // what its record has to say that it was charged
  std::optional<ComposedRecord> expected_composed;  // and how, where it was charged for its draws as one
  std::vector<StoredDecision> recorded;
  /// Whether a step of savepoint() is under way, and whether a call of it has failed.
  enum class Savepoint { none, under_way, given_up } savepoint = Savepoint::none;
};

/// Throws  InvalidParameter unless the condition holds.
void require(bool condition, const std::string& message);

/// An account at its beginning.
[[nodiscard]] AccountRecord new_account_record(std::int64_t id, const AccountState& fresh,
                                               const std::string& opened_at);
/// Throws  InvalidParameter.
void require_sound_policy(const PolicyVersion& version);
void require_sound_account(const AccountState& account);

}  // namespace epsilog::ledger
