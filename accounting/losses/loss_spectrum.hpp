// The Fourier transform of a composed loss: products of powers, each value with the radius of a disc that is
// certain to hold it.
//
// Proof     accounting/proofs/privacy_loss_distribution.md, section 5.
// Thread-safety: distinct objects may be used concurrently.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace epsilog::accounting {

struct Complex {
  double re = 0;
  double im = 0;
};

[[nodiscard]] inline Complex operator*(const Complex& a, const Complex& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/// e^(2 pi i j / size), size a power of two, from two short tables.
class UnitRoots final {
 public:
  explicit UnitRoots(std::size_t size);

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Within kRootError of the root.
  /// Requires  j < size().
  [[nodiscard]] Complex at(std::size_t j) const noexcept {
    const std::size_t half = j & (size_ / 2 - 1);
    const Complex root = coarse_[half >> fine_bits_] * fine_[half & (fine_.size() - 1)];
    return half == j ? root : Complex{-root.re, -root.im};
  }

 private:
  std::size_t size_;
  int fine_bits_;
  std::vector<Complex> fine_;
  std::vector<Complex> coarse_;
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
  /// `count` independent losses, of which mass[i] is the tilted mass at (lowest + i) * stride steps.
  struct Law {
    std::vector<double> mass;
    std::int64_t lowest = 0;
    std::uint64_t stride = 1;
    std::uint64_t count = 1;
  };
  /// Requires  of each law: masses >= 0 with a sum of at most 1 + 2^-40, that reach over less than a period;
  ///           counts >= 1, at most 2^40 together.
  LossSpectrum(const UnitRoots& roots, const std::vector<Law>& laws);

  /// By rising frequency, those that are not in left_out().
  [[nodiscard]] const std::vector<std::pair<std::size_t, Disc>>& values() const noexcept { return values_; }
  /// At least the sum of the absolute values at all other frequencies.
  [[nodiscard]] double left_out() const noexcept { return left_out_; }
  /// The composed tilted masses at 0, ..., size - 1 steps, each with all that lie whole periods away: at most
  /// that.
  [[nodiscard]] std::vector<double> masses_down() const;

 private:
  /// Frequency by frequency, over those at which nothing can be left. False if that would take longer than
  /// transforms.
  [[nodiscard]] bool try_scan(const std::vector<Law>& laws);
  void run_transforms(const std::vector<Law>& laws);
  void keep(std::size_t frequency, const Disc& value);
  void leave_out(std::size_t frequencies) {
    left_out_ += static_cast<double>(frequencies) * kNegligibleRadius;
  }

  const UnitRoots& roots_;
  std::vector<std::pair<std::size_t, Disc>> values_;
  double left_out_ = 0;
};

}  // namespace epsilog::accounting
