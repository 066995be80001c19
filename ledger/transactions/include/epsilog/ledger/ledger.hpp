// The ledger: accounts, decisions with what they moved, and every event as a record in one SQLite file.
//
// Definitions
//   L           the ledger's file; L-wal and L-shm are SQLite's, L.queue and L.lock our lock files,
//               L.poisoned the marker of an unknown outcome. All in one directory, on a local disk, and
//               of one owner: only that user and root write.
//   turn        what a writer holds: first among the threads of a Ledger, then flock on L.lock,
//               reached through the turnstile L.queue so that processes alternate. Both files stay
//               open as long as the Ledger, and count only while they are those of that name.
//   durable     on disk after power loss, if the disk honours flush.
//
// Invariants, at every instant, for any number of threads and processes and after any crash
//   (1)  A value leaves the process only after the COMMIT that made its charge durable returned:
//        one transaction holds decision, movements and release. Of a decision that another process recorded
//        it leaves only if that one's COMMIT returned, or what it left behind was made durable since.
//   (2)  For every account 0 <= spent, 0 <= reserved, spent + reserved <= limit. A conditional UPDATE
//        decides, exactly one changed row is required, and a CHECK of the table stands behind both.
//   (3)  account.spent and account.reserved are the sums of what movements changed them by, and each movement
//        says what they came to: spent = sum of the charges by granted and forfeited decisions, reserved =
//        sum of those by reserved decisions that are open.
//   (4)  A granted decision has at least one charge, one of them against a measure other than "delta",
//        and exactly one release. Each charge against "epsilon" is at least the epsilon its receipt
//        covered, and beside it one against "delta" of the same scope likewise unless that is zero. With
//        a parent its charges are the parent's. A reserved one has such charges and no release, a
//        forfeited one the charges of its parent and no release. No other has either.
//   (5)  Decisions are numbered 1, 2, … without gaps; ids ascend bytewise with the number; times never
//        go back: ledger time is max(last, wall clock).
//   (6)  A (principal, key) with key <> '' names at most one decision, for ever.
//   (7)  Rows never change, but for accounts, meta and the list of what is open. Each event is one line of
//        canonical JSON that follows from rows, with its index, gapless from 0; SHA-256 of the line is the
//        leaf of that number in one RFC 6962 tree. Row, line, leaf and nodes are written in one transaction.
//   (8)  All writes and all checkpoints happen on one connection of whoever holds the turn; a checkpoint that
//        has the log begin anew comes after a COMMIT returned and its lines are in the replica. While a
//        COMMIT is under way L.lock says from which decision on; whoever finds that there, settles it before
//        any other write: what can be read is durable then, and nothing else is left in the log.
//   (9)  Every connection has journal_mode WAL, synchronous FULL, power-safe overwrite off, foreign
//        keys on, and was refused otherwise: the settings were read back. One that writes keeps what it may
//        have to undo in memory, not in a file elsewhere.
//   (10) While L.poisoned exists nobody writes, and no value is told.
//   (11) L is one regular file with one name. Of this process only SQLite opens it, and files/held_files.hpp.
//   (12) A value stored equals post_process(recipe stored, component values stored).
//   (13) A decision is resolved at most once; what is about it comes after it and before that, has its
//        dataset and its policy version, and is of a kind that may follow it (Outcome). A principal
//        approves or rejects a decision once. A reservation whose token was issued is not voided.
//   (14) Rows of open_decision are the reserved and pending decisions that are not resolved.
//   (15) Calendar time, by which budgets renew, is ledger time unless the calendar is held: since the
//        wall clock was found more than five minutes ahead of what it was trusted with in this boot
//        plus CLOCK_BOOTTIME since, it is the ledger time before that, until confirm_clock().
//   (16) What is no decision (policy versions with their limits, clock events, relocations) is
//        numbered 1, 2, … in the order in which it happened, and says the last decision before it. So the
//        whole history has one order, which no time has a part in.
//   (17) Where the active policy names a replica, its file holds every line up to a trailer before a value of
//        them leaves (Replica), and meta.replica_size, which is 0 where none is in force, never says more
//        than it held.
//
// States of a transaction: transaction.hpp. States of a ledger
//   absent -> usable    create(); never overwrites
//   lines -> read-only  import_lines(); nobody writes to it
//   usable -> sealed    seal(); nobody writes to it, but restore() of a copy may go on from there
//   usable -> poisoned  a write or sync that fails, or damage, while writing, COMMIT included: L.poisoned is
//                       written and synced before the turn ends (docs/recovery.md). Not for lack of room, nor
//                       for a checkpoint that fails: the log stays durable
//   poisoned -> usable  clear_poison(), after a reboot; it is a record
//
// What is kept in memory, and why the invariants hold of it as of what is read
//   within a transaction  the accounts it read and the key it found free. Nobody else writes between BEGIN
//                         IMMEDIATE and COMMIT; what it writes itself is put there. What is undone within it
//                         (member(), resolve()) takes its counts and decisions with it, and what was read is
//                         read again.
//   between transactions  the row of meta, the last decision's id, the active version, the right edge of the
//                         tree, and rows that never change, found by what they say (names, programs, plans),
//                         as this Ledger's writing connection read them, or left them by a COMMIT that
//                         returned: used under the turn while PRAGMA data_version of that connection, read
//                         after BEGIN IMMEDIATE, is what it was. It changes with every commit of any other
//                         connection, be it of another object, process or program.
//                         Versions never change (7): who knows one goes by its number.
//   after a foreign       the edge of the tree, rows that never change, and what rows said of times, if the
//   commit                line known last has its leaf in its place still. That line has 16 random bytes that
//                         no other has, so only a file that had this very COMMIT has that leaf there: it
//                         holds every row written until then (7), and what came since follows them. A copy
//                         from before the line, put in place over the same file, does not have it, however
//                         far it went on; nor has another history with as many lines. Then everything is
//                         read. What is read in any case: meta, the last decision, every leaf since. Where
//                         meta counts nothing but decisions since, the last of them has the last time and the
//                         version and the calendar are as they were; else those are read again too.
//   not kept              which file it is (11), whether it is poisoned (10), whether a mark is left (8), the
//                         versions of the schema: looked at in every turn. A file put in the place of this
//                         one, older or not, is another file. A forked child uses nothing. Before meta is
//                         written all is forgotten, and kept again once COMMIT returned.
//   were it stale         nothing would be written: the UPDATE of an account (2) names every balance, that of
//                         meta the decisions, lines and last time it was found with; decisions and lines are
//                         primary keys. A name, program or plan that an index gave is held against its row
//                         when it is found.
//
// Not for forked children: an object of this library used in a child of the process that made it throws
// InvalidParameter, and is abandoned there rather than closed. Its lock files are closed there before fork()
// returns: no child keeps a lock, nor gives one up. Who makes a process without fork() (clone, _Fork) must
// execute a program in it, as posix_spawn does.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "epsilog/ledger/backup.hpp"
#include "epsilog/ledger/end_mark_state.hpp"
#include "epsilog/ledger/ledger_options.hpp"
#include "epsilog/ledger/record.hpp"
#include "epsilog/ledger/seal.hpp"
#include "epsilog/ledger/snapshot.hpp"
#include "epsilog/ledger/stored_fault.hpp"
#include "epsilog/ledger/transaction.hpp"

