// The release path: policy -> request -> plan -> decision -> charge -> release.
//
// Thread-safety: an Engine may be used from several threads; its transactions take turns.
#pragma once

#include <chrono>
#include <concepts>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/exact.hpp"
#include "epsilog/engine/decision.hpp"
#include "epsilog/engine/exact_answer.hpp"
#include "epsilog/engine/policy.hpp"
#include "epsilog/engine/request_state.hpp"
#include "epsilog/engine/statistic.hpp"
#include "epsilog/ledger/clock.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "epsilog/ledger/record.hpp"
#include "epsilog/mechanisms/bit_source.hpp"

namespace epsilog::engine {

/// A question with what it may cost and who asks.
struct Request {
  std::string dataset;
  Question question;
  accounting::Exact epsilon;                    ///< as asked, > 0; 0 where `rho` is asked
  std::optional<accounting::Exact> delta = {};  ///< as asked, in (0, 1); for the Gaussian mechanisms only
  std::optional<accounting::Exact> rho =
      {};                               ///< in place of both: a Gaussian mechanism of that zCDP loss, > 0
  std::string principal;                ///< not empty
  std::string purpose = {};             ///< "" = none stated
  std::string key;                      ///< idempotency key; "" = none
  std::optional<std::string> supplied;  ///< text of --value, for value:NAME only
  Holding holding = Holding::none;      ///< other than none for reserve() only
  /// In what its numbers were typed longer than is taken from whoever asks, "" in nothing. Then it is
  /// answered only if its key is bound to it already.
  std::string too_long = {};
};

/// How far a release is from the clamped answer, except with probability alpha. Rounded up.
struct Accuracy {
  accounting::Exact alpha;
  accounting::Exact a;
};

/// The probabilities at which the accuracy of a release is to be told; "{}" for none.
class Alphas final {
 public:
  Alphas() = default;
  /// Throws  InvalidParameter unless each lies strictly between 0 and 1: before anything is charged.
  Alphas(std::initializer_list<accounting::Exact> values) {
    for (const accounting::Exact& value : values) add(value);
  }
  /// Of any range of exact numbers: std::vector<Rational>, std::array<Rational, 2>, …
  template <std::ranges::input_range Range>
  requires(!std::same_as<Range, Alphas> &&
           std::convertible_to<std::ranges::range_reference_t<const Range>, accounting::Exact>)
      Alphas(const Range& values) {  // NOLINT(google-explicit-constructor)
    for (const auto& value : values) add(value);
  }

  operator std::span<const Rational>() const noexcept {
    return values_;
  }  // NOLINT(google-explicit-constructor)

 private:
  void add(const accounting::Exact& value);
  std::vector<Rational> values_;
};

/// The delta of a release whose mechanism has one. Canonical texts.
struct DeltaCost {
  std::string requested;
  std::string charged;   ///< on the grid
  std::string adjusted;  ///< exact sum over the components
};

/// The zCDP loss that was asked in place of epsilon and delta. Canonical texts.
struct RhoCost {
  std::string requested;
  std::string charged;  ///< on the grid
};

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

struct Forecast;      // forecast.hpp
struct PolicyChange;  // policy_diff.hpp
class PlanSequence;   // forecast.hpp

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

struct RelocateReport {
  std::string dataset;
  std::string from;      ///< where the source was found until then
  std::string to;        ///< absolute
  std::string at;        ///< ledger time
  bool changed = false;  ///< false: it was found there already, and nothing is recorded
};

/// An account as `budget` reports it.
struct BudgetAccount : ledger::AccountState {
  bool active = true;  ///< false: the active policy declares no limit for it any more
};

/// One thing `audit verify` found. `record` is a decision id, "account N", "policy N", "schema", …
struct AuditFault {
  std::string record;
  std::string code;
  std::string message;
};
/// The code of the fault that an I/O error poisoned the ledger: what is on the disk is unknown, which is no
/// contradiction in what can be read.
inline constexpr std::string_view kPoisoned = "poisoned";
struct AuditReport {
  bool ok = false;
  std::int64_t records = 0;  ///< decisions examined
  std::vector<AuditFault> faults;
  /// What older rules allowed that today's would not; no fault of the ledger.
  std::vector<AuditFault> notes;
  std::vector<ledger::Relocation> relocations;  ///< by seq
};

/// A decision on record that cannot be read. It stays as it is, open if it was; everything else goes on.
struct UnreadableDecision {
  std::string decision_id;  ///< "" where not even that can be read
  std::string message;
};

struct EngineOptions {
  std::chrono::milliseconds wait{30'000};
  /// Told of each once, by whatever meets it beside what it was called for.
  std::function<void(const UnreadableDecision&)> unreadable = {};
  ledger::Clock clock = ledger::system_clock_reading;  ///< another one only in tests
  /// Called right before each COMMIT: from here on what is asked may be on record. Must not throw.
  std::function<void()> before_commit = {};
  /// Told of what failed without harm to what was recorded.
  std::function<void(const std::string&)> warn = {};
  /// Told, only after a second, who it is that a call waits for.
  std::function<void(const std::string&)> waiting = {};

  [[nodiscard]] ledger::Options ledger_options() const {
    return {.wait = wait, .clock = clock, .before_commit = before_commit, .warn = warn, .waiting = waiting};
  }
};

/// An engine that was moved from can be assigned to and destroyed; every other call throws InvalidParameter.
class Engine final {
 public:
  struct State;  ///< internal to the engine

