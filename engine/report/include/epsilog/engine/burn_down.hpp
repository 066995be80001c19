// How an account went down: what was left of it, from the beginning of the ledger on.
//
// Thread-safety: values; a Course has one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "epsilog/ledger/record.hpp"

namespace epsilog::engine {

/// What an account held from a decision on, or from a change of its limit. Amounts are grid units of its
/// measure.
struct BurnPoint {
  std::int64_t after_decision = 0;  ///< the last decision by then; 0: there was none
  std::int64_t at = 0;              ///< ledger time, milliseconds since 1970
  bool limited = true;              ///< false: from here on no policy declares a limit for it
  std::int64_t limit = 0;
  std::int64_t spent = 0;
  std::int64_t reserved = 0;

  /// What was left; never below 0 in a ledger that verifies.
  [[nodiscard]] std::int64_t remaining() const { return limit - spent - reserved; }
  friend bool operator==(const BurnPoint&, const BurnPoint&) = default;
};

/// Between which instants the courses of a report lie, milliseconds since 1970.
struct BurnSpan {
  std::int64_t from = 0;
  std::int64_t until = 0;  ///< >= from
};

/// One account from the beginning on.
struct BurnDown {
  ledger::AccountState account;   ///< as it stands
  bool active = true;             ///< false: the active policy declares no limit for it any more
  std::vector<BurnPoint> points;  ///< in order, at least one, which is the first
  std::int64_t changes = 0;       ///< how many points there are; above points.size(), some were left out
};

/// The points of one account, of which no more than a fixed number are kept: all of them as long as there are
/// not more, else, of each of equal parts of the span, the first, the last, that at which the least remained
/// and that at which the most did. Where a line is drawn no finer than the parts, it is the same as of all.
class Course final {
 public:
  static constexpr std::size_t kKeptOfPart = 4;

  /// Requires  most >= kKeptOfPart.
  Course(const BurnSpan& span, std::size_t most);

  /// Requires  the points come in their order. One that holds what the last one does is none.
  void add(const BurnPoint& point);
  [[nodiscard]] const std::optional<BurnPoint>& last() const noexcept { return last_; }
  [[nodiscard]] std::int64_t changes() const noexcept { return changes_; }
  [[nodiscard]] std::vector<BurnPoint> points() const;

 private:
  struct Part {
    std::size_t number = 0;
    BurnPoint first, last, least, most;
    std::int64_t least_at = 0, most_at = 0, last_at = 0;  ///< places in the part

    void add(const BurnPoint& point);
    void append_to(std::vector<BurnPoint>& points) const;
  };

  void add_to_part(const BurnPoint& point);
  [[nodiscard]] std::size_t part_of(std::int64_t at) const;

  BurnSpan span_;
  std::size_t most_;
  std::optional<BurnPoint> last_;
  std::int64_t changes_ = 0;
  std::vector<BurnPoint> kept_;  ///< all, or of the parts before part_
  std::optional<Part> part_;     ///< none: all are kept
};

}  // namespace epsilog::engine
