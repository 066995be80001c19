#include "epsilog/engine/statistic.hpp"

#include <algorithm>
#include <array>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/nearest.hpp"
#include "policy_words.hpp"

namespace epsilog::engine {
namespace {

constexpr std::string_view kHistogram = "histogram";
constexpr std::string_view kMedianWord = "median";
constexpr std::string_view kQuantilesWord = "quantiles";
/// Of a quantile as it is written: what is longer tells nobody anything.
constexpr std::size_t kQuantileSizeMax = 40;

/// How count_of is asked.
constexpr std::string_view kCountWord = "count";

bool has_subject(StatisticKind kind) {
  return kind == StatisticKind::value || is_about_column(kind);
}

/// What others offer and is not offered here is no misspelling of what is.
struct Elsewhere {
  std::string_view word;
  std::string_view instead;
};
constexpr std::string_view kMedian = "median:COLUMN is a quantile, and so is quantile:COLUMN:0.9";
constexpr std::string_view kNoMode = "histogram:COLUMN tells how declared values are distributed";
constexpr std::string_view kNoMinimum =
    "no extreme is offered, since one person's row decides it; ask quantile:COLUMN:0.01";
constexpr std::string_view kNoMaximum =
    "no extreme is offered, since one person's row decides it; ask quantile:COLUMN:0.99";
constexpr std::string_view kDeviation = "its square is variance:COLUMN";
constexpr std::string_view kDistinct = "distinct:COLUMN counts declared values that occur, `units` people";
constexpr std::string_view kRatio = "ratio:COLUMN,OTHER divides the sum of one column by that of another";
constexpr std::string_view kShare = "proportion:COLUMN:VALUE is the share of rows with a declared value";
constexpr std::string_view kNoCovariance =
    "no covariance and no correlation is offered, since what can be told of one is hardly ever anything; ask "
    "ratio:COLUMN,OTHER, or mean:COLUMN by groups";
constexpr Elsewhere kElsewhere[] = {{"percentile", kMedian},
                                    {"percentiles", kMedian},
                                    {"quartiles", kMedian},
                                    {"deciles", kMedian},
                                    {"mode", kNoMode},
                                    {"min", kNoMinimum},
                                    {"minimum", kNoMinimum},
                                    {"max", kNoMaximum},
                                    {"maximum", kNoMaximum},
                                    {"std", kDeviation},
                                    {"stddev", kDeviation},
                                    {"stdev", kDeviation},
                                    {"unique", kDistinct},
                                    {"count_distinct", kDistinct},
                                    {"share", kShare},
                                    {"percentage", kShare},
                                    {"percent", kShare},
                                    {"fraction", kShare},
                                    {"quotient", kRatio},
                                    {"rate", kRatio},
                                    {"covariance", kNoCovariance},
                                    {"cov", kNoCovariance},
                                    {"correlation", kNoCovariance},
                                    {"corr", kNoCovariance}};

std::string advice(std::string_view verb, const std::vector<std::string>& known) {
  for (const Elsewhere& one : kElsewhere) {
    if (verb == one.word) return "; " + std::string(one.instead);
  }
  if (verb == "average" || verb == "avg") return " (did you mean 'mean'?)";
  const std::string suggestion = nearest(verb, known);
  if (!suggestion.empty()) return " (did you mean '" + suggestion + "'?)";
  return "; a query that the policy names is asked as value:" + std::string(verb.substr(0, 60));
}

[[noreturn]] void refuse_unknown(std::string_view verb) {
  std::vector<std::string> known = kStatisticWords.list();
  std::erase(known, name(StatisticKind::count_of));
  std::erase(known, name(StatisticKind::private_variance));
  known.insert(known.end(), {std::string(kQuantilesWord), std::string(kMedianWord), std::string(kHistogram)});
  std::string list;
  for (const std::string& word : known) list += (list.empty() ? "" : ", ") + word;
  throw InvalidParameter("statistic: unknown statistic '" + std::string(verb.substr(0, 60)) +
                         "'; it is one of " + list + advice(verb, known));
}

StatisticKind parse_kind(std::string_view verb, bool has_colon) {
  if (verb == kHistogram) return StatisticKind::count;
  if (verb == kCountWord && has_colon) return StatisticKind::count_of;
  if (verb == name(StatisticKind::count_of)) {
    throw InvalidParameter("statistic: 'count_of' is what a policy calls it; write count:COLUMN");
  }
  if (verb == name(StatisticKind::private_variance)) {
    throw InvalidParameter("statistic: 'private_variance' is what a policy calls it; write variance:COLUMN");
  }
  if (verb == kMedianWord || verb == kQuantilesWord) return StatisticKind::quantile;
  if (const auto kind = kStatisticWords.find(verb)) return *kind;
  refuse_unknown(verb);
}

Rational parse_quantile(std::string_view text) {
  const auto refuse = [&](const char* why) {
    throw InvalidParameter("statistic: the quantile '" + std::string(text.substr(0, kQuantileSizeMax)) +
                           "' " + why);
  };
  if (text.size() > kQuantileSizeMax) refuse("is longer than 40 characters");
  Rational quantile;
  try {
    quantile = accounting::parse_rational(text, "quantile");
  } catch (const InvalidParameter&) {
    refuse("is no number: write 0.25 or 1/3");
  }
  // What is recorded is the canonical text, which is read here again.
  if (accounting::text(quantile).size() > kQuantileSizeMax) refuse("is longer than 40 characters in full");
  if (quantile <= 0 || quantile >= 1) refuse("does not lie strictly between 0 and 1");
  return quantile;
}

/// Takes the quantiles off the subject.
std::vector<Rational> take_quantiles(std::string_view verb, std::string& subject) {
  if (verb == kMedianWord) return {Rational(1, 2)};
  const bool several = verb == kQuantilesWord;
  const std::size_t colon = subject.find(':');
  if (colon == std::string::npos) {
    throw InvalidParameter("statistic: which? write " + std::string(verb) + ":" + subject.substr(0, 60) +
                           (several ? ":0.25,0.5,0.75" : ":0.5"));
  }
  const std::string written = subject.substr(colon + 1);
  subject.resize(colon);
  std::vector<Rational> quantiles;
  for (std::size_t at = 0; at <= written.size();) {
    const std::size_t comma = std::min(written.find(',', at), written.size());
    quantiles.push_back(parse_quantile(std::string_view(written).substr(at, comma - at)));
    at = comma + 1;
    if (quantiles.size() > kQuantilesAskedMax)
      throw InvalidParameter("statistic: at most 99 quantiles can be asked at once");
    if (quantiles.size() > 1 && quantiles.back() <= quantiles[quantiles.size() - 2])
      throw InvalidParameter("statistic: the quantiles must ascend, each once");
  }
  if (several && quantiles.size() < 2)
    throw InvalidParameter("statistic: 'quantiles' asks for two or more; write quantile:" + subject + ":" +
                           written);
  if (!several && quantiles.size() > 1)
    throw InvalidParameter("statistic: 'quantile' asks for one; write quantiles:" + subject + ":" + written);
  return quantiles;
}

std::string_view trim_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

/// A list as people write it. No name of a column has a comma or a blank in it.
std::vector<std::string> columns_of(std::string_view text) {
  std::vector<std::string> columns;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    columns.emplace_back(trim_blanks(text.substr(at, comma - at)));
    at = comma + 1;
  }
  return columns;
}

void check_columns(const std::vector<std::string>& by) {
  if (by.size() > kGroupedByMax) throw InvalidParameter("by: names more than 3 columns");
  for (std::size_t i = 0; i < by.size(); ++i) {
    if (by[i].empty()) throw InvalidParameter("by: names no column");
    if (std::count(by.begin(), by.end(), by[i]) > 1)
      throw InvalidParameter("by: names the column '" + by[i].substr(0, 60) + "' twice");
  }
}

/// Takes the value off the subject.
std::string take_value(std::string& subject) {
  const std::size_t colon = subject.find(':');
  if (colon == std::string::npos || colon + 1 == subject.size()) {
    throw InvalidParameter("statistic: of which value? write proportion:" +
                           subject.substr(0, std::min<std::size_t>(colon, 60)) + ":VALUE");
  }
  std::string value = subject.substr(colon + 1);
  subject.resize(colon);
  return value;
}

/// Takes the divisor off the subject. No name of a column has a comma in it.
std::string take_divisor(std::string& subject) {
  const std::size_t comma = subject.find(',');
  if (comma == std::string::npos || comma + 1 == subject.size()) {
    throw InvalidParameter("statistic: over the sum of which column? write ratio:" +
                           subject.substr(0, std::min<std::size_t>(comma, 60)) + ",COLUMN");
  }
  std::string divisor = subject.substr(comma + 1);
  subject.resize(comma);
  if (divisor == subject)
    throw InvalidParameter("statistic: the ratio of '" + subject.substr(0, 60) + "' to itself is 1");
  return divisor;
}

}  // namespace

