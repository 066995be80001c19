#include "request_path.hpp"

#include <algorithm>
#include <functional>

#include "answer_tick.hpp"
#include "batch_plan.hpp"
#include "canonical_request.hpp"
#include "charged_before.hpp"
#include "each_question.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/conflict_errors.hpp"
#include "epsilog/engine/request_visibility.hpp"
#include "expiry.hpp"
#include "group.hpp"
#include "judgement.hpp"
#include "later_policy.hpp"
#include "open_source.hpp"
#include "recordable.hpp"
#include "release_path.hpp"
#include "request_act.hpp"
#include "request_draft.hpp"
#include "request_rules.hpp"
#include "row_answer.hpp"
#include "source_location.hpp"
#include "supplied_bits.hpp"

namespace epsilog::engine {
namespace {

using ledger::Outcome;

/// How often a verb starts over because a policy was applied under it.
constexpr int kAttemptsMax = 100;

/// A request that waits or waited, as one view of the ledger shows it. Who may do what to it, and what is
/// decided now, goes by the active policy; a reservation keeps the plan it was made with.
struct OpenRequest {
  RequestFamily family;
  Request request;
  std::shared_ptr<const AppliedPolicy> asked;   // the version under which it was asked
  std::shared_ptr<const AppliedPolicy> active;  // the version now
  const Dataset* dataset = nullptr;             // inside `active`; nullptr: declared no more
  bool overdue = false;                         // it ends before anything else is written
  /// What the last COMMIT of this call made durable, where that is kept.
  std::optional<ledger::TreeHead>* tree = nullptr;

