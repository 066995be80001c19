// What a calculator found.
#pragma once

#include <string>
#include <vector>

#include "figures.hpp"

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

}  // namespace epsilog::command
