#include "burn_down_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "amounts.hpp"
#include "epsilog/accounting/rational.hpp"
#include "epsilog/engine/measure.hpp"
#include "epsilog/ledger/ledger_time.hpp"
#include "html_text.hpp"

namespace epsilog::command {
namespace {

using accounting::Integer;
using engine::BurnDown;
using engine::BurnPoint;
using engine::BurnSpan;

// Of the picture, in tenths of a unit of its coordinates, so that a step is finer than a pixel and all is
// whole.
constexpr std::int64_t kTenths = 10;
constexpr std::int64_t kWidth = 640 * kTenths;
constexpr std::int64_t kHeight = 120 * kTenths;

/// part of whole, of `size`, rounded down.
/// Requires  whole > 0.
std::int64_t scaled(std::int64_t part, std::int64_t whole, std::int64_t size) {
  const Integer scaled =
      Integer(static_cast<long>(part)) * static_cast<long>(size) / static_cast<long>(whole);
  return scaled.get_si();
}

std::string tenths(std::int64_t coordinate) {
  const std::int64_t rest = coordinate % kTenths;
  return std::to_string(coordinate / kTenths) + (rest == 0 ? "" : "." + std::to_string(rest));
}

std::int64_t x_of(std::int64_t at, const BurnSpan& span) {
  const std::int64_t length = span.until - span.from;
  return length <= 0 ? 0 : scaled(std::clamp(at, span.from, span.until) - span.from, length, kWidth);
}

/// The largest limit, at least one unit.
std::int64_t highest(const BurnDown& budget) {
  std::int64_t most = 1;
  for (const BurnPoint& point : budget.points) most = std::max(most, point.limit);
  return most;
}

std::int64_t y_of(std::int64_t amount, std::int64_t most) {
  return kHeight - scaled(std::clamp<std::int64_t>(amount, 0, most), most, kHeight);
}

/// A line of steps, broken where there was no limit; `filled`: closed along the bottom.
std::string steps(const BurnDown& budget, const BurnSpan& span, bool filled,
                  std::int64_t (*amount)(const BurnPoint&)) {
  const std::int64_t most = highest(budget);
  std::string path;
  bool drawing = false;
  std::int64_t height = 0;
  const auto go = [&](char how, std::int64_t coordinate) {
    path += how;
    path += tenths(coordinate);
  };
  const auto stop = [&](std::int64_t x) {
    if (!drawing) return;
    go('H', x);
    if (filled) path += "V" + tenths(kHeight) + "Z";
    drawing = false;
  };
  for (const BurnPoint& point : budget.points) {
    const std::int64_t x = x_of(point.at, span);
    if (!point.limited) {
      stop(x);
      continue;
    }
    const std::int64_t y = y_of(amount(point), most);
    if (drawing && y == height) continue;
    height = y;
    if (drawing) {
      go('H', x);
    } else {
      path += "M" + tenths(x) + "," + tenths(filled ? kHeight : y);
      drawing = true;
    }
    go('V', y);
  }
  stop(kWidth);
  return path;
}

std::string label(const char* where, std::int64_t x, std::int64_t y, const std::string& text) {
  return fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\">{}</text>", where, x, y, html(text));
}

std::string day_of(std::int64_t ms) {
  return ledger::time_text(ms).substr(0, 16).replace(10, 1, " ");
}

std::string burn_down_sentence(const BurnDown& budget) {
  const wire::AccountTexts amounts = wire::texts(budget.account);
  std::string text = fmt::format("{}: {} of {} remain, {} spent", budget.account.measure, amounts.remaining,
                                 amounts.limit, amounts.spent);
  if (budget.account.balance.reserved != 0) text += ", " + amounts.reserved + " reserved";
  return budget.active ? text : text + "; no limit any more";
}

/// What holds at an instant: the last point up to it.
const BurnPoint& at_instant(const BurnDown& budget, std::int64_t at) {
  const BurnPoint* found = &budget.points.front();
  for (const BurnPoint& point : budget.points) {
    if (point.at <= at) found = &point;
  }
  return *found;
}

}  // namespace

std::string burn_down_svg(const BurnDown& budget, const BurnSpan& span) {
  const auto remaining = [](const BurnPoint& point) { return point.remaining(); };
  const auto unspent = [](const BurnPoint& point) { return point.limit - point.spent; };
  const auto limit = [](const BurnPoint& point) { return point.limit; };
  const std::string words = html(burn_down_sentence(budget));
  const bool reserved = std::any_of(budget.points.begin(), budget.points.end(),
                                    [](const BurnPoint& point) { return point.reserved != 0; });
  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-4 -16 648 156\" role=\"img\">";
  svg += "<title>" + words + "</title>";
  const auto path = [&](const char* how, const std::string& line) {
    if (!line.empty()) svg += fmt::format("<path class=\"{}\" d=\"{}\"/>", how, line);
  };
  if (reserved) path("held", steps(budget, span, true, unspent));
  path("left", steps(budget, span, true, remaining));
  path("line", steps(budget, span, false, remaining));
  path("limit", steps(budget, span, false, limit));
  svg += "<path class=\"axis\" d=\"M0,0V120H640\"/>";
  svg += label("start", 2, -4, engine::amount_text(budget.account.measure, highest(budget)));
  svg += label("start", 0, 134, day_of(span.from)) + label("end", 640, 134, day_of(span.until));
  return svg + "</svg>";
}

std::string burn_down_line(const BurnDown& budget, const BurnSpan& span, unsigned width, const Style& style) {
  static const char* const kEighths[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const std::int64_t most = highest(budget);
  const std::int64_t levels = style.utf8 ? 8 : 9;
  std::string line;
  for (unsigned i = 1; i <= width; ++i) {
    const std::int64_t at = span.from + scaled(i, width, span.until - span.from);
    const BurnPoint& point = at_instant(budget, at);
    if (!point.limited) {
      line += "-";
      continue;
    }
    const std::int64_t left = std::clamp<std::int64_t>(point.remaining(), 0, most);
    const std::int64_t level = left == 0 ? 0 : std::min(levels, scaled(left - 1, most, levels) + 1);
    line += style.utf8 ? kEighths[level] : std::to_string(level);
  }
  return line;
}

}  // namespace epsilog::command
