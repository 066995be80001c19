// What may be asked, by whom, for what, and with whose consent.
#include <algorithm>

#include "policy_changes.hpp"
#include "yaml_writer.hpp"

namespace epsilog::engine {
namespace {

using Texts = std::vector<std::string>;

std::optional<Texts> names(const std::optional<std::vector<StatisticKind>>& kinds) {
  return kinds ? std::optional(engine::names(*kinds)) : std::nullopt;
}

/// Each statistic that came or went. Where all of `default` are allowed its word may stand for them, so that
/// the place is the list.
void compare_statistics(const DiffPath& place, const std::vector<StatisticKind>& before,
                        const std::vector<StatisticKind>& after) {
  const auto& by_word = default_statistics();
  const bool whole =
      std::all_of(by_word.begin(), by_word.end(), [&](StatisticKind kind) { return permits(after, kind); });
  for (const StatisticKind kind : before) {
    if (!permits(after, kind))
      place.report(Direction::tighter, std::string(name(kind)), "", "one statistic less");
  }
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (permits(before, after[i])) continue;
    (whole ? place : place.at(i))
        .report(Direction::looser, "", std::string(name(after[i])), "one more statistic");
  }
  if (!whole) place.compare_order(engine::names(before), engine::names(after));
}

/// Who may ask is the union of two lists, so one that appears beside the other lets more people in.
void compare_askers(const DiffPath& allow, const Allow& before, const Allow& after) {
  const bool restricted_before = before.principals || before.roles;
  const bool restricted_after = after.principals || after.roles;
  const auto compare = [&](std::string_view key, const std::optional<Texts>& old,
                           const std::optional<Texts>& now) {
    if (restricted_before && restricted_after) {
      allow.at(key).compare_lists(old.value_or(Texts{}), now.value_or(Texts{}),
                                  {Direction::looser, "more people may ask"},
                                  {Direction::tighter, "fewer people may ask"});
      // [] and no list differ only when neither list has anybody else.
    } else {
      allow.at(key).compare_allowed(old, now, key == "roles" ? "role" : "principal");
    }
  };
  compare("principals", before.principals, after.principals);
  compare("roles", before.roles, after.roles);
}

/// Whether a list of columns has one, or what it is derived from.
bool lists(const Texts& columns, const std::string& column, const Dataset& dataset) {
  return contains(columns, column) || contains(columns, dataset.read_from(column));
}

/// Columns that may be used, where each stands for those derived from it as well.
void compare_columns(const DiffPath& place, const std::optional<Texts>& old, const std::optional<Texts>& now,
                     const Dataset& before, const Dataset& after, std::string_view what) {
  if (!old || !now) return place.compare_allowed(old, now, what);
  for (const std::string& column : *old) {
    if (contains(*now, column)) continue;
    const bool still = lists(*now, column, after);
    place.report(still ? Direction::neutral : Direction::tighter, yaml::scalar(column), "",
                 still ? "what it is derived from is listed" : "one " + std::string(what) + " less");
  }
  for (std::size_t i = 0; i < now->size(); ++i) {
    const std::string& column = (*now)[i];
    if (contains(*old, column)) continue;
    const bool already = lists(*old, column, before);
    place.at(i).report(already ? Direction::neutral : Direction::looser, "", yaml::scalar(column),
                       already ? "what it is derived from was listed" : "one more " + std::string(what));
  }
  place.compare_order(*old, *now);
}

void compare_allow(const DiffPath& place, const Dataset& dataset, const Dataset& dataset_now) {
  const Allow& before = dataset.allow;
  const Allow& after = dataset_now.allow;
  const auto& [statistics, columns, by, where, principals, roles] = before;
  const auto& [statistics_now, columns_now, by_now, where_now, principals_now, roles_now] = after;
  compare_statistics(place.at("statistics"), statistics, statistics_now);
  compare_columns(place.at("columns"), columns, columns_now, dataset, dataset_now, "column to aggregate");
  compare_columns(place.at("by"), by, by_now, dataset, dataset_now, "column to group by");
  compare_columns(place.at("where"), where, where_now, dataset, dataset_now, "column to compare");
  compare_askers(place, before, after);
}

/// Whether a list that must apply, if there is one, applies whenever the other does.
bool covers(const std::optional<Texts>& broad, const std::optional<Texts>& narrow) {
  if (!broad) return true;
  return narrow && std::all_of(narrow->begin(), narrow->end(),
                               [&](const std::string& one) { return contains(*broad, one); });
}

/// The same of columns: each stands for those derived from it as well, in the dataset of the broader list.
bool covers(const std::optional<Texts>& broad, const std::optional<Texts>& narrow, const Dataset& dataset) {
  if (!broad) return true;
  return narrow && std::all_of(narrow->begin(), narrow->end(),
                               [&](const std::string& one) { return lists(*broad, one, dataset); });
}

/// The statistics of a rule, and what one of them stands for: every variance is forbidden with `variance`.
std::optional<Texts> meant(const std::optional<std::vector<StatisticKind>>& statistics) {
  std::optional<Texts> words = names(statistics);
  if (words && contains(*words, std::string(name(StatisticKind::variance))))
    words->emplace_back(name(StatisticKind::private_variance));
  return words;
}

/// Whether `broad`, a rule of the dataset, forbids everything that `narrow` does.
bool covers(const Forbid& broad, const Forbid& narrow, const Dataset& dataset) {
  const auto& [principals, roles, purposes, statistics, columns, by, where, mark] = broad;
  return covers(principals, narrow.principals) && covers(roles, narrow.roles) &&
         covers(purposes, narrow.purposes) && covers(meant(statistics), meant(narrow.statistics)) &&
         covers(columns, narrow.columns, dataset) && covers(by, narrow.by, dataset) &&
         covers(where, narrow.where, dataset);
}

bool covered(const Dataset& dataset, const Forbid& rule) {
  return std::any_of(dataset.forbid.begin(), dataset.forbid.end(),
                     [&](const Forbid& other) { return covers(other, rule, dataset); });
}

/// Of two rules that forbid the same.
std::string_view why_neutral(const Forbid& before, const Forbid& after) {
  const auto statistics = [](const Forbid& rule) { return rule.statistics ? rule.statistics->size() : 0; };
  if (statistics(before) != statistics(after)) return "private_variance is forbidden with variance";
  const auto size = [](const Forbid& rule) {
    return (rule.columns ? rule.columns->size() : 0) + (rule.by ? rule.by->size() : 0) +
           (rule.where ? rule.where->size() : 0);
  };
  return size(before) == size(after) ? "only the order differs"
                                     : "what is derived from a column is forbidden with it";
}

/// The rules of one side that have no equivalent on the other.
struct Unpaired {
  std::vector<const Forbid*> gone;
  std::vector<std::size_t> fresh;  ///< in `after`
};

Unpaired report_equivalent(const DiffPath& place, const Dataset& dataset, const Dataset& dataset_now) {
  const std::vector<Forbid>& before = dataset.forbid;
  const std::vector<Forbid>& after = dataset_now.forbid;
  const auto equivalent = [&](const Forbid& old, const Forbid& now) {
    return covers(old, now, dataset) && covers(now, old, dataset_now);
  };
  Unpaired rest;
  std::vector<bool> paired(after.size(), false);
  for (const Forbid& old : before) {
    const auto same = std::find_if(after.begin(), after.end(), [&](const Forbid& now) {
      return !paired[static_cast<std::size_t>(&now - after.data())] && equivalent(old, now);
    });
    if (same == after.end()) {
      rest.gone.push_back(&old);
      continue;
    }
    const auto i = static_cast<std::size_t>(same - after.begin());
    paired[i] = true;
    place.at(i).compare(value_text(old), value_text(*same), {Direction::neutral, why_neutral(old, *same)});
  }
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (!paired[i]) rest.fresh.push_back(i);
  }
  return rest;
}

