#include "policy_changes.hpp"

#include <algorithm>
#include <unordered_set>

#include "epsilog/accounting/errors.hpp"
#include "yaml_writer.hpp"

namespace epsilog::engine {

Direction together(const std::vector<PolicyChange>& changes) {
  const auto any = [&changes](Direction direction) {
    return std::any_of(changes.begin(), changes.end(),
                       [&](const PolicyChange& change) { return change.direction == direction; });
  };
  const bool looser = any(Direction::looser);
  const bool tighter = any(Direction::tighter);
  if (any(Direction::incomparable) || (looser && tighter)) return Direction::incomparable;
  if (looser) return Direction::looser;
  return tighter ? Direction::tighter : Direction::neutral;
}

bool contains(const std::vector<std::string>& list, std::string_view wanted) {
  return std::find(list.begin(), list.end(), wanted) != list.end();
}

DiffPath DiffPath::at(std::string_view key) const {
  DiffPath inner = *this;
  inner.path_.emplace_back(key);
  return inner;
}

DiffPath DiffPath::at(std::size_t index) const {
  return at("[" + std::to_string(index) + "]");
}

void DiffPath::report(Direction direction, std::string before, std::string after,
                      std::string_view why) const {
  changes_.push_back({.direction = direction,
                      .path = path_,
                      .before = std::move(before),
                      .after = std::move(after),
                      .why = std::string(why)});
}

void DiffPath::compare(const std::string& before, const std::string& after, Meaning change) const {
  if (before != after) report(change.direction, before, after, change.why);
}

void DiffPath::compare(const std::string& before, const std::string& after, Meaning added, Meaning removed,
                       Meaning changed) const {
  if (before == after) return;
  const Meaning meaning = before.empty() ? added : after.empty() ? removed : changed;
  report(meaning.direction, before, after, meaning.why);
}

void DiffPath::compare_lists(const std::vector<std::string>& before, const std::vector<std::string>& after,
                             Meaning added, Meaning removed) const {
  // Sets, because a column may declare thousands of values.
  const std::unordered_set<std::string_view> old(before.begin(), before.end()),
      now(after.begin(), after.end());
  for (const std::string& element : before) {
    if (!now.contains(element)) report(removed.direction, yaml::scalar(element), "", removed.why);
  }
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (!old.contains(after[i])) at(i).report(added.direction, "", yaml::scalar(after[i]), added.why);
  }
  std::vector<std::string> scalars_before, scalars_after;
  for (const std::string& element : before) scalars_before.push_back(yaml::scalar(element));
  for (const std::string& element : after) scalars_after.push_back(yaml::scalar(element));
  compare_order(scalars_before, scalars_after);
}

void DiffPath::compare_order(const std::vector<std::string>& before,
                             const std::vector<std::string>& after) const {
  if (before == after) return;
  std::vector<std::string> sorted_before = before, sorted_after = after;
  std::sort(sorted_before.begin(), sorted_before.end());
  std::sort(sorted_after.begin(), sorted_after.end());
  if (sorted_before != sorted_after) return;
  const auto list = [](const std::vector<std::string>& texts) {
    std::string text = "[";
    for (const std::string& one : texts) text += (text.size() > 1 ? ", " : "") + one;
    return text + "]";
  };
  report(Direction::neutral, list(before), list(after), "only the order differs");
}

void DiffPath::compare_allowed(const std::optional<std::vector<std::string>>& before,
                               const std::optional<std::vector<std::string>>& after,
                               std::string_view what) const {
  const std::string subject(what);
  if (before && after) {
    compare_lists(*before, *after, {Direction::looser, "one more " + subject},
                  {Direction::tighter, "one " + subject + " less"});
  } else if (after) {
    report(Direction::tighter, "", yaml::sequence(*after), "every " + subject + " was allowed");
  } else if (before) {
    report(Direction::looser, yaml::sequence(*before), "", "every " + subject + " is allowed");
  }
}

bool reads_fractions_for_blocks(const Dataset& dataset) {
  if (!dataset.blocks) return false;
  const Column* column = dataset.column(dataset.read_from(dataset.blocks->by));
  return column != nullptr && (column->type == ColumnType::decimal || column->type == ColumnType::real);
}

}  // namespace epsilog::engine
