#include "epsilog/engine/policy_diff.hpp"

#include <algorithm>
#include <set>
#include <span>

#include "epsilog/accounting/errors.hpp"
#include "policy_changes.hpp"
#include "policy_charged.hpp"
#include "policy_words.hpp"
#include "yaml_tree.hpp"
#include "yaml_writer.hpp"

namespace epsilog::engine {

using accounting::text;

namespace {

constexpr Meaning kReading{Direction::neutral, "cells are read differently"};
constexpr Meaning kOtherRows{Direction::incomparable,
                             "what was one row is others, or a part of one, perhaps of somebody else"};
constexpr Meaning kOtherTexts{Direction::incomparable,
                              "the same bytes are other texts, ids among them, and other rows are malformed"};
constexpr Meaning kOtherNumbers{Direction::incomparable, "the same cells are other numbers"};
constexpr Meaning kOtherDays{Direction::incomparable, "the same cells are other days"};
constexpr Meaning kOtherCells{Direction::incomparable, "its cells are those of another column"};
constexpr Meaning kOtherBlocks{Direction::incomparable, "rows lie in other blocks"};
constexpr Meaning kAnotherFile{Direction::neutral,
                               "a path: whether the same data stand there is not compared"};

std::string truth_text(bool value) {
  return value ? "true" : "false";
}

/// What of the source decides in which block a row lies.
struct DialectEffects {
  bool missing = false;  ///< what is missing
  bool point = false;    ///< and what is a number with a fraction
};

void compare_csv(const DiffPath& place, const CsvSource& before, const CsvSource& after,
                 DialectEffects deciding) {
  const auto& [path, delimiter, decimal_point, null, multiline, encoding, thousands, date_format] = before;
  const auto& [path_now, delimiter_now, decimal_point_now, null_now, multiline_now, encoding_now,
               thousands_now, date_format_now] = after;
  place.at("csv").compare(yaml::scalar(path), yaml::scalar(path_now), kAnotherFile);
  const auto character = [](char c) { return yaml::scalar(std::string(1, c)); };
  place.at("delimiter").compare(character(delimiter), character(delimiter_now), kOtherRows);
  place.at("decimal").compare(character(decimal_point), character(decimal_point_now),
                              deciding.point ? kOtherBlocks : kReading);
  const auto some = [](const std::string& between) { return between.empty() ? "" : yaml::scalar(between); };
  place.at("thousands").compare(some(thousands), some(thousands_now), kOtherNumbers);
  const bool in_blocks = deciding.missing;
  const Direction of_null = in_blocks ? Direction::incomparable : Direction::neutral;
  place.at("null").compare_lists(
      null, null_now,
      {of_null, in_blocks ? "one more text means missing, and rows with it leave their block"
                          : "one more text means missing"},
      {of_null, in_blocks ? "one text less means missing, and rows with it lie in another block"
                          : "one text less means missing"});
  place.at("encoding").compare(std::string(name(encoding)), std::string(name(encoding_now)), kOtherTexts);
  place.at("date_format")
      .compare(std::string(name(date_format)), std::string(name(date_format_now)), kOtherDays);
  place.at("multiline").compare(truth_text(multiline), truth_text(multiline_now), kOtherRows);
}

void compare_sources(const DiffPath& place, const Dataset& before, const Dataset& after) {
  if (before.csv && after.csv) {
    const bool blocks = before.blocks && after.blocks;
    return compare_csv(place, *before.csv, *after.csv,
                       {blocks, blocks && reads_fractions_for_blocks(before)});
  }
  if (before.sqlite && after.sqlite) {
    const auto& [path, table] = *before.sqlite;
    const auto& [path_now, table_now] = *after.sqlite;
    place.at("sqlite").compare(yaml::scalar(path), yaml::scalar(path_now), kAnotherFile);
    place.at("table").compare(
        yaml::scalar(table), yaml::scalar(table_now),
        {Direction::neutral, "a name: whether the same data stand there is not compared"});
    return;
  }
  place.compare(source_text(before), source_text(after),
                {Direction::looser, "statistics of rows can be asked"},
                {Direction::tighter, "no statistic of rows can be asked"},
                {Direction::incomparable, "the data come from elsewhere"});
}

/// The unit, with what the source calls the column of its id.
std::string unit_of(const Dataset& dataset) {
  const UnitOfPrivacy& unit = dataset.unit;
  const std::string& header = dataset.header(unit.id);
  return value_text(unit) + (header == unit.id ? "" : ", of the column " + yaml::scalar(header));
}

void compare_units(const DiffPath& place, const Dataset& before, const Dataset& after) {
  const auto& [id, max_rows] = before.unit;
  const auto& [id_now, max_rows_now] = after.unit;
  // By what the source calls it: a column declared under the name that the id had may be another one.
  if (before.header(id) != after.header(id_now)) {
    place.report(Direction::incomparable, unit_of(before), unit_of(after), "somebody else is protected");
  } else {
    place.at("id").compare(yaml::scalar(id), yaml::scalar(id_now),
                           {Direction::neutral, "the same column by another name"});
    place.at("max_rows")
        .compare(
            std::to_string(max_rows), std::to_string(max_rows_now),
            {Direction::incomparable, "more or fewer rows of a unit count, and the noise hides as many"});
  }
}

void compare_rows(const DiffPath& place, const Rows& before, const Rows& after) {
  const auto& [count, exact] = before;
  const auto& [count_now, exact_now] = after;
  const bool kind_changes = exact != exact_now;
  if (exact && exact_now) {
    place.at("exact").compare(std::to_string(count), std::to_string(count_now),
                              {Direction::incomparable, "a mean is a sum divided by it"});
    return;
  }
  place.compare(count == 0 ? "" : value_text(before), count_now == 0 ? "" : value_text(after),
                {kind_changes ? Direction::incomparable : Direction::neutral,
                 kind_changes ? "the exact number of rows is public on one side only"
                              : "it bounds the released range, not the loss"});
}

void compare_bounds(const DiffPath& place, const std::optional<Bounds>& before,
                    const std::optional<Bounds>& after) {
  const auto text_of = [](const std::optional<Bounds>& bounds) {
    if (!bounds) return std::string();
    [[maybe_unused]] const auto& [lower, upper] = *bounds;
    return value_text(*bounds);
  };
  place.compare(text_of(before), text_of(after), {Direction::looser, "it can be summed and averaged"},
                {Direction::tighter, "it cannot be summed or averaged"},
                {Direction::neutral, "cells are clamped elsewhere, and the noise grows with the range"});
}

void compare_column_bounds(const DiffPath& place, const Column& before, const Column& after) {
  if (before.type != ColumnType::date && after.type != ColumnType::date) {
    return compare_bounds(place, before.bounds, after.bounds);
  }
  const auto text_of = [](const Column& column) {
    if (!column.bounds) return std::string();
    return "[" + bound_text(column, column.bounds->lower) + ", " + bound_text(column, column.bounds->upper) +
           "]";
  };
  const bool listed = !before.values.empty() && !after.values.empty();
  place.compare(text_of(before), text_of(after),
                listed ? Meaning{Direction::neutral, "its quantiles are declared values"}
                       : Meaning{Direction::looser, "its quantiles can be asked for"},
                listed ? Meaning{Direction::neutral, "its quantiles are declared values"}
                       : Meaning{Direction::tighter, "its quantiles cannot be asked for"},
                {Direction::neutral, "its quantiles are other days"});
}

/// What a column's cells decide besides themselves.
enum class Blocking {
  none,
  by_period,  ///< in which block a row lies
  by_value,   ///< the same, and each of its values or labels is one
  by_label    ///< which label a row has in another column, whose labels are blocks
};

Blocking blocking(const Dataset& dataset, const std::string& column) {
  if (!dataset.blocks) return Blocking::none;
  if (dataset.blocks->by != column) {
    return dataset.read_from(dataset.blocks->by) == column ? Blocking::by_label : Blocking::none;
  }
  return dataset.blocks->per ? Blocking::by_period : Blocking::by_value;
}

void compare_column(const DiffPath& place, const Column& before, const Column& after, Blocking blocking) {
  [[maybe_unused]] const auto& [name, type, scale, bounds, values, step, missing, header, mark, derived] =
      before;
  [[maybe_unused]] const auto& [name_now, type_now, scale_now, bounds_now, values_now, step_now, missing_now,
                                header_now, mark_now, derived_now] = after;
  if (derived || derived_now) {
    return compare_label_rules(place, derived, derived_now, blocking == Blocking::by_value);
  }
  place.at("column").compare(yaml::scalar(header.empty() ? name : header),
                             yaml::scalar(header_now.empty() ? name_now : header_now), kOtherCells);
  place.at("type").compare(std::string(engine::name(type)), std::string(engine::name(type_now)),
                           {Direction::incomparable, "its cells mean something else"});
  place.at("scale").compare(std::to_string(scale), std::to_string(scale_now),
                            blocking == Blocking::by_label
                                ? kOtherBlocks
                                : Meaning{Direction::neutral, "finer cells are missing, or no more"});
  compare_column_bounds(place.at("bounds"), before, after);
  if (values.empty() != values_now.empty()) {
    place.at("values").compare(values.empty() ? "" : yaml::sequence(values),
                               values_now.empty() ? "" : yaml::sequence(values_now),
                               {Direction::looser, "it can be grouped by"},
                               {Direction::tighter, "it cannot be grouped by"}, kReading);
  } else {
    const bool blocks = blocking == Blocking::by_value;
    place.at("values").compare_lists(values, values_now,
                                     blocks ? kMoreBlocks : Meaning{Direction::looser, "one more group"},
                                     blocks ? kFewerBlocks : Meaning{Direction::tighter, "one group less"});
  }
  const auto step_text = [](const std::optional<Rational>& number) { return number ? text(*number) : ""; };
  constexpr Meaning kOtherCandidates{Direction::neutral, "its quantiles are other values"};
  if (type == ColumnType::real) {
    place.at("step").compare(step_text(step), step_text(step_now),
                             {Direction::looser, "its quantiles can be asked for"},
                             {Direction::tighter, "its quantiles cannot be asked for"}, kOtherCandidates);
  } else {
    place.at("step").compare(step_text(step), step_text(step_now), kOtherCandidates);
  }
  const auto constant = [](const std::optional<Rational>& number) { return number ? text(*number) : "skip"; };
  place.at("missing").compare(constant(missing), constant(missing_now),
                              blocking != Blocking::none ? kOtherBlocks : kReading);
}

/// Where nobody is named, who asks hands in the value.
void compare_suppliers(const DiffPath& place, const std::optional<std::vector<std::string>>& before,
                       const std::optional<std::vector<std::string>>& after) {
  if (before && after) {
    return place.compare_lists(*before, *after, {Direction::looser, "one more may hand in values"},
                               {Direction::tighter, "one fewer may hand in values"});
  }
  if (!before && !after) return;
  place.report(Direction::incomparable, before ? yaml::sequence(*before) : "",
               after ? yaml::sequence(*after) : "",
               after ? "others than who asks hand in the values" : "who asks hands in the values");
}

void compare_query(const DiffPath& place, const NamedQuery& before, const NamedQuery& after) {
  const auto& [name, bounds, sensitivity, undefined, supplied_by, mark] = before;
  const auto& [name_now, bounds_now, sensitivity_now, undefined_now, supplied_by_now, mark_now] = after;
  compare_suppliers(place.at("supplied_by"), supplied_by, supplied_by_now);
  compare_bounds(place.at("bounds"), bounds, bounds_now);
  if (sensitivity != sensitivity_now) {
    const bool more_noise = sensitivity < sensitivity_now;
    place.at("sensitivity")
        .report(more_noise ? Direction::tighter : Direction::looser, text(sensitivity), text(sensitivity_now),
                more_noise ? "more noise for the same epsilon" : "less noise for the same epsilon");
  }
  place.at("undefined")
      .compare(text(undefined), text(undefined_now),
               {Direction::neutral, "another value stands in for nan and infinities"});
}

/// Compares what both have by name, and reports what one of them has.
template <class Named, class Compare>
void compare_named(const DiffPath& place, const std::vector<Named>& before, const std::vector<Named>& after,
                   Meaning added, Meaning removed, const Compare& compare) {
  for (const Named& old : before) {
    if (const Named* now = find_by_name(after, old.name)) {
      compare(place.at(old.name), old, *now);
    } else {
      place.at(old.name).report(removed.direction, value_text(old), "", removed.why);
    }
  }
  for (const Named& now : after) {
    if (find_by_name(before, now.name) == nullptr) {
      place.at(now.name).report(added.direction, "", value_text(now), added.why);
    }
  }
  place.compare_order(names_of(before), names_of(after));
}

std::string precision_text(const PrecisionChoice& choice) {
  const auto& [bits] = choice;
  if (bits == 0) return "auto";
  return bits == 53 ? "binary64" : std::to_string(bits);
}

void compare_settings(const DiffPath& place, const ReleaseSettings& before, const ReleaseSettings& after) {
  const auto& [mechanism, arithmetic, precision, bound, binding_probability, grid, mark] = before;
  const auto& [mechanism_now, arithmetic_now, precision_now, bound_now, binding_now, grid_now, mark_now] =
      after;
  constexpr Meaning kAccuracy{Direction::neutral, "what is lost is proved and charged for either"};
  place.at("mechanism")
      .compare(std::string(name(mechanism)), std::string(name(mechanism_now)),
               {Direction::incomparable, "another distribution, perhaps with a delta"});
  const auto arithmetic_text = [](ArithmeticChoice choice) {
    return std::string(kArithmeticWords.of(choice));
  };
  place.at("arithmetic").compare(arithmetic_text(arithmetic), arithmetic_text(arithmetic_now), kAccuracy);
  place.at("precision").compare(precision_text(precision), precision_text(precision_now), kAccuracy);
  const auto number = [](const std::optional<Rational>& value) {
    return value ? text(*value) : std::string();
  };
  place.at("bound").compare(number(bound), number(bound_now),
                            {Direction::neutral, "releases are clamped to another range"});
  place.at("binding_probability")
      .compare(number(binding_probability), number(binding_now),
               {Direction::neutral, "releases are clamped to another range"});
  place.at("grid").compare(number(grid), number(grid_now), kAccuracy);
}

/// As settings() resolves them, so that an entry which only repeats the default is no difference.
void compare_release(const DiffPath& place, const Dataset& before, const Dataset& after) {
  std::set<std::string> entries = {"default"};
  for (const auto& [entry, settings] : before.release) entries.insert(entry);
  for (const auto& [entry, settings] : after.release) entries.insert(entry);
  for (const std::string& entry : entries) {
    compare_settings(place.at(entry), before.settings(entry), after.settings(entry));
  }
}

/// Whether anything is counted, or capped, in a measure in which two releases of half an epsilon each lose
/// something else than one of a whole.
bool counts_curved(const Dataset& dataset) {
  const auto curved = [](const Budget& budget) {
    return budget.measure == Measure::zcdp || budget.measure == Measure::rdp;
  };
  const auto caps = [](const std::optional<LossCap>& cap) {
    return cap && (cap->rho || !cap->orders.empty());
  };
  return curved(dataset.budget) || (dataset.lifetime && curved(*dataset.lifetime)) ||
         std::any_of(dataset.limits.begin(), dataset.limits.end(),
                     [&](const Limit& limit) { return curved(limit.budget); }) ||
         caps(dataset.per_release) || (dataset.approvals && caps(dataset.approvals->above));
}

/// Which mechanism `auto` comes to is decided by the budgets of all who ask, not only by this key. The
/// exponential mechanism loses less of what is counted in rho or Renyi divergences, and as much epsilon.
void compare_selection(const DiffPath& place, const PolicyDatasets& sides) {
  const SelectionChoice before = sides.before.selection();
  const SelectionChoice after = sides.after.selection();
  const auto text_of = [](const Dataset& dataset, SelectionChoice selection) {
    const std::string resolved(engine::name(selection));
    return dataset.quantile_selection == selection ? resolved : "auto (" + resolved + ")";
  };
  const bool curved_before = counts_curved(sides.before);
  const bool curved_after = counts_curved(sides.after);
  Meaning meaning{Direction::neutral, "quantiles of the same epsilon are drawn otherwise"};
  if (before == after) {
    meaning.why = "quantiles are drawn as before";
  } else if (!quantiles_are_asked(sides)) {
    meaning.why = "no quantile can be asked";
  } else if (curved_before && curved_after) {
    meaning =
        after == SelectionChoice::exponential
            ? Meaning{Direction::looser,
                      "quantiles lose less of what is counted in rho or Renyi divergences, whoever asks"}
            : Meaning{Direction::tighter,
                      "quantiles lose more of what is counted in rho or Renyi divergences, whoever asks"};
  } else if (curved_before || curved_after) {
    meaning = {Direction::incomparable, "quantiles are drawn by another mechanism, whoever asks"};
  }
  place.at("mechanism").compare(text_of(sides.before, before), text_of(sides.after, after), meaning);
}

void compare_dataset(std::vector<PolicyChange>& changes, const DiffPath& place, const PolicyDatasets& sides) {
  const std::size_t first = changes.size();
  const Dataset& before = sides.before;
  const Dataset& after = sides.after;
  // Every field is named, so that a new one cannot be forgotten: this does not compile then.
  [[maybe_unused]] const auto& [name, csv, sqlite, source_mark, unit, rows, neighbours, budget, renews,
                                unbounded, lifetime, blocks, limits, purposes, forbid, approvals, reservation,
                                per_release, columns, queries, allow, release, selection, mean_split, mark] =
      before;
  compare_sources(place.at("source"), before, after);
  compare_units(place.at("unit"), before, after);
  compare_rows(place.at("rows"), rows, after.rows);
  place.at("neighbours")
      .compare(std::string(engine::name(neighbours)), std::string(engine::name(after.neighbours)),
               {Direction::incomparable, "every loss is about other neighbours"});
  compare_losses(place, before, after);
  compare_named(place.at("columns"), columns, after.columns,
                {Direction::looser, "one more column can be used"},
                {Direction::tighter, "one column less can be used"},
                [&](const DiffPath& inner, const Column& old, const Column& now) {
                  compare_column(inner, old, now, blocking(before, old.name));
                });
  compare_named(place.at("queries"), queries, after.queries,
                {Direction::looser, "one more query can be asked"},
                {Direction::tighter, "one query less can be asked"}, compare_query);
  compare_access(place, before, after);
  compare_release(place.at("release"), before, after);
  compare_selection(place.at("release").at("quantile"), sides);
  place.at("mean_split")
      .compare(text(mean_split), text(after.mean_split),
               counts_curved(before) || counts_curved(after)
                   ? Meaning{Direction::incomparable,
                             "sum and count share the same epsilon otherwise, and lose more or less of what "
                             "is counted in rho or Renyi divergences"}
                   : Meaning{Direction::neutral, "sum and count share the same epsilon otherwise"});
  const std::vector<PolicyChange> keys(changes.begin() + static_cast<std::ptrdiff_t>(first), changes.end());
  compare_askable(place, sides, keys);
}

/// What holding a role is good for, in any of the datasets.
struct RoleUse {
  bool lets_in = false;  ///< may ask or approve by it
  bool limits = false;   ///< is limited or forbidden by it
};

RoleUse use_of(const std::string& role, const std::vector<const Dataset*>& datasets) {
  RoleUse use;
  for (const Dataset* dataset : datasets) {
    use.lets_in |= dataset->allow.roles && contains(*dataset->allow.roles, role);
    use.lets_in |= dataset->approvals && contains(dataset->approvals->roles, role);
    for (const Limit& limit : dataset->limits) {
      use.limits |= limit.subject == Limit::Subject::role && (limit.name.empty() || limit.name == role);
    }
    for (const Forbid& rule : dataset->forbid) use.limits |= rule.roles && contains(*rule.roles, role);
  }
  return use;
}

void compare_roles(const DiffPath& place, const std::vector<std::string>& before,
                   const std::vector<std::string>& after, const std::vector<const Dataset*>& datasets) {
  const auto report = [&](const DiffPath& where, const std::string& role, bool gained) {
    const RoleUse use = use_of(role, datasets);
    Meaning meaning{Direction::neutral, "no dataset speaks of this role"};
    if (use.lets_in) meaning = {Direction::looser, "some may ask or approve by this role"};
    if (use.limits) meaning = {Direction::tighter, "this role is limited or forbidden something"};
    if (use.lets_in && use.limits) meaning = {Direction::incomparable, "this role both lets in and limits"};
    where.report(gained ? meaning.direction : opposite(meaning.direction), gained ? "" : yaml::scalar(role),
                 gained ? yaml::scalar(role) : "", meaning.why);
  };
  for (const std::string& role : before) {
    if (!contains(after, role)) report(place, role, false);
  }
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (!contains(before, after[i])) report(place.at(i), after[i], true);
  }
  place.compare_order(before, after);
}

std::vector<const Dataset*> datasets_of(const Policy& before, const Policy& after) {
  std::vector<const Dataset*> datasets;
  for (const Policy* policy : {&before, &after}) {
    for (const Dataset& dataset : policy->datasets()) datasets.push_back(&dataset);
  }
  return datasets;
}

}  // namespace

