// The release path: policy -> request -> plan -> decision -> charge -> release.
//
// Thread-safety: an Engine may be used from several threads; its transactions take turns.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "epsilog/accounting/callback.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/actor.hpp"
#include "epsilog/engine/answer.hpp"
#include "epsilog/engine/engine_options.hpp"
#include "epsilog/engine/progress.hpp"
#include "epsilog/engine/request.hpp"
#include "epsilog/engine/submission_outcome.hpp"
#include "epsilog/ledger/end_mark_state.hpp"
#include "epsilog/ledger/record.hpp"
#include "epsilog/mechanisms/bit_source.hpp"

namespace epsilog::engine {

struct Checkpoint;           // checkpoint.hpp
struct RequestedCheckpoint;  // requested_checkpoint.hpp
struct AccurateBatch;        // forecast.hpp
struct Forecast;             // forecast.hpp
struct MechanismComparison;  // comparison.hpp
class Policy;                // policy.hpp
struct PolicyChange;         // policy_diff.hpp
class PlanSequence;          // forecast.hpp
struct EngineState;          // internal to the engine

/// Whether something would be believed that should not be.
struct LedgerCondition {
  ledger::EndMarkState end_mark_state =
      ledger::EndMarkState::none;                ///< what L.lock says of the ledger's length
  std::vector<std::string> stale_replicas = {};  ///< as ledger::Snapshot::stale_replicas()
  bool over_fuse = false;                        ///< as ledger::Ledger::is_on_fuse()
};

struct InitReport {
  std::string ledger;
  std::string ledger_id;
  std::string policy_sha256;
};

struct ApplyReport {
  std::int64_t policy_version = 0;
  std::string policy_sha256;
  bool changed = false;  ///< false when the active policy already has these bytes
  std::vector<ledger::LimitChange> limit_changes;
  std::vector<ledger::LimitRemoval> limit_removals;
};

/// A policy that comes as a text, from who is not where the files are.
struct PolicyUpload {
  std::string yaml;             ///< its bytes, at most 256 KiB
  std::string name = "policy";  ///< to show in faults
  /// Of the bytes of the version that it replaces, in lower-case hexadecimal digits; nothing: whichever that
  /// is. Another active one is PolicyConflict, also for who only asks what the text would change.
  std::optional<std::string> expected_sha256 = {};
  /// The principal who applies it, "" for one whom no policy names. Then a text that leaves nobody with the
  /// duty `curate`, or takes away that of who applies it, has the fault `would_lock_out` at `principals`.
  /// Nothing: duties play no part.
  std::optional<std::string> acting = {};
};

struct RelocateReport {
  std::string dataset;
  std::string from;      ///< where the source was found until then
  std::string to;        ///< absolute
  std::string at;        ///< ledger time
  bool changed = false;  ///< false: it was found there already, and nothing is recorded
};

/// A part of the history, oldest first.
struct HistoryPage {
  std::string dataset = {};  ///< "" = all
  /// Where the page before ended (HistoryEnd::cursor); "": the first page.
  std::string after = {};
  std::int64_t limit = 100;  ///< how many decisions, >= 1
  /// Only requests that this principal asked, and whatever was decided or done about them, by whom it may be;
  /// "" = everybody's. What the principal did about requests of others is not among it.
  std::string asker = {};
  /// Where `after` is "": begins with the first decision of that ledger time or later.
  std::string since = {};
  Alphas alphas = {};  ///< at which intervals of what was released are told
  bool rows = true;    ///< false: a batch is told without Answer::rows, components and values
};

/// The same, newest first.
struct NewestPage {
  std::string dataset = {};  ///< "" = all
  /// Where the page before ended; "": from the newest decision on. What came since is not in a later page.
  std::string before = {};
  std::int64_t limit = 100;  ///< how many decisions, 1..kNewestPageMax
  std::string asker = {};    ///< as of HistoryPage
  bool rows = true;          ///< likewise
};

/// A part of what is reserved or waits for approvals, oldest first.
struct PendingPage {
  std::string dataset = {};  ///< "" = all
  std::string after = {};    ///< where the page before ended; "": the first page
  std::int64_t limit = 100;  ///< how many of them, >= 1
  bool rows = true;          ///< as of HistoryPage
};
inline constexpr std::int64_t kNewestPageMax = 1'000;

/// Where a page of the history ended.
struct HistoryEnd {
  /// Means nothing but this place, in this ledger, for ever; for pages of the same order.
  std::string cursor;
  /// Whether a decision follows by now; later ones can be asked for all the same. With an asker, whether one
  /// may: such a page ends after the ledger::kAskerWindow decisions that it looked at, and can be empty.
  bool more = false;
};

/// An account as `budget` reports it.
struct BudgetAccount : ledger::AccountState {
  bool active = true;  ///< false: the active policy declares no limit for it any more
};

/// An engine that was moved from can be assigned to and destroyed; every other call throws InvalidParameter,
/// as does one in a process that was forked after it was opened. What a callback throws comes out unchanged,
/// and std::bad_alloc out of anything. Below, *reading* and *writing* throw LedgerUnusable, LedgerBusy,
/// LedgerIo and LedgerCorrupt; docs/library.md says what is on record after each. What changes nothing can be
/// stopped at its next step, on the thread that calls (epsilog/accounting/stopping.hpp).
class Engine final {
 public:
  /// Nothing is recorded before the first write: until then the connections are held to reading.
  /// Throws  reading.
  [[nodiscard]] static Engine open(const std::string& ledger_path, const EngineOptions& options = {});
  /// Throws  PolicyError; LedgerUnusable if something is at that path already; SourceError if a path
  ///         is relative and the working directory gone; InvalidParameter for `by`; writing.
  /// `forget_ledger`: as of ledger::Ledger::create(). Of the options: how long to wait, and who is warned.
  static InitReport init(const std::string& policy_path, const std::string& ledger_path,
                         const std::string& by, const std::string& forget_ledger = "",
                         const EngineOptions& options = {});

  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;
  ~Engine();

