#include "epsilog/engine/statistic.hpp"

#include <array>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/nearest.hpp"
#include "policy_words.hpp"

namespace epsilog::engine {
namespace {

constexpr std::string_view kHistogram = "histogram";

bool has_subject(StatisticKind kind) {
  return kind != StatisticKind::count && kind != StatisticKind::units;
}

/// What others offer and is not offered here is no misspelling of what is.
struct Elsewhere {
  std::string_view word;
  std::string_view instead;
};
constexpr std::string_view kNoQuantiles =
    "no quantile is offered; histogram:COLUMN tells how declared values are distributed";
constexpr std::string_view kNoExtremes =
    "no extreme is offered, since one person's row decides it; the bounds of a column are declared";
constexpr std::string_view kDeviation = "its square is variance:COLUMN";
constexpr std::string_view kDistinct =
    "`units` counts people; histogram:COLUMN counts rows of each declared value";
constexpr Elsewhere kElsewhere[] = {
    {"median", kNoQuantiles},     {"quantile", kNoQuantiles},   {"quantiles", kNoQuantiles},
    {"percentile", kNoQuantiles}, {"mode", kNoQuantiles},       {"min", kNoExtremes},
    {"minimum", kNoExtremes},     {"max", kNoExtremes},         {"maximum", kNoExtremes},
    {"std", kDeviation},          {"stddev", kDeviation},       {"stdev", kDeviation},
    {"distinct", kDistinct},      {"count_distinct", kDistinct}};

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
  known.emplace_back(kHistogram);
  std::string list;
  for (const std::string& word : known) list += (list.empty() ? "" : ", ") + word;
  throw InvalidParameter("statistic: unknown statistic '" + std::string(verb.substr(0, 60)) +
                         "'; it is one of " + list + advice(verb, known));
}

StatisticKind parse_kind(std::string_view verb) {
  if (verb == kHistogram) return StatisticKind::count;
  if (const auto kind = kStatisticWords.find(verb)) return *kind;
  refuse_unknown(verb);
}

}  // namespace

std::string Statistic::text() const {
  const std::string verb(name(kind));
  return subject.empty() ? verb : verb + ":" + subject;
}

Question parse_question(std::string_view statistic, const std::optional<std::string>& by,
                        const std::optional<std::string>& where) {
  const std::size_t colon = statistic.find(':');
  const bool has_colon = colon != std::string_view::npos;
  const std::string_view verb = statistic.substr(0, colon);
  const std::string subject(has_colon ? statistic.substr(colon + 1) : "");
  const bool histogram = verb == kHistogram;

  Question result;
  result.statistic.kind = parse_kind(verb);
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
  if (by && (histogram || result.statistic.kind == StatisticKind::value)) {
    throw InvalidParameter("by: cannot be combined with '" + shown + "'");
  }
  if (by && by->empty()) throw InvalidParameter("by: names no column");

  if (histogram) {
    result.by = subject;
  } else {
    result.statistic.subject = subject;
    result.by = by;
  }
  if (where) result.where = Predicate::parse(*where);
  return result;
}

}  // namespace epsilog::engine
