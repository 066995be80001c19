// What a request costs in each measure, exactly or in a range, and time as a ledger has it, for the model of
// random_walk_model.hpp.
#pragma once

#include <cmath>
#include <ctime>
#include <stdexcept>

#include "random_walk_policy.hpp"

namespace epsilog::test {

/// The walk ends with it: something happened that may not.
class Violated : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
inline void require(bool holds, const std::string& what) {
  if (!holds) throw Violated(what);
}

/// Grid units that something costs in one measure: at least and at most.
struct CostRange {
  Integer low = 0;
  Integer high = 0;
};

inline Integer grid_floor(const Rational& value, std::int64_t unit) {
  return accounting::floor(Rational(value * unit));
}

inline CostRange cost_in(const std::string& measure, const WalkRequest& asked) {
  const engine::Request& request = asked.request;
  const Integer boundless = Integer(1) << 4000;
  const auto about = [](const Integer& units) {
    return CostRange{units > 3 ? Integer(units - 3) : Integer(0), Integer(units + 3)};
  };
  if (request.rho) {
    if (measure == "rho") return about(grid_floor(*request.rho, kRhoUnit));
    return {0, boundless};
  }
  const Integer epsilon = grid_floor(request.epsilon, kEpsilonUnit);
  if (measure == "epsilon") return asked.of_several() ? about(epsilon) : CostRange{epsilon, epsilon};
  if (measure == "delta") {
    if (!request.delta) return {};
    const Integer delta = grid_floor(*request.delta, kDeltaUnit);
    return asked.of_several() ? about(delta) : CostRange{delta, delta};
  }
  if (request.delta) return {0, boundless};
  const Rational loss(epsilon, kEpsilonUnit);
  if (measure == "rho") {
    const Integer rho = accounting::floor(Rational(loss * loss / 2 * kRhoUnit)) + 1;
    return asked.of_several() ? CostRange{0, Integer(rho + 3)} : CostRange{Integer(rho - 1), rho};
  }
  // Between the divergence at order 1, of a randomised response, and min(epsilon, alpha epsilon^2/2).
  const Rational order = accounting::parse_rational(measure.substr(4, measure.size() - 5), "order");
  const Rational most = std::min<Rational>(loss, Rational(order * loss * loss / 2));
  const double at_order_1 = loss.get_d() * std::tanh(loss.get_d() / 2) * (1 - 1e-9);
  const Integer low = accounting::floor(Rational(Rational(at_order_1) * kEpsilonUnit)) - 3;
  return {asked.of_several() || low < 0 ? Integer(0) : low,
          Integer(accounting::floor(Rational(most * kEpsilonUnit)) + 4)};
}

/// Time as the ledger has it: it never goes back, and its calendar is held by a jump.
struct WalkClock {
  std::int64_t wall = 0;
  std::int64_t boot = 0;
  std::int64_t last = 0;    ///< of what is recorded
  std::int64_t offset = 0;  ///< of the wall clock to boot, as trusted
  std::optional<std::int64_t> held = {};

  [[nodiscard]] std::int64_t now() const { return std::max(last, wall); }
  [[nodiscard]] bool jumped() const { return wall - boot > offset + 300'000 && wall > last; }
  [[nodiscard]] std::int64_t calendar() const { return held ? *held : jumped() ? last : now(); }
  [[nodiscard]] bool is_held() const { return held || jumped(); }
  /// Something is recorded.
  void record() {
    if (jumped()) {
      if (!held) held = last;
      offset = wall - boot;
    }
    last = now();
  }
  void confirm() {
    record();
    held.reset();
    offset = last - boot;
  }
};

/// "2040-02-29T12:00:00.000Z" in milliseconds since 1970, and back.
inline std::int64_t instant_ms(const std::string& text) {
  std::tm parts{};
  require(::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts) != nullptr, "'" + text + "' is no instant");
  return ::timegm(&parts) * 1000 + std::stoll(text.substr(20, 3));
}

}  // namespace epsilog::test
