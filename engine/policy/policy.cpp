#include "epsilog/engine/policy.hpp"

#include <algorithm>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/nearest.hpp"
#include "policy_faults.hpp"

namespace epsilog::engine {

namespace {

template <class Named>
const Named* find_named(const std::vector<Named>& list, std::string_view wanted) {
  for (const Named& candidate : list) {
    if (candidate.name == wanted) return &candidate;
  }
  return nullptr;
}

}  // namespace

bool is_numeric(ColumnType type) {
  return type == ColumnType::integer || type == ColumnType::decimal || type == ColumnType::real;
}

const Column* Dataset::column(std::string_view wanted) const {
  return find_named(columns, wanted);
}

const std::string& Dataset::read_from(const std::string& column_or_id) const {
  const Column* declared = column(column_or_id);
  return declared == nullptr || !declared->derived ? column_or_id : declared->derived->from;
}

const std::string& Dataset::header(const std::string& column_or_id) const {
  const Column* declared = column(column_or_id);
  return declared == nullptr || declared->header.empty() ? column_or_id : declared->header;
}

const NamedQuery* Dataset::query(std::string_view wanted) const {
  return find_named(queries, wanted);
}

const ReleaseSettings& Dataset::settings(std::string_view statistic_or_query) const {
  static const ReleaseSettings kDefaults;
  const auto found = release.find(std::string(statistic_or_query));
  if (found != release.end()) return found->second;
  const auto fallback = release.find("default");
  return fallback != release.end() ? fallback->second : kDefaults;
}

SelectionChoice Dataset::selection() const {
  if (quantile_selection != SelectionChoice::automatic) return quantile_selection;
  const auto bends = [](const Budget& one) {
    return one.measure == Measure::zcdp || one.measure == Measure::rdp;
  };
  const bool bent =
      bends(budget) || (lifetime && bends(*lifetime)) ||
      std::any_of(limits.begin(), limits.end(), [&](const Limit& limit) { return bends(limit.budget); });
  return bent ? SelectionChoice::exponential : SelectionChoice::permute_and_flip;
}

const Principal* Policy::principal(std::string_view name) const {
  return principals_ ? find_named(*principals_, name) : nullptr;
}

const Dataset& Policy::dataset(std::string_view name) const {
  if (const Dataset* found = find_named(datasets_, name)) return *found;
  std::vector<std::string> names;
  for (const Dataset& candidate : datasets_) names.push_back(candidate.name);
  const std::string near = nearest(name, names);
  throw NotFound("dataset " + quoted_excerpt(name) + " is not declared; declared: " + comma_list(names) +
                 "." + (near.empty() ? "" : " Did you mean '" + near + "'?"));
}

}  // namespace epsilog::engine
