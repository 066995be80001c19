// A privacy filter: may this loss still be granted under a fixed budget?
//
// Source  Rogers et al. 2016 (see composition.hpp): under sequential composition the filter that
//         halts when the sum would pass the budget is valid for adaptively chosen losses.
// Exact integer comparison on the measure's grid; no tolerance anywhere.
// Thread-safety: values.
#pragma once

#include <cstdint>

namespace epsilog::accounting {

/// One account, in grid units of its measure.
/// Invariant  0 <= spent, 0 <= reserved, spent + reserved <= limit <= 2^61 (guarantee G2).
struct Balance {
  std::int64_t limit = 0;
  std::int64_t spent = 0;
  std::int64_t reserved = 0;

  [[nodiscard]] bool valid() const noexcept;
  /// limit - spent - reserved.
  /// Requires  valid().
  [[nodiscard]] std::int64_t remaining() const noexcept;
};

/// What the filter says of one ask, with the figures a refusal must show.
struct FilterVerdict {
  bool granted = false;
  std::int64_t over_by = 0;  ///< asked - remaining when refused, else 0
  std::int64_t fits = 0;     ///< the largest ask that would pass now
};

/// Requires  balance.valid(), 0 <= asked <= 2^61.
[[nodiscard]] FilterVerdict filter(const Balance& balance, std::int64_t requested) noexcept;

}  // namespace epsilog::accounting
