#include "cell_shape.hpp"

#include <algorithm>

namespace epsilog::engine {
namespace {

constexpr std::string_view kWordsForMissing[] = {"NA",   "N/A", "n/a",     "#N/A",    "<NA>", "NULL",
                                                 "null", "NaN", "nan",     "None",    "-",    "--",
                                                 ".",    "?",   "unknown", "Unknown", "k.A.", "k. A."};

}  // namespace

std::span<const std::string_view> words_for_missing() {
  return kWordsForMissing;
}

bool means_missing(std::string_view cell) {
  return std::find(std::begin(kWordsForMissing), std::end(kWordsForMissing), cell) !=
         std::end(kWordsForMissing);
}

std::string shape_of(std::string_view text) {
  std::string shape;
  for (const char c : text) {
    const char kind = is_digit(c) ? '9' : is_letter(c) ? 'a' : c;
    if (shape.empty() || shape.back() != kind || (kind != '9' && kind != 'a')) shape += kind;
  }
  return shape;
}

std::size_t parts_of(std::string_view text) {
  std::size_t parts = 0;
  bool within = false;
  for (const char c : text) {
    const bool part = is_digit(c) || is_letter(c) || c == '.' || c == '-' || c == '+' || c == '_';
    parts += part && !within ? 1 : 0;
    within = part;
  }
  return parts;
}

}  // namespace epsilog::engine
