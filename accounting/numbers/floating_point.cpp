#include "epsilog/accounting/floating_point.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

#include <cstdint>
#endif

namespace epsilog::accounting {
namespace {

#if defined(__x86_64__)

// A process starts with these (System V ABI, AMD64, 3.2.1): round to nearest, all exceptions masked, 64-bit
// significands on the x87, subnormals neither flushed nor read as zero.
constexpr std::uint32_t kMxcsr = 0x1f80;
constexpr std::uint32_t kMxcsrStatus = 0x3f;
constexpr std::uint16_t kX87Control = 0x037f;
constexpr std::uint16_t kX87ControlReserved = 0x1040;  ///< read as they like

/// Two registers are read in a few cycles; the whole environment takes hundreds.
bool is_default() noexcept {
  std::uint16_t x87 = 0;
  asm volatile("fnstcw %0" : "=m"(x87));
  return (_mm_getcsr() & ~kMxcsrStatus) == kMxcsr &&
         ((x87 ^ kX87Control) & ~std::uint32_t{kX87ControlReserved}) == 0;
}

void set_default() noexcept {
  std::fesetenv(FE_DFL_ENV);
  _mm_setcsr(kMxcsr);  // not every C library resets the flushing of subnormals
}

#else

bool is_default() noexcept {
  return false;
}

void set_default() noexcept {
  std::fesetenv(FE_DFL_ENV);
}

#endif

}  // namespace

DefaultFloatingPoint::DefaultFloatingPoint() noexcept : changed_(!is_default()) {
  if (changed_) {
    std::fegetenv(&saved_);
    set_default();
  } else {
    raised_ = std::fetestexcept(FE_ALL_EXCEPT);
  }
}

DefaultFloatingPoint::~DefaultFloatingPoint() {
  // What was called meanwhile may have changed it again: a source of random bits, a function told of
  // progress.
  if (changed_) {
    std::fesetenv(&saved_);
    return;
  }
  if (!is_default()) {
    set_default();
    if (raised_ != 0) std::feraiseexcept(raised_);
    return;
  }
  const int raised = std::fetestexcept(FE_ALL_EXCEPT) & ~raised_;
  if (raised != 0) std::feclearexcept(raised);
}

}  // namespace epsilog::accounting
