#include "sight.hpp"

#include <algorithm>

#include "access.hpp"
#include "epsilog/engine/concealed_dataset.hpp"
#include "request_rules.hpp"

namespace epsilog::serve {
namespace {

const engine::Policy& policy_of(const Caller& caller) {
  return caller.view->policy;
}

bool may_ask(const Caller& caller, const std::string& name) {
  const engine::Dataset* const dataset = declared(caller, name);
  return dataset != nullptr && !caller.keeper() &&
         engine::may_ask(policy_of(caller), *dataset, caller.who.name);
}

}  // namespace

engine::Viewer viewer(const Caller& caller) {
  return {caller.who.name, caller.keeper()};
}

bool sees(const Caller& caller, const engine::Answer& answer) {
  return engine::sight_of(policy_of(caller), viewer(caller), answer).request;
}

std::optional<engine::Answer> seen(const Caller& caller, engine::Answer answer) {
  if (!sees(caller, answer)) return std::nullopt;
  return engine::as_seen_by(policy_of(caller), viewer(caller), std::move(answer));
}

engine::LineSight line_sight(const Caller& caller, const engine::Answer& answer,
                             const ledger::StoredDecision& line) {
  return engine::line_sight(policy_of(caller), viewer(caller), answer, line);
}

bool may_commit(const Caller& caller, const engine::Answer& answer) {
  if (declared(caller, answer.asked.dataset) == nullptr || engine::is_unread(answer)) return false;
  engine::Request request;
  request.dataset = answer.asked.dataset;
  if (answer.rows.empty())
    request.question = engine::parse_question(answer.asked.statistic, std::nullopt, std::nullopt);
  request.principal = answer.asked.asker;
  return engine::may_post(policy_of(caller), request, caller.who.name);
}

const engine::Dataset* declared(const Caller& caller, const std::string& name) {
  const auto& datasets = policy_of(caller).datasets();
  const auto at = std::find_if(datasets.begin(), datasets.end(),
                               [&](const engine::Dataset& dataset) { return dataset.name == name; });
  return at == datasets.end() ? nullptr : &*at;
}

bool knows(const Caller& caller, const std::string& name) {
  return engine::sees_dataset(policy_of(caller), viewer(caller), name);
}

void require_dataset(const Caller& caller, const std::string& name) {
  if (!knows(caller, name)) throw engine::ConcealedDataset(name);
}

void require_askable(const Caller& caller, const std::string& name) {
  if (!may_ask(caller, name)) throw engine::ConcealedDataset(name);
}

}  // namespace epsilog::serve
