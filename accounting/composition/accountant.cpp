#include "epsilog/accounting/accountant.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "epsilog/accounting/advanced_composition.hpp"
#include "epsilog/accounting/certified_crossing.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/failure_probability.hpp"
#include "epsilog/accounting/optimal_composition.hpp"
#include "epsilog/accounting/privacy_loss_distribution.hpp"
#include "epsilog/accounting/renyi.hpp"
#include "epsilog/accounting/zcdp.hpp"

namespace epsilog::accounting {
namespace {

using Bound = std::optional<Rational>;
using Kind = ComposedLaw::Kind;

Rational count_of(const KnownLoss& loss) {
  return Integer(static_cast<unsigned long>(loss.count));
}

void require_losses(std::span<const KnownLoss> losses) {
  for (std::size_t i = 0; i < losses.size(); ++i) {
    if (losses[i].guarantee || losses[i].rho) continue;
    throw InvalidParameter("loss " + std::to_string(i + 1) + ": has neither a guarantee nor a rho");
  }
}

/// Empty when a loss has no single (epsilon, delta).
std::vector<LossGroup> groups_of(std::span<const KnownLoss> losses) {
  std::vector<LossGroup> groups;
  for (const KnownLoss& loss : losses) {
    if (!loss.guarantee) return {};
    groups.push_back({loss.guarantee->epsilon, loss.guarantee->delta, loss.count});
  }
  return groups;
}

bool is_pure(std::span<const LossGroup> groups) {
  return std::all_of(groups.begin(), groups.end(), [](const LossGroup& group) { return group.delta == 0; });
}

/// Of the losses that zcdp and rdp know by their epsilon.
Rational delta_beside(std::span<const KnownLoss> losses) {
  Rational sum;
  for (const KnownLoss& loss : losses) {
    if (!loss.rho) sum += count_of(loss) * loss.guarantee->delta;
  }
  return std::min(sum, Rational(1));
}

Rational total_rho(std::span<const KnownLoss> losses) {
  Rational sum;
  for (const KnownLoss& loss : losses) {
    sum += count_of(loss) * (loss.rho ? *loss.rho : zcdp_rho_of_pure(loss.guarantee->epsilon));
  }
  return sum;
}

ComposedLaw law_with_count(const KnownLoss& loss) {
  if (!loss.law) throw InvalidParameter("loss: its law is not known");
  ComposedLaw law = *loss.law;
  law.count = loss.count;
  return law;
}

/// What is known of a loss at an order by its rho and by the law of a pure mechanism: the smaller holds.
struct BoundedLoss {
  Rational rho;     ///< of all of that count
  ComposedLaw law;  ///< with the count
};

/// The divergence of all losses together.
RenyiDivergence total_divergence(std::span<const KnownLoss> losses) {
  std::vector<ComposedLaw> laws;
  std::vector<BoundedLoss> bounded;
  Rational rho;
  for (const KnownLoss& loss : losses) {
    if (!loss.rho) {
      laws.push_back(law_with_count(loss));
    } else if (loss.law && loss.law->kind == Kind::pure) {
      bounded.push_back({count_of(loss) * *loss.rho, law_with_count(loss)});
    } else {
      rho += count_of(loss) * *loss.rho;
    }
  }
  return [laws, bounded, rho](const Rational& order) {
    Rational sum = order * rho;
    for (const ComposedLaw& law : laws) sum += renyi_of_law_up(law, order);
    for (const BoundedLoss& loss : bounded) {
      sum += std::min(Rational(order * loss.rho), renyi_of_law_up(loss.law, order));
    }
    return MpfrNumber::rounded(sum, kResultBits, MPFR_RNDU).rational();
  };
}

std::vector<ComposedLaw> laws_of(std::span<const KnownLoss> losses) {
  std::vector<ComposedLaw> laws;
  for (const KnownLoss& loss : losses) laws.push_back(law_with_count(loss));
  return laws;
}

/// Of very many different losses the grid of the optimum is coarse, and may be above the closed forms.
Bound least_of(const Bound& a, const Bound& b) {
  return !a || (b && *b < *a) ? b : a;
}

/// The figure of pld, which has a grid, and the others whose laws are also fixed in advance: of a few large
/// or very different losses they may have less. Proof, section 6.
template <typename Figure>
Bound least_with(const Bound& of_grid, const Figure& figure) {
  if (!of_grid) return of_grid;
  return least_of(least_of(of_grid, figure(Accountant::optimal)), figure(Accountant::rdp));
}

Bound epsilon_of(Accountant accountant, std::span<const KnownLoss> losses, const Rational& delta) {
  const auto of_groups = [&](auto bound) -> Bound {
    const std::vector<LossGroup> groups = groups_of(losses);
    return groups.empty() ? std::nullopt : Bound(bound(groups));
  };
  const Rational left = delta - delta_beside(losses);
  switch (accountant) {
    case Accountant::pure:
      return of_groups(
          [](const auto& groups) { return is_pure(groups) ? Bound(total_epsilon(groups)) : Bound(); });
    case Accountant::approximate:
      return of_groups([&](const auto& groups) { return basic_epsilon(groups, delta); });
    case Accountant::advanced:
      return of_groups([&](const auto& groups) { return advanced_epsilon_up(groups, delta); });
    case Accountant::optimal:
      return of_groups([&](const auto& groups) {
        return least_of(optimal_epsilon_up(groups, delta), advanced_epsilon_up(groups, delta));
      });
    case Accountant::zcdp:
      return left > 0 ? Bound(zcdp_epsilon_up(total_rho(losses), left)) : Bound();
    case Accountant::rdp:
      return left > 0 ? Bound(renyi_epsilon_by_search_up(total_divergence(losses), left)) : Bound();
    case Accountant::pld:
      return least_with(pld_epsilon_up(laws_of(losses), delta),
                        [&](Accountant other) { return composed_epsilon_up(other, losses, delta); });
  }
  throw InvalidParameter("accountant: there is no such");
}

Bound delta_of(Accountant accountant, std::span<const KnownLoss> losses, const Rational& epsilon) {
  const auto of_groups = [&](auto bound) -> Bound {
    const std::vector<LossGroup> groups = groups_of(losses);
    return groups.empty() ? std::nullopt : Bound(bound(groups));
  };
  const auto and_beside = [&](const Rational& delta) {
    return Bound(std::min(Rational(1), Rational(delta + delta_beside(losses))));
  };
  switch (accountant) {
    case Accountant::pure:
      return of_groups([&](const auto& groups) {
        return is_pure(groups) && total_epsilon(groups) <= epsilon ? Bound(Rational(0)) : Bound();
      });
    case Accountant::approximate:
      return of_groups([&](const auto& groups) { return basic_delta(groups, epsilon); });
    case Accountant::advanced:
      return of_groups([&](const auto& groups) { return advanced_delta_up(groups, epsilon); });
    case Accountant::optimal:
      return of_groups([&](const auto& groups) {
        return least_of(optimal_delta_up(groups, epsilon), advanced_delta_up(groups, epsilon));
      });
    case Accountant::zcdp:
      return and_beside(zcdp_delta_up(total_rho(losses), epsilon));
    case Accountant::rdp:
      return and_beside(renyi_delta_by_search_up(total_divergence(losses), epsilon));
    case Accountant::pld:
      return least_with(pld_delta_up(laws_of(losses), epsilon),
                        [&](Accountant other) { return composed_delta_up(other, losses, epsilon); });
  }
  throw InvalidParameter("accountant: there is no such");
}

/// Outside its domain an accountant has nothing to say.
template <typename Calculation>
Bound where_defined(const Calculation& calculation) {
  try {
    return calculation();
  } catch (const InvalidParameter&) {
    return std::nullopt;
  }
}

}  // namespace

std::string_view name(Accountant accountant) {
  switch (accountant) {
    case Accountant::pure:
      return "pure";
    case Accountant::approximate:
      return "approximate";
    case Accountant::advanced:
      return "advanced";
    case Accountant::optimal:
      return "optimal";
    case Accountant::zcdp:
      return "zcdp";
    case Accountant::rdp:
      return "rdp";
    case Accountant::pld:
      return "pld";
  }
  throw InvalidParameter("accountant: there is no such");
}

bool fixed_in_advance(Accountant accountant) {
  return accountant != Accountant::pure && accountant != Accountant::approximate &&
         accountant != Accountant::zcdp;
}

KnownLoss known_loss(const ComposedLaw& law) {
  switch (law.kind) {
    case Kind::gaussian:
    case Kind::discrete_gaussian:
      return {law.count, law, std::nullopt, zcdp_rho_of_gaussian(law.scale, law.sensitivity)};
    case Kind::laplace:
    case Kind::discrete_laplace:
    case Kind::snapping:
      return {law.count, law, KnownLoss::Guarantee{law.sensitivity / law.scale + law.extra, 0}};
    case Kind::pure:
    case Kind::approximate:
      break;
  }
  return {law.count, law, KnownLoss::Guarantee{law.epsilon, law.delta}};
}

Bound composed_epsilon_up(Accountant accountant, std::span<const KnownLoss> losses, const Rational& delta) {
  if (delta < 0 || delta >= 1) {
    throw InvalidParameter("delta: " + text(delta) + " is not between 0 and 1, 1 excluded");
  }
  require_losses(losses);
  if (losses.empty()) return Rational(0);
  return where_defined([&] { return epsilon_of(accountant, losses, delta); });
}

Bound composed_delta_up(Accountant accountant, std::span<const KnownLoss> losses, const Rational& epsilon) {
  if (epsilon < 0) throw InvalidParameter("epsilon: " + text(epsilon) + " is negative");
  require_losses(losses);
  if (losses.empty()) return Rational(0);
  return where_defined([&] { return delta_of(accountant, losses, epsilon); });
}

}  // namespace epsilog::accounting
