// The law of a total loss on a grid, in binary64 with a bound of its rounding.
#include <algorithm>
#include <cmath>

#include "epsilog/accounting/certified_crossing.hpp"
#include "epsilog/accounting/stopping.hpp"
#include "response_law.hpp"

namespace epsilog::accounting {
namespace {

constexpr std::size_t kCellsMax = 1 << 14;
constexpr std::size_t kCellsMin = 1 << 8;
constexpr double kStepsMax = 1.2e9;
constexpr unsigned kAtomBits = 160;
constexpr double kSpread = 28;  ///< standard deviations that a group is taken to spread over

/// The part of the law that is kept, with losses (first + i) step, i < cells.
struct Grid {
  Rational step;
  long first = 0;
  std::size_t cells = 0;
};

/// What one group adds to the loss: probabilities, each at most rounded up, of a number of steps.
struct Kernel {
  std::vector<std::pair<long, double>> terms;
  MpfrNumber rest{kAtomBits};
};

struct Moments {
  double total = 0;
  double mean = 0;
  double squares = 0;
};

Moments moments_of(std::span<const LossGroup> groups) {
  Moments moments;
  for (const LossGroup& group : groups) {
    const double epsilon = group.epsilon.get_d();
    const auto count = static_cast<double>(group.count);
    moments.total += count * epsilon;
    moments.mean += count * epsilon * std::tanh(epsilon / 2);
    moments.squares += count * epsilon * epsilon;
  }
  return moments;
}

Rational common_divisor(std::span<const LossGroup> groups) {
  Integer numerator = 0;
  Integer denominator = 1;
  for (const LossGroup& group : groups) {
    mpz_lcm(denominator.get_mpz_t(), denominator.get_mpz_t(), group.epsilon.get_den_mpz_t());
    if (mpz_sizeinbase(denominator.get_mpz_t(), 2) > 4096) return 0;
  }
  for (const LossGroup& group : groups) {
    const Rational scaled = group.epsilon * denominator;
    mpz_gcd(numerator.get_mpz_t(), numerator.get_mpz_t(), scaled.get_num_mpz_t());
  }
  Rational divisor(numerator, denominator);
  divisor.canonicalize();
  return divisor;
}

std::size_t affordable_cells(std::span<const LossGroup> groups, double width) {
  for (std::size_t cells = kCellsMax; cells > kCellsMin; cells /= 2) {
    const double step = width / static_cast<double>(cells);
    double steps = 0;
    for (const LossGroup& group : groups) {
      const double epsilon = group.epsilon.get_d();
      const auto count = static_cast<double>(group.count);
      const double spread = std::min(2 * count, kSpread * std::sqrt(count)) * epsilon;
      steps += static_cast<double>(cells) * std::min(2 * (count + 1), spread / step + 2);
    }
    if (steps <= kStepsMax) return cells;
  }
  return kCellsMin;
}

/// Any window gives a bound, since what leaves it is charged in full: this one loses little (Hoeffding).
Grid grid_for(std::span<const LossGroup> groups, const GridPurpose& purpose) {
  const Moments moments = moments_of(groups);
  const double reach = std::sqrt(2 * moments.squares * (purpose.log_of_inverse_delta + 34));
  const double top = std::min(
      moments.total, std::max(moments.mean + reach, purpose.epsilon + 10 * std::sqrt(moments.squares)));
  const double bottom = -std::min(moments.total, 9 * std::sqrt(moments.squares));
  const std::size_t cells = affordable_cells(groups, top - bottom);
  const Rational divisor = common_divisor(groups);
  const bool on_divisor = divisor > 0 && (top - bottom) / divisor.get_d() <= 2 * static_cast<double>(cells);
  Grid grid;
  grid.step = on_divisor ? divisor : Rational((top - bottom) / static_cast<double>(cells));
  const Integer first = floor(Rational(Rational(bottom) / grid.step));
  const Integer last = ceil(Rational(Rational(top) / grid.step));
  grid.first = first.get_si();
  grid.cells = static_cast<std::size_t>(last.get_si() - grid.first + 1);
  return grid;
}

double double_up(const Enclosure& value) {
  return mpfr_get_d(value.high().get(), MPFR_RNDU);
}

/// Each atom split onto its two neighbours on the grid so that P and Q stay: section 5.
Kernel kernel_of(const LossGroup& group, const Rational& step) {
  EqualResponses law =
      equal_response_atoms(group,
                           {-(group.epsilon * Rational(Integer(static_cast<unsigned long>(group.count)))) - 1,
                            power_of_two(-600), false},
                           kAtomBits);
  Kernel kernel;
  kernel.rest = law.rest;
  const Enclosure one(1UL, kAtomBits);
  const Enclosure whole = one - exp(Enclosure(-step, kAtomBits));
  std::vector<std::pair<long, Enclosure>> cells;
  const auto add = [&](long cell, const Enclosure& p) {
    for (std::size_t back = cells.size(); back > 0 && back + 3 > cells.size(); --back) {
      if (cells[back - 1].first != cell) continue;
      cells[back - 1].second += p;
      return;
    }
    cells.emplace_back(cell, p);
  };
  for (const LossLaw::Atom& atom : law.atoms) {
    const Integer below = floor(Rational(atom.loss / step));
    const Rational over = atom.loss - below * step;
    if (over > 0) {
      const Enclosure upper = (one - exp(Enclosure(-over, kAtomBits))) / whole;
      add(below.get_si() + 1, atom.p * upper);
      add(below.get_si(), atom.p * (one - upper));
    } else {
      add(below.get_si(), atom.p);
    }
  }
  for (const auto& [cell, p] : cells) kernel.terms.emplace_back(cell, double_up(p));
  return kernel;
}

class GridSum final {
 public:
  explicit GridSum(const Grid& grid) : grid_(grid), weights_(grid.cells), next_(grid.cells) {
    low_ = high_ = static_cast<std::size_t>(-grid.first);
    weights_[low_] = 1;
  }

