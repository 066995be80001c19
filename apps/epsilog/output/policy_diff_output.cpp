#include "policy_diff_output.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "amounts.hpp"
#include "epsilog/engine/measure.hpp"
#include "figures_json.hpp"
#include "printable.hpp"

namespace epsilog::command {
namespace {

using engine::Direction;
using engine::PolicyChange;

constexpr Direction kInOrder[] = {Direction::looser, Direction::tighter, Direction::incomparable,
                                  Direction::neutral};

std::vector<const PolicyChange*> of(const PolicyComparison& comparison, Direction direction) {
  std::vector<const PolicyChange*> chosen;
  for (const PolicyChange& change : comparison.changes) {
    if (change.direction == direction) chosen.push_back(&change);
  }
  // By place, so that the list reads beside the file.
  std::stable_sort(chosen.begin(), chosen.end(), [](const PolicyChange* a, const PolicyChange* b) {
    return std::pair(a->mark.line, a->mark.column) < std::pair(b->mark.line, b->mark.column);
  });
  return chosen;
}

std::string display_value(const std::string& value) {
  return value.empty() ? "(none)" : printable(value);
}

std::string coloured(Direction direction, const Style& style) {
  const std::string word(engine::name(direction));
  if (direction == Direction::looser) return style.bad(word);
  return direction == Direction::tighter ? style.good(word) : style.faint(word);
}

Figure value_figure(std::string name, const std::string& value) {
  return text_or_nothing(std::move(name), value);
}

Figures change_figures(const PolicyChange& change) {
  return {{"direction", std::string(engine::name(change.direction))},
          {"path", change.path_text()},
          value_figure("before", change.before),
          value_figure("after", change.after),
          {"why", change.why},
          {"refused_once_charged", change.refused_once_charged},
          {"line", static_cast<std::uint64_t>(change.mark.line)},
          {"column", static_cast<std::uint64_t>(change.mark.column)}};
}

}  // namespace

std::string policy_diff_text(const PolicyComparison& comparison, const Style& style) {
  std::string lines;
  std::string summary;
  for (const Direction direction : kInOrder) {
    const std::vector<const PolicyChange*> changes = of(comparison, direction);
    for (const PolicyChange* change : changes) {
      lines +=
          fmt::format("{}:{}:{}: {}: {}: {} -> {}: {}{}\n", printable(comparison.later), change->mark.line,
                      change->mark.column, coloured(direction, style), printable(change->path_text()),
                      display_value(change->before), display_value(change->after), change->why,
                      change->refused_once_charged ? "; refused once charged" : "");
    }
    summary += fmt::format("{}{} {}", summary.empty() ? "" : ", ", changes.size(), engine::name(direction));
  }
  lines += comparison.changes.empty() ? "no difference\n" : "\n" + summary + "\n";
  if (!comparison.refused) return lines;
  for (const ledger::AccountState& account : comparison.removed) {
    lines += "no limit any more: " + printable(wire::account_subject(account)) + "\n";
  }
  if (comparison.refused->empty()) return lines + "policy apply would accept it\n";
  lines += "policy apply would refuse it:\n";
  for (const PolicyFault& fault : *comparison.refused) lines += "  " + printable(fault.text()) + "\n";
  return lines;
}

std::string policy_diff_json(const PolicyComparison& comparison) {
  const auto list = [&comparison](std::initializer_list<Direction> directions) {
    std::vector<Figures> objects;
    for (const Direction direction : directions) {
      for (const PolicyChange* change : of(comparison, direction)) objects.push_back(change_figures(*change));
    }
    return objects;
  };
  Figures figures = {{"changed", !comparison.changes.empty()},
                     {"looser", list({Direction::looser})},
                     {"tighter", list({Direction::tighter})},
                     {"other", list({Direction::incomparable, Direction::neutral})},
                     {"limit_removals", std::monostate{}},
                     {"refused_by_apply", std::monostate{}}};
  if (comparison.refused) {
    std::vector<Figures> removals;
    for (const ledger::AccountState& account : comparison.removed) {
      removals.push_back({{"dataset", account.dataset},
                          {"scope", account.scope},
                          {"measure", account.measure},
                          {"limit", engine::amount_text(account.measure, account.balance.limit)},
                          {"spent", engine::amount_text(account.measure, account.balance.spent)}});
    }
    figures[figures.size() - 2].value = std::move(removals);
    std::vector<Figures> faults;
    for (const PolicyFault& fault : *comparison.refused) {
      faults.push_back({{"file", fault.file},
                        {"line", static_cast<std::uint64_t>(fault.line)},
                        {"column", static_cast<std::uint64_t>(fault.column)},
                        {"message", fault.message}});
    }
    figures.back().value = std::move(faults);
  }
  return figures_json(figures);
}

}  // namespace epsilog::command
