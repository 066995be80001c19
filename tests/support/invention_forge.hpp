// Invented answers for tests of mechanisms alone.
//
// Mechanisms befriend engine::InventedData by name. These tests do not link the engine, so they may bring a
// class of that name which makes whatever answers they want; a test that does link it must not include this
// file.
#pragma once

#include <vector>

#include "epsilog/mechanisms/invented_answer.hpp"

namespace epsilog::engine {

class InventedData {
 public:
  static std::vector<mechanisms::InventedAnswer> of(const std::vector<accounting::Rational>& values) {
    std::vector<mechanisms::InventedAnswer> answers;
    for (const accounting::Rational& value : values) answers.push_back(mechanisms::InventedAnswer(value));
    return answers;
  }
  static std::vector<mechanisms::InventedCounts> of_rows(
      const std::vector<std::vector<mechanisms::CandidateRows>>& cells) {
    std::vector<mechanisms::InventedCounts> counts;
    for (const auto& rows : cells) counts.push_back(mechanisms::InventedCounts(rows));
    return counts;
  }
};

}  // namespace epsilog::engine
