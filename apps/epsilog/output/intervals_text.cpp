#include "intervals_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "answer_facts.hpp"
#include "cells_text.hpp"
#include "printable.hpp"
#include "released_text.hpp"
#include "table_output.hpp"

namespace epsilog::command {
namespace {

using accounting::Rational;

/// What sizes are counted in.
std::string size_text(const engine::Answer& answer, const Rational& size, const Style& style) {
  const std::string number = error_text(size, style);
  if (wire::asks_ratio(answer)) return "a denominator of " + number + " on";
  const bool units = answer.planned.record.components.back().statistic == "units";
  return number + (units ? " units on" : " rows on");
}

/// "" where an interval of every size holds.
std::string size_line(const engine::Answer& answer, const Rational& alpha,
                      const std::optional<Rational>& size, const char* whose, const Style& style) {
  if (size && *size <= 0) return "";
  const std::string holds = size ? "it holds from " + size_text(answer, *size, style) : "it often misses";
  return field("", fmt::format("{}shown narrower than the whole range, {} ({})", whose, holds,
                               confidence_text(alpha)));
}

std::string sizes_text(const engine::Answer& answer, const std::vector<engine::PlannedSizes>& sizes,
                       const Style& style) {
  std::string text;
  if (wire::asks_quantiles(answer)) return text;
  bool below = false;
  for (const engine::PlannedSizes& one : sizes) {
    text += size_line(answer, one.alpha, one.each_holds_from, "", style);
    below = below || (one.each_holds_from && *one.each_holds_from > 0);
    if (style.verbose && !answer.planned.record.cells.empty())
      text += size_line(answer, one.alpha, one.together_holds_from, "all: ", style);
  }
  return below ? text + field("", "below that, a narrow one usually misses") : text;
}

/// The largest of all groups; of what was not released, as the plan has them.
std::vector<engine::PlannedSizes> sizes_of(const engine::Answer& answer) {
  if (answer.released.intervals.empty()) return answer.planned.holds_from;
  const auto raise = [](std::optional<Rational>& most, const std::optional<Rational>& size) {
    most = most && size ? std::optional(std::max(*most, *size)) : std::nullopt;
  };
  std::vector<engine::PlannedSizes> sizes;
  for (const engine::CellIntervals& one : answer.released.intervals) {
    engine::PlannedSizes& all = sizes.emplace_back(engine::PlannedSizes{one.alpha, Rational(0), Rational(0)});
    for (const engine::CellGroup& group : one.groups) {
      raise(all.each_holds_from, group.each_holds_from);
      raise(all.together_holds_from, group.together_holds_from);
    }
  }
  return sizes;
}

/// What the intervals of one answer are for; "" where none are shown.
std::string about_text(const engine::Answer& answer, const Style& style) {
  if (answer.released.intervals.empty() || is_two_way(answer, style)) return "";
  if (wire::asks_quantiles(answer)) {
    return field("interval", "all candidates: how far one rank is from the next depends on") +
           field("", "the rows, which `accuracy` counts");
  }
  const std::string of = "of the answer after max_rows, clamping and dropping, for ";
  if (wire::asks_ratio(answer)) {
    return field("interval", of + "rows that") +
           field("", "divide by more than 0, at most rows.max; not of a population");
  }
  const bool quotient = answer.planned.record.components.size() > 1 && !wire::asks_totals(answer);
  return field("interval", of + (quotient || wire::asks_proportion(answer) ? "one to" : "at most")) +
         field("", "rows.max rows; not of a population they are a sample of");
}

struct SmallValues {
  bool below_zero = false;
  bool near_zero = false;  ///< shown without its interval, which reaches 0
};

/// Of shown values whose exact one is 0 or more.
SmallValues small_values_of(const engine::Answer& answer, const Style& style) {
  SmallValues small;
  for (const engine::Answer& row : answer.rows) {
    const SmallValues of_row = small_values_of(row, style);
    small.below_zero = small.below_zero || of_row.below_zero;
    small.near_zero = small.near_zero || of_row.near_zero;
  }
  const std::vector<engine::CellIntervals>& intervals = answer.released.intervals;
  const bool quotient = accounting::is_quotient(answer.planned.post_processing);
  if (intervals.empty() || quotient || wire::asks_quantiles(answer)) return small;
  const bool bare = is_two_way(answer, style);
  for (std::size_t i = 0; i < answer.released.values.size(); ++i) {
    if (engine::is_suppressed(answer, i) || intervals[0].group_of(i).range.low != 0) continue;
    small.below_zero = small.below_zero || answer.released.values[i] < 0;
    small.near_zero = small.near_zero || (bare && intervals[0].each.at(i).low <= 0);
  }
  return small;
}

std::string percent_text(const Rational& share, bool up) {
  return with_digit_groups(up ? accounting::text_up(100 * share, 3) : accounting::text_down(100 * share, 3)) +
         " %";
}

/// "the exact median", "each cell's exact 0.9 quantile".
std::string exact_quantile_text(const engine::Answer& answer, std::size_t i) {
  const std::string quantile = wire::quantile_text(answer, i);
  return std::string(answer.asked.by.empty() ? "the exact " : "each cell's exact ") +
         (quantile == "0.5" ? "median" : quantile + " quantile");
}

/// With an assumed count: between which quantiles of the rows a quantile lies.
std::string reach_text(const engine::Answer& answer, const Style& style) {
  if (!answer.planned.assumed) return "";
  std::string text;
  const engine::AssumedAccuracy& assumed = *answer.planned.assumed;
  for (std::size_t i = 0; i < assumed.quantiles.size(); ++i) {
    for (const engine::QuantileReach& one : assumed.quantiles[i]) {
      const bool any = one.low <= 0 && one.high >= 1;
      const std::string ties =
          one.ties > 0 ? fmt::format(", and {} times the most rows at one value", error_text(one.ties, style))
                       : "";
      text += field("", fmt::format("{} confidence, if of {} {}: quantile {} {}", confidence_text(one.alpha),
                                    with_digit_groups(assumed.rows), assumed.rows == 1 ? "row" : "rows",
                                    wire::quantile_text(answer, i),
                                    any ? "may be any value"
                                        : "lies between those of " + percent_text(one.low, false) + " and " +
                                              percent_text(one.high, true) + ties));
    }
  }
  return text;
}

}  // namespace

std::string field(std::string_view name, const std::string& text) {
  return fmt::format("  {:<11}{}\n", name, printable(text));
}

std::string intervals_text(const engine::Answer& answer, const Style& style) {
  std::string text;
  for (const engine::CellIntervals& one : answer.released.intervals) {
    text += (text.empty() ? " " : ", ") + interval_or_whole_range(answer, 0, one, one.each.at(0), style) +
            " (" + confidence_text(one.alpha) + ")";
  }
  return text;
}

std::string intervals_note(const engine::Answer& answer, const Style& style) {
  std::string notes;
  for (const engine::Answer& row : answer.rows) {
    const std::string note = about_text(row, style);
    if (notes.find(note) == std::string::npos) notes += note;
  }
  const std::string about = about_text(answer, style);
  return notes + about + (about.empty() ? "" : sizes_text(answer, sizes_of(answer), style));
}

std::string small_values_note(const engine::Answer& answer, const Style& style) {
  const SmallValues small = small_values_of(answer, style);
  if (small.below_zero) {
    return field("note", "a value below 0 stands for a small one: its noise was negative. Publish it") +
           field("", "as it is: set to 0, such values would make sums too high");
  }
  return small.near_zero ? field("note", "a value smaller than its noise may stand for 0") : "";
}

std::string narrow_intervals_note(const engine::Answer& answer, const Style& style) {
  if (!answer.released.intervals.empty() && is_two_way(answer, style)) return "";
  const std::string sizes = sizes_text(answer, sizes_of(answer), style);
  return sizes.empty() ? sizes : field("interval", "of a cell's true size:") + sizes;
}

std::string rank_accuracy_text(const engine::Answer& answer, const Style& style) {
  std::string text;
  for (std::size_t i = 0; i < answer.planned.accuracy.size(); ++i) {
    for (const engine::Accuracy& one : answer.planned.accuracy[i]) {
      const bool divided = one.ties.rational() > 0;
      text += field(text.empty() ? "accuracy" : "",
                    fmt::format("with {} confidence within {} rows of {}{}", confidence_text(one.alpha),
                                error_text(one.a, style), exact_quantile_text(answer, i),
                                divided ? fmt::format(", and {} times the most rows at one value",
                                                      error_text(one.ties, style))
                                        : ""));
      const accounting::Integer rows = wire::any_value_to(answer, i, one);
      if (rows > 0)
        text += field("", fmt::format("may be any value {} {} {} or fewer",
                                      answer.asked.by.empty() ? "of" : "in a cell of",
                                      with_digit_groups(rows.get_str()), rows == 1 ? "row" : "rows"));
    }
  }
  return text + reach_text(answer, style);
}

}  // namespace epsilog::command
