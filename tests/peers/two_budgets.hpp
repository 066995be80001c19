// What tests of a dataset with an epsilon and a delta budget look at.
#pragma once

#include <string>

#include "engine/clinic.hpp"

namespace epsilog::test {

/// A clinic whose releases lose both, each statistic in as many mechanism calls as it has components.
inline constexpr const char* kTwoBudgets = "epsilon: 10, delta: 1e-5";
inline constexpr const char* kGaussian = "    release: {default: {mechanism: discrete_gaussian}}\n";

/// A mean over a private number of rows: a sum and a count, drawn one after the other.
inline engine::Request two_part_request(const std::string& key = "") {
  engine::Request result = request("mean:cost", "0.5", key);
  result.delta = accounting::parse_rational("1e-7", "delta");
  return result;
}

struct Spent {
  std::int64_t epsilon = 0;  ///< 10^-12 nats
  std::int64_t delta = 0;    ///< 10^-18
};
inline Spent spent_units(const engine::Engine& engine) {
  Spent result;
  for (const ledger::AccountState& account : engine.budget("clinic"))
    (account.measure == "delta" ? result.delta : result.epsilon) = account.balance.spent;
  return result;
}

struct Decisions {
  int granted = 0;
  int refused = 0;
};
inline Decisions decision_counts(const engine::Engine& engine) {
  Decisions result;
  engine.history("", 0, [&result](const engine::Answer& answer) {
    ++(answer.recorded.granted ? result.granted : result.refused);
  });
  return result;
}

}  // namespace epsilog::test
