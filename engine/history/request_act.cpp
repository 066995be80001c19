#include "request_act.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/unreadable_row.hpp"

namespace epsilog::engine {
namespace {

using ledger::Outcome;

constexpr std::array<std::pair<Act::Verb, std::string_view>, 6> kVerbs{{
    {Act::Verb::approve, "approve"},
    {Act::Verb::reject, "reject"},
    {Act::Verb::issue_token, "issue_token"},
    {Act::Verb::read_source, "read_source"},
    {Act::Verb::cancel, "cancel"},
    {Act::Verb::expire, "expire"},
}};

Act::Verb verb_of(std::string_view text) {
  for (const auto& [verb, name] : kVerbs) {
    if (name == text) return verb;
  }
  throw ledger::UnreadableRow("stored act: unknown verb '" + std::string(text) + "'");
}

std::string text_of(const Act& act) {
  nlohmann::json json = {{"decision", act.decision}};
  for (const auto& [verb, name] : kVerbs) {
    if (verb == act.verb) json["verb"] = name;
  }
  if (!act.why.empty()) json["why"] = act.why;
  return json.dump();
}

}  // namespace

std::string act_json(const Act& act) {
  std::string text = text_of(act);
  if (parse_act(text) != act) {
    throw Error("act: it would not be read back as what it is; nothing was recorded");
  }
  return text;
}

Act parse_act(std::string_view text) {
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    Act act{.verb = verb_of(json.at("verb").get<std::string>()),
            .decision = json.at("decision").get<std::string>(),
            .why = json.value("why", "")};
    if (text_of(act) != text) throw ledger::UnreadableRow("stored act: not in canonical form");
    return act;
  } catch (const nlohmann::json::exception& error) {
    throw ledger::UnreadableRow(std::string("stored act: ") + error.what());
  }
}

bool stores_act(Outcome outcome) {
  switch (outcome) {
    case Outcome::granted:
    case Outcome::refused:
    case Outcome::reserved:
    case Outcome::pending:
      return false;
    case Outcome::approved:
    case Outcome::rejected:
    case Outcome::data_accessed:
    case Outcome::voided:
    case Outcome::forfeited:
      return true;
  }
  EPSILOG_INVARIANT(false);
}

bool fits(Act::Verb verb, Outcome outcome) {
  switch (verb) {
    case Act::Verb::approve:
      return outcome == Outcome::approved;
    case Act::Verb::reject:
      return outcome == Outcome::rejected;
    case Act::Verb::issue_token:
    case Act::Verb::read_source:
      return outcome == Outcome::data_accessed;
    case Act::Verb::cancel:
    case Act::Verb::expire:
      return outcome == Outcome::voided || outcome == Outcome::forfeited;
  }
  EPSILOG_INVARIANT(false);
}

}  // namespace epsilog::engine