/// What another rule covers, before or after, is no difference to anybody. Of the others a rule is paired
/// with a narrower one that became of it, or a broader one.
void compare_forbid(const DiffPath& place, const Dataset& dataset, const Dataset& dataset_now) {
  const std::vector<Forbid>& before = dataset.forbid;
  const std::vector<Forbid>& after = dataset_now.forbid;
  auto [gone, fresh] = report_equivalent(place, dataset, dataset_now);
  // Takes out of `list` the first that `matches`; false when none does.
  const auto take = [](auto& list, const auto& matches, auto& taken) {
    const auto found = std::find_if(list.begin(), list.end(), matches);
    if (found == list.end()) return false;
    taken = *found;
    list.erase(found);
    return true;
  };
  std::vector<const Forbid*> gone_for_nobody;
  std::vector<std::size_t> fresh_for_nobody;
  for (const Forbid* old : gone) {
    std::size_t i = 0;
    if (covered(dataset_now, *old)) {
      gone_for_nobody.push_back(old);
    } else if (take(
                   fresh, [&](std::size_t candidate) { return covers(*old, after[candidate], dataset); },
                   i)) {
      place.at(i).report(Direction::looser, value_text(*old), value_text(after[i]), "less is forbidden");
    } else {
      place.report(Direction::looser, value_text(*old), "", "this is forbidden no more");
    }
  }
  for (const std::size_t i : fresh) {
    const Forbid* old = nullptr;
    if (covered(dataset, after[i])) {
      fresh_for_nobody.push_back(i);
    } else if (take(
                   gone_for_nobody,
                   [&](const Forbid* candidate) { return covers(after[i], *candidate, dataset_now); }, old)) {
      place.at(i).report(Direction::tighter, value_text(*old), value_text(after[i]), "more is forbidden");
    } else {
      place.at(i).report(Direction::tighter, "", value_text(after[i]), "this was not forbidden");
    }
  }
  for (const Forbid* old : gone_for_nobody) {
    place.report(Direction::neutral, value_text(*old), "", "another rule still forbids all of it");
  }
  for (const std::size_t i : fresh_for_nobody) {
    place.at(i).report(Direction::neutral, "", value_text(after[i]), "another rule forbade all of it");
  }
  Texts order_before, order_after;
  for (const Forbid& rule : before) order_before.push_back(value_text(rule));
  for (const Forbid& rule : after) order_after.push_back(value_text(rule));
  place.compare_order(order_before, order_after);
}

