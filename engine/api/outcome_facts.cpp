// Outcomes: the one place where an answer of the engine becomes an alternative.
#include "epsilog/outcome.hpp"

#include <algorithm>
#include <limits>
#include <ostream>

#include "epsilog/engine/date.hpp"
#include "epsilog/engine/statistic.hpp"
#include "facts.hpp"

namespace epsilog {
namespace {

using accounting::Rational;
using detail::Facts;
using detail::Maker;

/// As a release draws them: "quantile", or "quantile_day" of dates.
std::string_view drawn_statistic(const engine::Answer& answer) {
  const auto& components = answer.planned.record.components;
  return components.size() == 1 ? std::string_view(components.front().statistic) : std::string_view();
}

bool tells_days(const engine::Answer& answer) {
  return drawn_statistic(answer) == "quantile_day";
}

/// The accuracy of the whole answer at that alpha; nothing where it has none or was not asked at it.
std::optional<Rational> told_accuracy(const engine::Answer& answer, const Rational& alpha) {
  const auto& accuracy = answer.planned.accuracy;
  if (accuracy.size() != 1) return std::nullopt;
  for (const engine::Accuracy& one : accuracy.front()) {
    if (one.alpha.rational() == alpha) return one.a.rational();
  }
  return std::nullopt;
}

bool has_one_accuracy(const engine::Answer& answer) {
  return !drawn_statistic(answer).empty() && !drawn_statistic(answer).starts_with("quantile") &&
         !accounting::is_quotient(answer.planned.post_processing);
}

const engine::CellIntervals* intervals_at(const engine::Answer& answer, const Rational& alpha) {
  for (const engine::CellIntervals& one : answer.released.intervals) {
    if (one.alpha == alpha) return &one;
  }
  return nullptr;
}

/// Those of each cell at alpha, which is looked up where it was not asked before.
std::vector<Interval> intervals_of(const Facts& facts, const Exact& alpha, bool together) {
  const Rational at = detail::rational_of(alpha, "alpha");
  const engine::Alphas alphas{at};
  std::optional<engine::Answer> again;
  const engine::CellIntervals* of = intervals_at(facts.answer, at);
  if (of == nullptr) {
    again = facts.session->engine.show(facts.answer.recorded.decision_id, alphas);
    of = intervals_at(*again, at);
  }
  const auto* cells = of == nullptr ? nullptr : together && !of->together.empty() ? &of->together : &of->each;
  std::vector<Interval> intervals;
  for (std::size_t i = 0; i < facts.answer.released.values.size(); ++i)
    intervals.push_back(Maker::interval(facts.answer, of, cells, i, together));
  return intervals;
}

std::string quantile_key(const engine::Answer& answer, std::size_t cell) {
  const engine::Question question =
      engine::parse_question(answer.asked.statistic, std::nullopt, std::nullopt);
  const auto& quantiles = question.statistic.quantiles;
  return cell < quantiles.size() ? accounting::text(quantiles[cell]) : "";
}

std::string reasons_sentence(const engine::Answer& answer) {
  const auto& reasons = answer.recorded.reasons;
  if (reasons.empty()) return "";
  const std::size_t more =
      answer.recorded.reasons_count - std::min<std::size_t>(1, answer.recorded.reasons_count);
  return ": " + reasons.front().message +
         (more == 0 ? ""
                    : " (and " + std::to_string(more) + (more == 1 ? " more reason)" : " more reasons)"));
}

std::string withheld_sentence(const engine::Answer& answer, const std::string& subject) {
  const std::string again =
      answer.asked.key.empty() ? "look again later" : "ask again with the key '" + answer.asked.key + "'";
  return answer.recorded.replica_behind
             ? subject + " is on record, but the replica does not hold it yet: " + again
             : subject + " is on record, but it is not known to be on the disk yet: " + again;
}

std::string released_sentence(const engine::Answer& answer, const std::string& subject) {
  const auto& values = answer.released.values;
  std::string told = "is released";
  if (detail::is_table(answer)) {
    told = "is a table of " + std::to_string(values.size()) + " cells";
  } else if (values.size() == 1) {
    told = "is " + Maker::number_of(answer, values.front()).text();
  }
  return subject + " " + told +
         (answer.recorded.replayed ? ", from the record: nothing more was charged"
                                   : ", charged " + Maker::loss(answer).text());
}

std::string waiting_sentence(const engine::Answer& answer, const std::string& subject) {
  const std::uint64_t required = answer.planned.approvals_required;
  return subject + " waits for " + std::to_string(required) + (required == 1 ? " approval" : " approvals") +
         " as " + answer.recorded.decision_id + ", of which it has " +
         std::to_string(answer.recorded.approvals.size());
}

}  // namespace

namespace detail {

engine::Alphas usual_alphas() {
  return {Rational(1, 20)};
}

bool is_table(const engine::Answer& answer) {
  if (!answer.asked.by.empty()) return true;
  if (answer.rows_count > 0 || answer.asked.statistic.empty()) return false;
  return engine::parse_question(answer.asked.statistic, std::nullopt, std::nullopt)
             .statistic.quantiles.size() > 1;
}

std::string subject_of(const engine::Answer& answer) {
  if (engine::is_unread(answer)) return "a question about " + answer.asked.dataset;
  return answer.asked.statistic + " of " + answer.asked.dataset +
         (answer.asked.by.empty() ? "" : " by " + engine::by_text(answer.asked.by)) +
         (answer.asked.where.empty() ? "" : " where " + answer.asked.where);
}

std::optional<Number> accuracy_of(const Facts& facts, const Exact& alpha) {
  const Rational at = rational_of(alpha, "alpha");
  const engine::Alphas alphas{at};
  if (!has_one_accuracy(facts.answer)) return std::nullopt;
  std::optional<Rational> told = told_accuracy(facts.answer, at);
  if (!told) {
    told =
        told_accuracy(facts.planned ? facts.session->engine.plan(*facts.planned, alphas)
                                    : facts.session->engine.show(facts.answer.recorded.decision_id, alphas),
                      at);
  }
  return told ? std::optional(Maker::number_up(*told)) : std::nullopt;
}

Number Maker::number_of(const engine::Answer& answer, const Rational& value,
                        Number (*made)(const Rational&)) {
  if (!tells_days(answer)) return made(value);
  return number(engine::date_text(value.get_num().get_si()), value.get_d());
}

Interval Maker::interval(const engine::Answer& answer, const engine::CellIntervals* of,
                         const std::vector<mechanisms::AnswerInterval>* cells, std::size_t cell,
                         bool together) {
  if (cells == nullptr || cell >= cells->size()) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return {number("-infinity", -kInfinity), number("infinity", kInfinity), true, std::nullopt};
  }
  const mechanisms::AnswerInterval& one = (*cells)[cell];
  const engine::CellGroup& group = of->group_of(cell);
  const auto& size = together && !of->together.empty() ? group.together_holds_from : group.each_holds_from;
  return {number_of(answer, one.low, number_down), number_of(answer, one.high, number_up),
          of->is_whole_range(cell, one), size ? std::optional(number_up(*size)) : std::nullopt};
}

std::vector<RefusalReason> Maker::reasons(const engine::Answer& answer) {
  std::vector<RefusalReason> reasons;
  for (const engine::Reason& reason : answer.recorded.reasons) {
    reasons.push_back({std::string(engine::name(reason.code)), reason.message, reason.scope, reason.measure,
                       reason.limit, reason.spent, reason.reserved, reason.asked, reason.fits});
  }
  return reasons;
}

template <class Answered>
Outcome<Answered> Maker::outcome(std::shared_ptr<Session> session, engine::Answer answer) {
  using State = engine::RequestState;
  const State state = answer.recorded.state;
  const bool told = engine::has_values(answer);
  const bool durable = answer.recorded.durable.value_or(true);
  std::shared_ptr<const Facts> facts =
      std::make_shared<const Facts>(Facts{std::move(session), std::move(answer)});
  const auto as = [&facts]<class One>() { return Outcome<Answered>(One(std::move(facts))); };
  // A refusal has no effect that a power failure could take back.
  if (state == State::refused) return as.template operator()<Refused>();
  if (!durable || (state == State::granted && !told)) return as.template operator()<Withheld>();
  switch (state) {
    case State::granted:
      return as.template operator()<Answered>();
    case State::refused:
      break;
    case State::pending:
    case State::approved:
      return as.template operator()<Waiting>();
    case State::reserved:
    case State::data_accessed:
      return as.template operator()<Reserved>();
    case State::cancelled:
      return as.template operator()<Cancelled>();
    case State::rejected:
      return as.template operator()<Rejected>();
    case State::expired:
      return as.template operator()<Expired>();
    case State::forfeited:
      return as.template operator()<Forfeited>();
  }
  return as.template operator()<Refused>();
}

template ValueOutcome Maker::outcome<ReleasedValue>(std::shared_ptr<Session>, engine::Answer);
template TableOutcome Maker::outcome<ReleasedTable>(std::shared_ptr<Session>, engine::Answer);
template RequestOutcome Maker::outcome<Released>(std::shared_ptr<Session>, engine::Answer);

Plan Maker::plan(std::shared_ptr<Session> session, engine::Answer answer, engine::Request request) {
  return Plan(
      std::make_shared<const Facts>(Facts{std::move(session), std::move(answer), std::move(request)}));
}

}  // namespace detail