std::string release_key(const Statistic& statistic) {
  return statistic.kind == StatisticKind::value ? statistic.subject : std::string(name(statistic.kind));
}

bool is_about_column(StatisticKind kind) {
  switch (kind) {
    case StatisticKind::count:
    case StatisticKind::units:
    case StatisticKind::value:
      return false;
    case StatisticKind::sum:
    case StatisticKind::mean:
    case StatisticKind::variance:
    case StatisticKind::quantile:
    case StatisticKind::count_of:
    case StatisticKind::proportion:
    case StatisticKind::distinct:
    case StatisticKind::private_variance:
    case StatisticKind::ratio:
      return true;
  }
  return false;
}

std::vector<std::string> aggregated_columns(const Statistic& statistic) {
  if (!is_about_column(statistic.kind)) return {};
  if (statistic.kind == StatisticKind::ratio) return {statistic.subject, statistic.divisor};
  return {statistic.subject};
}

bool counts_cells(StatisticKind kind) {
  return kind == StatisticKind::count_of || kind == StatisticKind::proportion ||
         kind == StatisticKind::distinct;
}

StatisticKind required_permission(const Question& question, bool rows_are_exact) {
  const StatisticKind kind = question.statistic.kind;
  const bool of_one_cell = question.by.empty();
  return kind == StatisticKind::variance && of_one_cell && !rows_are_exact ? StatisticKind::private_variance
                                                                           : kind;
}

