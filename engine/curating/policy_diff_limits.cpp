// Budgets of some of the askers.
#include <map>
#include <utility>

#include "policy_changes.hpp"

namespace epsilog::engine {
namespace {

/// Whose limit: "" is each.
using Subject = std::pair<Limit::Subject, std::string>;

/// The limits of one subject; of one kind of measure there is one at most.
using Group = std::vector<const Limit*>;

std::map<Subject, Group> groups_of(const std::vector<Limit>& limits) {
  std::map<Subject, Group> groups;
  for (const Limit& limit : limits) {
    // The mark says where it stands, not what it says.
    const auto& [subject, name, budget, mark] = limit;
    groups[{subject, name}].push_back(&limit);
  }
  return groups;
}

Group find(const std::map<Subject, Group>& groups, const Subject& subject) {
  const auto found = groups.find(subject);
  return found == groups.end() ? Group{} : found->second;
}

const Limit* partner(const Group& group, const Limit& limit) {
  for (const Limit* candidate : group) {
    if (comparable(candidate->budget.measure, limit.budget.measure)) return candidate;
  }
  return nullptr;
}

Direction direction_between(const Group& before, const Group& after) {
  std::vector<PolicyChange> changes;
  const DiffPath scratch(changes, {});
  for (const Limit* old : before) {
    const Limit* now = partner(after, *old);
    scratch.report(now ? direction_between(old->budget, now->budget) : Direction::looser, "", "", "");
  }
  for (const Limit* now : after) {
    if (partner(before, *now) == nullptr) scratch.report(Direction::tighter, "", "", "");
  }
  return together(changes);
}

std::string text_of(const Group& group) {
  std::string text;
  for (const Limit* limit : group) text += (text.empty() ? "" : ", ") + value_text(*limit);
  return text;
}

/// Limits by name stand in for those that each has, so their coming and going is a change of those.
void compare_with_each(const DiffPath& place, const Group& before, const Group& after) {
  const Direction direction = direction_between(before, after);
  std::string_view why = "the same as held here before";
  if (direction == Direction::looser) why = "more than held here before";
  if (direction == Direction::tighter) why = "less than held here before";
  if (direction == Direction::incomparable) why = "neither more nor less than held here before";
  place.report(direction, text_of(before), text_of(after), why);
}

void compare_groups(const DiffPath& place, const std::vector<Limit>& later, const Group& before,
                    const Group& after) {
  const auto at = [&](const Limit& limit) {
    return place.at(static_cast<std::size_t>(&limit - later.data()));
  };
  for (const Limit* old : before) {
    if (const Limit* now = partner(after, *old)) {
      compare_budgets(at(*now), old->budget, now->budget);
    } else {
      place.report(Direction::looser, value_text(*old), "", "one limit less");
    }
  }
  for (const Limit* now : after) {
    if (partner(before, *now) == nullptr) {
      at(*now).report(Direction::tighter, "", value_text(*now), "one more limit");
    }
  }
}

}  // namespace

void compare_limits(const DiffPath& place, const std::vector<Limit>& before,
                    const std::vector<Limit>& after) {
  const std::map<Subject, Group> groups_before = groups_of(before);
  const std::map<Subject, Group> groups_after = groups_of(after);
  std::map<Subject, Group> all = groups_before;
  all.insert(groups_after.begin(), groups_after.end());
  for (const auto& [subject, ignored] : all) {
    const Subject each = {subject.first, ""};
    const Group old = find(groups_before, subject);
    const Group now = find(groups_after, subject);
    if (old.empty() && subject != each && groups_before.contains(each)) {
      compare_with_each(place.at(static_cast<std::size_t>(now.front() - after.data())),
                        find(groups_before, each), now);
    } else if (now.empty() && subject != each && groups_after.contains(each)) {
      compare_with_each(place, old, find(groups_after, each));
    } else {
      compare_groups(place, after, old, now);
    }
  }
  const auto texts = [](const std::vector<Limit>& limits) {
    std::vector<std::string> list;
    for (const Limit& limit : limits) list.push_back(value_text(limit));
    return list;
  };
  place.compare_order(texts(before), texts(after));
}

}  // namespace epsilog::engine
