#include "policy_charged.hpp"

#include <algorithm>

#include "epsilog/accounting/errors.hpp"
#include "policy_changes.hpp"

namespace epsilog::engine {
namespace {

/// "datasets" and the dataset's name.
constexpr std::size_t kDatasetKeys = 2;

using Changes = bool (*)(const PolicyChange&, const Dataset&);

constexpr Changes kMay = [](const PolicyChange&, const Dataset&) { return false; };
constexpr Changes kMayNot = [](const PolicyChange&, const Dataset&) { return true; };

/// It comes or goes: a delta, an order.
constexpr Changes kMayNotComeOrGo = [](const PolicyChange& change, const Dataset&) {
  return change.before.empty() != change.after.empty();
};
/// Neutral where only its wording differs.
constexpr Changes kMayNotInMeaning = [](const PolicyChange& change, const Dataset&) {
  return change.direction != Direction::neutral;
};
/// It may go, for good.
constexpr Changes kMayOnlyGo = [](const PolicyChange& change, const Dataset&) {
  return !change.after.empty() && change.direction != Direction::neutral;
};
/// Of a text that comes or goes; the order of the list says nothing.
constexpr Changes kMayNotUnderBlocks = [](const PolicyChange& change, const Dataset& before) {
  return before.blocks.has_value() && change.before.empty() != change.after.empty();
};
/// Of their column, or of the one that it is a function of.
constexpr Changes kMayNotOfTheBlocks = [](const PolicyChange& change, const Dataset& before) {
  const std::string& column = change.path[kDatasetKeys + 1];
  return before.blocks.has_value() &&
         (column == before.blocks->by || column == before.read_from(before.blocks->by));
};
/// The names of periods of one kind are ordered as the periods are.
constexpr Changes kMayOnlyGrowOfTheBlocks = [](const PolicyChange& change, const Dataset& before) {
  return kMayNotOfTheBlocks(change, before) && change.after < change.before;
};
/// Where the blocks are read from numbers with a fraction.
constexpr Changes kMayNotOfBlocksOfFractions = [](const PolicyChange&, const Dataset& before) {
  return reads_fractions_for_blocks(before);
};

constexpr std::string_view kAnotherMeasure = "losses recorded in one measure do not add up to one in another";
constexpr std::string_view kAmount = "an amount: not below what is spent, which is compared by itself";
constexpr std::string_view kLaterRequests = "it says what is granted from now on, not what was lost";
constexpr std::string_view kOwnCalibration = "each release was calibrated to what its own version declares";
constexpr std::string_view kReading = "cells of the same rows of the same units are read otherwise";
constexpr std::string_view kOtherBlocks =
    "rows would lie in other blocks, whose budgets do not count what they lost";
constexpr std::string_view kOtherUnit = "every recorded loss is of such a unit";
constexpr std::string_view kOtherSource = "the recorded losses are of the units in that source";
constexpr std::string_view kWhatACellSays = "the same cells would say something else of the same units";
constexpr std::string_view kWhatARowIs = "what was one row of one unit would be others";

constexpr ChargedRule kRules[] = {
    {"source", kMayNot, kOtherSource},
    {"source.csv", kMayNot, kOtherSource},
    {"source.sqlite", kMayNot, kOtherSource},
    {"source.table", kMayNot, kOtherSource},
    // A line that is cut elsewhere has another id and lies in another block.
    {"source.delimiter", kMayNot, kWhatARowIs},
    // One row then holds what were several, other units' among them, and the reverse.
    {"source.multiline", kMayNot, kWhatARowIs},
    // Ids are compared as bytes. A number without fraction is read alike under every point; what is no number
    // is missing, which moves its row into the block of the constant, or out of all.
    {"source.decimal", kMayNotOfBlocksOfFractions, kOtherBlocks},
    // The same bytes are other ids, and a record of none of them has no id.
    {"source.encoding", kMayNot, "the same bytes would be other ids and texts, and other records malformed"},
    {"source.thousands", kMayNot, kWhatACellSays},
    {"source.date_format", kMayNot, kWhatACellSays},
    // An id that is missing drops its row, whoever's it is: a function of that row alone. A cell of the
    // blocks' column that is missing moves its row out of its block, or into that of the constant.
    {"source.null", kMayNotUnderBlocks, kOtherBlocks},
    {"unit", kMayNot, kOtherUnit},
    // The same column by another name stays what it is.
    {"unit.id", kMayNotInMeaning, kOtherUnit},
    {"unit.max_rows", kMayNot, kOtherUnit},
    // `max` bounds the range of releases only.
    {"rows",
     [](const PolicyChange& change, const Dataset&) { return change.direction == Direction::incomparable; },
     "neighbours with another number of rows are neighbours on one side only"},
    {"rows.max", kMay, "it bounds the released range, not the loss"},
    {"rows.exact", kMayNot, "a mean is a sum divided by it, and what was released was divided by this one"},
    {"neighbours", kMayNot, "every recorded loss is about such neighbours"},
    {"budget", kMayNotInMeaning, kAnotherMeasure},
    {"budget.epsilon", kMay, kAmount},
    {"budget.delta", kMayNotComeOrGo, kAnotherMeasure},
    {"budget.measure", kMayNot, kAnotherMeasure},
    {"budget.rho", kMay, kAmount},
    {"budget.orders", kMayNotComeOrGo, kAnotherMeasure},
    {"budget.order", kMayNot, kAnotherMeasure},
    {"budget.renew", kMayNot, "the same loss would count in other periods, or in none"},
    {"budget.accept_unbounded_lifetime", kMay, "it says what reports say; what it stands for is `lifetime`"},
    // Removed, it bounds nothing from now on, which is looser and said so; it cannot come back.
    {"lifetime", kMayOnlyGo, "its account would not count what was spent before"},
    {"lifetime.epsilon", kMay, kAmount},
    {"lifetime.delta", kMayNotComeOrGo, kAnotherMeasure},
    {"lifetime.measure", kMayNot, kAnotherMeasure},
    {"lifetime.rho", kMay, kAmount},
    {"lifetime.orders", kMayNotComeOrGo, kAnotherMeasure},
    {"lifetime.order", kMayNot, kAnotherMeasure},
    {"blocks", kMayNot, kOtherBlocks},
    {"blocks.by", kMayNot, kOtherBlocks},
    {"blocks.per", kMayNot, kOtherBlocks},
    {"blocks.from", kMay, "rows outside the range are in no block, and those within stay in theirs"},
    {"blocks.to", kMay, "rows outside the range are in no block, and those within stay in theirs"},
    // A limit of askers promises the units nothing: the budget does, and it counts all of them.
    {"limits", kMay, kLaterRequests},
    {"limits.*.each", kMay, kLaterRequests},
    {"limits.*.principal", kMay, kLaterRequests},
    {"limits.*.role", kMay, kLaterRequests},
    {"limits.*.purpose", kMay, kLaterRequests},
    {"limits.*.epsilon", kMay, kAmount},
    {"limits.*.delta", kMay, kAmount},
    {"limits.*.measure", kMay, kLaterRequests},
    {"limits.*.rho", kMay, kAmount},
    {"limits.*.orders", kMay, kAmount},
    {"limits.*.order", kMay, kLaterRequests},
    {"per_release", kMay, kLaterRequests},
    {"per_release.epsilon", kMay, kLaterRequests},
    {"per_release.delta", kMay, kLaterRequests},
    {"per_release.rho", kMay, kLaterRequests},
    {"per_release.orders", kMay, kLaterRequests},
    {"columns", kMay, "what may be asked; the blocks' column cannot go"},
    {"columns.*.column", kMayNot, "what was charged under its name was of another column"},
    {"columns.*.type", kMayNotOfTheBlocks, kOtherBlocks},
    // A finer cell is missing. Blocks of numbers with digits after the point are of derived columns alone.
    {"columns.*.scale", kMayNotOfTheBlocks, kOtherBlocks},
    // Cells are clamped after they were given their labels.
    {"columns.*.bounds", kMay, kReading},
    // Of the blocks' column: one more block, or one whose rows are in none; the others stay as they are.
    {"columns.*.values", kMay, "what may be grouped by; of the blocks' column, one block more or less"},
    {"columns.*.step", kMay, kOwnCalibration},
    {"columns.*.missing", kMayNotOfTheBlocks, kOtherBlocks},
    // As for `column`: another name may be declared for it.
    {"columns.*.from", kMayNot, "what was charged under its name was of another column"},
    {"columns.*.bins", kMayNotOfTheBlocks, kOtherBlocks},
    {"columns.*.per", kMayNotOfTheBlocks, kOtherBlocks},
    {"columns.*.first", kMayNotOfTheBlocks, kOtherBlocks},
    {"columns.*.last", kMayOnlyGrowOfTheBlocks,
     "rows would lie in no block any more, and their losses count in none"},
    {"columns.*.map", kMayNotOfTheBlocks, kOtherBlocks},
    {"columns.*.other", kMayNotOfTheBlocks, kOtherBlocks},
    {"queries", kMay, "what may be asked"},
    {"queries.*.bounds", kMay, kOwnCalibration},
    {"queries.*.sensitivity", kMay, kOwnCalibration},
    {"queries.*.undefined", kMay, kOwnCalibration},
    {"queries.*.supplied_by", kMay, kLaterRequests},
    {"purposes", kMay, kLaterRequests},
    {"allow", kMay, kLaterRequests},
    {"allow.statistics", kMay, kLaterRequests},
    {"allow.columns", kMay, kLaterRequests},
    {"allow.by", kMay, kLaterRequests},
    {"allow.where", kMay, kLaterRequests},
    {"allow.principals", kMay, kLaterRequests},
    {"allow.roles", kMay, kLaterRequests},
    {"forbid", kMay, kLaterRequests},
    {"forbid.*.principals", kMay, kLaterRequests},
    {"forbid.*.roles", kMay, kLaterRequests},
    {"forbid.*.purposes", kMay, kLaterRequests},
    {"forbid.*.statistics", kMay, kLaterRequests},
    {"forbid.*.columns", kMay, kLaterRequests},
    {"forbid.*.by", kMay, kLaterRequests},
    {"forbid.*.where", kMay, kLaterRequests},
    {"approvals", kMay, kLaterRequests},
    {"approvals.required", kMay, kLaterRequests},
    {"approvals.by", kMay, kLaterRequests},
    {"approvals.by.principals", kMay, kLaterRequests},
    {"approvals.by.roles", kMay, kLaterRequests},
    {"approvals.above", kMay, kLaterRequests},
    {"approvals.above.epsilon", kMay, kLaterRequests},
    {"approvals.above.delta", kMay, kLaterRequests},
    {"approvals.above.rho", kMay, kLaterRequests},
    {"approvals.above.orders", kMay, kLaterRequests},
    {"approvals.above.within", kMay, kLaterRequests},
    {"approvals.expires", kMay, kLaterRequests},
    {"reservations", kMay, kLaterRequests},
    {"reservations.expires", kMay, kLaterRequests},
    {"release", kMay, kOwnCalibration},
    {"release.*.mechanism", kMay, kOwnCalibration},
    {"release.quantile.mechanism", kMay, kOwnCalibration},
    {"release.*.arithmetic", kMay, kOwnCalibration},
    {"release.*.precision", kMay, kOwnCalibration},
    {"release.*.bound", kMay, kOwnCalibration},
    {"release.*.binding_probability", kMay, kOwnCalibration},
    {"release.*.grid", kMay, kOwnCalibration},
    {"mean_split", kMay, kOwnCalibration},
};

/// Whether the rule is of the path, or of something around it. Names may contain no point, orders do: only
/// the keys of the rule are read.
bool covers(const ChargedRule& rule, std::span<const std::string> path) {
  std::string_view rest = rule.path;
  for (const std::string& key : path) {
    const std::string_view wanted = rest.substr(0, rest.find('.'));
    if (wanted != "*" && wanted != key) return false;
    if (wanted.size() == rest.size()) return true;
    rest.remove_prefix(wanted.size() + 1);
  }
  return false;
}

/// Where the data stand, which a path alone does not say.
bool of_a_path(const ChargedRule& rule) {
  return rule.path == "source.csv" || rule.path == "source.sqlite" || rule.path == "source.table";
}

std::string below_dataset(const PolicyChange& change) {
  PolicyChange inner = change;
  inner.path.erase(inner.path.begin(), inner.path.begin() + kDatasetKeys);
  return inner.path_text();
}

}  // namespace

std::span<const ChargedRule> charged_rules() {
  return kRules;
}

const ChargedRule* charged_rule_of(const PolicyChange& change) {
  const auto path = std::span(change.path).subspan(kDatasetKeys);
  const ChargedRule* nearest = nullptr;
  for (const ChargedRule& rule : kRules) {
    if (covers(rule, path) && (nearest == nullptr || rule.path.size() > nearest->path.size()))
      nearest = &rule;
  }
  EPSILOG_INVARIANT(nearest != nullptr || path.empty());
  return nearest;
}

void mark_refused_once_charged(std::span<PolicyChange> changes, const Dataset& before) {
  for (PolicyChange& change : changes) {
    const ChargedRule* rule = charged_rule_of(change);
    change.refused_once_charged = rule == nullptr || rule->refuses(change, before);
  }
}

bool names_source(const PolicyChange& change) {
  if (change.path.size() <= kDatasetKeys || change.path[0] != "datasets") return false;
  const ChargedRule* rule = charged_rule_of(change);
  return rule != nullptr && of_a_path(*rule);
}

std::vector<PolicyFault> charged_faults(const std::vector<PolicyChange>& changes, const Dataset& before,
                                        bool same_source, const std::string& file) {
  std::vector<PolicyFault> faults;
  const auto add = [&](const PolicyChange& change, const std::string& message) {
    faults.push_back({file, change.mark.line, change.mark.column,
                      "dataset '" + before.name + "' was charged already: " + message});
  };
  for (const PolicyChange& change : changes) {
    if (change.path.size() < kDatasetKeys || change.path[0] != "datasets" || change.path[1] != before.name)
      continue;
    if (!change.refused_once_charged) continue;
    const ChargedRule* rule = charged_rule_of(change);
    if (rule == nullptr) {
      add(change, "it may not disappear");
    } else if (!of_a_path(*rule) || !same_source) {
      add(change, below_dataset(change) + " may not change: " + std::string(rule->why));
    }
  }
  return faults;
}

}  // namespace epsilog::engine
