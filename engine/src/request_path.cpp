#include "request_path.hpp"

#include "canonical_request.hpp"
#include "decide.hpp"
#include "epsilog/accounting/errors.hpp"
#include "expiry.hpp"
#include "release_path.hpp"
#include "request_act.hpp"
#include "request_draft.hpp"
#include "request_rules.hpp"
#include "row_answer.hpp"

namespace epsilog::engine {
namespace {

using ledger::Outcome;

/// A request that waits or waited, and what it is decided on: its own version of the policy, whichever is
/// active now.
struct Waiting {
  RequestFamily family;
  Request request;
  std::shared_ptr<const AppliedPolicy> applied;
  const Dataset* dataset = nullptr;  // inside `applied`
  std::shared_ptr<const Plan> plan;

  [[nodiscard]] const std::string& root() const { return family.root.id; }
  [[nodiscard]] bool computed_here() const { return request.question.statistic.kind != StatisticKind::value; }
};

Waiting waiting(Engine::State& state, const std::string& id) {
  ledger::Snapshot view = state.snapshot();
  auto family = family_of(view, id);
  if (!family) {
    const bool there = view.find_id(id).has_value();
    throw NotFound(there ? "decision '" + id + "' never waited for a commit or an approval"
                         : "no decision '" + id + "' in this ledger");
  }
  Waiting result{std::move(*family), {}, nullptr, nullptr, nullptr};
  result.request = result.family.request();
  result.applied = state.policy(view, result.family.root.draft.policy_version);
  result.dataset = &result.applied->policy.dataset(result.request.dataset);
  result.plan = state.plans.plan(*result.applied, result.request, canonical_request(result.request));
  return result;
}

Answer standing(Engine::State& state, const std::string& root, std::span<const Rational> alphas) {
  ledger::Snapshot view = state.snapshot();
  return state.family_answer(*family_of(view, root), view, alphas);
}

[[noreturn]] void refuse_actor(const Waiting& step, const std::string& by, const std::string& what,
                               const std::string& who_may) {
  throw NotPermitted("'" + by + "' may not " + what + " the request " + step.root() + " of '" +
                     step.request.principal + "': " + who_may);
}

void require_asker(const Waiting& step, const std::string& by, const std::string& what) {
  if (!may_commit(step.applied->policy, step.request.principal, by)) {
    refuse_actor(step, by, what, "only who asked may");
  }
}

void require_approver(const Waiting& step, const std::string& by, const std::string& what) {
  if (may_approve(step.applied->policy, *step.dataset, step.request.principal, by)) return;
  refuse_actor(step, by, what,
               by == step.request.principal ? "nobody decides on a request of their own"
                                            : "the policy does not name them under approvals");
}

/// What becomes of the request itself when its deadline is over.
enum class Overdue { ends, stands };

/// Runs one transition. `work` is given the request as it stands under the turn, after what is overdue has
/// ended, and says whether it recorded anything.
template <class Work>
void transact(Engine::State& state, const RequestFamily& seen, Overdue overdue, const Work& work) {
  ledger::Ledger& ledger = state.writer();
  Begun begun = begin_after_expiries(ledger, overdue == Overdue::stands ? seen.holder().id : "");
  const RequestFamily family = family_of(begun.transaction, seen.root.id).value();
  const bool recorded = work(begun.transaction, family);
  if (recorded || begun.ended > 0) (void)ledger.commit(std::move(begun.transaction));
}

/// The last approval is there: decides on the balances of now, and reserves or refuses.
void decide_approved(ledger::Transaction& transaction, const Waiting& step) {
  const Policy& policy = step.applied->policy;
  const std::vector<Ask> asked =
      asks(policy, *step.dataset, step.request, *step.plan, transaction.calendar_time());
  std::vector<Debit> owed = debits(asked, transaction.accounts(account_names(asked)));
  const Decision decision = decide(policy, *step.dataset, step.request, *step.plan, owed, std::nullopt);
  const ledger::StoredDecision& root = step.family.root;
  ledger::DecisionDraft draft = draft_about(root, decision.granted() ? Outcome::reserved : Outcome::refused,
                                            root.draft.principal, root.draft.request);
  if (!decision.granted()) {
    draft.reasons = reasons_json(decision.reasons());
    draft.touched = touched(owed);
    transaction.refuse(draft);
    return;
  }
  open_missing(transaction, owed);
  draft.touched = touched(owed);
  draft.deadline = instant_after(transaction.now(), step.dataset->reservation_seconds);
  transaction.reserve(draft, charges(owed));
}

/// Everything that can be wrong with a commit before it reads or records anything.
void check_commit(const Waiting& step, const std::optional<std::string>& supplied) {
  const Statistic& statistic = step.request.question.statistic;
  if (step.computed_here()) {
    if (supplied) {
      throw InvalidParameter("value: only value:NAME takes a supplied value; '" + statistic.text() +
                             "' is computed from the data source");
    }
    // A source that is not there is found before the data may have been seen: the shape is public.
    (void)open_source(*step.dataset, wanted_columns(*step.dataset, step.request.question),
                      step.applied->version.base_dir);
    return;
  }
  if (!supplied) {
    throw InvalidParameter("value: '" + statistic.text() + "' needs the value computed elsewhere");
  }
  if (step.request.holding == Holding::reserved_against_token && !step.family.token) {
    throw InvalidParameter("value: the data are handed out against a token, and none was issued for " +
                           step.family.holder().id + ": have it issued first, or cancel");
  }
}

/// From here on the data may have been seen. Returns whether the reservation still stands.
bool mark_read(Engine::State& state, const Waiting& step, const std::string& by) {
  bool reserved = false;
  transact(state, step.family, Overdue::ends, [&](auto& transaction, const RequestFamily& family) {
    reserved = family.state() == RequestState::reserved;
    if (!reserved || family.token) return false;
    const Act act{Act::Verb::read_source, family.holder().id};
    transaction.note(draft_about(family.holder(), Outcome::token_issued, by, act_json(act)));
    return true;
  });
  return reserved;
}

ExactAnswer exact_answer(const Waiting& step, const std::optional<std::string>& supplied,
                         const Progress& progress) {
  const Question& question = step.request.question;
  if (step.computed_here()) {
    return compute_exact_answer(*step.dataset, question, step.plan->derivation,
                                step.applied->version.base_dir, progress);
  }
  return {{{parse_supplied_value(*supplied, *step.dataset->query(question.statistic.subject))}}};
}

}  // namespace

Answer committed(Engine::State& state, const CommitOrder& order, mechanisms::BitSource& bits,
                 std::span<const Rational> alphas, const Progress& progress) {
  const Waiting step = waiting(state, order.id);
  require_asker(step, order.by, "commit");
  bool posted = false;
  if (step.family.state() == RequestState::pending) {
    transact(state, step.family, Overdue::ends, [](auto&, const RequestFamily&) { return false; });
  } else if (step.family.state() == RequestState::reserved) {
    check_commit(step, order.supplied);
    if (!step.computed_here() || mark_read(state, step, order.by)) {
      const ExactAnswer exact = exact_answer(step, order.supplied, progress);
      // Whoever began to read in time is not overdue for having read long, unless somebody ended it.
      const Overdue overdue = step.computed_here() ? Overdue::stands : Overdue::ends;
      transact(state, step.family, overdue, [&](auto& transaction, const RequestFamily& family) {
        if (family.state() != RequestState::reserved) return false;
        draw(transaction, *step.plan, exact,
             transaction.post(
                 draft_about(family.holder(), Outcome::granted, order.by, family.root.draft.request),
                 step.plan->charged),
             bits);
        return posted = true;
      });
    }
  }
  Answer answer = standing(state, step.root(), alphas);
  answer.replayed = answer.granted && !posted;
  return answer;
}

Answer cancelled(Engine::State& state, const std::string& id, const std::string& by) {
  const Waiting step = waiting(state, id);
  if (!may_cancel(step.applied->policy, *step.dataset, step.request.principal, by)) {
    refuse_actor(step, by, "cancel", "only who asked or may approve it can");
  }
  transact(state, step.family, Overdue::ends, [&](auto& transaction, const RequestFamily& family) {
    if (!family.open()) return false;
    end_uncommitted(transaction, family, true, by);
    return true;
  });
  return standing(state, step.root(), {});
}

Answer token_issued(Engine::State& state, const std::string& id, const std::string& by) {
  const Waiting step = waiting(state, id);
  require_asker(step, by, "have the token issued of");
  if (step.request.holding != Holding::reserved_against_token) {
    throw InvalidParameter("token: " + step.root() + " was not asked with a data token");
  }
  transact(state, step.family, Overdue::ends, [&](auto& transaction, const RequestFamily& family) {
    if (family.state() != RequestState::reserved || family.token) return false;
    const Act act{Act::Verb::issue_token, family.holder().id};
    transaction.note(draft_about(family.holder(), Outcome::token_issued, by, act_json(act)));
    return true;
  });
  return standing(state, step.root(), {});
}

Answer approved(Engine::State& state, const std::string& id, const std::string& by) {
  const Waiting step = waiting(state, id);
  require_approver(step, by, "approve");
  transact(state, step.family, Overdue::ends, [&](auto& transaction, const RequestFamily& family) {
    if (family.state() != RequestState::pending || family.approved_by(by)) return false;
    const Act act{Act::Verb::approve, family.root.id};
    transaction.note(draft_about(family.root, Outcome::approved, by, act_json(act)));
    if (family.approvals.size() + 1 >= step.plan->approvals_required) decide_approved(transaction, step);
    return true;
  });
  return standing(state, step.root(), {});
}

Answer rejected(Engine::State& state, const std::string& id, const std::string& by, const std::string& why) {
  const Waiting step = waiting(state, id);
  require_approver(step, by, "reject");
  transact(state, step.family, Overdue::ends, [&](auto& transaction, const RequestFamily& family) {
    if (family.state() != RequestState::pending) return false;
    if (family.approved_by(by)) {
      throw InvalidParameter("reject: '" + by + "' has approved " + family.root.id + " already; cancel it");
    }
    const Act act{Act::Verb::reject, family.root.id, why};
    transaction.note(draft_about(family.root, Outcome::rejected, by, act_json(act)));
    return true;
  });
  return standing(state, step.root(), {});
}

}  // namespace epsilog::engine