  /// Nothing is opened for writing before the first write.
  /// Throws  LedgerUnusable, LedgerCorrupt, LedgerIo.
  [[nodiscard]] static Engine open(const std::string& ledger_path, const EngineOptions& options = {});
  /// Throws  PolicyError; LedgerUnusable if something is at that path already.
  static InitReport init(const std::string& policy_path, const std::string& ledger_path,
                         const std::string& by);

  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;
  ~Engine();

  /// Spends nothing, records nothing.
  [[nodiscard]] Answer plan(const Request& request, const Alphas& alphas) const;
  /// How many more releases of exactly this request fit now. Spends nothing, records nothing, as all
  /// forecasts. Throws as plan().
  [[nodiscard]] Forecast forecast(const Request& request, const Alphas& alphas) const;
  /// The same of the request at the largest epsilon at which `count` of them fit into every account, however
  /// it counts: one grid step more, and fewer fit. What request.epsilon holds plays no part.
  /// Requires  count >= 1.
  /// Ensures   nothing if not even the least epsilon fits so often.
  [[nodiscard]] std::optional<Forecast> forecast_of_count(const Request& request, std::int64_t count,
                                                          const Alphas& alphas) const;
  /// The same of the request at the least epsilon whose answer, or each of its cells, is accurate enough: one
  /// grid step less, and it is not. What request.epsilon holds plays no part.
  /// Requires  wanted.a > 0, 0 < wanted.alpha < 1.
  /// Ensures   nothing if no epsilon is large enough.
  /// Throws    Underivable for a statistic made of several releases.
  [[nodiscard]] std::optional<Forecast> forecast_of_accuracy(const Request& request, const Accuracy& wanted,
                                                             const Alphas& alphas) const;
  [[nodiscard]] PlanSequence plan_sequence() const;
  /// The id of the answer that this principal was given last to exactly this request, "" if none is among the
  /// last ledger::kSameRequestWindow decisions: showing it again is free.
  [[nodiscard]] std::string same_question(const Request& request) const;
  /// Steps 0 to 3 of the release path. A refusal is an Answer with granted == false, and so is a request
  /// that waits for approvals.
  [[nodiscard]] Answer release(const Request& request, mechanisms::BitSource& bits, const Alphas& alphas,
                               const Progress& progress = {});
  /// All in one transaction, decided in order.
  [[nodiscard]] std::vector<Answer> release_many(std::span<const Request> requests,
                                                 mechanisms::BitSource& bits, const Alphas& alphas);

  // Reservations and approvals (docs/reservations.md). The id is that of the reservation, of the request that
  // waits for approvals, or of any decision about them. The answer is how the request stands afterwards,
  // whoever brought that about: what was done already is not done twice. Each throws NotFound when nothing
  // of that id ever waited, NotPermitted, and InvalidParameter when such a request cannot be treated so.

  /// Debits the request as reserved until its deadline, waits for approvals, or refuses.
  /// Requires  holding other than none; no supplied value; reserved_against_token only of value:NAME.
  [[nodiscard]] Answer reserve(const Request& request, const Alphas& alphas);
  /// Draws and posts a reservation, charging exactly what was reserved. `supplied` is the text of --value, of
  /// value:NAME only. Of a statistic computed here, a token is on record before the source is read.
  /// Throws    SourceError as well.
  [[nodiscard]] Answer commit(const std::string& id, const std::string& by,
                              const std::optional<std::string>& supplied, mechanisms::BitSource& bits,
                              const Alphas& alphas, const Progress& progress = {});
  /// Ends what waits: given back when nobody can have seen the data, else charged in full.
  Answer cancel(const std::string& id, const std::string& by);
  /// Answer::token is the data token of a reservation that was made against one.
  Answer issue_token(const std::string& id, const std::string& by);
  /// The last one that is needed decides the request again, on the balances of that moment.
  Answer approve(const std::string& id, const std::string& by);
  Answer reject(const std::string& id, const std::string& by, const std::string& why);
  /// What is reserved or waits for approvals, oldest first; `dataset` "" = all. What cannot be read is left
  /// to EngineOptions::unreadable, here and in history().
  void pending(const std::string& dataset, const std::function<void(const Answer&)>& visit) const;