  [[nodiscard]] const std::string& root() const { return family.root.id; }
  [[nodiscard]] bool computed_here() const { return request.question.statistic.kind != StatisticKind::value; }
};

OpenRequest read_open_request(EngineState& state, const std::string& id) {
  ledger::Snapshot view = state.snapshot();
  const auto issued = view.find_by_token(id);
  auto family = family_of(view, issued ? issued->id : id);
  if (!family) {
    const bool there = view.find_by_id(id).has_value();
    throw NotFound(there ? "decision '" + id + "' never waited for a commit or an approval"
                         : "no decision '" + id + "' in this ledger");
  }
  OpenRequest result{std::move(*family), {}, nullptr, nullptr, nullptr};
  result.overdue = is_overdue(view, result.family);
  result.request = result.family.request();
  result.asked = state.policy(view, result.family.root.draft.policy_version);
  result.active = state.active_policy(view);
  result.dataset = find_dataset(result.active->policy, result.request.dataset);
  return result;
}

Answer current_answer(EngineState& state, const std::string& root, std::span<const Rational> alphas,
                      const std::optional<ledger::TreeHead>& tree) {
  ledger::Snapshot view = state.snapshot();
  const RequestFamily family = family_of(view, root).value();
  Answer answer = state.family_answer(family, view, alphas);
  add_log(answer, family.current_decision(), view, tree);
  return answer;
}

[[noreturn]] void refuse_actor(const OpenRequest& step, const Actor& by, const std::string& what,
                               const std::string& who_may) {
  throw NotPermitted("'" + by.name + "' may not " + what + " the request " + step.root() + " of '" +
                     step.request.principal + "': " + who_may);
}

void require_poster(const OpenRequest& step, const Actor& by, const std::string& what) {
  if (may_post(step.active->policy, step.request, by.name)) return;
  const bool named = suppliers_of(step.active->policy, step.request) != nullptr;
  refuse_actor(step, by, what,
               named ? "only whom the policy names under supplied_by may" : "only who asked may");
}

bool approves(const OpenRequest& step, const std::string& who) {
  return step.dataset != nullptr &&
         may_approve(step.active->policy, *step.dataset, step.request.principal, who);
}

void require_approver(const OpenRequest& step, const Actor& by, const std::string& what) {
  if (approves(step, by.name)) return;
  refuse_actor(step, by, what,
               by.name == step.request.principal ? "nobody decides on a request of their own"
                                                 : "the policy does not name them under approvals");
}

/// What becomes of the request itself when its deadline is over.
enum class Overdue { ends, stands };
/// Whether a transition took place, or found another policy active than the request was looked at under.
enum class Attempt { over, outdated };

/// Runs one transition. `work` is given the request as it stands under the turn, after what is overdue has
/// ended, and says whether it recorded anything. It is not run under another policy than step.active.
template <class Work>
Attempt transact(EngineState& state, const OpenRequest& step, Overdue overdue, const Work& work) {
  BegunTransaction begun =
      begin_after_expiries(state, overdue == Overdue::stands ? step.family.holder().id : "");
  if (begun.transaction.active_policy_version() != step.active->version.version) return Attempt::outdated;
  const RequestFamily family = family_of(begun.transaction, step.root()).value();
  const bool recorded = work(begun.transaction, family);
  if (recorded || begun.ended > 0) {
    *step.tree = commit_transaction(state, std::move(begun.transaction)).back().log->tree;
  }
  return Attempt::over;
}

/// Whether there is no answer of it any more, now or once what is overdue has ended: then nothing else that
/// the caller got wrong is of interest.
bool is_over(const OpenRequest& step) {
  const RequestState state = step.family.state();
  return step.overdue || (!step.family.open() && state != RequestState::granted);
}

/// Ends what is overdue, it among them.
Attempt end_overdue(EngineState& state, const OpenRequest& step) {
  return transact(state, step, Overdue::ends, [](auto&, const RequestFamily&) { return false; });
}

/// Runs `once` on the request as it stands until no policy was applied under it; returns how it stands then.
Answer apply_transition(EngineState& state, const std::string& id, const Actor& by,
                        std::span<const Rational> alphas,
                        const std::function<Attempt(const OpenRequest&)>& once) {
  std::optional<ledger::TreeHead> tree;
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    OpenRequest step = read_open_request(state, id);
    step.tree = &tree;
    if (once(step) != Attempt::over) continue;
    return redacted_answer(step.active->policy, {by.name}, current_answer(state, step.root(), alphas, tree));
  }
  throw LedgerBusy("the policy kept changing; nothing was done, retry");
}

Terms terms_now(EngineState& state, const OpenRequest& step, const std::string& calendar_time) {
  return terms_under(*step.active, step.request, state.plans, calendar_time);
}

/// How many approvals the active policy wants; of a request it cannot plan, as many as of any.
std::uint64_t required_approvals(ledger::Transaction& transaction, const OpenRequest& step,
                                 const Terms& now) {
  const auto before = [&](const ledger::ChargeWindow& window) { return charged_before(transaction, window); };
  if (now.plan)
    return approval_need(*now.dataset, *now.plan, step.request.principal, now.planned_charges, before)
        .required;
  return step.dataset != nullptr && step.dataset->approvals ? step.dataset->approvals->required : 0;
}

std::uint64_t approval_count(const OpenRequest& step, const RequestFamily& family) {
  return static_cast<std::uint64_t>(
      std::count_if(family.approvals.begin(), family.approvals.end(),
                    [&step](const auto& vote) { return approves(step, vote.draft.principal); }));
}

void refuse(ledger::Transaction& transaction, const OpenRequest& step, const Decision& refusal,
            std::vector<std::int64_t> accounts) {
  const ledger::StoredDecision& root = step.family.root;
  ledger::DecisionDraft draft = draft_about(root, Outcome::refused, actor_of(root), root.draft.request);
  draft.reasons = recordable_reasons(refusal);
  draft.shown_account_ids = std::move(accounts);
  transaction.refuse(draft);
}

/// Nobody else has to agree: decides under the active policy, on the balances of now, and reserves or
/// refuses.
void decide_approved(EngineState& state, ledger::Transaction& transaction, const OpenRequest& step,
                     const Terms& now) {
  const Terms asked = terms_under(*step.asked, step.request, state.plans, transaction.calendar_time());
  if (!asked.plan) throw LedgerCorrupt("decision " + step.root() + " cannot be planned under its policy");
  if (const auto changed = policy_changed_reason(asked, now)) {
    return refuse(transaction, step, Decision({*changed}, 1), {});
  }
  const PlannedRequest planned{step.active->policy, *now.dataset, step.request, *now.plan};
  std::vector<Debit> owed =
      debits_of(planned, transaction.calendar_time(),
                [&transaction](const auto& names) { return transaction.accounts(names); });
  // That enough others agreed is known.
  const Decision decision = decide(planned.policy, planned.dataset, planned.request, planned.plan, owed,
                                   std::nullopt, kReasonsStored);
  if (!decision.granted()) {
    return refuse(transaction, step, decision,
                  touched_account_ids(recorded_debits(owed, decision, Outcome::refused)));
  }
  const ledger::StoredDecision& root = step.family.root;
  ledger::DecisionDraft draft = draft_about(root, Outcome::reserved, actor_of(root), root.draft.request);
  open_missing(transaction, owed);
  draft.shown_account_ids = touched_account_ids(owed);
  draft.deadline = reservation_deadline(transaction.now(), now.dataset->reservation_seconds,
                                        account_names(now.planned_charges), transaction.calendar_held());
  transaction.reserve(draft, charges(owed));
}

/// A reservation on its way to its answer: its own plan, and the rows where they are found now.
struct ReservationSource {
  std::shared_ptr<const AppliedPolicy> planned;  // the version that made the reservation
  std::shared_ptr<const Plan> plan;
  Dataset dataset;  // of `planned`, with the source of the active version, where it is found
  std::string base_dir;
  std::optional<std::string> location;  // where it was relocated
};

ReservationSource read_reservation_source(EngineState& state, const OpenRequest& step) {
  ledger::Snapshot view = state.snapshot();
  ReservationSource result{state.policy(view, planning_version(step.family.holder())), nullptr, {}, "", {}};
  result.plan = state.plans.plan(*result.planned, step.request, canonical_request(step.request));
  result.dataset = result.planned->policy.dataset(step.request.dataset);
  result.dataset.csv = step.dataset->csv;
  result.dataset.sqlite = step.dataset->sqlite;
  result.base_dir = step.active->version.base_dir;
  if (result.dataset.has_source()) result.location = view.location(step.request.dataset);
  if (result.location) result.dataset = with_source_at(std::move(result.dataset), *result.location);
  if (step.computed_here() && state.options.folders && result.dataset.has_source()) {
    result.dataset =
        with_source_in_folders(std::move(result.dataset), result.base_dir, *state.options.folders);
  }
  return result;
}

/// Whether a value is given where one is needed and nowhere else.
void check_supplied(const OpenRequest& step, const std::optional<std::string>& supplied) {
  const std::string asked = request_label(step.request);
  if (step.computed_here() && supplied) {
    throw InvalidParameter("value: only value:NAME takes a supplied value; " + asked +
                           " is computed from the data source");
  }
  if (!step.computed_here() && !supplied) {
    throw InvalidParameter("value: " + asked + " needs the value computed elsewhere (--value)");
  }
}

bool lacks_token(const OpenRequest& step) {
  return step.request.reservation == ReservationKind::reserved_against_token && !step.family.token;
}

/// Everything that can be wrong with a commit before it reads or records anything.
void check_commit(const OpenRequest& step, const ReservationSource& reading,
                  const std::optional<std::string>& supplied) {
  check_supplied(step, supplied);
  if (step.computed_here()) {
    // A source that is not there is found before the data may have been seen: the shape is public.
    (void)open_with_advice(reading.dataset, reading.base_dir, [&] {
      return open_source(reading.dataset,
                         wanted_columns(reading.dataset, derived_questions(step.request, *reading.plan)),
                         reading.base_dir);
    });
    return;
  }
  if (lacks_token(step)) {
    throw InvalidParameter("value: the data are handed out against a token, and none was issued for " +
                           step.family.holder().id + ": have it issued first, or cancel");
  }
}

/// The active policy forbids what it was reserved for: it ends, as any reservation that is not committed.
Attempt end_forbidden(EngineState& state, const OpenRequest& step, const Actor& by) {
  return transact(state, step, Overdue::ends, [&](auto& transaction, const RequestFamily& family) {
    if (family.state() != RequestState::reserved) return false;
    end_uncommitted(transaction, family, {Act::Verb::cancel, family.holder().id, kPolicyChanged}, by);
    return true;
  });
}

/// From here on the data may have been seen.
Attempt mark_read(EngineState& state, const OpenRequest& step, const Actor& by, bool& reserved) {
  return transact(state, step, Overdue::ends, [&](auto& transaction, const RequestFamily& family) {
    reserved = family.state() == RequestState::reserved;
    if (!reserved || family.token) return false;
    const Act act{Act::Verb::read_source, family.holder().id};
    transaction.record_without_movement(
        draft_about(family.holder(), Outcome::data_accessed, by, act_json(act)));
    return true;
  });
}

/// What is drawn, from what, and whether it came to it.
struct Posting {
  const CommitOrder& order;
  SuppliedBits bits;  // the same for every attempt
  const Progress& progress;
  const CommitQueue::Deadline arrived = CommitQueue::Clock::now();
  bool posted = false;
  bool decided = false;  ///< by this commit, as a last approval would have
};

/// What of it depends on data, its faults among them, is told at a tick (answer_tick.hpp).
std::vector<ExactAnswer> exact_answer(EngineState& state, const OpenRequest& step,
                                      const ReservationSource& reading, const Posting& posting) {
  if (!step.computed_here()) {
    const NamedQuery& query = *reading.dataset.query(step.request.question.statistic.subject);
    return {ExactAnswer{{{parse_supplied_value(*posting.order.supplied, query)}}}};
  }
  try {
    return exact_answers(reading.dataset, step.request, *reading.plan, reading.base_dir, posting.progress);
  } catch (...) {
    if (state.ticks() != nullptr) state.ticks()->wait(posting.arrived);
    throw;
  }
}

accounting::ChargeReceipt take_reservation_receipt(ledger::Transaction& transaction,
                                                   const ledger::DecisionDraft& granted, const Plan& plan) {
  const std::vector<ledger::ScopeLoss> parts = block_losses(plan);
  if (plan.composed) return transaction.commit_reservation(granted, *plan.composed, parts);
  return transaction.commit_reservation(granted, plan.charged, parts);
}

/// Posts, unless the source was relocated while it was read.
/// Throws  OutOfBits: nothing happened.
Attempt post_drawn(EngineState& state, const OpenRequest& step, const ReservationSource& from,
                   std::span<const ExactAnswer> exact, Overdue overdue, Posting& posting) {
  bool elsewhere = false;
  posting.bits.rewind();
  const Attempt attempt = transact(state, step, overdue, [&](auto& transaction, const RequestFamily& family) {
    if (family.state() != RequestState::reserved) return false;
    elsewhere = step.computed_here() && transaction.location(step.request.dataset) != from.location;
    if (elsewhere) return false;
    const ledger::DecisionDraft granted =
        draft_about(family.holder(), Outcome::granted, posting.order.by, family.root.draft.request);
    draw(transaction, *from.plan, exact, take_reservation_receipt(transaction, granted, *from.plan),
         posting.bits);
    return posting.posted = true;
  });
  return elsewhere ? Attempt::outdated : attempt;
}

Attempt post(EngineState& state, const OpenRequest& step, Posting& posting) {
  const ReservationSource from = read_reservation_source(state, step);
  check_commit(step, from, posting.order.supplied);
  bool reserved = true;
  if (step.computed_here()) {
    const Attempt marked = mark_read(state, step, posting.order.by, reserved);
    if (marked == Attempt::outdated || !reserved) return marked;
  }
  const std::vector<ExactAnswer> exact = exact_answer(state, step, from, posting);
  // Whoever began to read in time is not overdue for having read long, unless somebody ended it or the
  // period is over whose budget it holds.
  const Overdue overdue = step.computed_here() ? Overdue::stands : Overdue::ends;
  posting.bits.supply(bytes_drawn(*from.plan));  // nobody waits under the turn for a generator
  for (;;) {
    std::optional<SoloTickGroup> turn;
    if (step.computed_here()) turn.emplace(state, step.request.principal, posting.arrived);
    try {
      return post_drawn(state, step, from, exact, overdue, posting);
    } catch (const OutOfBits&) {
      turn.reset();  // nobody waits for a generator
      posting.bits.supply_more();
    }
  }
}

/// Decides what needs no more approvals under the active policy; others stay as they are.
Attempt decide_if_due(EngineState& state, const OpenRequest& step, Posting& posting) {
  bool decided = false;
  const Attempt attempt =
      transact(state, step, Overdue::ends, [&](auto& transaction, const RequestFamily& family) {
        if (family.state() != RequestState::pending) return false;
        const Terms now = terms_now(state, step, transaction.calendar_time());
        if (approval_count(step, family) < required_approvals(transaction, step, now)) return false;
        check_supplied(step, posting.order.supplied);
        decide_approved(state, transaction, step, now);
        return decided = true;
      });
  posting.decided |= decided;
  return decided ? Attempt::outdated : attempt;  // what it was decided to be goes on from there
}

}  // namespace

