// What neighbouring data sets answer, and whether their distance keeps to a derivation.
#pragma once

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "epsilog/mechanisms/quantile_mechanism.hpp"
#include "first_cells.hpp"
#include "rows_memory.hpp"
#include "support/catch.hpp"

namespace epsilog::test {

using engine::Component;
using engine::Dataset;
using engine::Derivation;
using engine::Question;
using engine::Rational;

/// [component][cell]; of quantiles [selection and candidate][cell].
using Values = std::vector<std::vector<Rational>>;
using Records = std::vector<MemoryRow>;

struct Setting {
  Dataset dataset;
  Question question;
  Derivation derivation;
};

template <class List>
const auto& pick(const List& list, std::mt19937_64& random) {
  return list[random() % list.size()];
}

/// Texts that a person might put into a cell to have it fail: too large, too long, of no type or encoding.
inline std::vector<std::string> hostile_cells() {
  return first_cells(EPSILOG_SOURCE_DIR "/tests/engine/data/hostile_cells.tsv");
}

inline Records without(const Records& rows, const std::vector<std::size_t>& places) {
  Records result;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (std::find(places.begin(), places.end(), i) == places.end()) result.push_back(rows[i]);
  }
  return result;
}

inline std::string described(const Setting& setting, const Records& rows) {
  std::string result = setting.question.statistic.text() + " by " + engine::by_text(setting.question.by) +
                       " where " + (setting.question.where ? setting.question.where->text() : "-") +
                       " k=" + std::to_string(setting.dataset.unit.max_rows) +
                       " n=" + std::to_string(setting.dataset.rows.count) +
                       (setting.dataset.rows.exact ? " exact" : " max") + " unit=" + setting.dataset.unit.id +
                       " " + std::string(name(setting.dataset.neighbours)) + ":";
  for (const MemoryRow& row : rows) {
    result += " [";
    for (const std::string& cell : row) result += cell + ",";
    result += "]";
  }
  return result;
}

/// How far the rank that a selection wants is from those of each candidate, of the rows above `lower` up to
/// `upper`: what selects among them. In units of which one unit's rows change as many as of the largest.
inline void add_rank_errors(Values& errors, const mechanisms::QuantileNode& node, const Rational& largest,
                            const std::vector<std::vector<Rational>>& rows, std::size_t lower,
                            std::size_t upper) {
  const std::size_t candidates = rows.front().size();
  const std::size_t first = errors.size();
  errors.resize(first + candidates, std::vector<Rational>(rows.size()));
  for (std::size_t cell = 0; cell < rows.size(); ++cell) {
    Rational n = 0;
    for (std::size_t candidate = lower; candidate < upper; ++candidate) n += rows[cell][candidate];
    const Rational rank = node.share * n;
    Rational below = 0;
    for (std::size_t candidate = 0; candidate < candidates; ++candidate) {
      const bool counted = candidate >= lower && candidate < upper;
      const Rational up_to = below + (counted ? rows[cell][candidate] : Rational(0));
      const Rational error = rank < below ? below - rank : rank > up_to ? rank - up_to : Rational(0);
      errors[first + candidate][cell] = error * largest / node.sensitivity;
      below = up_to;
    }
  }
}

/// Of every selection that may be made, whatever was selected before it: the rows of a later one of several
/// begin above any candidate, and end at any one.
inline Values rank_errors(const Component& component,
                          const std::vector<std::vector<mechanisms::CandidateRows>>& counts) {
  mechanisms::QuantileOptions asked = *component.quantiles;
  asked.epsilon = accounting::Epsilon::parse_down("1");
  std::vector<std::vector<Rational>> rows(counts.size(), std::vector<Rational>(asked.candidates));
  for (std::size_t cell = 0; cell < counts.size(); ++cell) {
    for (const auto& [candidate, count] : counts[cell])
      rows[cell].at(candidate) += Rational(static_cast<unsigned long>(count));
  }
  const mechanisms::QuantileMechanism mechanism(asked);
  Values errors;
  for (const mechanisms::QuantileNode& node : mechanism.parameters().nodes) {
    for (std::size_t lower = 0; lower <= (node.lower ? asked.candidates : 0); ++lower) {
      for (std::size_t upper = node.upper ? lower : asked.candidates; upper <= asked.candidates; ++upper)
        add_rank_errors(errors, node, component.sensitivity, rows, lower, upper);
    }
  }
  return errors;
}

