// A form of a calculator, as those see it who do not know its arguments.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "calculation.hpp"
#include "verb_spec.hpp"

namespace epsilog::command {

struct CalculatorForm {
  std::vector<std::string_view> results;  ///< figures of the calculation that --batch adds as columns
  std::function<Calculation(const CommandLine& line)> calculate;
};

}  // namespace epsilog::command