  /// Spends nothing, records nothing. With `assumed_count`, of a mean over a private number of rows or of a
  /// proportion, also how accurate the answer of so many rows, or of each cell of so many, would be.
  /// Throws  NotFound, Underivable, InvalidParameter; reading.
  [[nodiscard]] Answer plan(const Request& request, const Alphas& alphas,
                            std::optional<std::int64_t> assumed_count = std::nullopt) const;
  /// The same of a batch. For each row whose accuracy follows from a number of rows, and which has one among
  /// `assumed_counts`, also how accurate it would be; a count says nothing of other rows. `assumed_counts`:
  /// none, or one place for each row.
  /// Throws  as plan(), naming the row.
  [[nodiscard]] Answer plan_batch(const Request& batch, const Alphas& alphas,
                                  std::span<const std::optional<std::int64_t>> assumed_counts) const;
  /// The same of every mechanism and arithmetic that could release it, each as if the policy named it. Where
  /// one loses epsilon only, request.delta plays no part. Spends nothing, records nothing.
  /// Throws  as plan(), but what one mechanism cannot do is said of it.
  [[nodiscard]] MechanismComparison compare(const Request& request, const Alphas& alphas) const;
  /// How many more releases of exactly this request fit now. Spends nothing, records nothing, as all
  /// forecasts.
  /// Throws  as plan().
  [[nodiscard]] Forecast forecast(const Request& request, const Alphas& alphas,
                                  std::optional<std::int64_t> assumed_count = std::nullopt) const;
  /// The same of the request at the largest epsilon at which `count` of them fit into every account, however
  /// it counts: one grid step more, and fewer fit. What request.epsilon holds plays no part.
  /// Ensures   nothing if not even the least epsilon fits so often.
  /// Throws    as plan(); InvalidParameter unless count >= 1.
  [[nodiscard]] std::optional<Forecast> forecast_of_count(
      const Request& request, std::int64_t count, const Alphas& alphas,
      std::optional<std::int64_t> assumed_count = std::nullopt) const;
  /// The same of the request at the least epsilon whose answer, or each of its cells, is accurate enough: one
  /// grid step less, and it is not. What request.epsilon holds plays no part.
  /// Ensures   nothing if no epsilon is large enough.
  /// Throws    as plan(); Underivable for a statistic made of several releases, unless a count is assumed and
  ///           its accuracy follows from that; InvalidParameter unless wanted.a > 0 and 0 < wanted.alpha < 1.
  [[nodiscard]] std::optional<Forecast> forecast_of_accuracy(
      const Request& request, const Accuracy& wanted, const Alphas& alphas,
      std::optional<std::int64_t> assumed_count = std::nullopt) const;
  /// The batch with the least epsilon of each row at which its answer, or each of its cells, is farther than
  /// wanted[row] from the exact one with probability at most alpha, as forecast_of_accuracy(). With a total,
  /// of the least factor on a grid of 1/1000 by which all of `wanted` are multiplied so that the epsilons add
  /// to no more than that: with one step less they do. Of a batch with a delta, so that its charge has no
  /// larger epsilon. What its rows hold of epsilon plays no part. `assumed_counts`: none, or one for each
  /// row, which a row needs whose accuracy follows from it and which says nothing of others. Spends nothing,
  /// records nothing, and balances play no part.
  /// Throws  as forecast_of_accuracy(), naming the row; Underivable where no epsilon is large enough, or no
  ///         factor up to 10^6; InvalidParameter unless there is one of `wanted` for each row, and total > 0;
  ///         LedgerBusy if a policy is applied meanwhile.
  [[nodiscard]] AccurateBatch accurate_batch(
      Request batch, std::span<const accounting::Exact> wanted, const accounting::Exact& alpha,
      const std::optional<accounting::Exact>& total,
      std::span<const std::optional<std::int64_t>> assumed_counts = {}) const;
  /// Throws  reading.
  [[nodiscard]] PlanSequence plan_sequence() const;
  /// The id of the answer that this principal was given last to exactly this request, "" if none is among the
  /// last ledger::kSameRequestWindow decisions: showing it again is free.
  /// Throws  InvalidParameter for names that are not UTF-8; reading.
  [[nodiscard]] std::string same_question(const Request& request) const;
  /// Steps 0 to 3 of the release path. A refusal is an Answer with granted == false, and so is a request
  /// that waits for approvals.
  /// Throws  NotFound, Underivable, InvalidParameter (a request that is held is reserved, among others);
  ///         SourceError, SourceIo, EntropyUnavailable: nothing is charged then; writing.
  [[nodiscard]] Answer release(const Request& request, mechanisms::BitSource& bits, const Alphas& alphas,
                               const Progress& progress = {});
  /// All in one transaction, decided in order. Progress is over all sources that are read, each an equal
  /// part.
  /// Throws  as release(), for the first request that cannot be decided: then none is.
  [[nodiscard]] std::vector<Answer> release_many(std::span<const Request> requests,
                                                 mechanisms::BitSource& bits, const Alphas& alphas,
                                                 const Progress& progress = {});

