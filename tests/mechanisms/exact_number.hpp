// Numbers of these tests, written as digits.
#pragma once

#include <string>

#include "epsilog/accounting/rational.hpp"

namespace epsilog::test {

inline accounting::Rational number(const std::string& text) {
  return accounting::parse_rational(text, "test");
}

}  // namespace epsilog::test
