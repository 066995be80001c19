#include "recorded_numbers.hpp"

#include <utility>

#include "epsilog/accounting/stored_rational.hpp"

namespace epsilog::ledger {
namespace {

constexpr std::size_t kNumbersMax = 4'096;
constexpr std::size_t kCharactersMax = 1'024;

}  // namespace

const accounting::Rational& RecordedNumbers::rational(std::string_view text, std::string_view what) {
  const auto found = known_.find(text);
  if (found != known_.end()) return found->second;
  accounting::Rational number = accounting::parse_canonical_rational(text, what);
  if (text.size() > kCharactersMax) return other_ = std::move(number);
  if (known_.size() >= kNumbersMax) known_.clear();
  return known_.emplace(text, std::move(number)).first->second;
}

}  // namespace epsilog::ledger
