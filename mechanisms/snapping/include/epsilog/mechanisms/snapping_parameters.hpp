// What a snapping mechanism is asked for, and the numbers it then has.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "epsilog/accounting/quantity.hpp"
#include "epsilog/accounting/rational.hpp"

namespace epsilog::mechanisms {

using accounting::Epsilon;
using accounting::Rational;

enum class Arithmetic { mpfr, exact };

/// Significand bits of the mpfr arithmetic.
struct Precision {
  unsigned bits = 0;  ///< 0: auto; 53: binary64; else >= 118
};

struct SnappingOptions {          // no defaults where a field is a privacy decision
  Epsilon epsilon;                ///< loss granted to one release of all coordinates, nats, > 0
  Rational sensitivity;           ///< largest L1 change of the answer by one unit, > 0
  std::uint64_t coordinates = 1;  ///< m: how many coordinates one unit can change, >= 1
  Rational lower;                 ///< public range of each coordinate, lower < upper;
  Rational upper;                 ///<   answers outside are clamped silently
  Arithmetic arithmetic = Arithmetic::mpfr;
  Precision precision = {};
  std::optional<Rational> bound = std::nullopt;  ///< half-width instead of the derived one, > 0
  /// 0 < beta < 1: widen the derived bound. Not together with `bound`.
  std::optional<Rational> binding_probability = std::nullopt;
  /// Public fact, if known: every answer is a multiple of this (1 for counts). It decides nothing
  /// but whether the published loss is a bound here, since that one supposes answers of p bits.
  std::optional<Rational> answer_step = std::nullopt;
};

/// Everything an outsider needs to check the claim. All public.
struct SnappingParameters {
  Arithmetic arithmetic = Arithmetic::mpfr;
  unsigned precision = 0;        ///< bits; 0 for exact
  std::string precision_reason;  ///< which condition of `auto` decided, or "declared"; "" for exact
  Rational sensitivity;
  std::uint64_t coordinates = 1;
  Rational scale;   ///< noise scale; dyadic for mpfr, D/eps for exact
  Rational grid;    ///< Lambda, a power of two
  Rational centre;  ///< public shift, a multiple of grid
  Rational bound;   ///< B: releases lie in [centre - B, centre + B]
  Epsilon charged;
  Rational adjusted;                  ///< proved loss, exact; <= charged
  std::optional<Rational> published;  ///< eps'(1 + 12(B/D)eta) + 2 eta per coordinate; none for exact
  std::string published_note;  ///< "" if `published` is a bound here, else why it is "not a bound here"
};

}  // namespace epsilog::mechanisms