std::ostream& operator<<(std::ostream& out, const Interval& interval) {
  return out << '[' << interval.low_ << ", " << interval.high_ << ']';
}

const std::string& Recorded::id() const noexcept {
  return facts().answer.recorded.decision_id;
}
const std::string& Recorded::key() const noexcept {
  return facts().answer.asked.key;
}
bool Recorded::replayed() const noexcept {
  return facts().answer.recorded.replayed;
}
const std::string& Recorded::at() const noexcept {
  return facts().answer.recorded.created_at;
}
const std::string& Recorded::dataset() const noexcept {
  return facts().answer.asked.dataset;
}
const std::string& Recorded::statistic() const noexcept {
  return facts().answer.asked.statistic;
}

std::string Recorded::message() const {
  using State = engine::RequestState;
  const engine::Answer& answer = facts().answer;
  const auto& recorded = answer.recorded;
  const std::string subject = detail::subject_of(answer);
  const std::string nothing = "; nothing was charged";
  if (recorded.state != State::refused &&
      (!recorded.durable.value_or(true) ||
       (recorded.state == State::granted && !engine::has_values(answer)))) {
    return withheld_sentence(answer, subject);
  }
  switch (recorded.state) {
    case State::granted:
      return released_sentence(answer, subject);
    case State::refused:
      return subject + " is refused and nothing was charged" + reasons_sentence(answer);
    case State::pending:
    case State::approved:
      return waiting_sentence(answer, subject);
    case State::reserved:
    case State::data_accessed:
      return Maker::loss(answer).text() + " for " + subject + " is reserved as " + recorded.decision_id +
             (recorded.deadline.empty() ? "" : " until " + recorded.deadline);
    case State::cancelled:
      return subject + " was cancelled" + nothing;
    case State::rejected:
      return subject + " was rejected" + nothing + (recorded.why.empty() ? "" : ": " + recorded.why);
    case State::expired:
      return subject + " was not committed or approved in time" + nothing;
    case State::forfeited:
      return subject + " ended without an answer after the data may have been seen, and " +
             Maker::loss(answer).text() + " was charged";
  }
  return subject;
}

