// The Fourier transform of a composed loss: products of powers, each value with the radius of a disc that is
// certain to hold it.
//
// Proof     accounting/proofs/privacy_loss_distribution.md, section 5.
// Thread-safety: distinct objects may be used concurrently.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace epsilog::accounting {

struct Complex {
  double re = 0;
  double im = 0;
};

[[nodiscard]] inline Complex operator*(const Complex& a, const Complex& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/// e^(2 pi i j / size), size a power of two.
class UnitRoots final {
 public:
  explicit UnitRoots(std::size_t size);

  [[nodiscard]] std::size_t size() const noexcept { return half_.size() * 2; }
  /// Within kRootError of the root.
  /// Requires  j < size().
  [[nodiscard]] Complex at(std::size_t j) const noexcept {
    if (j < half_.size()) return half_[j];
    const Complex& opposite = half_[j - half_.size()];
    return {-opposite.re, -opposite.im};
  }

 private:
  std::vector<Complex> half_;
};

/// Distances are in doubles' terms 2^-52, twice the unit of rounding to nearest: the bounds hold in any
/// rounding mode.
inline constexpr double kUnit = 0x1p-52;
inline constexpr double kRootError = 5 * kUnit;

/// Values certain to be smaller than this are kept as this disc around 0.
inline constexpr double kNegligibleRadius = 0x1p-198;

/// A disc of the complex plane.
struct Disc {
  Complex centre;
  double radius = 0;
};

/// The spectrum of a composition, frequencies 0 to size/2; the others are conjugates.
class LossSpectrum final {
 public:
  /// Of no law at all: 1 everywhere.
  explicit LossSpectrum(const UnitRoots& roots);

  /// Takes `count` independent losses more, of which mass[i] is the tilted mass at (lowest + i) steps.
  /// Requires  masses >= 0 with a sum of at most 1 + 2^-40; count >= 1.
  void compose(const std::vector<double>& mass, std::int64_t lowest, std::uint64_t count);

  [[nodiscard]] const std::vector<Disc>& values() const noexcept { return values_; }
  /// The composed tilted masses at 0, ..., size - 1 steps, each with all that lie whole periods away: at most
  /// that.
  [[nodiscard]] std::vector<double> masses_down() const;

 private:
  const UnitRoots* roots_;
  std::vector<Disc> values_;
  std::vector<Complex> work_;
};

}  // namespace epsilog::accounting