namespace epsilog::ledger {

class LedgerState;
class TransactionState;

/// What recover_from() did.
struct ReplicaRecovery {
  std::string ledger_id = {};
  std::int64_t kept = 0;      ///< lines that the ledger had; 0: it was not there
  std::int64_t restored = 0;  ///< lines of the replica that it had not
  std::int64_t dropped = 0;   ///< lines after the last trailer of the replica that is right, cut off from it
  std::int64_t dropped_from = 0;         ///< the number of the first of them
  std::int64_t dropped_bytes = 0;        ///< of the replica
  bool truncated = false;                ///< somebody was told of them: accept_truncated
  std::vector<StoredFault> faults = {};  ///< why nothing was done; empty if it was, or there was no need
};

/// How a ledger is put right from a replica.
struct ReplicaRecoveryOptions {
  std::string by;  ///< who does it, and why: on record
  std::string why = {};
  /// What is wrong in the replica with a right trailer after it goes away, and all that follows it.
  bool accept_truncated = false;
  /// What comes of it may have fewer lines than L.lock remembers: on record.
  bool accept_rollback = false;
  /// Holds what was made, a ledger at that path that nobody else knows, against itself, before it takes the
  /// ledger's place. What it returns is why it is not put there.
  std::function<std::vector<StoredFault>(const std::string& path)> verify = {};
};

/// Who goes on with a ledger that was poisoned: on record, beside what poisoned it and when.
struct PoisonRecovery {
  std::string by = {};   ///< not ""
  std::string why = {};  ///< what else there is to say
};

/// What accept_rollback() found. Both are 0 where nothing was missing, and nothing was done.
struct AcceptedRollback {
  std::int64_t remembered = 0;  ///< lines that L.lock remembered
  std::int64_t found = 0;       ///< lines that were there
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
  /// `forget_ledger`: the id of the ledger that lay there, if L.lock remembers one and its loss is accepted.
  /// Throws  LedgerUnusable (something is there; L.lock remembers another ledger), InvalidParameter (accounts
  ///         or policy make no sense), LedgerBusy, LedgerIo, NetworkFileSystem.
  static std::string create(const std::string& path, const PolicyVersion& policy,
                            const std::vector<AccountState>& accounts, const Options& options = {},
                            const std::string& forget_ledger = "");
  /// Makes a new ledger of the lines of another one (Snapshot::each_line), which is read-only: row for row
  /// the same, the clock's observation aside. `next_line` gives them without line feeds, then nothing.
  /// Returns how many there were. Options::accept_missing_lines: they may be fewer than L.lock remembers of
  /// that ledger.
  /// Throws  LedgerCorrupt naming the line that is none, or cannot follow; LinesMissing; as create(); what
  ///         `next_line` throws. Nothing is left then but lock files.
  static std::int64_t import_lines(const std::string& path,
                                   const std::function<std::optional<std::string>()>& next_line,
                                   const Options& options = {});
  /// Puts back what a replica holds and the ledger does not, or builds a ledger that is not there, and
  /// records that; what follows the replica's last trailer is cut off, for nobody was told of it. Where that
  /// is accepted (accept_truncated), so is what follows the last one that is right, and on record. Of a data
  /// token whose bytes the ledger has not the row says the hash alone. A poisoned ledger stays
  /// poisoned, and is touched only where clear_poison() would. Repeatable after a crash. Lines that end with
  /// a seal are put back as they are: the ledger is sealed again, and nothing says that it was recovered.
  /// Requires  `by` and `why` not "".
  /// Throws    LedgerCorrupt: a line or trailer is wrong with an acknowledged one after it, or the two are
  ///           not of one history;
  ///           ReplicaUnavailable: it cannot be read, or its end not be cut off;
  ///           LedgerUnusable (a ledger made of lines), LedgerBusy, LedgerIo, InvalidParameter.
  static ReplicaRecovery recover_from(const std::string& path, const std::string& replica,
                                      const ReplicaRecoveryOptions& steps, const Options& options = {});
  /// Copies the ledger into a new file of mode 0600, while others write to it. The copy is durable before it
  /// has its name. Waits for one turn, in which what an interrupted commit or write to the replica left is
  /// seen to; then nobody waits for it.
  /// Throws  LedgerUnusable (something has that name; its directory is not there; no ledger, or a read-only
  ///         one of lines; not its owner), LedgerRolledBack, LedgerIo (poisoned), LedgerBusy, LedgerCorrupt.
  ///         Nothing is left then.
  static Backup backup(const std::string& path, const std::string& file, const BackupHooks& steps,
                       const Options& options = {});
  /// Puts a backup, or any copy of a ledger, where there is none: with what the replica that its policy names
  /// holds after it, and with the recovery as its last line, which the replica then gets. Where no replica
  /// can be used what came after the backup is forgotten: only if that is accepted. Repeatable after a crash,
  /// until the ledger is there. A backup that ends with a seal goes on only where that is asked
  /// (steps.sealed), with a line that ends the seal; what it holds is all there is.
  /// Requires  `by` not "".
  /// Throws    LedgerUnusable (something is there; the backup is none), LedgerSealed (it is sealed, and
  ///           steps.sealed does not say that it goes on), NetworkFileSystem, LedgerIo (the backup is
  ///           poisoned), LedgerCorrupt (replica and backup are not of one history, or as recover_from()),
  ///           ReplicaUnavailable, InvalidParameter (a rollback that nobody accepts), LedgerBusy; what `hold`
  ///           throws. Nothing but lock files is left then.
  static Restoration restore(const std::string& path, const std::string& backup, const RestoreOptions& steps,
                             const Options& options = {});
  /// For reading and writing; thread-safe (transactions of one process take turns).
  /// Throws  LedgerUnusable (no ledger, not one, of a development version or a newer program, a link, a
  ///         rollback journal beside it), NeedsFeature, LedgerCorrupt (truncated, malformed), LedgerBusy,
  ///         LedgerIo (a setting does not hold), NetworkFileSystem. Opening a poisoned ledger succeeds;
  ///         begin() refuses.
  [[nodiscard]] static Ledger open(const std::string& path, const Options& options);
  /// Only snapshot() works. Also for directories one cannot write to.
  [[nodiscard]] static Ledger open_read_only(const std::string& path, const Options& options = {});

