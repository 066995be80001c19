// Invented answers as the numbers that samplers take. Thread-safety: pure function.
#pragma once

#include <span>
#include <vector>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/mechanisms/invented_answer.hpp"

namespace epsilog::mechanisms {

/// Throws  InvalidParameter if there is none.
[[nodiscard]] inline std::vector<accounting::Rational> numbers_of(std::span<const InventedAnswer> answers) {
  if (answers.empty()) throw InvalidParameter("dummy run: no answer to draw from");
  std::vector<accounting::Rational> numbers;
  numbers.reserve(answers.size());
  for (const InventedAnswer& answer : answers) numbers.push_back(answer.rational());
  return numbers;
}

}  // namespace epsilog::mechanisms