Loss Released::charged() const {
  return Maker::loss(facts().answer);
}
std::optional<Number> Released::accuracy(const Exact& alpha) const {
  return detail::accuracy_of(facts(), alpha);
}

Number ReleasedValue::value() const {
  return Maker::number_of(facts().answer, facts().answer.released.values.front());
}
Interval ReleasedValue::interval(const Exact& alpha) const {
  return intervals_of(facts(), alpha, false).front();
}

std::string Cell::name() const {
  std::string name;
  for (const auto& key : keys) name += (name.empty() ? "" : ", ") + key.value_or("total");
  return name;
}

std::vector<Cell> ReleasedTable::cells() const {
  const engine::Answer& answer = facts().answer;
  const bool by_columns = !answer.planned.record.cells.empty();
  std::vector<Cell> cells;
  for (std::size_t i = 0; i < answer.released.values.size(); ++i) {
    Cell& cell = cells.emplace_back();
    cell.keys = by_columns ? answer.planned.record.cells.keys_of(i)
                           : std::vector<std::optional<std::string>>{quantile_key(answer, i)};
    if (!engine::is_suppressed(answer, i)) cell.value = Maker::number_of(answer, answer.released.values[i]);
  }
  return cells;
}
std::vector<Interval> ReleasedTable::intervals(const Exact& alpha) const {
  return intervals_of(facts(), alpha, false);
}
std::vector<Interval> ReleasedTable::intervals_together(const Exact& alpha) const {
  return intervals_of(facts(), alpha, true);
}