/// The longer the time, the more counts beside a request; none counts the request alone.
void compare_within(const DiffPath& place, std::int64_t before, std::int64_t after) {
  if (before == after) return;
  const auto text = [](std::int64_t seconds) {
    return seconds == 0 ? std::string() : duration_text(seconds);
  };
  const bool longer = before < after;
  place.report(longer ? Direction::tighter : Direction::looser, text(before), text(after),
               longer ? "more of what an asker lost before counts beside a request"
                      : "less of what an asker lost before counts beside a request");
}

void compare_approvals(const DiffPath& place, const Approvals& before, const Approvals& after) {
  const auto& [required, principals, roles, above, within, expires, mark] = before;
  const auto& [required_now, principals_now, roles_now, above_now, within_now, expires_now, mark_now] = after;
  if (required != required_now) {
    const bool more = required < required_now;
    place.at("required")
        .report(more ? Direction::tighter : Direction::looser, std::to_string(required),
                std::to_string(required_now), more ? "more others must agree" : "fewer others must agree");
  }
  const Meaning added{Direction::looser, "more people may approve"};
  const Meaning removed{Direction::tighter, "fewer people may approve"};
  place.at("by").at("principals").compare_lists(principals, principals_now, added, removed);
  place.at("by").at("roles").compare_lists(roles, roles_now, added, removed);
  // Without `above` every request waits.
  if (above && above_now) {
    compare_caps(place.at("above"), *above, *above_now,
                 {"larger requests need no consent", "smaller requests need consent",
                  "requests that lose more in this measure need no consent",
                  "requests that lose more in this measure need consent"});
    compare_within(place.at("above").at("within"), within, within_now);
  } else if (above_now) {
    place.at("above").report(Direction::looser, "", above_text(after), "smaller requests need no consent");
  } else if (above) {
    place.at("above").report(Direction::tighter, above_text(before), "", "every request needs consent");
  }
  if (expires == expires_now) return;
  const bool longer = expires < expires_now;
  place.at("expires").report(longer ? Direction::looser : Direction::tighter, duration_text(expires),
                             duration_text(expires_now),
                             longer ? "requests wait longer for consent" : "requests wait less for consent");
}

/// Where none are declared, no request may state one; where some are, none may leave it out.
void compare_purposes(const DiffPath& place, const std::optional<Texts>& before,
                      const std::optional<Texts>& after) {
  if (before.has_value() == after.has_value()) return place.compare_allowed(before, after, "purpose");
  const auto list = [](const std::optional<Texts>& purposes) {
    return purposes ? yaml::sequence(*purposes) : std::string();
  };
  place.report(Direction::incomparable, list(before), list(after),
               after ? "every request states one of them, and none could state any"
                     : "no request can state one, and every one had to");
}

}  // namespace

void compare_access(const DiffPath& dataset, const Dataset& before, const Dataset& after) {
  compare_purposes(dataset.at("purposes"), before.purposes, after.purposes);
  compare_allow(dataset.at("allow"), before, after);
  compare_forbid(dataset.at("forbid"), before, after);
  if (before.approvals && after.approvals) {
    compare_approvals(dataset.at("approvals"), *before.approvals, *after.approvals);
  } else if (after.approvals) {
    dataset.at("approvals")
        .report(Direction::tighter, "", value_text(*after.approvals), "requests need consent");
  } else if (before.approvals) {
    dataset.at("approvals")
        .report(Direction::looser, value_text(*before.approvals), "", "requests need no consent");
  }
  dataset.at("reservations")
      .at("expires")
      .compare(duration_text(before.reservation_seconds), duration_text(after.reservation_seconds),
               {Direction::incomparable,
                "what is reserved may be committed, and is held from others, longer or shorter"});
}

}  // namespace epsilog::engine
