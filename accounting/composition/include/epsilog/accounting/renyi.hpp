// Renyi differential privacy over a fixed grid of orders.
//
// Measure   RDP: at each order alpha > 1 a bound of the Renyi divergence, in nats. Divergences of one order
//           add under composition; those of different orders do not.
// Orders    Eighteen octaves of alpha - 1 with eight orders each: alpha = 1 + (1 + r/8) 2^q, r = 0..7,
//           q = -4..13, from 1.0625 to 15361. A fixed grid, so that curves of different mechanisms add.
// Proof     accounting/proofs/composition.md, section 8.
// Rounds    Up, within 2^-100 of the formula, and curves within 2^-60 of it; limits (_down) down.
// Throws    of all: InvalidParameter naming the argument.
// Thread-safety: pure functions.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "epsilog/accounting/composed_law.hpp"

namespace epsilog::accounting {

struct RenyiPoint {
  Rational order;       ///< > 1
  Rational divergence;  ///< nats, >= 0
};
/// Orders ascending.
using RenyiCurve = std::vector<RenyiPoint>;

/// The grid of orders, ascending.
[[nodiscard]] const std::vector<Rational>& renyi_orders();

/// order sensitivity^2/(2 sigma^2), exact; also of discrete Gaussian noise for an integer sensitivity.
/// Requires  sigma > 0, sensitivity >= 0, order > 1.
/// Source    Mironov, "Renyi differential privacy", CSF 2017, arXiv 1702.07476, proposition 7; discrete:
///           Canonne, Kamath and Steinke, arXiv 2004.00010, proposition 5.
[[nodiscard]] Rational renyi_of_gaussian(const Rational& sigma, const Rational& sensitivity,
                                         const Rational& order);

/// ln((order e^((order-1) t) + (order-1) e^(-order t))/(2 order - 1))/(order - 1), t = sensitivity/scale.
/// Requires  scale > 0, sensitivity >= 0, order > 1.
/// Source    Mironov, arXiv 1702.07476, proposition 6.
[[nodiscard]] Rational renyi_of_laplace_up(const Rational& scale, const Rational& sensitivity,
                                           const Rational& order);

/// The divergence of two-sided geometric noise P(x) ~ e^(-|x|/scale) shifted by `distance`.
/// Requires  scale > 0, distance >= 0, order > 1.
/// Source    the sum of the definition in closed form: proof, section 8.
[[nodiscard]] Rational renyi_of_discrete_laplace_up(const Rational& scale, const Integer& distance,
                                                    const Rational& order);

/// ln((e^(order epsilon) + e^((1-order) epsilon))/(1 + e^epsilon))/(order - 1): the largest divergence of any
/// epsilon-DP mechanism.
/// Requires  epsilon >= 0, order > 1.
/// Source    Mironov, arXiv 1702.07476, proposition 5 with p = 1/(1 + e^-epsilon), of randomised response,
///           which dominates every pure mechanism (Kairouz, Oh and Viswanath, arXiv 1311.0776; proof,
///           section 1).
[[nodiscard]] Rational renyi_of_pure_up(const Rational& epsilon, const Rational& order);

/// The divergence of `count` releases at one order, rounded up. Of an approximate law that of its pure part.
/// Requires  the fields of the law as composed_law.hpp says; count >= 1; order > 1.
[[nodiscard]] Rational renyi_of_law_up(const ComposedLaw& law, const Rational& order);

/// The curve of `count` releases over renyi_orders(), each point rounded up. Of an approximate law that of
/// its pure part: its delta is charged beside it.
/// Requires  the fields of the law as composed_law.hpp says; count >= 1.
[[nodiscard]] RenyiCurve renyi_curve_up(const ComposedLaw& law);

/// Adds, order by order.
/// Requires  the same orders in both.
void compose_renyi(RenyiCurve& sum, const RenyiCurve& next);

/// The least over the curve's orders of divergence - ln(order delta)/(order - 1) + ln(1 - 1/order), or 0.
/// Requires  a curve that is not empty; 0 < delta < 1.
/// Source    Canonne, Kamath and Steinke, arXiv 2004.00010, proposition 12; Balle, Barthe, Gaboardi, Hsu and
///           Sato, "Hypothesis testing interpretations and Renyi differential privacy", AISTATS 2020, theorem
///           21.
[[nodiscard]] Rational renyi_epsilon_up(std::span<const RenyiPoint> curve, const Rational& delta);

/// The divergence of everything together at an order, rounded up.
using RenyiDivergence = std::function<Rational(const Rational& order)>;

/// As renyi_epsilon_up and renyi_delta_up over renyi_orders(), asking for the divergence at about a tenth of
/// the orders. Valid whatever the divergences are; the least over the grid if (order - 1) divergence is
/// convex in the order, as it is for every pair of laws.
[[nodiscard]] Rational renyi_epsilon_by_search_up(const RenyiDivergence& divergence, const Rational& delta);
[[nodiscard]] Rational renyi_delta_by_search_up(const RenyiDivergence& divergence, const Rational& epsilon);

/// The largest divergence at this one order with which a mechanism is (epsilon, delta)-DP by that conversion:
/// epsilon + ln(order delta)/(order - 1) - ln(1 - 1/order), rounded down. A limit for a filter.
/// Ensures   positive, at most 2^-100 of itself below the formula; renyi_epsilon_up({order, it}, delta) <=
///           epsilon.
/// Requires  order > 1, epsilon > 0, 0 < delta < 1, and a formula that is positive: at small orders a small
///           delta takes all of epsilon.
/// Throws    InvalidParameter naming the argument; where no divergence is left it is the order, and the
///           message says from which epsilon on there is one.
[[nodiscard]] Rational renyi_divergence_down(const Rational& order, const Rational& epsilon,
                                             const Rational& delta);

/// The least over the orders of e^((order-1)(divergence - epsilon)) (1 - 1/order)^order/(order - 1), or 1.
/// Requires  a curve that is not empty; epsilon >= 0.
/// Source    as renyi_epsilon_up.
[[nodiscard]] Rational renyi_delta_up(std::span<const RenyiPoint> curve, const Rational& epsilon);

}  // namespace epsilog::accounting