std::string Statistic::text() const {
  std::string verb(quantiles.size() > 1              ? kQuantilesWord
                   : kind == StatisticKind::count_of ? kCountWord
                                                     : name(kind));
  if (subject.empty()) return verb;
  verb += ":" + subject;
  if (!value.empty()) verb += ":" + value;
  if (!divisor.empty()) verb += "," + divisor;
  for (std::size_t i = 0; i < quantiles.size(); ++i)
    verb += (i == 0 ? ":" : ",") + accounting::text(quantiles[i]);
  return verb;
}

Question parse_question(std::string_view statistic, const std::optional<std::string>& by,
                        const std::optional<std::string>& where) {
  return parse_question_by(statistic, by ? columns_of(*by) : std::vector<std::string>(), where);
}

namespace {

/// Why no table is both consistent and suppressed.
constexpr const char* kGivesBack =
    "cells that add up to their totals give every hidden one back, the total less the others; ask for "
    "`consistent` or for `suppress_below`";

}  // namespace

void suppress_below(Question& question, const Rational& least) {
  constexpr std::size_t kSizeMax = 40;
  const auto refuse = [](const std::string& why) { throw InvalidParameter("suppress_below: " + why); };
  if (least <= 0) refuse("must be above 0");
  if (accounting::text(least).size() > kSizeMax) refuse("is longer than 40 characters in full");
  if (question.by.empty()) refuse("is of the cells of an answer: group it by a column");
  const StatisticKind kind = question.statistic.kind;
  if (kind != StatisticKind::count && kind != StatisticKind::count_of && kind != StatisticKind::units &&
      kind != StatisticKind::mean && kind != StatisticKind::variance) {
    refuse("no count of its cells is released with '" + question.statistic.text() + "'");
  }
  if (question.consistent) refuse(kGivesBack);
  question.suppress_below = least;
}

