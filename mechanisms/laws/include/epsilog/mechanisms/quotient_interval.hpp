// Which quotients of two answers their releases leave plausible, and how far a quotient of releases is from
// that of the answers.
//
// Law      S and N >= 1 are answers, S~ and N~ their releases, E their errors. theta = S/N is excluded where
//          |S~ - theta N~| = |E_S - theta E_N| exceeds what it exceeds with probability alpha at most,
//          whatever S and N are; what is left, as a hull within the public range, is the interval
//          (Fieller's).
// Covers   Whatever S and N are, with probability at least 1 - alpha.
// Proof    mechanisms/proofs/quotients.md.
// Rounds   Outward.
// Thread-safety: immutable.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "epsilog/mechanisms/answer_interval.hpp"
#include "epsilog/mechanisms/answer_noise.hpp"

namespace epsilog::mechanisms {

/// One of the two releases, drawn independently of the other.
struct QuotientPart {
  AnswerNoise noise;
  /// Its error exceeds this with probability 1 - (1 - alpha)^(1/2) at most.
  Rational accuracy;
};

/// At one alpha. What all releases have in common is computed once.
class QuotientIntervals final {
 public:
  /// Requires  0 < alpha < 1; reach > 0: no quotient asked about is farther from 0.
  QuotientIntervals(const QuotientPart& dividend, const QuotientPart& divisor, const Rational& reach,
                    const Rational& alpha);

  /// The hull of the quotients in `within` that the two releases leave; nothing if they leave none.
  /// Requires  |within| <= reach.
  [[nodiscard]] std::optional<AnswerInterval> of(const Rational& dividend, const Rational& divisor,
                                                 const AnswerInterval& within) const;
  /// A q with P(|E_S - theta E_N| > q) <= alpha for every |theta| <= reach.
  [[nodiscard]] const Rational& largest() const noexcept { return pieces_.back().most; }

 private:
  /// For from <= |theta| <= to, P(|E_S - theta E_N| > constant + slope |theta|) <= alpha.
  struct Piece {
    Rational from;
    Rational to;
    Rational constant;
    Rational slope;
    Rational most;  ///< of this and all pieces before it
  };

  /// The greatest quotient that is left.
  [[nodiscard]] std::optional<Rational> greatest(const Rational& dividend, const Rational& divisor,
                                                 const AnswerInterval& within) const;
  /// The one nearest to or farthest from 0 of those above 0, by pieces first to last - 1.
  [[nodiscard]] std::optional<Rational> search_extreme(std::size_t first, std::size_t last, bool farthest,
                                                       const Rational& dividend, const Rational& divisor,
                                                       const AnswerInterval& within) const;

  std::vector<Piece> pieces_;
};

/// An a such that, for N = rows and every S with |S/N| <= reach, S~ / max(N~, 1), clamped to the range of
/// S/N, is within a of it except with probability alpha.
/// Requires  reach > 0, rows >= 1, 0 < alpha < 1.
[[nodiscard]] Rational quotient_accuracy_up(const QuotientPart& dividend, const QuotientPart& divisor,
                                            const Rational& reach, const Rational& rows,
                                            const Rational& alpha);

}  // namespace epsilog::mechanisms
