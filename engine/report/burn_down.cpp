#include "epsilog/engine/burn_down.hpp"

#include <algorithm>
#include <tuple>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/rational.hpp"

namespace epsilog::engine {
namespace {

/// Less is left the earlier this comes: of an account without a limit nothing is drawn, which is less than
/// any line.
std::tuple<bool, std::int64_t> height(const BurnPoint& point) {
  return {point.limited, point.remaining()};
}

bool holds_the_same(const BurnPoint& one, const BurnPoint& other) {
  return one.limited == other.limited && one.limit == other.limit && one.spent == other.spent &&
         one.reserved == other.reserved;
}

}  // namespace

Course::Course(const BurnSpan& span, std::size_t most) : span_(span), most_(most) {
  EPSILOG_INVARIANT(most >= kKeptOfPart);
}

void Course::add(const BurnPoint& point) {
  if (last_ && holds_the_same(*last_, point)) return;
  last_ = point;
  ++changes_;
  if (part_) return add_to_part(point);
  kept_.push_back(point);
  if (kept_.size() <= most_) return;
  std::vector<BurnPoint> all;
  all.swap(kept_);
  for (const BurnPoint& one : all) add_to_part(one);
}

std::vector<BurnPoint> Course::points() const {
  std::vector<BurnPoint> points = kept_;
  if (part_) part_->append_to(points);
  return points;
}

void Course::add_to_part(const BurnPoint& point) {
  // Ledger time runs back nowhere but in a ledger that does not verify.
  const std::size_t number = std::max(part_of(point.at), part_ ? part_->number : 0);
  if (part_ && part_->number == number) return part_->add(point);
  if (part_) part_->append_to(kept_);
  part_ = Part{.number = number, .first = point, .last = point, .least = point, .most = point};
}

std::size_t Course::part_of(std::int64_t at) const {
  const std::size_t parts = most_ / kKeptOfPart;
  const std::int64_t length = span_.until - span_.from;
  if (length <= 0) return 0;
  const accounting::Integer into(static_cast<long>(std::clamp(at, span_.from, span_.until) - span_.from));
  const accounting::Integer part = into * static_cast<unsigned long>(parts) / static_cast<long>(length);
  return std::min(parts - 1, static_cast<std::size_t>(part.get_ui()));
}

void Course::Part::add(const BurnPoint& point) {
  last = point;
  ++last_at;
  if (height(point) < height(least)) {
    least = point;
    least_at = last_at;
  }
  if (height(most) < height(point)) {
    most = point;
    most_at = last_at;
  }
}

void Course::Part::append_to(std::vector<BurnPoint>& points) const {
  points.push_back(first);
  const bool least_first = least_at <= most_at;
  const auto add_between = [&](const BurnPoint& point, std::int64_t at) {
    if (at != 0 && at != last_at) points.push_back(point);
  };
  add_between(least_first ? least : most, least_first ? least_at : most_at);
  if (least_at != most_at) add_between(least_first ? most : least, least_first ? most_at : least_at);
  if (last_at != 0) points.push_back(last);
}

}  // namespace epsilog::engine
