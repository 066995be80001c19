#include "epsilog/accounting/concentrated_loss.hpp"

#include <algorithm>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/renyi.hpp"
#include "epsilog/accounting/zcdp.hpp"

namespace epsilog::accounting {
namespace {

const Rational& checked_rho(const LossFacts& loss) {
  if (loss.rho < 0) throw InvalidParameter("rho: " + text(loss.rho) + " is negative");
  return loss.rho;
}

}  // namespace

Rational rho_of_release_up(const LossFacts& loss) {
  return loss.kind == LossFacts::Kind::pure ? zcdp_rho_of_pure(loss.epsilon) : checked_rho(loss);
}

Rational renyi_of_release_up(const LossFacts& loss, const Rational& order) {
  if (loss.kind == LossFacts::Kind::pure) return renyi_of_pure_up(loss.epsilon, order);
  if (order <= 1) throw InvalidParameter("order: " + text(order) + " is not above 1");
  const Rational divergence = order * checked_rho(loss);
  if (loss.kind != LossFacts::Kind::bounded) return divergence;
  return std::min(divergence, renyi_of_pure_up(loss.epsilon, order));
}

}  // namespace epsilog::accounting