bool Withheld::replica_behind() const noexcept {
  return facts().answer.recorded.replica_behind;
}

std::vector<RefusalReason> Refused::reasons() const {
  return Maker::reasons(facts().answer);
}
std::size_t Refused::reasons_count() const noexcept {
  return facts().answer.recorded.reasons_count;
}

const std::string& Waiting::deadline() const noexcept {
  return facts().answer.recorded.deadline;
}
std::size_t Waiting::approvals_required() const noexcept {
  return facts().answer.planned.approvals_required;
}
std::vector<Vote> Waiting::approvals() const {
  std::vector<Vote> votes;
  for (const engine::Approval& approval : facts().answer.recorded.approvals)
    votes.push_back({approval.by, approval.at, approval.why});
  return votes;
}
Loss Waiting::cost() const {
  return Maker::loss(facts().answer);
}

const std::string& Reserved::deadline() const noexcept {
  return facts().answer.recorded.deadline;
}
Loss Reserved::cost() const {
  return Maker::loss(facts().answer);
}

const std::string& Rejected::why() const noexcept {
  return facts().answer.recorded.why;
}

Loss Forfeited::charged() const {
  return Maker::loss(facts().answer);
}

Plan::Outlook Plan::outlook() const noexcept {
  const auto state = facts_->answer.recorded.state;
  if (state == engine::RequestState::pending) return Outlook::waiting;
  return facts_->answer.recorded.granted ? Outlook::released : Outlook::refused;
}
Loss Plan::cost() const {
  return Maker::loss(facts_->answer);
}
std::vector<RefusalReason> Plan::reasons() const {
  return Maker::reasons(facts_->answer);
}
std::optional<Number> Plan::accuracy(const Exact& alpha) const {
  return detail::accuracy_of(*facts_, alpha);
}
std::vector<AccountBalance> Plan::budgets() const {
  std::vector<AccountBalance> budgets;
  for (const ledger::AccountState& account : facts_->answer.recorded.accounts)
    budgets.push_back(Maker::balance(account, true));
  return budgets;
}
std::string Plan::message() const {
  const engine::Answer& answer = facts_->answer;
  const std::string subject = detail::subject_of(answer);
  switch (outlook()) {
    case Outlook::released:
      return subject + " would be released for " + cost().text();
    case Outlook::waiting:
      return subject + " would wait for approvals, and then cost " + cost().text();
    case Outlook::refused:
      break;
  }
  return subject + " would be refused" + reasons_sentence(answer);
}

}  // namespace epsilog