inline Setting setting_of(Dataset dataset, const std::string& statistic, const std::string& by,
                          const std::string& where) {
  Setting setting;
  setting.dataset = std::move(dataset);
  setting.question = question(statistic, by, where);
  setting.derivation = derive(setting.dataset, setting.question);
  return setting;
}

/// The units of the data and one that is not there.
inline std::set<std::string> ids_of(const Records& rows) {
  std::set<std::string> result = {"new"};
  for (const MemoryRow& row : rows) {
    if (!row.empty() && !row[0].empty()) result.insert(row[0]);
  }
  return result;
}

inline Values answered(const Setting& setting, const MemoryTable& table) {
  MemorySource source(table, wanted_columns(setting.dataset, setting.question));
  const auto answer = answer_rows(source, setting.dataset, setting.question, setting.derivation, {});
  const Component& component = setting.derivation.components[0];
  return component.quantiles ? rank_errors(component, answer.counts) : answer.values;
}

inline bool is_multiple(const Rational& value, const Rational& step) {
  return Rational(value / step).get_den() == 1;
}

/// By cells, the largest change of any selection: what is selected in one says nothing of another.
inline std::vector<Rational> rank_changes(const Values& before, const Values& after) {
  std::vector<Rational> changes(before.front().size());
  for (std::size_t c = 0; c < before.size(); ++c) {
    for (std::size_t cell = 0; cell < changes.size(); ++cell)
      changes[cell] = std::max<Rational>(changes[cell], abs(before[c][cell] - after[c][cell]));
  }
  return changes;
}

/// Empty if the changes of each cell keep to the component, else what is wrong.
inline std::string fault_of_changes(const Component& component, const std::vector<Rational>& changes) {
  Rational distance = 0;
  Rational squared = 0;
  std::uint64_t changed = 0;
  for (const Rational& change : changes) {
    distance += abs(change);
    squared += change * change;
    if (change != 0) ++changed;
  }
  if (distance > component.sensitivity) return "sensitivity";
  if (squared > component.sensitivity_l2_squared) return "L2 sensitivity";
  return changed > component.coordinates ? "coordinates" : "";
}

/// Empty if the answers keep to the derivation, else what is wrong.
inline std::string fault_between(const Derivation& derivation, const Values& before, const Values& after) {
  if (derivation.components[0].quantiles)
    return fault_of_changes(derivation.components[0], rank_changes(before, after));
  for (std::size_t c = 0; c < before.size(); ++c) {
    const Component& component = derivation.components[c];
    std::vector<Rational> changes;
    for (std::size_t cell = 0; cell < before[c].size(); ++cell) {
      changes.push_back(before[c][cell] - after[c][cell]);
      if (after[c][cell] < component.lower || after[c][cell] > component.upper) return "range";
      if (component.step && !is_multiple(after[c][cell], *component.step)) return "step";
    }
    std::string fault = fault_of_changes(component, changes);
    if (!fault.empty()) return fault;
  }
  return "";
}

/// Fails where the answers of two neighbours break the derivation. `which` says how to have them again.
inline void check_between(const Setting& setting, const std::string& which, const Records& rows,
                          const Values& before, const Records& neighbour, const Values& after) {
  const std::string fault = fault_between(setting.derivation, before, after);
  if (fault.empty()) return;
  INFO(which << "\n" << described(setting, rows) << "\n" << described(setting, neighbour));
  FAIL_CHECK("neighbours break the derived " << fault);
}

}  // namespace epsilog::test
