#include "planned_answer.hpp"

#include <algorithm>
#include <utility>

#include "access.hpp"
#include "epsilog/accounting/composition.hpp"
#include "epsilog/accounting/stopping.hpp"
#include "holds_from.hpp"

namespace epsilog::engine {

Answer planned_answer(const Request& request, const Plan& plan, std::int64_t policy_version,
                      Accuracies accuracy, std::vector<Accuracies> of_rows, BatchRows rows) {
  Answer answer;
  answer.rows_count = request.rows.size();
  of_rows.resize(request.rows.size());
  for (std::size_t row = 0; rows == BatchRows::included && row < request.rows.size(); ++row) {
    accounting::stop_if_requested();
    answer.rows.push_back(planned_answer(request_of_row(request, row), *plan.rows[row], policy_version,
                                         std::move(of_rows[row])));
  }
  answer.asked.principal = request.principal;
  answer.asked.asker = request.principal;
  answer.asked.key = request.key;
  answer.asked.dataset = request.dataset;
  if (!request.unread) {
    answer.asked.statistic =
        request.rows.empty() ? request.question.statistic.text() : std::string(ledger::kBatch);
  }
  answer.asked.by = request.question.by;
  answer.asked.where = request.question.where ? request.question.where->text() : "";
  answer.asked.totals = request.question.totals;
  answer.asked.consistent = request.question.consistent;
  answer.asked.suppress_below = request.question.suppress_below;
  answer.asked.purpose = request.purpose;
  answer.asked.reservation = request.reservation;
  answer.planned.approvals_required = plan.approvals_required;
  answer.planned.policy_version = policy_version;
  answer.planned.record = plan.record;
  answer.planned.delta = plan.delta;
  answer.planned.rho = plan.rho;
  for (const auto& mechanism : plan.mechanisms) {
    answer.planned.precision_reasons.push_back(mechanism.precision_reason());
  }
  answer.planned.accuracy = std::move(accuracy);
  answer.planned.post_processing = plan.derivation.post_processing.kind;
  answer.planned.notes = plan.notes;
  if (plan.composed) answer.planned.sum_of_rows = plan.composed->sum();
  answer.planned.left_out = plan.left_out;
  return answer;
}

Answer access_refusal_answer(const Policy& policy, const Dataset& dataset, const Request& unread,
                             std::int64_t policy_version) {
  const Plan nothing;
  const auto nothing_before = [](const ledger::ChargeWindow&) { return accounting::Integer(0); };
  Answer answer = planned_answer(unread, nothing, policy_version, {});
  add_judgement(answer, judge({policy, dataset, unread, nothing}, {}, nothing_before, std::nullopt), {});
  return answer;
}

bool has_values(const Answer& answer) {
  return !answer.released.values.empty() || std::any_of(answer.rows.begin(), answer.rows.end(), has_values);
}

accounting::ApproximateLoss sum_of_rows(const Answer& batch) {
  if (batch.planned.sum_of_rows) return *batch.planned.sum_of_rows;
  std::vector<accounting::ApproximateLoss> losses;
  for (const Answer& row : batch.rows) {
    const auto& delta = row.planned.delta;
    losses.emplace_back(row.planned.record.charged,
                        delta ? accounting::Delta::parse_down(delta->charged) : accounting::Delta());
  }
  return accounting::compose_sequential(losses);
}

void withhold(Answer& answer) {
  answer.released = {};
  for (Answer& row : answer.rows) row.released = {};
}

void withhold_plan(Answer& answer) {
  Answer::Planned asked;
  asked.policy_version = answer.planned.policy_version;
  if (!answer.planned.rho) asked.record.requested = answer.planned.record.requested;
  answer.planned = std::move(asked);
  for (Answer& row : answer.rows) withhold_plan(row);
}

bool is_suppressed(const Answer& answer, std::size_t cell) {
  const std::optional<Rational>& least = answer.asked.suppress_below;
  if (!least) return false;
  const std::span<const Rational> counts = released_counts(
      answer.planned.post_processing, answer.released.component_values, answer.released.values);
  return cell < counts.size() && counts[cell] < *least;
}

void add_judgement(Answer& answer, const Judgement& judgement, const std::vector<Debit>& debits) {
  if (judgement.decision.granted()) {
    answer.planned.approvals_required = judgement.approvals.required;
    answer.planned.lost_within = judgement.approvals.sums;
  }
  answer.recorded.granted = judgement.decision.granted();
  answer.recorded.state = judgement.state;
  answer.recorded.reasons = judgement.decision.reasons();
  answer.recorded.reasons_count = judgement.decision.count();
  const bool closed = hides_balances(answer.recorded.reasons);
  if (closed) withhold_plan(answer);
  if (!closed) answer.recorded.accounts = account_states(debits);
}

}  // namespace epsilog::engine
