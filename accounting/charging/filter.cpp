#include "epsilog/accounting/filter.hpp"

#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/quantity.hpp"

namespace epsilog::accounting {

bool Balance::valid() const noexcept {
  return limit >= 0 && limit <= kUnitsMax && spent >= 0 && reserved >= 0 && spent <= limit &&
         reserved <= limit - spent;
}

std::int64_t Balance::remaining() const noexcept {
  EPSILOG_INVARIANT(valid());
  return limit - spent - reserved;
}

FilterVerdict filter(const Balance& balance, std::int64_t requested) noexcept {
  EPSILOG_INVARIANT(requested >= 0 && requested <= kUnitsMax);
  const std::int64_t remaining = balance.remaining();
  if (requested <= remaining) return {.granted = true, .over_by = 0, .fits = remaining};
  return {.granted = false, .over_by = requested - remaining, .fits = remaining};
}

}  // namespace epsilog::accounting
