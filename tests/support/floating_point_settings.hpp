// Floating point as some other library in the process may have left it.
#pragma once

#include <cfenv>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "support/catch.hpp"

namespace epsilog::test {

struct FloatingPointSetting {
  std::string name;
  int rounding = FE_TONEAREST;
  bool flush = false;      ///< subnormal numbers to zero, read or computed: what -ffast-math sets at start
  bool short_x87 = false;  ///< 24-bit significands in long double: what graphics libraries set
};

inline std::vector<FloatingPointSetting> floating_point_settings() {
  std::vector<FloatingPointSetting> settings;
  for (const auto& [name, rounding] : {std::pair("to nearest", FE_TONEAREST), std::pair("up", FE_UPWARD),
                                       std::pair("down", FE_DOWNWARD), std::pair("to zero", FE_TOWARDZERO)}) {
    settings.push_back({name, rounding});
#if defined(__x86_64__)
    settings.push_back({std::string(name) + ", flushing", rounding, true});
#endif
  }
#if defined(__x86_64__)
  settings.push_back({"24 bits on the x87", FE_TONEAREST, false, true});
#endif
  return settings;
}

/// What a caller can tell of it.
struct FloatingPointState {
  int rounding = std::fegetround();
  int raised = std::fetestexcept(FE_ALL_EXCEPT);
#if defined(__x86_64__)
  unsigned mxcsr = _mm_getcsr();
  std::uint16_t x87 = x87_control();

  static std::uint16_t x87_control() {
    std::uint16_t control = 0;
    asm volatile("fnstcw %0" : "=m"(control));
    return control;
  }
#endif
  friend bool operator==(const FloatingPointState&, const FloatingPointState&) = default;

  /// The same, but that exceptions may be on record that were not: hash tables of the library raise some.
  [[nodiscard]] bool leads_to(FloatingPointState after) const {
    if ((after.raised & raised) != raised) return false;
    after.raised = raised;
#if defined(__x86_64__)
    after.mxcsr = (after.mxcsr & ~0x3fU) | (mxcsr & 0x3fU);
#endif
    return after == *this;
  }
};

/// While alive, floating point is set so; an exception is on record, which nobody may forget.
class SetFloatingPoint final {
 public:
  explicit SetFloatingPoint(const FloatingPointSetting& setting) {
    std::fegetenv(&saved_);
    std::fesetround(setting.rounding);
    std::feclearexcept(FE_ALL_EXCEPT);
    std::feraiseexcept(FE_DIVBYZERO);
#if defined(__x86_64__)
    if (setting.flush) _mm_setcsr(_mm_getcsr() | 0x8040U);
    if (setting.short_x87) {
      const auto control = static_cast<std::uint16_t>(FloatingPointState::x87_control() & ~0x300U);
      asm volatile("fldcw %0" : : "m"(control));
    }
#endif
  }
  ~SetFloatingPoint() {
    std::fesetenv(&saved_);
  }
  SetFloatingPoint(const SetFloatingPoint&) = delete;
  SetFloatingPoint& operator=(const SetFloatingPoint&) = delete;

 private:
  std::fenv_t saved_;
};

/// What `work` gives with floating point so set; that it leaves the setting as it was is checked.
template <class Work>
auto with_floating_point(const FloatingPointSetting& setting, const Work& work) {
  FloatingPointState before;
  FloatingPointState after;
  const auto result = [&] {
    const SetFloatingPoint set(setting);
    before = FloatingPointState();
    auto found = work();
    after = FloatingPointState();
    return found;
  }();
  CHECK(before.leads_to(after));
  return result;
}

/// The text of `work` is the same whatever the setting.
template <class Work>
void check_everywhere(const std::string& what, const Work& work) {
  const std::string expected = work();
  CAPTURE(what, expected);
  for (const FloatingPointSetting& setting : floating_point_settings()) {
    CAPTURE(setting.name);
    CHECK(with_floating_point(setting, work) == expected);
  }
}

}  // namespace epsilog::test
