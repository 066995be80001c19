#include "epsilog/accounting/fixed_draws.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "epsilog/accounting/composition.hpp"
#include "epsilog/accounting/errors.hpp"

namespace epsilog::accounting {
namespace {

/// So many digits of a bound are kept, rounded up. Which bound is found depends on estimates of the library
/// of mathematics: the search for it ends within 2^-32 of a crossing, and not at the same place on every
/// system. What is recorded is expected digit for digit by whoever audits.
constexpr int kDigitsKept = 6;

/// On the grid, of a bound that is not above `most`; nothing of another.
std::optional<Epsilon> on_grid_up(const std::optional<Rational>& bound, Epsilon most) {
  if (!bound || *bound > most.rational()) return std::nullopt;
  const Integer units = ceil(*bound * power_of_ten(EpsilonMeasure::decimals));
  Integer step = 1;
  for (Integer above = power_of_ten(kDigitsKept).get_num(); above <= units; above *= 10) step *= 10;
  const Integer rounded = ceil(Rational(units) / Rational(step)) * step;
  const Epsilon least = Epsilon::from_units(1);
  if (rounded > Integer(most.units())) return std::nullopt;
  return std::max(least, Epsilon::from_units(rounded.get_si()));
}

/// Continuous noise stands for noise on a grid while what that costs is below this part of the loss.
constexpr long kFineGridShare = 1'000;
/// So many steps of the scale of discrete Gaussian noise take as long as another law.
constexpr std::size_t kStepsOfALaw = 16;

/// What is composed in its place: valid too, and quicker.
KnownLoss quick_substitute(KnownLoss loss) {
  if (!loss.law || loss.law->kind != ComposedLaw::Kind::discrete_gaussian || !loss.guarantee) return loss;
  ComposedLaw fine = fine_grid_gaussian(loss.law->scale, loss.law->sensitivity, 1);
  if (fine.extra * kFineGridShare <= loss.guarantee->epsilon) loss.law = std::move(fine);
  return loss;
}

/// As how many laws it counts, at most one more than there may be.
std::size_t weight(const KnownLoss& loss) {
  if (!loss.law || loss.law->kind != ComposedLaw::Kind::discrete_gaussian) return 1;
  constexpr std::size_t kMost = FixedDraws::kPldLawsMax;
  if (loss.law->scale >= Rational(static_cast<unsigned long>(kMost * kStepsOfALaw))) return kMost + 1;
  return 1 + floor(loss.law->scale).get_ui() / kStepsOfALaw;
}

ApproximateLoss sum_of(std::span<const ApproximateLoss> draws) {
  return compose_sequential(draws);
}

}  // namespace

FixedDraws::FixedDraws(std::vector<KnownLoss> laws, std::vector<FixedDraw> draws, Delta delta)
    : draws_(std::move(draws)), delta_(delta) {
  for (KnownLoss& law : laws) laws_.push_back(quick_substitute(std::move(law)));
  if (draws_.empty()) throw InvalidParameter("fixed draws: there is no draw");
  if (delta_ == Delta() || delta_.rational() >= 1) {
    throw InvalidParameter("fixed draws: delta must lie strictly between 0 and 1");
  }
  Counts counts;
  std::vector<ApproximateLoss> losses;
  for (const FixedDraw& draw : draws_) {
    if (draw.law >= laws_.size()) throw InvalidParameter("fixed draws: a draw of no law");
    if (draw.charged.epsilon == Epsilon()) throw InvalidParameter("fixed draws: a draw without epsilon");
    const auto& guarantee = laws_[draw.law].guarantee;
    if (guarantee && (guarantee->epsilon > draw.charged.epsilon.rational() ||
                      guarantee->delta > draw.charged.delta.rational())) {
      throw InvalidParameter("fixed draws: a draw loses more than it is charged");
    }
    ++counts[draw.law];
    losses.push_back(draw.charged);
  }
  if (sum_of(losses).delta > delta_) {
    throw InvalidParameter("fixed draws: the draws lose more delta than " + delta_.text());
  }
  all_.emplace(compose(std::move(losses), counts, std::nullopt));
}

ComposedCharge FixedDraws::charge_of_part(std::span<const std::size_t> numbers) {
  if (numbers.empty()) throw InvalidParameter("fixed draws: there is no draw");
  Counts counts;
  std::vector<ApproximateLoss> losses;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const bool ascends = i == 0 || numbers[i - 1] < numbers[i];
    if (!ascends || numbers[i] >= draws_.size()) {
      throw InvalidParameter("fixed draws: the numbers of draws do not ascend, or there are no such");
    }
    ++counts[draws_[numbers[i]].law];
    losses.push_back(draws_[numbers[i]].charged);
  }
  return compose(std::move(losses), counts, Least{all_->charge().epsilon, all_->by()});
}

ComposedCharge FixedDraws::compose(std::vector<ApproximateLoss> draws, const Counts& counts,
                                   const std::optional<Least>& of_all) {
  const ApproximateLoss sum = sum_of(draws);
  Least found = least(counts, sum.epsilon);
  if (of_all && of_all->epsilon < found.epsilon) found = *of_all;
  return {{found.epsilon, delta_},
          found.by,
          sum,
          std::make_shared<const std::vector<ApproximateLoss>>(std::move(draws))};
}

FixedDraws::Least FixedDraws::least(const Counts& counts, Epsilon sum) {
  std::vector<KnownLoss> losses;
  for (const auto& [law, count] : counts) {
    losses.push_back(laws_[law]);
    losses.back().count = count;
  }
  Least found{sum, ComposedBy::sum};
  const auto offer = [&found](const std::optional<Epsilon>& bound, ComposedBy by) {
    if (bound && *bound < found.epsilon) found = {*bound, by};
  };
  offer(on_grid_up(composed_epsilon_up(Accountant::zcdp, losses, delta_.rational()), sum), ComposedBy::zcdp);
  offer(by_pld(counts, losses), ComposedBy::pld);
  return found;
}

std::optional<Epsilon> FixedDraws::by_pld(const Counts& counts, std::span<const KnownLoss> losses) {
  const auto known = pld_.find(counts);
  if (known != pld_.end()) return known->second;
  std::size_t laws = pld_laws_;
  for (const KnownLoss& loss : losses) laws += weight(loss);
  if (laws > kPldLawsMax) return std::nullopt;
  pld_laws_ = laws;
  const auto bound = on_grid_up(composed_epsilon_up(Accountant::pld, losses, delta_.rational()),
                                Epsilon::from_units(kUnitsMax));
  return pld_.emplace(counts, bound).first->second;
}

}  // namespace epsilog::accounting
