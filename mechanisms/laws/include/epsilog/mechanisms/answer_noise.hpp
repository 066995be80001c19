// How far a release can be from its answer, as what is made of two of them needs to know it.
// Proof    mechanisms/proofs/quotients.md, "Noise".
// Thread-safety: values.
#pragma once

#include "epsilog/accounting/rational.hpp"

namespace epsilog::mechanisms {

using accounting::Rational;

/// Whatever the answer is, the release less the answer is at most `rounding` from noise Z of this law that
/// was brought nearer to 0, or not at all; or has at most 1/share times the probability of that, for any
/// event (any threshold, of snapped releases).
struct AnswerNoise {
  enum class Law { laplace, gaussian };
  Law law = Law::laplace;
  Rational scale;     ///< of Z; its standard deviation if that is Gaussian
  Rational rounding;  ///< >= 0
  Rational step;      ///< of snapped releases: the grid, twice `rounding`; else 0
  Rational share;     ///< 0 < share <= 1
};

}  // namespace epsilog::mechanisms