std::vector<PolicyChange> diff(const Dataset& before, const Dataset& after) {
  std::vector<PolicyChange> changes;
  compare_dataset(changes, DiffPath(changes, {"datasets", after.name}), {nullptr, before, nullptr, after});
  mark_refused_once_charged(changes, before);
  for (PolicyChange& change : changes) change.mark = after.mark;
  return changes;
}

std::vector<PolicyChange> diff(const std::optional<std::vector<Principal>>& before,
                               const std::optional<std::vector<Principal>>& after,
                               const std::vector<const Dataset*>& datasets) {
  std::vector<PolicyChange> changes;
  const DiffPath place(changes, {"principals"});
  const auto list = [](const std::vector<Principal>& all) { return yaml::sequence(names_of(all)); };
  if (before && after) {
    compare_named(place, *before, *after, {Direction::looser, "one more may ask"},
                  {Direction::tighter, "one less may ask"},
                  [&](const DiffPath& inner, const Principal& old, const Principal& now) {
                    const auto& [name, roles, purposes, duties, mark] = old;
                    const auto& [name_now, roles_now, purposes_now, duties_now, mark_now] = now;
                    compare_roles(inner.at("roles"), roles, roles_now, datasets);
                    inner.at("purposes").compare_allowed(purposes, purposes_now, "purpose");
                    inner.at("duties").compare_lists(engine::names(duties), engine::names(duties_now),
                                                     {Direction::looser, "one more duty"},
                                                     {Direction::tighter, "one duty less"});
                  });
  } else if (after) {
    place.report(Direction::tighter, "", list(*after), "everybody could ask");
  } else if (before) {
    place.report(Direction::looser, list(*before), "", "everybody can ask");
  }
  return changes;
}

