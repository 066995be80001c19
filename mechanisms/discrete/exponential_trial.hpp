// Events of probability exactly e^-x for rational x, decided by comparing a uniform real number, of
// which only as many bits are drawn as the comparison needs, with e^-x. Integers only.
//
// Source   The event itself: Canonne, Kamath, Steinke, "The Discrete Gaussian for Differential
//          Privacy", algorithm 1. They build it from up to unboundedly many Bernoulli(x/k) trials,
//          whose number tells x; here the first word of the uniform decides except with
//          probability 2^-64, in work that does not depend on x.
// Proof    mechanisms/proofs/discrete_mechanisms.md, steps 1 and 2.
// Rule     For n bits drawn, w the integer they form and T = floor(2^n e^-x): w < T happens, w > T does
//          not, w = T draws another word. Which arithmetic finds T never changes which bits are read.
// Thread-safety: pure functions.
#pragma once

#include <cstdint>

#include "random_words.hpp"
#include "wiped_bytes.hpp"

namespace epsilog::mechanisms {

/// result = floor(2^bits * e^(-numerator / denominator)), exactly: integer enclosures, refined until
/// both ends have the same floor. e^-x is irrational for rational x > 0, so that happens.
/// Requires  numerator >= 0, denominator > 0, bits >= 1.
void floor_scaled_exp_minus(mpz_ptr result, mpz_srcptr numerator, mpz_srcptr denominator, unsigned bits);

/// floor(2^63 e^-k) for k = 0, 1, … up to the first that is zero, k = 44.
inline constexpr unsigned kExpTableLast = 44;
[[nodiscard]] std::uint64_t exp_minus_integer(unsigned k) noexcept;

/// An approximation a of 2^61 e^-(whole + fraction / 2^64) with |8 a - 2^64 e^-(…)| <= kApproximationError,
/// in a fixed number of machine instructions (table look-ups at `whole` and the top of `fraction`).
inline constexpr std::int64_t kApproximationError = 32;
[[nodiscard]] std::uint64_t approximate_exp_minus(std::uint64_t whole, std::uint64_t fraction) noexcept;

/// How the first word of a uniform compares with T.
enum class Comparison { below, above, undecided };

/// Decides from any value within `error` of 2^64 e^-x, given as an eighth of it, where that suffices.
/// Requires  word < 2^bits, error < 2^60.
[[nodiscard]] Comparison compare_with_approximation(std::uint64_t word, unsigned bits,
                                                    std::uint64_t approximation, std::int64_t error) noexcept;

/// Whether the uniform real starting with `first_word` lies below e^(-numerator / denominator). Exact.
/// Requires  as floor_scaled_exp_minus; first_word has words.bits() bits.
/// Throws    EntropyUnavailable.
[[nodiscard]] bool below_exp_minus(std::uint64_t first_word, mpz_srcptr numerator, mpz_srcptr denominator,
                                   RandomWords& words);

/// How many k >= 1 have e^-k above the uniform real starting with the `first_bits` bits of `first`:
/// a geometric number, P(V >= k) = e^-k exactly. Compares with the whole table, whatever the value.
/// Requires  1 <= first_bits <= 63, first < 2^first_bits.
/// Throws    EntropyUnavailable.
[[nodiscard]] std::uint64_t geometric_of_e(std::uint64_t first, unsigned first_bits, RandomWords& words);

}  // namespace epsilog::mechanisms
