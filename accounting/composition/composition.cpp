#include "epsilog/accounting/composition.hpp"

#include "epsilog/accounting/errors.hpp"

namespace epsilog::accounting {
namespace {

/// Each operand is at most 2^61, so the int64 sum of two cannot overflow before it is checked.
template <class Measure>
Quantity<Measure> added(Quantity<Measure> first, Quantity<Measure> second) {
  return Quantity<Measure>::from_units(first.units() + second.units());
}

}  // namespace

Epsilon compose_sequential(Epsilon first, Epsilon second) {
  return added(first, second);
}

Epsilon compose_sequential(std::span<const Epsilon> losses) {
  Epsilon total;
  for (const Epsilon loss : losses) total = added(total, loss);
  return total;
}

ApproximateLoss compose_sequential(std::span<const ApproximateLoss> losses) {
  ApproximateLoss total;
  for (const ApproximateLoss& loss : losses) {
    total = {added(total.epsilon, loss.epsilon), added(total.delta, loss.delta)};
  }
  return total;
}

Epsilon compose_sequential_repeated(Epsilon loss, std::uint64_t count) {
  return Epsilon::from_rational_up(loss.rational() * Rational(Integer(static_cast<unsigned long>(count))));
}

}  // namespace epsilog::accounting