void compare_replicas(const DiffPath& place, const std::optional<ReplicaFile>& before,
                      const std::optional<ReplicaFile>& after) {
  const auto path_of = [](const std::optional<ReplicaFile>& replica) {
    return replica ? yaml::scalar(replica->path) : std::string();
  };
  if (!before || !after) {
    place.compare(path_of(before), path_of(after),
                  {Direction::tighter, "every line is written a second time"},
                  {Direction::looser, "a ledger that is put back to an earlier state is not noticed"},
                  {Direction::neutral, ""});
    return;
  }
  [[maybe_unused]] const auto& [path, sync, mark] = *before;
  [[maybe_unused]] const auto& [path_now, sync_now, mark_now] = *after;
  place.at("file").compare(yaml::scalar(path), yaml::scalar(path_now),
                           {Direction::neutral, "everything so far is copied there"});
  const auto word = [](ReplicaFile::Sync one) { return std::string(kReplicaSyncWords.of(one)); };
  const bool less = sync_now == ReplicaFile::Sync::none;
  place.at("sync").compare(
      word(sync), word(sync_now),
      {less ? Direction::looser : Direction::tighter,
       less ? "what was told may be in neither after a power failure and the loss of the ledger"
            : "what is told is on both disks"});
}

/// How far apart checkpoints are, as one line of YAML.
std::string every_text(const AutomaticCheckpoint& checkpoint) {
  return checkpoint.lines > 0 ? std::to_string(checkpoint.lines) : duration_text(checkpoint.seconds);
}

