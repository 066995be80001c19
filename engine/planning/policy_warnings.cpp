#include "epsilog/engine/policy_warnings.hpp"

#include <algorithm>
#include <filesystem>
#include <tuple>
#include <utility>

#include "epsilog/engine/derivation.hpp"
#include "folder_faults.hpp"
#include "number_readings.hpp"
#include "policy_decoder.hpp"
#include "yaml_tree.hpp"

namespace epsilog::engine {
namespace {

/// A number below e^epsilon, of which two digits are told.
/// Requires  epsilon >= 3.
std::string times_down(const Rational& epsilon) {
  if (epsilon >= 30) return "a million million";
  // All terms of the series are positive, so that what is left out makes the sum smaller.
  constexpr unsigned kTerms = 128;
  Rational sum = 1;
  Rational term = 1;
  for (unsigned k = 1; k < kTerms; ++k) {
    term *= epsilon / k;
    sum += term;
  }
  std::string digits = accounting::floor(sum).get_str();
  std::fill(digits.begin() + 2, digits.end(), '0');
  for (std::size_t left = digits.size(); left > 3;) digits.insert(left -= 3, 1, ',');
  return digits;
}

class Warnings {
 public:
  Warnings(std::string file, const std::string& policy, std::vector<PolicyFault>& found)
      : file_(std::move(file)), found_(found) {
    Faults none("");
    root_ = yaml::read(policy, none);
  }

  void of(const Dataset& dataset) {
    source(dataset);
    budgets(dataset);
    bounds(dataset);
    whole_answers(dataset);
  }

 private:
  void add(const Dataset& dataset, Mark mark, const std::string& message) {
    found_.push_back({file_, mark.line, mark.column, "dataset '" + dataset.name + "': " + message});
  }

  [[nodiscard]] Mark mark_of(const Dataset& dataset, const std::string& key) const {
    return yaml::mark_of(root_, {"datasets", dataset.name, key});
  }

  void source(const Dataset& dataset) {
    if (!dataset.has_source()) return;
    const std::string& path = dataset.csv ? dataset.csv->path : dataset.sqlite->path;
    std::error_code ignored;
    const auto directory = std::filesystem::path(file_).parent_path();
    if (std::filesystem::exists(directory / path, ignored)) return;
    add(dataset, mark_of(dataset, "source"),
        "there is no source " + quoted_excerpt(path) + ", seen from the policy's directory");
  }

  void budget(const Dataset& dataset, const std::string& place, const Budget& budget, Mark mark) {
    const Epsilon& epsilon = budget.target ? budget.target->epsilon : budget.epsilon;
    if (epsilon.rational() < kEpsilonOfWarning) return;
    add(dataset, mark,
        place + ": with epsilon " + epsilon.text() + " one unit may make an answer more than " +
            times_down(epsilon.rational()) + " times as likely; few call that a promise (docs/choosing.md)");
  }

  void budgets(const Dataset& dataset) {
    budget(dataset, "budget", dataset.budget, mark_of(dataset, "budget"));
    if (dataset.lifetime) budget(dataset, "lifetime", *dataset.lifetime, mark_of(dataset, "lifetime"));
    for (const Limit& limit : dataset.limits) budget(dataset, "limits", limit.budget, limit.mark);
  }

  static bool may_be_asked(const Dataset& dataset, StatisticKind kind) {
    return permits(dataset.allow.statistics, kind);
  }

  void bound(const Dataset& dataset, const Statistic& statistic) {
    const bool supplied = statistic.kind == StatisticKind::value;
    const std::string entry = supplied ? statistic.subject : std::string(name(statistic.kind));
    const ReleaseSettings& settings = dataset.settings(entry);
    if (settings.mechanism != MechanismChoice::snapping || !settings.bound) return;
    Derivation derivation;
    try {
      derivation = derive(dataset, {statistic, {}, std::nullopt, std::nullopt});
    } catch (const Error&) {
      return;  // it cannot be asked
    }
    if (derivation.components.size() != 1) return;  // a bound says nothing of the parts of a quotient
    const Component& component = derivation.components.front();
    if (*settings.bound >= (component.upper - component.lower) / 2) return;
    add(dataset, settings.mark,
        "release." + entry + ": a bound of " + accounting::text(*settings.bound) +
            " is less than half of the range that the policy declares for " + statistic.text() + ", [" +
            accounting::text(component.lower) + ", " + accounting::text(component.upper) +
            "]: answers farther than that from its middle are cut off");
  }

  void bounds(const Dataset& dataset) {
    for (const StatisticKind kind : {StatisticKind::count, StatisticKind::units}) {
      if (may_be_asked(dataset, kind)) bound(dataset, {kind, ""});
    }
    for (const StatisticKind kind : {StatisticKind::sum, StatisticKind::mean, StatisticKind::variance,
                                     StatisticKind::count_of, StatisticKind::distinct}) {
      if (!may_be_asked(dataset, kind)) continue;
      for (const Column& column : dataset.columns) bound(dataset, {kind, column.name});
    }
    for (const NamedQuery& query : dataset.queries) bound(dataset, {StatisticKind::value, query.name});
  }

  void whole_answers(const Dataset& dataset) {
    if (!dataset.has_source()) return;
    std::string release;
    for (const StatisticKind kind :
         {StatisticKind::count, StatisticKind::units, StatisticKind::count_of, StatisticKind::distinct}) {
      const std::string entry(name(kind));
      const bool snapped = dataset.settings(entry).mechanism == MechanismChoice::snapping;
      if (!snapped || !may_be_asked(dataset, kind)) continue;
      release += (release.empty() ? "" : ", ") + entry + ": {mechanism: discrete_laplace}";
    }
    if (release.empty()) return;
    add(dataset, mark_of(dataset, "release"),
        "counts are whole numbers, and `release: {" + release +
            "}` errs less than snapping for the same epsilon");
  }

  std::string file_;
  yaml::Node root_;
  std::vector<PolicyFault>& found_;
};

}  // namespace

std::vector<PolicyFault> policy_warnings(const Policy& policy, const std::string& path) {
  std::vector<PolicyFault> found;
  Warnings warnings(path, policy.yaml(), found);
  for (const Dataset& dataset : policy.datasets()) warnings.of(dataset);
  for (PolicyFault& warning : number_reading_warnings(policy, policy.yaml(), path))
    found.push_back(std::move(warning));
  std::stable_sort(found.begin(), found.end(), [](const PolicyFault& one, const PolicyFault& other) {
    return std::tie(one.line, one.column) < std::tie(other.line, other.column);
  });
  return found;
}

std::vector<PolicyFault> source_faults(const Policy& policy, const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return source_kind_faults(policy, declared_sources(policy, folder.string()), path);
}

}  // namespace epsilog::engine