Answer commit_reservation(EngineState& state, const CommitOrder& order, mechanisms::BitSource& bits,
                          std::span<const Rational> alphas, const Progress& progress) {
  Posting posting{.order = order, .bits = SuppliedBits(&bits), .progress = progress};
  Answer answer = apply_transition(state, order.id, order.by, alphas, [&](const OpenRequest& step) {
    // What became of her own request is told to who asked, whoever hands in the values by now.
    if (step.family.state() == RequestState::granted && order.by.name == step.request.principal) {
      return Attempt::over;
    }
    require_poster(step, order.by, "commit");
    if (step.overdue) return end_overdue(state, step);
    const RequestState stands = step.family.state();
    if (stands == RequestState::pending) return decide_if_due(state, step, posting);
    if (stands != RequestState::reserved) return Attempt::over;
    if (!still_allowed(step.active->policy, step.request)) return end_forbidden(state, step, order.by);
    // Its token can only be had from now on: that it was decided is the answer.
    if (posting.decided && lacks_token(step)) return Attempt::over;
    return post(state, step, posting);
  });
  answer.recorded.replayed = answer.recorded.granted && !posting.posted;
  return answer;
}

Answer cancel_request(EngineState& state, const std::string& id, const Actor& by) {
  return apply_transition(state, id, by, {}, [&](const OpenRequest& step) {
    if (!may_commit(step.active->policy, step.request.principal, by.name) && !approves(step, by.name)) {
      refuse_actor(step, by, "cancel", "only who asked or may approve it can");
    }
    return transact(state, step, Overdue::ends, [&](auto& transaction, const RequestFamily& family) {
      if (!family.open()) return false;
      end_uncommitted(transaction, family, {Act::Verb::cancel, family.holder().id}, by);
      return true;
    });
  });
}

