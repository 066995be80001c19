#include "checked_arguments.hpp"

#include <algorithm>

#include "epsilog/accounting/errors.hpp"
#include "printable.hpp"
#include "usage_error.hpp"

namespace epsilog::command {
namespace {

constexpr std::size_t kNameMax = 256;

constexpr std::size_t kShownMax = 60;

[[noreturn]] void refuse_number(const std::string& text, const std::string& option, const std::string& why) {
  const std::string shown = text.size() > kShownMax ? text.substr(0, kShownMax) + "…" : text;
  throw UsageError(option + ": '" + shown + "' must " + why);
}

}  // namespace

std::string name_argument(const std::string& text, const std::string& option) {
  if (text.empty()) throw UsageError(option + ": must not be empty");
  if (text.size() > kNameMax)
    throw UsageError(option + ": is longer than " + std::to_string(kNameMax) + " bytes");
  if (!is_printable(text)) throw UsageError(option + ": must be UTF-8 without control characters");
  return text;
}

Rational number_argument(const std::string& text, const std::string& option) {
  try {
    return accounting::parse_rational(text, option);
  } catch (const InvalidParameter& error) {
    throw UsageError(error.what());
  }
}

Rational positive_argument(const std::string& text, const std::string& option) {
  const Rational value = number_argument(text, option);
  if (value <= 0) refuse_number(text, option, "be greater than 0");
  return value;
}

Rational non_negative_argument(const std::string& text, const std::string& option) {
  const Rational value = number_argument(text, option);
  if (value < 0) refuse_number(text, option, "not be negative");
  return value;
}

Rational probability_argument(const std::string& text, const std::string& option) {
  const Rational value = number_argument(text, option);
  if (value <= 0 || value >= 1) refuse_number(text, option, "lie between 0 and 1");
  return value;
}

Rational checked_epsilon(const Rational& value, const std::string& text) {
  if (value <= 0) refuse_number(text, "--epsilon", "be greater than 0");
  accounting::Epsilon on_grid;
  try {
    on_grid = accounting::Epsilon::from_rational_down(value);
  } catch (const InvalidParameter& error) {
    throw UsageError(std::string("--") + error.what());
  }
  if (on_grid.units() == 0) {
    throw UsageError("--epsilon: '" + text + "' is smaller than the smallest loss kept, 0.000000000001");
  }
  return value;
}

Rational checked_delta(const Rational& value, const std::string& text) {
  if (value <= 0 || value >= 1) throw UsageError("--delta: '" + text + "' must lie between 0 and 1");
  if (accounting::Delta::from_rational_down(value).units() == 0) {
    throw UsageError("--delta: '" + text + "' is smaller than the smallest one kept, 0.000000000000000001");
  }
  return value;
}

Rational epsilon_argument(const std::string& text) {
  return checked_epsilon(number_argument(text, "--epsilon"), text);
}

Rational delta_argument(const std::string& text) {
  return checked_delta(number_argument(text, "--delta"), text);
}

std::vector<Rational> alpha_arguments(const std::vector<std::string>& texts) {
  if (texts.empty()) return {Rational(1, 20)};
  std::vector<Rational> alphas;
  for (const std::string& text : texts) alphas.push_back(probability_argument(text, "--alpha"));
  return alphas;
}

Rational single_alpha_argument(const std::vector<std::string>& texts) {
  if (texts.size() != 1) throw UsageError("--alpha: only once here");
  return probability_argument(texts.front(), "--alpha");
}

std::int64_t whole_number_argument(const std::string& text, const std::string& option, std::int64_t most,
                                   std::int64_t least) {
  const bool digits = !text.empty() && text.size() <= 18 &&
                      std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  const std::int64_t value = digits ? std::stoll(text) : 0;
  if (!digits || value < least || value > most) {
    throw UsageError(option + ": '" + text.substr(0, 60) + "' must be a whole number from " +
                     std::to_string(least) + " to " + std::to_string(most));
  }
  return value;
}

std::int64_t count_argument(const std::string& text) {
  return whole_number_argument(text, "--count", 1'000'000'000'000'000);
}

}  // namespace epsilog::command