void compare_checkpoints(const DiffPath& place, const std::optional<AutomaticCheckpoint>& before,
                         const std::optional<AutomaticCheckpoint>& after) {
  const auto path_of = [](const std::optional<AutomaticCheckpoint>& checkpoint) {
    return checkpoint ? yaml::scalar(checkpoint->path) : std::string();
  };
  if (!before || !after) {
    place.compare(
        path_of(before), path_of(after), {Direction::tighter, "checkpoints are signed by themselves"},
        {Direction::looser, "no checkpoint is signed unless somebody asks for it"}, {Direction::neutral, ""});
    return;
  }
  place.at("key").compare(yaml::scalar(before->key), yaml::scalar(after->key),
                          {Direction::neutral, "another key signs: who checks has to be given it"});
  place.at("file").compare(
      yaml::scalar(before->path), yaml::scalar(after->path),
      {Direction::neutral, "checkpoints are appended there from now on; the file so far stays"});
  const bool alike = (before->lines > 0) == (after->lines > 0);
  const bool rarer = before->lines < after->lines || before->seconds < after->seconds;
  place.at("every").compare(
      every_text(*before), every_text(*after),
      !alike  ? Meaning{Direction::incomparable, "lines and time come at no fixed rate"}
      : rarer ? Meaning{Direction::looser, "more can be taken away that no checkpoint has"}
              : Meaning{Direction::tighter, "less can be taken away that no checkpoint has"});
}

