// From what is asked for to the numbers of a mechanism whose loss is proved.
#pragma once

#include "epsilog/mechanisms/snapping_parameters.hpp"

namespace epsilog::mechanisms {

/// The least precision `auto` chooses, and the most bits any release may use.
inline constexpr unsigned kPrecisionMin = 118;
inline constexpr unsigned kPrecisionMax = 4096;
inline constexpr unsigned kPrecisionBinary64 = 53;

/// The loss proved for one draw of every coordinate, nats:
/// D/lambda + m (18 B/lambda + 10) 2^-p, for B <= 2^(p-7) lambda.
/// Source  mechanisms/proofs/snapping.md.
[[nodiscard]] Rational proved_loss(const Rational& sensitivity, std::uint64_t coordinates,
                                   const Rational& lambda, const Rational& bound, unsigned precision);

/// The loss as published, summed over coordinates: D/lambda + m (12 B/lambda + 2) 2^-p.
/// Source  Mironov 2012, theorem 1, with B in units of lambda.
[[nodiscard]] Rational published_loss(const Rational& sensitivity, std::uint64_t coordinates,
                                      const Rational& lambda, const Rational& bound, unsigned precision);

/// Throws  InvalidParameter; see SnappingMechanism.
[[nodiscard]] SnappingParameters calibrate(const SnappingOptions& options);

}  // namespace epsilog::mechanisms
