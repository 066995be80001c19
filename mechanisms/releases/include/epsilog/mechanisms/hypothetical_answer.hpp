// An answer that somebody made up, to ask how accurate a release would be if it were the true one.
//
// Why it exists  Accuracy at a given answer depends on that answer, so computing it for the true one and
//                showing the result would be a release without a charge. True answers are held as exact
//                rationals; nothing converts one of those into a HypotheticalAnswer.
// Thread-safety: values.
#pragma once

#include <string_view>

#include "epsilog/accounting/rational.hpp"

namespace epsilog::mechanisms {

class HypotheticalAnswer final {
 public:
  /// What a caller typed, exactly, in the unit of the answer.
  /// Requires  text is input to the program, never printed from data; syntax as parse_rational.
  /// Throws    InvalidParameter.
  [[nodiscard]] static HypotheticalAnswer parse(std::string_view text);

  [[nodiscard]] const accounting::Rational& rational() const noexcept { return value_; }

 private:
  explicit HypotheticalAnswer(accounting::Rational value);
  accounting::Rational value_;
};

}  // namespace epsilog::mechanisms