  /// release() or reserve(), whichever the request asks for, without waiting until it is durable: what waits
  /// at the same time is recorded together, with what other threads ask. The source is read, and the first
  /// bits, before it returns.
  /// Requires  `bits` may be used from another thread until `on_done` is called, and outlives that. `on_done`
  ///           is short, does not throw, and does not destroy the engine.
  /// Ensures   `on_done` is called once, by a thread of the engine, perhaps before this returns and perhaps
  ///           at the same time as another; the engine is not destroyed before. Nothing if this throws.
  /// Throws    as release(), what is wrong with request, source or bits.
  void submit(const Request& request, mechanisms::BitSource& bits, const Alphas& alphas,
              const OnDone& on_done);

  // Reservations and approvals (docs/reservations.md). The id is that of the reservation, of the request that
  // waits for approvals, or of any decision about them. The answer is how the request stands afterwards,
  // whoever brought that about: what was done already is not done twice. From commit() on each throws
  // NotFound when nothing of that id ever waited, NotPermitted, InvalidParameter when such a request cannot
  // be treated so, `by` is no name or known by no way there is; writing.

  /// Debits the request as reserved until its deadline, waits for approvals, or refuses.
  /// Throws  NotFound, Underivable; InvalidParameter unless it is held, has no supplied value, and
  ///         goes against a token only of value:NAME; writing.
  [[nodiscard]] Answer reserve(const Request& request, const Alphas& alphas);
  /// Draws and posts a reservation, charging exactly what was reserved. `supplied` is the text of --value, of
  /// value:NAME only. Of a statistic computed here, a token is on record before the source is read.
  /// Throws    SourceError, SourceIo, EntropyUnavailable as well.
  [[nodiscard]] Answer commit(const std::string& id, const Actor& by,
                              const std::optional<std::string>& supplied, mechanisms::BitSource& bits,
                              const Alphas& alphas, const Progress& progress = {});
  /// Ends what waits: given back when nobody can have seen the data, else charged in full.
  Answer cancel(const std::string& id, const Actor& by);
  /// Answer::recorded.token is the data token of a reservation that was made against one.
  Answer issue_token(const std::string& id, const Actor& by);
  /// Records an approval, with the reason if one is given. The last one that is needed decides the request
  /// again, on the balances of that moment.
  /// With `seen`, the tag of an answer (Answer::recorded.tag, as show() and pending() tell it), only if the
  /// request still stands as it stood there, and the policy that decides is the same. Where nothing would be
  /// recorded, because the request does not wait any more or `by` has approved it, the answer says so.
  /// Throws  RequestChanged (conflict_errors.hpp): nothing was recorded.
  Answer approve(const std::string& id, const Actor& by, const std::string& why = {},
                 const std::optional<std::string>& seen = {});
  Answer reject(const std::string& id, const Actor& by, const std::string& why);
  /// What is reserved or waits for approvals, oldest first; `dataset` "" = all. What cannot be read is left
  /// to EngineOptions::unreadable, here and in history().
  /// Throws  NotFound for a dataset that is neither declared nor on record; reading.
  void pending(const std::string& dataset, accounting::CallbackRef<void(const Answer&)> visit) const;
  /// One page of it, which also ends with the first of which `visit` returns false.
  /// Throws  likewise; InvalidParameter for a limit below 1, and for a text that is no cursor.
  HistoryEnd pending_while(const PendingPage& page, accounting::CallbackRef<bool(const Answer&)> visit) const;

