// A form of a calculator, as those see it who do not know its arguments, and what it found.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "figures.hpp"
#include "verb_spec.hpp"

namespace epsilog::command {

struct Calculation {
  struct LabelledLine {
    std::string label;
    std::string text;
  };
  Figures figures;                        ///< the object of --json, in this order
  std::vector<LabelledLine> lines = {};   ///< for people; when empty, the figures themselves
  std::vector<std::string> answers = {};  ///< what --quiet prints; when empty, the form's first result
};

struct CalculatorForm {
  std::vector<std::string_view> results;  ///< figures of the calculation that --batch adds as columns
  std::function<Calculation(const CommandLine& line)> calculate;
};

}  // namespace epsilog::command