std::vector<PolicyChange> diff(const Policy& before, const Policy& after) {
  std::vector<PolicyChange> changes =
      diff(before.principals(), after.principals(), datasets_of(before, after));
  compare_replicas(DiffPath(changes, {"replica"}), before.replica(), after.replica());
  compare_checkpoints(DiffPath(changes, {"checkpoint"}), before.checkpoint(), after.checkpoint());
  const DiffPath place(changes, {"datasets"});
  for (const Dataset& old : before.datasets()) {
    const std::size_t first = changes.size();
    if (const Dataset* now = find_by_name(after.datasets(), old.name)) {
      compare_dataset(changes, place.at(old.name), {&before, old, &after, *now});
    } else {
      place.at(old.name).report(Direction::tighter, old.name, "", "nothing of it can be asked");
    }
    mark_refused_once_charged(std::span(changes).subspan(first), old);
  }
  for (const Dataset& now : after.datasets()) {
    if (find_by_name(before.datasets(), now.name) == nullptr) {
      place.at(now.name).report(Direction::looser, "", now.name, "one more dataset can be asked about");
    }
  }
  place.compare_order(names_of(before.datasets()), names_of(after.datasets()));

  Faults none("");
  const yaml::Node root = yaml::read(after.yaml(), none);
  for (PolicyChange& change : changes) change.mark = yaml::mark_of(root, change.path);
  return changes;
}

}  // namespace epsilog::engine