void with_totals(Question& question, const Rational& share, bool consistent) {
  constexpr std::size_t kSizeMax = 40;
  const auto refuse = [](const std::string& why) { throw InvalidParameter("totals: " + why); };
  if (share <= 0 || share >= 1) refuse("must lie strictly between 0 and 1: what they have of the loss");
  if (accounting::text(share).size() > kSizeMax) refuse("is longer than 40 characters in full");
  if (question.by.empty()) refuse("are of the cells of an answer: group it by a column");
  const StatisticKind kind = question.statistic.kind;
  if (kind != StatisticKind::count && kind != StatisticKind::count_of && kind != StatisticKind::units &&
      kind != StatisticKind::sum) {
    refuse("are of count, count:COLUMN, units and sum:COLUMN; ask '" + question.statistic.text() +
           "' by fewer columns, and by none, as further rows of a batch");
  }
  if (consistent && kind == StatisticKind::units) {
    throw InvalidParameter(
        "consistent: a unit is counted in each cell that it has rows in and once in a total, so that cells "
        "of 'units' add up to no total; ask it without, or ask for count");
  }
  if (consistent && question.suppress_below) throw InvalidParameter("consistent: " + std::string(kGivesBack));
  question.totals = share;
  question.consistent = consistent;
}

std::string by_text(const std::vector<std::string>& columns) {
  std::string text;
  for (const std::string& column : columns) text += (text.empty() ? "" : ",") + column;
  return text;
}

Question parse_question_by(std::string_view statistic, std::vector<std::string> by,
                           const std::optional<std::string>& where) {
  const std::size_t colon = statistic.find(':');
  const bool has_colon = colon != std::string_view::npos;
  const std::string_view verb = statistic.substr(0, colon);
  std::string subject(has_colon ? statistic.substr(colon + 1) : "");
  const bool histogram = verb == kHistogram;

  Question result;
  result.statistic.kind = parse_kind(verb, has_colon);
  const bool wants_subject = histogram || has_subject(result.statistic.kind);
  const std::string shown(verb);
  if (wants_subject && subject.empty()) {
    throw InvalidParameter("statistic: '" + shown + "' needs " +
                           (result.statistic.kind == StatisticKind::value ? "a query" : "a column") +
                           ": write " + shown + ":NAME");
  }
  if (!wants_subject && has_colon) {
    throw InvalidParameter("statistic: '" + shown + "' takes no column: write " + shown);
  }
  if (result.statistic.kind == StatisticKind::quantile)
    result.statistic.quantiles = take_quantiles(verb, subject);
  if (result.statistic.kind == StatisticKind::proportion) result.statistic.value = take_value(subject);
  if (result.statistic.kind == StatisticKind::ratio) result.statistic.divisor = take_divisor(subject);
  if (subject.empty() && wants_subject) throw InvalidParameter("statistic: '" + shown + "' names no column");
  if (!by.empty() && (histogram || result.statistic.kind == StatisticKind::value)) {
    throw InvalidParameter("by: cannot be combined with '" + shown + "'");
  }
  check_columns(by);

  if (histogram) {
    result.by = {subject};
  } else {
    result.statistic.subject = subject;
    result.by = std::move(by);
  }
  if (where) result.where = Predicate::parse(*where);
  return result;
}

}  // namespace epsilog::engine
