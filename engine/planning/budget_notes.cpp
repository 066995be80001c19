#include "budget_notes.hpp"

namespace epsilog::engine {

std::vector<std::string> budget_notes(const Dataset& dataset) {
  std::vector<std::string> notes;
  if (dataset.blocks) {
    notes.push_back(dataset.neighbours == Neighbours::replace_one
                        ? "a block's budget protects one unit's rows in one block: a unit with rows in j "
                          "blocks, before or "
                          "after it is replaced, may lose j of them, together at most the lifetime budget"
                        : "a block's budget protects one unit's rows in one block: a unit with rows in j "
                          "blocks may lose j "
                          "of them, together at most the lifetime budget");
  }
  if (dataset.accepts_unbounded_lifetime) {
    notes.push_back("the budget starts anew each " + std::string(name(*dataset.renews)) +
                    " and no lifetime budget bounds the sum: over time, without limit, all may be lost");
  }
  if (dataset.csv && dataset.csv->multiline) {
    notes.push_back(
        "cells may span lines: the loss is as stated only if no unit's text can begin or end another's "
        "record, "
        "as an unclosed quote would");
  }
  return notes;
}

}  // namespace epsilog::engine
