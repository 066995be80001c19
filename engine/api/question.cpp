// Questions: what a program has said of one so far, and the request that the engine is asked with it.
#include <array>
#include <utility>

#include "facts.hpp"

namespace epsilog {
namespace {

using detail::Maker;
using detail::QuestionParts;

std::string made_key(mechanisms::BitSource& bits) {
  std::array<std::byte, 16> bytes{};
  bits.fill(bytes);
  std::string key = "made-";
  for (const std::byte byte : bytes) {
    for (const unsigned digit : {std::to_integer<unsigned>(byte) / 16, std::to_integer<unsigned>(byte) % 16})
      key += "0123456789abcdef"[digit];
  }
  return key;
}

/// A question with one thing changed is another one: a key that was made for the first is not its own.
template <class Question, class Change>
Question changed(const QuestionParts& before, const Change& change) {
  QuestionParts parts = before;
  if (parts.key_was_made) parts.key = made_key(parts.session->bits);
  change(parts);
  return Maker::question<Question>(std::move(parts));
}

engine::Request request_of(const QuestionParts& parts) {
  engine::Request request;
  request.dataset = parts.dataset;
  // histogram:COLUMN brings its column along, and takes no other.
  request.question = parts.by.empty() ? engine::parse_question(parts.statistic, std::nullopt, parts.where)
                                      : engine::parse_question_by(parts.statistic, parts.by, parts.where);
  if (parts.suppress_below)
    engine::suppress_below(request.question, detail::rational_of(*parts.suppress_below, "suppress_below"));
  if (parts.totals)
    engine::with_totals(request.question, detail::rational_of(*parts.totals, "totals"), false);
  if (parts.epsilon.has_value() == parts.rho.has_value())
    throw InvalidParameter("a question needs either epsilon or rho");
  if (parts.rho && parts.delta) throw InvalidParameter("delta: a question with rho takes none");
  if (parts.principal.empty()) throw InvalidParameter("a question needs who asks: as()");
  if (parts.epsilon) request.epsilon = detail::rational_of(*parts.epsilon, "epsilon");
  if (parts.delta) request.delta = detail::rational_of(*parts.delta, "delta");
  if (parts.rho) request.rho = detail::rational_of(*parts.rho, "rho");
  if (parts.supplied) request.supplied = parts.supplied->text();
  request.principal = parts.principal;
  request.purpose = parts.purpose;
  request.key = parts.key;
  return request;
}

template <class Answered>
Outcome<Answered> released(const QuestionParts& parts) {
  detail::Session& session = *parts.session;
  return Maker::outcome<Answered>(
      parts.session, session.engine.release(request_of(parts), session.bits, detail::usual_alphas()));
}

template <class Answered>
Outcome<Answered> reserved(const QuestionParts& parts) {
  engine::Request request = request_of(parts);
  request.reservation = engine::ReservationKind::reserved;
  return Maker::outcome<Answered>(parts.session,
                                  parts.session->engine.reserve(request, detail::usual_alphas()));
}

/// Whether a statistic has several answers by itself.
/// Throws  InvalidParameter.
bool is_table_by_itself(const std::string& statistic) {
  const engine::Question question = engine::parse_question(statistic, std::nullopt, std::nullopt);
  return !question.by.empty() || question.statistic.quantiles.size() > 1;
}

template <class Question>
Question begun(std::shared_ptr<detail::Session> session, const std::string& dataset,
               const std::string& statistic) {
  QuestionParts parts;
  parts.key = made_key(session->bits);
  parts.session = std::move(session);
  parts.dataset = dataset;
  parts.statistic = statistic;
  return Maker::question<Question>(std::move(parts));
}

}  // namespace

namespace detail {

template <class Question>
Question QuestionBuilder<Question>::where(const std::string& condition) const {
  return changed<Question>(*parts_, [&](QuestionParts& parts) { parts.where = condition; });
}
template <class Question>
Question QuestionBuilder<Question>::epsilon(const Exact& epsilon) const {
  return changed<Question>(*parts_, [&](QuestionParts& parts) { parts.epsilon = epsilon; });
}
template <class Question>
Question QuestionBuilder<Question>::delta(const Exact& delta) const {
  return changed<Question>(*parts_, [&](QuestionParts& parts) { parts.delta = delta; });
}
template <class Question>
Question QuestionBuilder<Question>::rho(const Exact& rho) const {
  return changed<Question>(*parts_, [&](QuestionParts& parts) { parts.rho = rho; });
}
template <class Question>
Question QuestionBuilder<Question>::as(const std::string& principal) const {
  return changed<Question>(*parts_, [&](QuestionParts& parts) { parts.principal = principal; });
}
template <class Question>
Question QuestionBuilder<Question>::purpose(const std::string& purpose) const {
  return changed<Question>(*parts_, [&](QuestionParts& parts) { parts.purpose = purpose; });
}
template <class Question>
Question QuestionBuilder<Question>::key(const std::string& key) const {
  if (key.empty()) throw InvalidParameter("key: it is empty; without a key, one is made");
  return changed<Question>(*parts_, [&](QuestionParts& parts) {
    parts.key = key;
    parts.key_was_made = false;
  });
}
template <class Question>
const std::string& QuestionBuilder<Question>::key() const noexcept {
  return parts_->key;
}
template <class Question>
Question QuestionBuilder<Question>::supplied(const Exact& value) const {
  return changed<Question>(*parts_, [&](QuestionParts& parts) { parts.supplied = value; });
}
template <class Question>
Plan QuestionBuilder<Question>::plan() const {
  engine::Request request = request_of(*parts_);
  engine::Answer answer = parts_->session->engine.plan(request, usual_alphas());
  return Maker::plan(parts_->session, std::move(answer), std::move(request));
}

template class QuestionBuilder<ValueQuestion>;
template class QuestionBuilder<TableQuestion>;

}  // namespace detail

TableQuestion TableQuestion::suppress_below(const Exact& least) const {
  return changed<TableQuestion>(*parts_, [&](QuestionParts& parts) { parts.suppress_below = least; });
}
TableQuestion TableQuestion::totals(const Exact& share) const {
  return changed<TableQuestion>(*parts_, [&](QuestionParts& parts) { parts.totals = share; });
}
TableOutcome TableQuestion::release() const {
  return released<ReleasedTable>(*parts_);
}
TableOutcome TableQuestion::reserve() const {
  return reserved<ReleasedTable>(*parts_);
}

TableQuestion ValueQuestion::by_columns(std::vector<std::string> columns) const {
  if (columns.empty()) throw InvalidParameter("by: a column is needed");
  return changed<TableQuestion>(*parts_, [&](QuestionParts& parts) { parts.by = std::move(columns); });
}
ValueOutcome ValueQuestion::release() const {
  return released<ReleasedValue>(*parts_);
}
ValueOutcome ValueQuestion::reserve() const {
  return reserved<ReleasedValue>(*parts_);
}

ValueQuestion Ledger::ask(const std::string& dataset, const std::string& statistic) const {
  if (is_table_by_itself(statistic))
    throw InvalidParameter(statistic + ": it has several answers; ask_table() asks for them");
  return begun<ValueQuestion>(session_, dataset, statistic);
}

TableQuestion Ledger::ask_table(const std::string& dataset, const std::string& statistic) const {
  if (!is_table_by_itself(statistic))
    throw InvalidParameter(statistic + ": it has one answer; ask() asks for it, and ask().by() by columns");
  return begun<TableQuestion>(session_, dataset, statistic);
}

}  // namespace epsilog
