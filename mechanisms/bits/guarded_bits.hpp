// A caller's bit source, which is anybody's code: whatever it does to floating point or to MPFR's exponents
// does not reach the draw that asked it.
#pragma once

#include "epsilog/accounting/mpfr_number.hpp"
#include "epsilog/mechanisms/bit_source.hpp"

namespace epsilog::mechanisms {

class GuardedBits final : public BitSource {
 public:
  /// Requires  `source` outlives it.
  explicit GuardedBits(BitSource& source) : source_(source) {}
  void fill(std::span<std::byte> bytes) override {
    const accounting::ExponentRange range;
    source_.fill(bytes);
  }

 private:
  BitSource& source_;
};

}  // namespace epsilog::mechanisms
