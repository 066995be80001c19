// What an Engine holds: the ledger, opened as late as possible, and the policies it has parsed.
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "epsilog/accounting/callback.hpp"
#include "epsilog/engine/answer.hpp"
#include "epsilog/engine/engine_options.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "plan_cache.hpp"
#include "planned_answer.hpp"
#include "request_family.hpp"

namespace epsilog::engine {

class AnswerTicks;
class CheckpointSigner;
class CommitQueue;

/// What goes on beside the calls of an engine, and ends before it does.
struct BackgroundWork {
  BackgroundWork() = default;
  BackgroundWork(const BackgroundWork&) = delete;
  BackgroundWork& operator=(const BackgroundWork&) = delete;
  virtual ~BackgroundWork() = default;
};

struct EngineState {
  EngineState(std::string path, const EngineOptions& engine_options);
  EngineState(const EngineState&) = delete;
  EngineState& operator=(const EngineState&) = delete;
  /// Waits for what goes on beside its calls.
  ~EngineState();

  /// Where threads wait for each other: of no use, and not to be touched, in a forked child.
  /// Throws  InvalidParameter there.
  void require_own_process() const;
  /// Who waits to be recorded.
  [[nodiscard]] CommitQueue& commit_queue() noexcept { return *commit_queue_; }
  /// When what was read from data may leave; nullptr: at once.
  [[nodiscard]] AnswerTicks* ticks() noexcept { return ticks_.get(); }
  /// Told of each COMMIT, and when its answers left.
  [[nodiscard]] CheckpointSigner& checkpoints() noexcept { return *checkpoints_; }
  /// Made when first asked for.
  [[nodiscard]] BackgroundWork& background_work(
      accounting::CallbackRef<std::unique_ptr<BackgroundWork>()> make);

  /// A read view; takes no lock.
  [[nodiscard]] ledger::Snapshot snapshot();
  [[nodiscard]] std::optional<std::string> poison_reason();
  /// Opened for writing by its first begin(): not before the input was checked (guarantee G8).
  [[nodiscard]] ledger::Ledger& writer() noexcept { return ledger_; }

  [[nodiscard]] std::shared_ptr<const AppliedPolicy> active_policy(ledger::Snapshot& view);
  /// nullptr if it was not met yet.
  [[nodiscard]] std::shared_ptr<const AppliedPolicy> known_policy(std::int64_t version);
  /// The newest that was met so far; nullptr before the first. A transaction says whether it is active.
  [[nodiscard]] std::shared_ptr<const AppliedPolicy> newest_policy();
  /// Throws  LedgerCorrupt if there is no such version.
  [[nodiscard]] std::shared_ptr<const AppliedPolicy> policy(ledger::Snapshot& view, std::int64_t version);

  /// The dataset of the request, for whoever asks anew.
  /// Throws  NotFound; ConcealedDataset (concealed_dataset.hpp) in its place where EngineOptions say so.
  [[nodiscard]] const Dataset& requested_dataset(const Policy& active, const Request& request) const;

  /// What is said of a request that admitted_request() left unread: that who asks may not ask this dataset.
  [[nodiscard]] Answer access_refusal(const AppliedPolicy& applied, const Dataset& dataset,
                                      const Request& unread) const;

  /// Parses every version now, so that a walk over the history needs no second query.
  void remember_policies(ledger::Snapshot& view);

  /// The public part of an answer: what is asked, and what is or would be recorded.
  [[nodiscard]] Answer answer_from_plan(const Request& request, const Plan& plan, std::int64_t policy_version,
                                        std::vector<std::vector<Accuracy>> accuracy) const;
  /// With the accuracies that are remembered of the plan.
  [[nodiscard]] Answer answer_from_plan(const Request& request, const std::shared_ptr<const Plan>& plan,
                                        std::int64_t policy_version, std::span<const Rational> alphas,
                                        BatchRows rows = BatchRows::included);
  /// Of what it says was released.
  void add_intervals(Answer& answer, const std::shared_ptr<const Plan>& plan,
                     std::span<const Rational> alphas);
  /// A stored decision as an answer. Plans again under its policy version, for what is not stored. Of what a
  /// rule refused it computes no accuracy.
  [[nodiscard]] Answer recorded_answer(const ledger::StoredDecision& stored, ledger::Snapshot& view,
                                       std::span<const Rational> alphas,
                                       BatchRows rows = BatchRows::included);

  /// What became of a request that waits or waited: its answer if it was granted, its refusal, else what is
  /// or was open, in the state the request is in.
  [[nodiscard]] Answer family_answer(const RequestFamily& family, ledger::Snapshot& view,
                                     std::span<const Rational> alphas, BatchRows rows = BatchRows::included);
  /// The answer to a request that was decided earlier.
  [[nodiscard]] Answer replay_answer(const ledger::StoredDecision& stored, ledger::Snapshot& view,
                                     std::span<const Rational> alphas);

  /// Tells EngineOptions::unreadable, once of each.
  void report_unreadable(const std::string& decision_id, const std::string& message);

  std::string ledger_path;
  EngineOptions options;
  std::string ledger_id;
  PlanCache plans;

 private:
  [[nodiscard]] ledger::Options with_replica(ledger::Options ledger_options);
  /// Parses it unless it is known.
  /// Throws  LedgerCorrupt, each time; nothing is remembered then.
  std::shared_ptr<const AppliedPolicy> remember_policy(const ledger::PolicyVersion& version);

  const pid_t process_;
  ledger::Ledger ledger_;  // thread-safe
  std::unique_ptr<CommitQueue> commit_queue_;
  const std::unique_ptr<AnswerTicks> ticks_;
  std::mutex mutex_;  // guards what follows
  std::map<std::int64_t, std::shared_ptr<const AppliedPolicy>> policies_;
  std::set<std::pair<std::string, std::string>> reported_unreadable_;  // (decision, message)
  std::unique_ptr<CheckpointSigner> checkpoints_;
  std::unique_ptr<BackgroundWork> background_work_;
};

/// Fills in where the line of the decision stands that the answer names, if that can be read: in `tree`,
/// which the caller's COMMIT made durable, or in that of today.
void add_log(Answer& answer, const ledger::StoredDecision& told, ledger::Snapshot& view,
             const std::optional<ledger::TreeHead>& tree = std::nullopt);
/// Fills in how many must agree to what was recorded as waiting: whether it waits may follow from what its
/// asker lost before. `root`: by which it was asked, of that policy version.
void add_approvals(Answer& answer, const ledger::StoredDecision& root, const Policy& policy);
/// The probabilities at which the accuracy of a decision with these reasons is told: none where a rule
/// refused it, so that who may not ask for something costs nothing by asking.
[[nodiscard]] std::span<const Rational> accuracy_alphas(const std::string& reasons,
                                                        std::span<const Rational> alphas);
/// Fills in what only a recorded decision has.
void add_decision(Answer& answer, const ledger::StoredDecision& stored, bool replayed);
/// Adds the accounts that the request touches and nobody has opened yet, such as that of a period without a
/// charge, unspent and in the order of a plan. A decision that debits nothing is stored without them.
/// Requires  the decision in the answer was stored with all that were open; `calendar_time` is that of now.
void add_unopened_accounts(Answer& answer, const AppliedPolicy& applied, const Request& request,
                           const Plan& plan, const std::string& calendar_time);

}  // namespace epsilog::engine
