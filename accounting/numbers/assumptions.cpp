// What the proofs assume about the platform, checked when it is compiled.
#include <cfloat>
#include <climits>
#include <cstdint>
#include <limits>

#if defined(__FAST_MATH__)
#error "epsilog's proofs need IEEE 754 semantics: do not compile with -ffast-math"
#endif

static_assert(std::numeric_limits<double>::is_iec559 && std::numeric_limits<double>::digits == 53,
              "double must be IEEE 754 binary64");
static_assert(FLT_EVAL_METHOD == 0, "double operations must round to double");
static_assert(CHAR_BIT == 8 && sizeof(long) == sizeof(std::int64_t),
              "GMP's long interface must carry 64 bits");
