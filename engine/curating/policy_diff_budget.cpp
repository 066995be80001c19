// How much may be lost: budgets, blocks, renewal.
#include "calendar.hpp"
#include "loss_caps.hpp"
#include "policy_changes.hpp"

namespace epsilog::engine {

using accounting::text;

namespace {

constexpr std::string_view kMore = "more can be lost";
constexpr std::string_view kLess = "less can be lost";

void compare_orders(const DiffPath& place, const std::vector<RenyiLimit>& before,
                    const std::vector<RenyiLimit>& after) {
  const auto find = [](const std::vector<RenyiLimit>& list, const Rational& order) -> const RenyiLimit* {
    for (const RenyiLimit& limit : list) {
      if (limit.order == order) return &limit;
    }
    return nullptr;
  };
  for (const auto& [order, divergence] : before) {
    if (const RenyiLimit* now = find(after, order)) {
      place.compare_amount(text(order), divergence, now->divergence, kMore, kLess);
    } else {
      place.at(text(order)).report(Direction::looser, divergence.text(), "", "one order less that must hold");
    }
  }
  for (const auto& [order, divergence] : after) {
    if (find(before, order) != nullptr) continue;
    place.at(text(order)).report(Direction::tighter, "", divergence.text(), "one more order that must hold");
  }
}

std::string target_text(const Budget& budget) {
  if (!budget.target) return "";
  return "{epsilon: " + budget.target->epsilon.text() + ", delta: " + budget.target->delta.text() + "}";
}

/// Whether every period of `finer` lies within one of `coarser`, so that a budget that starts anew with each
/// of `finer` grants whatever one of `coarser` would. Weeks lie across the ends of months.
bool refines(CalendarPeriod finer, CalendarPeriod coarser) {
  if (finer == CalendarPeriod::day) return true;
  if (finer == CalendarPeriod::week || coarser == CalendarPeriod::week) return finer == coarser;
  return finer <= coarser;
}

void compare_renewal(const DiffPath& budget, const Dataset& before, const Dataset& after) {
  const auto text_of = [](const std::optional<CalendarPeriod>& period) {
    return period ? std::string(name(*period)) : std::string();
  };
  Meaning changed{Direction::incomparable, "neither kind of period lies within the other"};
  if (before.renews && after.renews) {
    if (refines(*after.renews, *before.renews))
      changed = {Direction::looser, "the budget starts anew sooner"};
    if (refines(*before.renews, *after.renews))
      changed = {Direction::tighter, "the budget starts anew later"};
  }
  budget.at("renew").compare(text_of(before.renews), text_of(after.renews),
                             {Direction::looser, "the budget starts anew with each period"},
                             {Direction::tighter, "the budget starts anew no more"}, changed);
  if (before.accepts_unbounded_lifetime == after.accepts_unbounded_lifetime) return;
  const bool accepts = after.accepts_unbounded_lifetime;
  budget.at("accept_unbounded_lifetime")
      .report(accepts ? Direction::looser : Direction::tighter, accepts ? "false" : "true",
              accepts ? "true" : "false",
              accepts ? "the loss over all periods has no limit" : "the loss over all periods needs a limit");
}

void compare_blocks(const DiffPath& place, const std::optional<Blocks>& before,
                    const std::optional<Blocks>& after) {
  const auto text_of = [](const std::optional<Blocks>& blocks) { return blocks ? value_text(*blocks) : ""; };
  const bool same_partition = before && after && before->by == after->by && before->per == after->per;
  if (!same_partition) {
    place.compare(text_of(before), text_of(after),
                  {Direction::incomparable, "the budget was the dataset's and is each block's"},
                  {Direction::incomparable, "the budget was each block's and is the dataset's"},
                  {Direction::incomparable, "the data are cut into other blocks"});
    return;
  }
  // The marks say where it stands, not what it says.
  const auto& [by, per, first_before, last_before, mark_before] = *before;
  const auto& [by_after, per_after, first_after, last_after, mark_after] = *after;
  if (first_before != first_after) {
    const Meaning& meaning = first_after < first_before ? kMoreBlocks : kFewerBlocks;
    place.at("from").report(meaning.direction, period_name(*per, first_before),
                            period_name(*per_after, first_after), meaning.why);
  }
  if (last_before != last_after) {
    const Meaning& meaning = last_after > last_before ? kMoreBlocks : kFewerBlocks;
    place.at("to").report(meaning.direction, period_name(*per, last_before),
                          period_name(*per_after, last_after), meaning.why);
  }
}

/// Where nothing is written for it, and no account counts delta, one holds all the same.
bool has_default_delta(const Dataset& dataset) {
  return dataset.budget.measure != Measure::pure && !counts_delta(dataset);
}

/// Under zcdp and rdp it matters whether any account counts delta: without one a release has the default, and
/// can be asked in rho; with one, neither.
void compare_default_delta(const DiffPath& place, const Dataset& before, const Dataset& after) {
  const auto curved = [](const Dataset& dataset) {
    return dataset.budget.measure == Measure::zcdp || dataset.budget.measure == Measure::rdp;
  };
  const bool counted = counts_delta(before);
  const bool counts = counts_delta(after);
  if (!curved(before) || !curved(after) || counted == counts) return;
  const auto cap = [](bool is_counted) { return is_counted ? "" : default_delta().text(); };
  place.report(Direction::incomparable, cap(counted), cap(counts),
               counts
                   ? "an account counts delta: releases that it counts may lose more of it, and none can be "
                     "asked in rho"
                   : "no account counts delta: one release can lose no more of it, and can be asked in rho");
}

void compare_per_release(const DiffPath& place, const Dataset& before, const Dataset& after) {
  LossCap old = before.per_release.value_or(LossCap{});
  LossCap now = after.per_release.value_or(LossCap{});
  if (has_default_delta(before) && has_default_delta(after)) {
    old.delta = old.delta.value_or(default_delta());
    now.delta = now.delta.value_or(default_delta());
  }
  compare_caps(place, old, now, {kMore, kLess, "one release can lose more", "one release can lose less"});
  compare_default_delta(place.at("delta"), before, after);
}

}  // namespace

void compare_caps(const DiffPath& place, const LossCap& before, const LossCap& after, const CapMeaning& why) {
  const auto& [epsilon, delta, rho, orders] = before;
  const auto& [epsilon_after, delta_after, rho_after, orders_after] = after;
  const auto compare = [&](std::string_view key, const auto& old, const auto& now) {
    if (old && now) {
      place.compare_amount(key, *old, *now, why.larger, why.smaller);
    } else if (now) {
      place.at(key).report(Direction::tighter, "", now->text(), why.added);
    } else if (old) {
      place.at(key).report(Direction::looser, old->text(), "", why.removed);
    }
  };
  compare("epsilon", epsilon, epsilon_after);
  compare("delta", delta, delta_after);
  compare("rho", rho, rho_after);
  compare_orders(place.at("orders"), orders, orders_after);
}

bool comparable(Measure one, Measure other) {
  const auto of_epsilon = [](Measure measure) {
    return measure == Measure::pure || measure == Measure::approximate;
  };
  return one == other || (of_epsilon(one) && of_epsilon(other));
}

Direction direction_between(const Budget& before, const Budget& after) {
  std::vector<PolicyChange> changes;
  compare_budgets(DiffPath(changes, {}), before, after);
  return together(changes);
}

void compare_budgets(const DiffPath& place, const Budget& before, const Budget& after) {
  const auto& [epsilon, delta, measure, rho, orders, target] = before;
  const auto& [epsilon_after, delta_after, measure_after, rho_after, orders_after, target_after] = after;
  if (!comparable(measure, measure_after)) {
    place.report(Direction::incomparable, value_text(before), value_text(after),
                 "no conversion between these measures goes both ways");
    return;
  }
  place.compare_amount("epsilon", epsilon, epsilon_after, kMore, kLess);
  place.compare_amount("delta", delta, delta_after, kMore, kLess);
  place.compare_amount("rho", rho, rho_after, kMore, kLess);
  compare_orders(place.at("orders"), orders, orders_after);
  const bool same_amounts = value_text(before) == value_text(after);
  if (!same_amounts || target == target_after) return;
  place.report(Direction::neutral, target_text(before), target_text(after),
               "the same amounts, stated as another epsilon and delta");
}

void compare_losses(const DiffPath& dataset, const Dataset& before, const Dataset& after) {
  const bool same_scope = before.blocks.has_value() == after.blocks.has_value() &&
                          before.renews.has_value() == after.renews.has_value();
  const DiffPath budget = dataset.at("budget");
  if (same_scope) {
    compare_budgets(budget, before.budget, after.budget);
  } else if (direction_between(before.budget, after.budget) != Direction::neutral) {
    budget.report(Direction::incomparable, value_text(before.budget), value_text(after.budget),
                  "one is of the whole dataset, the other of a part or a period");
  }
  compare_renewal(budget, before, after);
  if (before.lifetime && after.lifetime) {
    compare_budgets(dataset.at("lifetime"), *before.lifetime, *after.lifetime);
  } else if (after.lifetime) {
    dataset.at("lifetime")
        .report(Direction::tighter, "", value_text(*after.lifetime),
                "a limit that never renews, charged by every release");
  } else if (before.lifetime) {
    dataset.at("lifetime")
        .report(
            Direction::looser, value_text(*before.lifetime), "",
            "no limit any more over all blocks or periods; once the dataset was charged it can never return");
  }
  compare_blocks(dataset.at("blocks"), before.blocks, after.blocks);
  compare_limits(dataset.at("limits"), before.limits, after.limits);
  compare_per_release(dataset.at("per_release"), before, after);
}

}  // namespace epsilog::engine
