// What neighbouring data sets answer, and whether their distance keeps to a derivation.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "rows_memory.hpp"

namespace epsilog::test {

using engine::Component;
using engine::Dataset;
using engine::Derivation;
using engine::Question;
using engine::Rational;

using Values = std::vector<std::vector<Rational>>;  ///< [component][cell]; of quantiles [candidate][cell]
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
  return {"1e400",
          "-1e400",
          "1e-400",
          "nan",
          "-inf",
          "0x1p3",
          std::string(60, '9'),
          "-" + std::string(60, '9'),
          "0." + std::string(400, '3'),
          std::string(2000, '1') + "e-1999",
          "9223372036854775808",
          "2024-02-30",
          "0000-00-00",
          " 1",
          "1\n",
          "\"",
          "\"\"\"",
          ",,,",
          "\r",
          "'; DROP TABLE visits; --",
          std::string(1, '\0'),
          std::string("A\0B", 3),
          "\xff",
          "\xed\xa0\x80",
          "\xef\xbb\xbf",
          "\uff11",
          "\u221e"};
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

/// How far the rank wanted is from those of each candidate: what selects among them. Of several quantiles the
/// middle one, which is selected first, among all rows.
inline Values rank_errors(const mechanisms::QuantileOptions& asked,
                          const std::vector<std::vector<mechanisms::CandidateRows>>& counts) {
  const Rational& wanted = asked.quantiles[asked.quantiles.size() / 2];
  Values errors(asked.candidates, std::vector<Rational>(counts.size()));
  for (std::size_t cell = 0; cell < counts.size(); ++cell) {
    std::vector<Rational> rows(asked.candidates);
    Rational n = 0;
    for (const auto& [candidate, count] : counts[cell]) {
      rows.at(candidate) += Rational(static_cast<unsigned long>(count));
      n += Rational(static_cast<unsigned long>(count));
    }
    Rational below = 0;
    for (std::size_t candidate = 0; candidate < asked.candidates; ++candidate) {
      const Rational up_to = below + rows[candidate];
      const Rational rank = wanted * n;
      errors[candidate][cell] = rank < below ? below - rank : rank > up_to ? rank - up_to : Rational(0);
      below = up_to;
    }
  }
  return errors;
}

inline Values answered(const Setting& setting, const MemoryTable& table) {
  MemorySource source(table, wanted_columns(setting.dataset, setting.question));
  const auto answer = answer_rows(source, setting.dataset, setting.question, setting.derivation, {});
  const auto& quantiles = setting.derivation.components[0].quantiles;
  return quantiles ? rank_errors(*quantiles, answer.counts) : answer.values;
}

inline bool is_multiple(const Rational& value, const Rational& step) {
  return Rational(value / step).get_den() == 1;
}

/// Empty if the answers keep to the derivation, else what is wrong.
inline std::string fault_between(const Derivation& derivation, const Values& before, const Values& after) {
  for (std::size_t c = 0; c < before.size(); ++c) {
    const bool ranked = derivation.components[0].quantiles.has_value();
    const Component& component = derivation.components[ranked ? 0 : c];
    Rational distance = 0;
    Rational squared = 0;
    std::uint64_t changed = 0;
    for (std::size_t cell = 0; cell < before[c].size(); ++cell) {
      const Rational change = before[c][cell] - after[c][cell];
      distance += abs(change);
      squared += change * change;
      if (before[c][cell] != after[c][cell]) ++changed;
      if (ranked) continue;
      if (after[c][cell] < component.lower || after[c][cell] > component.upper) return "range";
      if (component.step && !is_multiple(after[c][cell], *component.step)) return "step";
    }
    if (distance > component.sensitivity) return "sensitivity";
    if (squared > component.sensitivity_l2_squared) return "L2 sensitivity";
    if (changed > component.coordinates) return "coordinates";
  }
  return "";
}

}  // namespace epsilog::test