  /// `dataset` "" = all.
  /// Throws  NotFound likewise; reading.
  [[nodiscard]] std::vector<BudgetAccount> budget(const std::string& dataset) const;
  /// What every report says about the budgets of a dataset, "" = of all, each sentence named after its own.
  /// Throws  reading.
  [[nodiscard]] std::vector<std::string> notes(const std::string& dataset) const;
  /// The last `limit` decisions, or all if it is 0, oldest first.
  /// Throws  NotFound likewise; reading.
  void history(const std::string& dataset, std::int64_t limit,
               accounting::CallbackRef<void(const Answer&)> visit) const;
  /// One page: it costs what it holds, wherever it begins. A decision that cannot be read counts for one.
  /// Throws  NotFound likewise; InvalidParameter for a limit below 1, and for a text that is no cursor;
  /// reading.
  HistoryEnd history(const HistoryPage& page, accounting::CallbackRef<void(const Answer&)> visit) const;
  /// Throws  likewise, and InvalidParameter for a limit above kNewestPageMax.
  HistoryEnd newest(const NewestPage& page, accounting::CallbackRef<void(const Answer&)> visit) const;
  /// The same, but the page also ends with the first decision of which `visit` returns false: whoever writes
  /// it down stops where they have enough, and goes on from HistoryEnd::cursor.
  /// Throws  likewise.
  HistoryEnd history_while(const HistoryPage& page, accounting::CallbackRef<bool(const Answer&)> visit) const;
  HistoryEnd newest_while(const NewestPage& page, accounting::CallbackRef<bool(const Answer&)> visit) const;
  /// The seq of the newest decision, 0 before the first: a look at one row.
  /// Throws  reading.
  [[nodiscard]] std::int64_t newest_seq() const;
  /// What became of each decision after that one, in order, without what else is recorded of it; one that
  /// cannot be read is left out. For who counts: what is counted need not be durable.
  /// Throws  reading.
  void outcomes_after(std::int64_t seq,
                      accounting::CallbackRef<void(const ledger::DecisionOutcome&)> visit) const;
  /// The seq of the last decision that was recorded before that ledger time; 0 if none was.
  /// Throws  InvalidParameter for what is no ledger time; reading.
  [[nodiscard]] std::int64_t last_before(const std::string& time) const;
  /// Throws  NotFound; reading.
  [[nodiscard]] Answer show(const std::string& decision_id, const Alphas& alphas) const;
  // Each throws  reading.
  [[nodiscard]] Policy active_policy() const;
  [[nodiscard]] ledger::PolicyVersion active_policy_version() const;
  [[nodiscard]] std::string ledger_id() const;
  /// Why nobody can write until the ledger is recovered; nothing while it is sound.
  [[nodiscard]] std::optional<std::string> poison_reason() const;
  /// Begins to record as a release does, then undoes it: nothing is recorded.
  /// Requires  wait_ms >= 0.
  /// Throws    LedgerBusy if others write for longer than that; writing.
  void check_recording(std::int64_t wait_ms) const;
  /// What the curator should know of the ledger's files.
  /// Throws  LedgerBusy, and as reading does.
  [[nodiscard]] LedgerCondition condition() const;
  /// Since when no budget renews, because the clock jumped; nothing while the calendar goes on.
  [[nodiscard]] std::optional<std::string> calendar_held_at() const;

