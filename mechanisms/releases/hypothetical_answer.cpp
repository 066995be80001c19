#include "epsilog/mechanisms/hypothetical_answer.hpp"

#include <utility>

namespace epsilog::mechanisms {

HypotheticalAnswer HypotheticalAnswer::parse(std::string_view text) {
  return HypotheticalAnswer(accounting::parse_rational(text, "at"));
}

HypotheticalAnswer::HypotheticalAnswer(accounting::Rational value) : value_(std::move(value)) {}

}  // namespace epsilog::mechanisms