Answer issue_data_token(EngineState& state, const std::string& id, const Actor& by) {
  return apply_transition(state, id, by, {}, [&](const OpenRequest& step) {
    require_poster(step, by, "have the token issued of");
    if (is_over(step)) return end_overdue(state, step);
    if (step.request.reservation != ReservationKind::reserved_against_token) {
      throw InvalidParameter("token: " + step.root() + " was not asked with a data token");
    }
    const bool reserved = step.family.state() == RequestState::reserved;
    if (reserved && !still_allowed(step.active->policy, step.request)) {
      return end_forbidden(state, step, by);
    }
    return transact(state, step, Overdue::ends, [&](auto& transaction, const RequestFamily& family) {
      if (family.state() != RequestState::reserved || family.token) return false;
      const Act act{Act::Verb::issue_token, family.holder().id};
      ledger::DecisionDraft issued = draft_about(family.holder(), Outcome::data_accessed, by, act_json(act));
      issued.issues_token = true;
      transaction.record_without_movement(issued);
      return true;
    });
  });
}

Answer approve_request(EngineState& state, const std::string& id, const Actor& by, const std::string& why,
                       const std::optional<std::string>& seen) {
  return apply_transition(state, id, by, {}, [&](const OpenRequest& step) {
    require_approver(step, by, "approve");
    return transact(state, step, Overdue::ends, [&](auto& transaction, const RequestFamily& family) {
      if (family.state() != RequestState::pending || family.approved_by(by.name)) return false;
      if (seen && *seen != tag_of(family, step.active->version.version)) {
        throw RequestChanged("the request " + step.root() +
                             ", or the policy, changed since it was seen: look again, then approve");
      }
      const Act act{Act::Verb::approve, family.root.id, why};
      transaction.record_without_movement(draft_about(family.root, Outcome::approved, by, act_json(act)));
      const Terms now = terms_now(state, step, transaction.calendar_time());
      if (approval_count(step, family) + 1 >= required_approvals(transaction, step, now))
        decide_approved(state, transaction, step, now);
      return true;
    });
  });
}

Answer reject_request(EngineState& state, const std::string& id, const Actor& by, const std::string& why) {
  return apply_transition(state, id, by, {}, [&](const OpenRequest& step) {
    require_approver(step, by, "reject");
    return transact(state, step, Overdue::ends, [&](auto& transaction, const RequestFamily& family) {
      if (family.state() != RequestState::pending) return false;
      if (family.approved_by(by.name)) {
        throw InvalidParameter("reject: '" + by.name + "' has approved " + family.root.id +
                               " already; cancel it");
      }
      const Act act{Act::Verb::reject, family.root.id, why};
      transaction.record_without_movement(draft_about(family.root, Outcome::rejected, by, act_json(act)));
      return true;
    });
  });
}

}  // namespace epsilog::engine