  /// As open_read_only() until the first begin(), which throws what open() would. The connection that has
  /// read by then writes, if it is free: a process that asks one question opens the file once. Until then,
  /// though its owner has the file open for both, query_only holds it to reading.
  [[nodiscard]] static Ledger open_on_demand(const std::string& path, const Options& options);

  /// What `epsilog recover` decides on. Writes nothing.
  /// Throws  as open_read_only.
  [[nodiscard]] static RecoveryState recovery_state(const std::string& path);
  [[nodiscard]] static RecoveryState recovery_state(const std::string& path, const std::string& boot_id);
  /// Records the recovery, then removes the marker, after the caller verified the ledger's content. A replica
  /// that cannot be used is no obstacle: whoever writes next sees to it. Repeatable after a crash: what was
  /// recorded is not recorded again.
  /// Requires  recovery_state(path): poisoned, rebooted, no problems.
  /// Throws    LedgerIo saying which of these fails and what to do; LedgerRolledBack: the replica holds what
  ///           the ledger has lost (recover_from()); LedgerBusy; LedgerCorrupt; LedgerUnusable;
  ///           InvalidParameter.
  static void clear_poison(const std::string& path, const PoisonRecovery& recovery,
                           const Options& options = {});
  static void clear_poison(const std::string& path, const std::string& boot_id,
                           const PoisonRecovery& recovery, const Options& options = {});