  void add(const Kernel& kernel) {
    std::fill(next_.begin(), next_.end(), 0.0);
    const long last = static_cast<long>(grid_.cells) - 1;
    std::size_t ends = 0;
    double lost = 0;
    long new_low = last;
    long new_high = 0;
    for (const auto& [shift, p] : kernel.terms) {
      stop_if_requested();
      long i = static_cast<long>(low_);
      const long end = static_cast<long>(high_);
      new_low = std::min(new_low, std::clamp(i + shift, 0L, last));
      new_high = std::max(new_high, std::clamp(end + shift, 0L, last));
      // Below the window: raised to its lowest loss.
      for (; i <= end && i + shift < 0; ++i, ++ends) next_[0] += p * weights_[static_cast<std::size_t>(i)];
      const long inside = std::min(end, last - shift);
      for (; i <= inside; ++i) {
        next_[static_cast<std::size_t>(i + shift)] += p * weights_[static_cast<std::size_t>(i)];
      }
      // Above it: all lost.
      for (i = std::max(i, static_cast<long>(low_)); i <= end; ++i, ++ends) {
        lost += p * weights_[static_cast<std::size_t>(i)];
      }
    }
    beyond_ += lost;
    roundings_ += static_cast<double>(kernel.terms.size() + ends + 4);
    low_ = static_cast<std::size_t>(new_low);
    high_ = static_cast<std::size_t>(new_high);
    weights_.swap(next_);
  }

  [[nodiscard]] const std::vector<double>& weights() const noexcept { return weights_; }
  [[nodiscard]] double beyond() const noexcept { return beyond_; }
  /// Every number is at least the real one divided by this: section 5.
  [[nodiscard]] Rational rounding_factor() const { return 1 + Rational(roundings_) * power_of_two(-51); }

 private:
  Grid grid_;
  std::vector<double> weights_;
  std::vector<double> next_;
  std::size_t low_ = 0;
  std::size_t high_ = 0;
  double beyond_ = 0;
  double roundings_ = 0;
};

}  // namespace

LossLaw grid_law(std::span<const LossGroup> groups, const GridPurpose& purpose, unsigned bits) {
  const Grid grid = grid_for(groups, purpose);
  GridSum sum(grid);
  MpfrNumber rest =
      MpfrNumber::rounded(power_of_two(-900), bits, MPFR_RNDU);  // of numbers below the normal range
  for (const LossGroup& group : groups) {
    const Kernel kernel = kernel_of(group, grid.step);
    sum.add(kernel);
    mpfr_add(rest.get(), rest.get(), kernel.rest.get(), MPFR_RNDU);
  }
  const Enclosure factor(sum.rounding_factor(), bits);
  mpfr_add(rest.get(), rest.get(), (Enclosure(Rational(sum.beyond()), bits) * factor).high().get(),
           MPFR_RNDU);
  std::vector<LossLaw::Atom> atoms;
  const Enclosure raise = exp(Enclosure(grid.step, bits));
  Enclosure odds = exp(Enclosure(-grid.step * (grid.first + static_cast<long>(grid.cells)), bits));
  for (std::size_t i = grid.cells; i-- > 0;) {
    odds *= raise;
    if (sum.weights()[i] == 0) continue;
    // The bound as such is an exact number.
    const Rational weight = Rational(sum.weights()[i]) * sum.rounding_factor();
    const Enclosure p(weight, bits);
    atoms.push_back({grid.step * (grid.first + static_cast<long>(i)), p, p * odds});
  }
  return {std::move(atoms), std::move(rest), bits};
}

}  // namespace epsilog::accounting
