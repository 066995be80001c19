// A ledger as epsilog.hpp shows it: acts on what waits, and reading what is on record.
#include <chrono>
#include <utility>

#include "facts.hpp"
#include "init_from_text.hpp"

namespace epsilog {
namespace {

using detail::Maker;
using detail::Session;

/// How the request stands that a decision belongs to, which may be an act about another one.
engine::Answer shown(const Session& session, const std::string& id) {
  engine::Answer answer = session.engine.show(id, detail::usual_alphas());
  if (answer.recorded.parent.empty()) return answer;
  return session.engine.show(answer.recorded.parent, detail::usual_alphas());
}

/// Throws  InvalidParameter unless the request is for a table, or for none.
void require_shape(const engine::Answer& answer, bool table) {
  const std::string what = "decision " + answer.recorded.decision_id;
  if (answer.rows_count > 0) throw InvalidParameter(what + " has several questions that were asked as one");
  if (engine::is_unread(answer) || detail::is_table(answer) == table) return;
  throw InvalidParameter(what + (table ? " is about a single number" : " is about a table"));
}

template <class Answered>
Outcome<Answered> shown_as(const std::shared_ptr<Session>& session, const std::string& id, bool table) {
  engine::Answer answer = shown(*session, id);
  require_shape(answer, table);
  return Maker::outcome<Answered>(session, std::move(answer));
}

template <class Answered>
Outcome<Answered> committed_as(const std::shared_ptr<Session>& session, const std::string& id,
                               const std::string& by, const std::optional<Exact>& supplied, bool table) {
  const engine::Answer before = shown(*session, id);
  require_shape(before, table);  // while nothing is charged
  const auto value = supplied ? std::optional(supplied->text()) : std::nullopt;
  engine::Answer answer = session->engine.commit(id, by, value, session->bits, detail::usual_alphas());
  answer.asked.key = before.asked.key;  // that of the request, not of the act
  return Maker::outcome<Answered>(session, std::move(answer));
}

engine::EngineOptions engine_options(const OpenOptions& options) {
  if (options.wait_ms < 0) throw InvalidParameter("open: a wait is at least 0");
  return {.wait_ms = options.wait_ms, .stop = options.stop};
}

}  // namespace

ValueOutcome Ledger::commit(const std::string& id, const std::string& by,
                            const std::optional<Exact>& supplied) const {
  return committed_as<ReleasedValue>(session_, id, by, supplied, false);
}
TableOutcome Ledger::commit_table(const std::string& id, const std::string& by) const {
  return committed_as<ReleasedTable>(session_, id, by, std::nullopt, true);
}

RequestOutcome Ledger::cancel(const std::string& id, const std::string& by) const {
  return Maker::outcome<Released>(session_, session_->engine.cancel(id, by));
}
RequestOutcome Ledger::approve(const std::string& id, const std::string& by, const std::string& why) const {
  return Maker::outcome<Released>(session_, session_->engine.approve(id, by, why));
}
RequestOutcome Ledger::reject(const std::string& id, const std::string& by, const std::string& why) const {
  return Maker::outcome<Released>(session_, session_->engine.reject(id, by, why));
}

ValueOutcome Ledger::show(const std::string& id) const {
  return shown_as<ReleasedValue>(session_, id, false);
}
TableOutcome Ledger::show_table(const std::string& id) const {
  return shown_as<ReleasedTable>(session_, id, true);
}
RequestOutcome Ledger::status(const std::string& id) const {
  return Maker::outcome<Released>(session_, shown(*session_, id));
}

std::vector<RequestOutcome> Ledger::pending(const std::string& dataset) const {
  std::vector<RequestOutcome> all;
  session_->engine.pending(dataset, [&](const engine::Answer& answer) {
    all.push_back(Maker::outcome<Released>(session_, answer));
  });
  return all;
}

std::vector<AccountBalance> Ledger::budget(const std::string& dataset) const {
  std::vector<AccountBalance> all;
  for (const engine::BudgetAccount& account : session_->engine.budget(dataset))
    all.push_back(Maker::balance(account, account.active));
  return all;
}

History Ledger::history(const std::string& dataset, const std::string& after, std::int64_t limit) const {
  engine::HistoryPage page;
  page.dataset = dataset;
  page.after = after;
  page.limit = limit;
  page.rows = false;
  History history;
  const engine::HistoryEnd end = session_->engine.history(page, [&history](const engine::Answer& answer) {
    history.entries.push_back({answer.recorded.decision_id, answer.recorded.created_at,
                               answer.asked.principal, answer.asked.dataset, answer.asked.statistic,
                               answer.asked.key, std::string(engine::name(answer.recorded.state))});
    return true;
  });
  history.cursor = end.cursor;
  history.more = end.more;
  return history;
}

engine::Engine& Ledger::expert() const noexcept {
  return session_->engine;
}

Ledger open(const std::string& path, const OpenOptions& options) {
  return over(engine::Engine::open(path, engine_options(options)));
}
Ledger over(engine::Engine engine) {
  return Maker::ledger(std::move(engine));
}

Ledger create(const std::string& path, const PolicyFile& policy, const std::string& by,
              const OpenOptions& options) {
  (void)engine::Engine::init(policy.path, path, by, "", engine_options(options));
  return open(path, options);
}
Ledger create(const std::string& path, const PolicyText& policy, const std::string& by,
              const OpenOptions& options) {
  (void)engine::init_from_text(policy.yaml, policy.folder, path, by, engine_options(options));
  return open(path, options);
}

}  // namespace epsilog
