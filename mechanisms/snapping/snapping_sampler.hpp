// Draws many snapped values with the constants of one mechanism worked out once.
//
// Two tiers decide each value, from the same random bytes: machine integers (snapping_integers.hpp),
// and where those decline, the plain definition in MPFR (snapping_draw.hpp). Both give the same
// value, so which one spoke is seen in the time alone, at a rate below 2^-50 per value in the exact
// and in every mpfr arithmetic of 118 bits or more (proofs/snapping_fast.md).
//
// Bytes    attempt_bytes(p) for each answer, in order, whatever the values; more are read only for
//          an exponent block of zeros or an undecided exact draw.
// Thread-safety: immutable; draw() may run concurrently if the bit sources may.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "epsilog/mechanisms/bit_source.hpp"
#include "epsilog/mechanisms/snapping_parameters.hpp"
#include "snapping_draw.hpp"
#include "snapping_integers.hpp"

namespace epsilog::mechanisms {

/// Which tiers may speak: for tests that hold one against the other.
enum class SnappingTiers { all, mpfr_only };

class SnappingSampler final {
 public:
  using Integers = SnappingIntegers<std::uint64_t>;
  using Position = GridPosition<std::uint64_t>;

  /// `lower`, `upper`: the public range answers are clamped to.
  /// `timidity`: see SnappingIntegers.
  SnappingSampler(const SnappingParameters& parameters, const Rational& lower, const Rational& upper,
                  SnappingTiers tiers = SnappingTiers::all, std::uint64_t timidity = 0);

  /// Appends one release for each answer.
  /// Throws  EntropyUnavailable.
  void draw(std::span<const Rational> answers, BitSource& bits, std::vector<Rational>& releases) const;

  /// Bytes read for each answer.
  [[nodiscard]] std::size_t bytes_per_answer() const noexcept {
    return significand_bytes_ + kExponentBytes + 1;
  }

  /// Where a clamped answer lies relative to the centre; none if the first tier is not in use.
  [[nodiscard]] std::optional<Position> position(const Rational& clamped) const;
  /// The first tier alone.
  [[nodiscard]] IntegerVerdict decide(const Position& position, const std::byte* attempt) const noexcept;

 private:
  [[nodiscard]] const Rational& clamped(const Rational& answer) const;
  void append_release(std::int64_t multiple, std::vector<Rational>& releases) const;
  [[nodiscard]] Rational draw_with_mpfr(const Rational& clamped, std::span<const std::byte> attempt,
                                        BitSource& bits) const;

  Arithmetic arithmetic_;
  unsigned precision_;
  Rational lambda_;
  Rational grid_;
  Rational centre_;
  Rational bound_;
  MpfrNumber lambda_mpfr_;
  Rational low_;  ///< clamping to [low_, high_] is clamping to the range, then to centre -+ bound
  Rational high_;
  std::size_t significand_bytes_;
  std::uint64_t fraction_mask_;  ///< the leading bits of the significand that U* has

  std::optional<Integers> integers_;  ///< none when lengths do not fit machine integers
  long grid_exponent_;
  std::int64_t centre_steps_ = 0;  ///< centre / Lambda
  std::int64_t inner_steps_ = 0;   ///< floor(B / Lambda): multiples beyond it are clamped to +-B
};

}  // namespace epsilog::mechanisms
