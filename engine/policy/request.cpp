#include "epsilog/engine/request.hpp"

#include "epsilog/accounting/errors.hpp"

namespace epsilog::engine {
namespace {

/// The least probability at which every mechanism can tell its accuracy, as a power of two.
constexpr long kAlphaExponentMin = -16'384;

}  // namespace

void Alphas::add(const accounting::Exact& value) {
  if (value <= 0 || value >= 1) throw InvalidParameter("alpha: must lie strictly between 0 and 1");
  if (value < accounting::power_of_two(kAlphaExponentMin)) {
    throw InvalidParameter("alpha: is below the smallest probability an accuracy is told at, 2^-16384");
  }
  values_.push_back(value);
}

}  // namespace epsilog::engine
