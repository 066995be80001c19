// Floating point as a program finds it when it starts, whatever the process did to it since.
//
// Why it exists  A library linked with -ffast-math flushes subnormal numbers to zero in the whole thread,
//                others round towards zero, compute in single precision or trap. Bounds here are
//                proved for any rounding, but which bound is found depends on it, and so would
//                certified digits; and where subnormals vanish, a search for the next number need
//                not end.
// Where          Every function that reads or computes a double holds one while it does. Whoever holds an
//                ExponentRange does (mpfr_number.hpp).
// Thread-safety: floating point is set per thread; one owner.
#pragma once

#include <cfenv>

namespace epsilog::accounting {

/// While alive, floating point on this thread rounds to nearest, knows subnormal numbers, has its full
/// precision and traps on nothing.
/// Ensures  when it goes: control and status as they were, the exceptions raised meanwhile forgotten.
class DefaultFloatingPoint final {
 public:
  DefaultFloatingPoint() noexcept;
  ~DefaultFloatingPoint();
  DefaultFloatingPoint(const DefaultFloatingPoint&) = delete;
  DefaultFloatingPoint& operator=(const DefaultFloatingPoint&) = delete;

 private:
  bool changed_;
  int raised_ = 0;     ///< exceptions raised before; of a default environment
  std::fenv_t saved_;  ///< of any other
};

}  // namespace epsilog::accounting
