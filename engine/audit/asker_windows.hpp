// What each asker was charged within a time and has reserved, added up from the decisions as they come.
//
// The audit's own way to what a writer sums up by the file's indices. Kept of datasets alone whose policy, in
// some version, sums up what an asker lost (`within`); of these it grows with their charges of a year.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "audit_requests.hpp"
#include "epsilog/accounting/rational.hpp"
#include "epsilog/engine/policy.hpp"
#include "epsilog/ledger/principal_charges.hpp"

namespace epsilog::engine {

class AskerWindows final {
 public:
  /// Call for every version of the policy before the first decision.
  void policy(const Policy& policy);
  /// Call for every decision, in order. `waiting`: what it is about, as it stood before.
  void decision(const ledger::StoredDecision& stored, const WaitingRequest* waiting);
  /// What was charged after `at` less the window's seconds, by decisions up to now, and what is reserved.
  [[nodiscard]] accounting::Integer before(const ledger::ChargeWindow& window, const std::string& at) const;

 private:
  /// Who asks, the dataset, its accounts as ChargeWindow has them, the measure.
  using Key = std::array<std::string, 4>;
  /// Times, and what was charged up to each.
  struct ChargeHistory {
    std::vector<std::int64_t> times = {};
    std::vector<accounting::Integer> sums = {0};  // one more than there are times
  };
  using Amounts = std::map<Key, accounting::Integer>;

  void charge(std::int64_t now, const Amounts& amounts);

  std::set<std::string> datasets_;
  std::map<Key, ChargeHistory> charged_;
  std::map<Key, accounting::Integer> reserved_;
  std::map<std::string, Amounts> open_;  // by id of the reservation
};

}  // namespace epsilog::engine
