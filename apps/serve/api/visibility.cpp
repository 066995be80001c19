#include "visibility.hpp"

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
  const engine::Dataset* const dataset = declared_dataset(caller, name);
  return dataset != nullptr && !caller.is_keeper() &&
         engine::may_ask(policy_of(caller), *dataset, caller.actor.name);
}

}  // namespace

engine::Viewer viewer(const Caller& caller) {
  return {caller.actor.name, caller.is_keeper()};
}

bool may_see(const Caller& caller, const engine::Answer& answer) {
  return engine::visibility_of(policy_of(caller), viewer(caller), answer).request;
}

std::optional<engine::Answer> answer_as_seen(const Caller& caller, engine::Answer answer) {
  if (!may_see(caller, answer)) return std::nullopt;
  return engine::redacted_answer(policy_of(caller), viewer(caller), std::move(answer));
}

engine::LineVisibility line_visibility(const Caller& caller, const engine::Answer& answer,
                                       const ledger::StoredDecision& line) {
  return engine::line_visibility(policy_of(caller), viewer(caller), answer, line);
}

bool may_commit(const Caller& caller, const engine::Answer& answer) {
  if (declared_dataset(caller, answer.asked.dataset) == nullptr || engine::is_unread(answer)) return false;
  engine::Request request;
  request.dataset = answer.asked.dataset;
  if (answer.rows.empty())
    request.question = engine::parse_question(answer.asked.statistic, std::nullopt, std::nullopt);
  request.principal = answer.asked.asker;
  return engine::may_post(policy_of(caller), request, caller.actor.name);
}

const engine::Dataset* declared_dataset(const Caller& caller, const std::string& name) {
  const auto& datasets = policy_of(caller).datasets();
  const auto at = std::find_if(datasets.begin(), datasets.end(),
                               [&](const engine::Dataset& dataset) { return dataset.name == name; });
  return at == datasets.end() ? nullptr : &*at;
}

bool may_see_dataset(const Caller& caller, const std::string& name) {
  return engine::sees_dataset(policy_of(caller), viewer(caller), name);
}

void require_dataset(const Caller& caller, const std::string& name) {
  if (!may_see_dataset(caller, name)) throw engine::ConcealedDataset(name);
}

void require_askable(const Caller& caller, const std::string& name) {
  if (!may_ask(caller, name)) throw engine::ConcealedDataset(name);
}

}  // namespace epsilog::serve
