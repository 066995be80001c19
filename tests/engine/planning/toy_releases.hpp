// Whole releases of toy tables: every output that a plan's parts can have, and with what probability,
// enumerated in doubles.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "clinic.hpp"
#include "epsilog/engine/checked_policy.hpp"
#include "plan.hpp"

namespace epsilog::test {

using accounting::Rational;
using engine::Plan;
using engine::Request;

/// Every output of a snapped component at an answer, with its probability: enumerated in doubles.
struct Law {
  std::vector<Rational> outputs;
  std::vector<double> probabilities;
};

/// Answers of the toy tables, sums about their centre included, are no larger than this.
constexpr long kLargestAnswer = 12;

/// Of discrete noise so far that what is left out has a probability below 10^-10.
inline Law discrete_law_of(const ledger::ComponentRecord& component, const Rational& answer) {
  const bool gaussian = component.rho.has_value();
  const double scale = Rational(component.scale / component.grid).get_d();
  const long farthest = std::lround(std::ceil(scale * (gaussian ? 7 : 25))) +
                        accounting::ceil(kLargestAnswer / component.grid).get_si();
  const long nearest = accounting::floor(answer / component.grid + Rational(1, 2)).get_si();
  Law law;
  double total = 0;
  for (long k = -farthest; k <= farthest; ++k) {
    const double x = static_cast<double>(std::abs(k - nearest)) / scale;
    law.outputs.push_back(k * component.grid);
    law.probabilities.push_back(std::exp(gaussian ? -x * x / 2 : -x));
    total += law.probabilities.back();
  }
  for (double& probability : law.probabilities) probability /= total;
  return law;
}

inline Law law_of(const ledger::ComponentRecord& component, const Rational& answer) {
  if (!component.centre) return discrete_law_of(component, answer);
  const Rational &grid = component.grid, &centre = component.centre.value(), &bound = component.bound.value();
  const double scale = component.scale.get_d();
  const Rational shifted = std::clamp<Rational>(answer - centre, -bound, bound);
  const long last = accounting::ceil(bound / grid).get_si();
  Law law;
  double before = 0;
  for (long k = -last; k <= last; ++k) {
    const double d = Rational((k + Rational(1, 2)) * grid - shifted).get_d();
    const double up_to = k == last ? 1 : d < 0 ? std::exp(d / scale) / 2 : 1 - std::exp(-d / scale) / 2;
    law.outputs.push_back(centre + std::clamp<Rational>(k * grid, -bound, bound));
    law.probabilities.push_back(up_to - before);
    before = up_to;
  }
  return law;
}

/// What the parts are exactly, and what is made of them.
struct Truth {
  std::vector<Rational> parts;
  Rational answer;
};

/// A plan's outputs, all combinations of those of its parts, as if each were a cell.
struct Outputs {
  std::vector<std::vector<Rational>> components;
  std::vector<std::vector<std::size_t>> indices;  ///< [combination][part]
};

inline Outputs combined(const Plan& plan) {
  Outputs all;
  std::vector<Law> laws;
  const std::size_t of_a_cell = accounting::values_of_a_cell(plan.derivation.post_processing.kind);
  for (const ledger::ComponentRecord& record : plan.record.components) {
    for (std::size_t i = 0; i < of_a_cell; ++i) laws.push_back(law_of(record, 0));
  }
  all.components.resize(plan.record.components.size());
  std::vector<std::size_t> at(laws.size(), 0);
  for (bool more = true; more;) {
    for (std::size_t part = 0; part < laws.size(); ++part) {
      all.components[part / of_a_cell].push_back(laws[part].outputs[at[part]]);
    }
    all.indices.push_back(at);
    more = false;
    for (std::size_t part = 0; part < laws.size() && !more; ++part) {
      more = ++at[part] < laws[part].outputs.size();
      if (!more) at[part] = 0;
    }
  }
  return all;
}

/// The largest probability, over the truths, of the combinations of outputs that miss: misses(combination,
/// truth).
template <class Misses>
double largest_probability(const Plan& plan, const Outputs& all, const std::vector<Truth>& truths,
                           const Misses& misses) {
  double worst = 0;
  for (const Truth& truth : truths) {
    std::vector<Law> laws;
    for (std::size_t part = 0; part < truth.parts.size(); ++part) {
      const std::size_t component = std::min(part, plan.record.components.size() - 1);
      laws.push_back(law_of(plan.record.components[component], truth.parts[part]));
    }
    double missed = 0;
    for (std::size_t i = 0; i < all.indices.size(); ++i) {
      if (!misses(i, truth)) continue;
      double probability = 1;
      for (std::size_t part = 0; part < laws.size(); ++part) {
        probability *= laws[part].probabilities[all.indices[i][part]];
      }
      missed += probability;
    }
    worst = std::max(worst, missed);
  }
  return worst;
}

/// A clinic of so few rows, with ages up to 4.
inline Plan small_plan(const char* rows, const Request& asked, const std::string& more = "") {
  std::string policy = clinic_policy("measure: approximate, epsilon: 1000, delta: 0.1", more);
  policy.replace(policy.find("max: 100000"), 11, std::string("max: ") + rows);
  policy.replace(policy.find("[0, 110]"), 8, "[0, 4]");
  policy += "    allow: {statistics: [count, mean, variance, proportion, private_variance, ratio]}\n";
  return engine::make_plan(engine::checked_policy(policy, "policy").dataset("clinic"), asked);
}

/// Of every table of 1 to `most` ages: parts about the centre, 2, and what is made of them.
inline std::vector<Truth> tables_of_ages(int most, bool variances) {
  std::vector<Truth> truths;
  std::vector<int> ages;
  const std::function<void(int)> extend = [&](int least) {
    Rational sum = 0, squares = 0;
    const Rational count(static_cast<long>(ages.size()));
    for (const int age : ages) {
      sum += age - 2;
      squares += (age - 2) * (age - 2);
    }
    if (!ages.empty()) {
      const Rational mean = sum / count;
      truths.push_back(variances ? Truth{{squares, sum, count}, squares / count - mean * mean}
                                 : Truth{{sum, count}, 2 + mean});
    }
    if (static_cast<int>(ages.size()) == most) return;
    for (int age = least; age <= 4; ++age) {
      ages.push_back(age);
      extend(age);
      ages.pop_back();
    }
  };
  extend(0);
  return truths;
}

/// Of every table of 1 to `most` rows: how many have a value, and how many have not.
inline std::vector<Truth> tables_of_shares(int most) {
  std::vector<Truth> truths;
  for (int rows = 1; rows <= most; ++rows) {
    for (int with = 0; with <= rows; ++with)
      truths.push_back({{with, rows - with}, Rational(with) / Rational(rows)});
  }
  return truths;
}

}  // namespace epsilog::test