  /// Goes on with a ledger that has fewer lines than L.lock remembers, after a line that says so.
  /// Requires  `by` and `why` are not "".
  /// Throws    as begin(), apart from LinesMissing; LedgerRolledBack: its replica holds more, and
  ///           recover_from() puts that back.
  static AcceptedRollback accept_rollback(const std::string& path, const std::string& by,
                                          const std::string& why, const Options& options = {});

  /// Seals the ledger: after this line nothing is recorded in it. Durable in the ledger and in its replica,
  /// where its policy names one. What waits or is reserved stays as it is, and ends where the ledger goes on.
  /// Repeatable: of a sealed ledger it only brings the replica up to date.
  /// Requires  `by` and `why` are not "".
  /// Throws    as begin(); ReplicaBehind: it is sealed, and the replica does not say so yet;
  ///           InvalidParameter.
  static SealResult seal(const std::string& path, const std::string& by, const std::string& why,
                         const Options& options = {});

  Ledger(Ledger&&) noexcept;
  Ledger& operator=(Ledger&&) noexcept;
  ~Ledger();

  [[nodiscard]] const std::string& ledger_id() const;
  /// Returns what L.lock says now of how long the ledger was.
  /// Throws  LedgerBusy if it cannot be read now.
  [[nodiscard]] EndMarkState end_mark_state() const;
  /// Returns whether a program serves the ledger's folder (FUSE), so that the files may lie on another
  /// machine, whose users would not see the charges of this one.
  /// Throws  LedgerBusy, LedgerUnusable: it cannot be told.
  [[nodiscard]] bool is_on_fuse() const;
  /// Why nobody may write, if so; readers should warn.
  [[nodiscard]] std::optional<std::string> poison_reason() const;

  /// Waits for the turn, at most Options::wait and until Options::stop (WaitStopped). A thread that already holds a
  /// transaction of this ledger would wait for itself.
  /// Throws  LedgerBusy, FilesReplaced too; LedgerIo (poisoned); LedgerUnusable, LedgerSealed too;
  ///         InvalidParameter.
  [[nodiscard]] Transaction begin();
  /// As begin(), for who will apply that policy: a replica that cannot be used does not keep from applying
  /// one that names another, or none. Then nothing can be committed without it.
  [[nodiscard]] Transaction begin_to_apply(const PolicyVersion& next);
  /// As begin(), but waits no longer than that: none when the turn is not to be had in that time. 0: when
  /// somebody has it, or is before us in the line.
  [[nodiscard]] std::optional<Transaction> begin_within(std::chrono::milliseconds wait);
  /// COMMIT, fdatasync included. The decisions recorded by this transaction in order; only now are
  /// their values visible.
  /// Requires  the transaction is of this ledger and open, not owing.
  /// Throws    LedgerBusy: nothing happened, or FilesReplaced. LedgerIo: outcome unknown, none acknowledged.
  ///           InvalidParameter.
  [[nodiscard]] std::vector<StoredDecision> commit(Transaction transaction);
  [[nodiscard]] Snapshot snapshot() const;

 private:
  explicit Ledger(std::shared_ptr<LedgerState> state);
  [[nodiscard]] std::vector<StoredDecision> commit(TransactionState& state);
  std::shared_ptr<LedgerState> state_;
};

}  // namespace epsilog::ledger