  [[nodiscard]] std::vector<BudgetAccount> budget(const std::string& dataset) const;  ///< "" = all
  /// What every report says about the budgets of a dataset, "" = of all, each sentence named after its own.
  [[nodiscard]] std::vector<std::string> notes(const std::string& dataset) const;
  void history(const std::string& dataset, std::int64_t limit,
               const std::function<void(const Answer&)>& visit) const;
  /// Throws  NotFound.
  [[nodiscard]] Answer show(const std::string& decision_id, const Alphas& alphas) const;
  [[nodiscard]] Policy active_policy() const;
  [[nodiscard]] ledger::PolicyVersion active_policy_version() const;
  [[nodiscard]] std::string ledger_id() const;
  /// Why nobody can write until the ledger is recovered; nothing while it is sound.
  [[nodiscard]] std::optional<std::string> poisoned() const;
  /// Since when no budget renews, because the clock jumped; nothing while the calendar goes on.
  [[nodiscard]] std::optional<std::string> calendar_held_at() const;

  /// A source that is written as in the active version stays where it is found (docs/policy_lifecycle.md).
  /// Throws  PolicyError when the policy itself or the change is not acceptable; InvalidParameter for one
  ///         that is looser, with no `why`.
  ApplyReport apply_policy(const std::string& policy_path, const std::string& by, const std::string& why);
  /// What apply_policy() would refuse of the change as the ledger stands, what is overdue by now taken as
  /// ended; changes nothing.
  /// Throws  PolicyError when the policy itself is not valid.
  [[nodiscard]] std::vector<PolicyFault> apply_faults(const std::string& policy_path) const;
  /// How the policy differs from the active one. A path that is written otherwise and leads to where the
  /// source is found is not refused once charged.
  [[nodiscard]] std::vector<PolicyChange> changes_to(const std::string& policy_path) const;
  /// The accounts whose limit apply_policy() would end, likewise.
  [[nodiscard]] std::vector<ledger::AccountState> removed_by(const std::string& policy_path) const;

  /// The source of the dataset is found at `path` from now on, relative to the working directory. That the
  /// same data stand there nobody can check: `by` vouches for it, and it is recorded with who and why.
  /// Throws    NotFound; SourceError where the dataset has no source, or what is there is not of the kind and
  ///           shape that the policy declares, or belongs to the ledger; InvalidParameter without `why`.
  RelocateReport relocate(const std::string& dataset, const std::string& path, const std::string& by,
                          const std::string& why);
  /// Where the rows of the dataset are found now, "" without a source.
  [[nodiscard]] std::string source_of(const std::string& dataset) const;
  [[nodiscard]] std::vector<ledger::Relocation> relocations(const std::string& dataset) const;  ///< "" = all

 private:
  explicit Engine(std::shared_ptr<State> state);

  /// What a moved-from engine has no more.
  class Held final {
   public:
    explicit Held(std::shared_ptr<State> state) : state_(std::move(state)) {}
    /// Throws  InvalidParameter once it was moved from.
    [[nodiscard]] const std::shared_ptr<State>& shared() const {
      if (!state_) throw InvalidParameter("engine: it was moved from");
      return state_;
    }
    State* operator->() const { return shared().get(); }
    State& operator*() const { return *shared(); }

   private:
    std::shared_ptr<State> state_;  // shared with sequences of plans only
  };
  Held state_;
};

struct RecoverReport {
  bool was_poisoned = false;
  std::string reason;  ///< why it had been poisoned; "" otherwise
};

/// Clears the mark that an input or output error left on a ledger.
///
/// Requires  the machine was restarted since, so that what the page cache pretended is gone.
/// Ensures   the file's structure and every record were verified first.
/// Throws    LedgerIo (not restarted yet), LedgerCorrupt (verification failed), LedgerBusy
/// (EngineOptions::wait).
RecoverReport recover(const std::string& ledger_path, const EngineOptions& options = {});

/// One decision, decided again from the policy, the request and the balances of its place in history.
struct ReplayedDecision {
  std::int64_t seq = 0;
  std::string decision_id;
  std::string created_at;
  std::string outcome;                   ///< as recorded: "granted", "refused", …
  ledger::Rules rules = ledger::kRules;  ///< it was judged by
  std::int64_t policy_version = 0;
  std::string policy_sha256;       ///< of that version
  std::vector<AuditFault> faults;  ///< empty: the same again, every text and every integer
};

/// As audit_verify, telling of each decision in order. What is wrong elsewhere is in the report only.
AuditReport audit_replay(const std::string& ledger_path,
                         const std::function<void(const ReplayedDecision&)>& visit,
                         const Progress& progress = {});

/// Recomputes everything from the charges up and re-decides every decision. Trusts no balance. That the
/// ledger is poisoned is a fault too. Throws  LedgerUnusable if it cannot be opened at all; what is wrong
/// inside is a fault.
[[nodiscard]] AuditReport audit_verify(const std::string& ledger_path, const Progress& progress = {});

}  // namespace epsilog::engine
