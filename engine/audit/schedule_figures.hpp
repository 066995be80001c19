// What many schedules cost under several accountants, equal ones composed once: the blocks of a dataset, and
// principals who ask alike, have few different schedules.
//
// Thread-safety: as that of a container.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "epsilog/accounting/accountant.hpp"

namespace epsilog::engine {

/// A function's values by its argument, calculated once for each.
template <class Argument, class Value>
class Memo final {
 public:
  const Value& of(const Argument& argument, const auto& calculate) {
    const auto found = values_.find(argument);
    return found != values_.end() ? found->second : values_.emplace(argument, calculate()).first->second;
  }

 private:
  std::map<Argument, Value> values_;
};

/// What is asked of a schedule: the epsilon at a delta, or the delta at an epsilon.
struct ScheduleQuestion {
  bool at_delta = true;
  accounting::Rational at;

  friend bool operator<(const ScheduleQuestion& a, const ScheduleQuestion& b) {
    return a.at_delta != b.at_delta ? a.at_delta < b.at_delta : a.at < b.at;
  }
};

/// A schedule: how often each law, by its number in Laws.
using LawCounts = std::map<std::size_t, std::uint64_t>;

/// Different laws, numbered as they come.
class Laws final {
 public:
  std::size_t law_index(const std::string& key, const auto& make) {
    const auto found = numbers_.find(key);
    if (found != numbers_.end()) return found->second;
    losses_.push_back(make());
    return numbers_.emplace(key, losses_.size() - 1).first->second;
  }
  [[nodiscard]] std::vector<accounting::KnownLoss> losses(const LawCounts& counts) const;
  /// How many there are.
  [[nodiscard]] std::size_t size() const { return losses_.size(); }

 private:
  std::unordered_map<std::string, std::size_t> numbers_;
  std::vector<accounting::KnownLoss> losses_;
};

class ScheduleFigures final {
 public:
  using Bound = std::optional<accounting::Rational>;
  using Compose = std::function<Bound(accounting::Accountant, std::span<const accounting::KnownLoss>,
                                      const ScheduleQuestion&)>;

  /// Requires  `laws` outlives it.
  explicit ScheduleFigures(const Laws& laws);
  ScheduleFigures(const Laws& laws, Compose compose);

  [[nodiscard]] Bound bound(accounting::Accountant accountant, const LawCounts& schedule,
                            const ScheduleQuestion& asked);

 private:
  const Laws& laws_;
  Compose compose_;
  Memo<std::tuple<accounting::Accountant, ScheduleQuestion, LawCounts>, Bound> bounds_;
};

}  // namespace epsilog::engine