  // Checkpoints of the file to which the active policy has them appended (docs/evidence.md), beside those
  // that come by themselves. Each throws KeyIo, KeyUnusable (key_file.hpp), NotVerified (not_verified.hpp) as
  // those would be warned of; reading.

  /// The newest; nothing where the policy has none signed, or none was.
  [[nodiscard]] std::optional<Checkpoint> newest_checkpoint() const;
  /// Signs one now, unless the newest has every line already; nothing where the policy has none signed. Waits
  /// at most two seconds for another who signs.
  std::optional<RequestedCheckpoint> sign_checkpoint_now();

  /// A source that is written as in the active version stays where it is found (docs/policy_lifecycle.md).
  /// Throws  PolicyError when the policy itself or the change is not acceptable; InvalidParameter for one
  ///         that is looser, with no `why`; SourceError as init(); writing.
  ApplyReport apply_policy(const std::string& policy_path, const std::string& by, const std::string& why);
  /// The same of a text. Relative paths start where those of the active version do.
  /// Throws  likewise; PolicyConflict (conflict_errors.hpp).
  ApplyReport apply_policy(const PolicyUpload& policy, const std::string& by, const std::string& why);
  /// What apply_policy() would refuse of the change as the ledger stands, what is overdue by now taken as
  /// ended; changes nothing.
  /// Throws  PolicyError when the policy itself is not valid; SourceError as init(); reading.
  [[nodiscard]] std::vector<PolicyFault> apply_faults(const std::string& policy_path) const;
  [[nodiscard]] std::vector<PolicyFault> apply_faults(const PolicyUpload& policy) const;
  /// How the policy differs from the active one. A path that is written otherwise and leads to where the
  /// source is found is not refused once charged.
  /// Throws  likewise.
  [[nodiscard]] std::vector<PolicyChange> changes_to(const std::string& policy_path) const;
  [[nodiscard]] std::vector<PolicyChange> changes_to(const PolicyUpload& policy) const;
  /// The accounts whose limit apply_policy() would end.
  /// Throws  likewise.
  [[nodiscard]] std::vector<ledger::AccountState> removed_by(const std::string& policy_path) const;
  [[nodiscard]] std::vector<ledger::AccountState> removed_by(const PolicyUpload& policy) const;
  /// What the active policy names outside EngineOptions::folders, sources where they are found now; nothing
  /// where those are not set. For who starts over a ledger that was kept without them.
  /// Throws  reading.
  [[nodiscard]] std::vector<PolicyFault> folder_faults() const;

  /// The source of the dataset is found at `path` from now on, relative to the working directory. That the
  /// same data stand there nobody can check: `by` vouches for it, and it is recorded with who and why.
  /// Throws    NotFound; PolicyError where EngineOptions::folders forbid the place; SourceError where the
  /// dataset has no source, or what is there is not of the kind and
  ///           shape that the policy declares, or belongs to the ledger; InvalidParameter without `why`;
  ///           writing.
  RelocateReport relocate(const std::string& dataset, const std::string& path, const std::string& by,
                          const std::string& why);
  /// Where the rows of the dataset are found now, "" without a source.
  /// Throws  NotFound; reading.
  [[nodiscard]] std::string source_of(const std::string& dataset) const;
  /// By whom and when, oldest first; `dataset` "" = all.
  /// Throws  reading.
  [[nodiscard]] std::vector<ledger::Relocation> relocations(const std::string& dataset) const;

 private:
  explicit Engine(std::shared_ptr<EngineState> state);

  /// What a moved-from engine has no more.
  class StateHandle final {
   public:
    explicit StateHandle(std::shared_ptr<EngineState> state) : state_(std::move(state)) {}
    /// Throws  InvalidParameter once it was moved from.
    [[nodiscard]] const std::shared_ptr<EngineState>& shared() const {
      if (!state_) throw InvalidParameter("engine: it was moved from");
      return state_;
    }
    EngineState* operator->() const { return shared().get(); }
    EngineState& operator*() const { return *shared(); }

   private:
    std::shared_ptr<EngineState> state_;  // shared with sequences of plans only
  };
  StateHandle state_;
};

}  // namespace epsilog::engine
