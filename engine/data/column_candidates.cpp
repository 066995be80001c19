#include "column_candidates.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/date.hpp"
#include "epsilog/engine/statistic.hpp"

namespace epsilog::engine {
namespace {

// What a policy admits is what the mechanism takes.
static_assert(kQuantileCandidatesMax == mechanisms::kCandidatesMax);
static_assert(kQuantilesAskedMax == mechanisms::kQuantilesMax);

/// Most counters that are kept in one piece: 8 MiB.
constexpr std::uint64_t kCountersMax = std::uint64_t{1} << 22;
/// So many rows take a counter back to 0.
constexpr std::uint64_t kRowsOfCounter = std::uint64_t{1} << 16;

std::optional<Rational> step_of(const Column& column) {
  if (column.step || column.type == ColumnType::real) return column.step;
  return accounting::power_of_ten(-static_cast<long>(column.scale));
}

ColumnCandidates listed_candidates(const Column& column) {
  ColumnCandidates result;
  for (const std::string& value : column.values) {
    std::int64_t days = 0;
    const bool date = column.type == ColumnType::date;
    EPSILOG_INVARIANT(!date || parse_date(value, days));
    result.values.list.push_back(date ? Rational(days) : accounting::parse_rational(value, "value"));
  }
  std::sort(result.values.list.begin(), result.values.list.end());
  result.count = result.values.list.size();
  return result;
}

bool is_fixed(const Rational& value, unsigned scale) {
  const FixedRounding place = round_fixed(value, scale);
  return place.up == place.down && place.up <= kFixedMax && place.up >= -kFixedMax;
}

}  // namespace

ColumnCandidates candidates_of(const Column& column) {
  const std::string shown = "column '" + column.name + "'";
  const bool date = column.type == ColumnType::date;
  if (!is_numeric(column.type) && !date) {
    throw Underivable(shown + " has type " + std::string(name(column.type)) +
                      ": a quantile needs a column of type int, decimal, double or date");
  }
  if (!column.values.empty()) return listed_candidates(column);
  if (!column.bounds) {
    throw Underivable(shown + " has no bounds: declare `bounds: [" + (date ? "FIRST, LAST" : "LOWER, UPPER") +
                      "]`, between which its quantiles lie");
  }
  const std::optional<Rational> step = step_of(column);
  if (!step) {
    throw Underivable(shown + " has type double: declare `step: S`, of which its quantiles are multiples");
  }
  const accounting::Integer first = accounting::ceil(column.bounds->lower / *step);
  const accounting::Integer count = accounting::floor(column.bounds->upper / *step) - first + 1;
  EPSILOG_INVARIANT(count >= 1);  // bounds of int and decimal are multiples of the step they have by default
  if (count > accounting::Integer(static_cast<unsigned long>(mechanisms::kCandidatesMax))) {
    throw Underivable(shown + " has " + count.get_str() + " " +
                      (date ? "days" : "multiples of " + accounting::text(*step)) +
                      " in its bounds, and a quantile is one of at most " +
                      std::to_string(mechanisms::kCandidatesMax) + ": declare " +
                      (date ? "narrower bounds" : "a greater `step: S`"));
  }
  return {{.first = Rational(first) * *step, .step = *step}, count.get_ui()};
}

CandidateFinder::CandidateFinder(const Column& column, ColumnCandidates candidates)
    : candidates_(std::move(candidates)), real_(column.type == ColumnType::real), scale_(column.scale) {
  const auto& [first, step, list] = candidates_.values;
  if (column.missing) of_missing_ = candidates_.values.nearest(*column.missing, candidates_.count);
  const Rational last = candidates_.values.at(candidates_.count - 1);
  fixed_ = !real_ && is_fixed(candidates_.values.at(0), scale_) && is_fixed(last, scale_) &&
           is_fixed(step, scale_);
  if (!fixed_) return;
  for (const Rational& value : list) list_.push_back(round_fixed(value, scale_).up);
  first_ = round_fixed(first, scale_).up;
  last_ = round_fixed(last, scale_).up;
  step_ = round_fixed(step, scale_).up;
}

std::uint64_t CandidateFinder::of_fixed(Int128 value) const {
  if (!list_.empty()) {
    const auto above = std::lower_bound(list_.begin(), list_.end(), value);
    if (above == list_.end()) return candidates_.count - 1;
    const auto place = static_cast<std::uint64_t>(above - list_.begin());
    if (place == 0 || *above - value <= value - list_[place - 1]) return place;
    return place - 1;
  }
  if (value <= first_) return 0;
  if (value >= last_) return candidates_.count - 1;
  const Int128 beyond = value - first_;
  if (last_ - first_ <= INT64_MAX) {  // a division of wide integers takes ten times as long
    const auto near = static_cast<std::uint64_t>(beyond);
    const auto step = static_cast<std::uint64_t>(step_);
    if (step == 1) return near;
    const std::uint64_t rest = near % step;
    return near / step + (rest >= step - rest ? 1 : 0);
  }
  const Int128 whole = beyond / step_;
  const Int128 rest = beyond - whole * step_;
  return static_cast<std::uint64_t>(rest >= step_ - rest ? whole + 1 : whole);
}

std::uint64_t CandidateFinder::of_rational(const Cell& cell) const {
  const Rational value =
      real_ ? Rational(cell.real)
            : Rational(to_integer(cell.fixed)) * accounting::power_of_ten(-static_cast<long>(scale_));
  return candidates_.values.nearest(value, candidates_.count);
}

CandidateTally::CandidateTally(std::size_t cells, std::uint64_t candidates)
    : cells_(cells), candidates_(candidates) {
  if (candidates <= kCountersMax / cells) rows_.resize(cells * candidates);
}

void CandidateTally::add(std::size_t cell, std::uint64_t candidate) {
  const std::uint64_t place = cell * candidates_ + candidate;
  if (rows_.empty()) {
    ++more_[place];
  } else if (++rows_[place] == 0) {
    more_[place] += kRowsOfCounter;
  }
}

std::uint64_t CandidateTally::rows_beyond(std::uint64_t place) const {
  if (more_.empty()) return 0;
  const auto found = more_.find(place);
  return found == more_.end() ? 0 : found->second;
}

std::vector<mechanisms::CandidateRows> CandidateTally::counts_of(std::span<const std::size_t> cells) const {
  std::vector<mechanisms::CandidateRows> result;
  for (std::uint64_t candidate = 0; candidate < candidates_; ++candidate) {
    std::uint64_t rows = 0;
    for (const std::size_t cell : cells) {
      const std::uint64_t place = cell * candidates_ + candidate;
      rows += (rows_.empty() ? 0 : rows_[place]) + rows_beyond(place);
    }
    if (rows > 0) result.push_back({candidate, rows});
  }
  return result;
}

std::vector<std::vector<mechanisms::CandidateRows>> CandidateTally::counts() const {
  std::vector<std::vector<mechanisms::CandidateRows>> result(cells_);
  const auto take = [&](std::uint64_t place, std::uint64_t rows) {
    if (rows > 0) result[place / candidates_].push_back({place % candidates_, rows});
  };
  if (!rows_.empty()) {
    for (std::uint64_t place = 0; place < rows_.size(); ++place)
      take(place, rows_[place] + rows_beyond(place));
    return result;
  }
  for (const auto& [place, rows] : more_) take(place, rows);
  for (auto& cell : result) {
    std::sort(cell.begin(), cell.end(),
              [](const auto& a, const auto& b) { return a.candidate < b.candidate; });
  }
  return result;
}

}  // namespace epsilog::engine
