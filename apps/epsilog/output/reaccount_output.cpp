#include "reaccount_output.hpp"

#include <fmt/format.h>

#include "printable.hpp"
#include "table_output.hpp"

namespace epsilog::command {
namespace {

using accounting::Rational;
using engine::Reaccount;
using Bound = std::optional<Rational>;

/// How much less than charged, where that is more than the rounding of a scale.
Bound gain(const Reaccount& answer, const Bound& bound) {
  if (!answer.charged || !bound) return std::nullopt;
  const Rational less = *answer.charged - *bound;
  return less * 1'000'000'000 > *answer.charged ? Bound(less) : std::nullopt;
}

Figure count_figure(const char* name, std::int64_t count) {
  return {name, static_cast<std::uint64_t>(count)};
}

std::string short_bound(const Bound& bound, const char* measure) {
  if (!bound) return "-";
  return short_text(text_of({bound_figure("bound", measure, bound)}, "bound"));
}

std::string plural(std::int64_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace

const char* reaccount_measure(const Reaccount& answer) {
  return answer.delta ? "epsilon" : "delta";
}

std::string reaccount_heading(const Reaccount& answer) {
  const std::string scope = answer.scope.empty() ? "" : ", " + printable(answer.scope);
  const std::string given =
      answer.delta ? "delta " + short_text(*answer.delta) : "epsilon " + short_text(*answer.epsilon);
  std::string text = fmt::format("{}{}: {}, {} by {}, at {}\n", printable(answer.dataset), scope,
                                 plural(answer.releases, "release"), plural(answer.draws, "draw"),
                                 plural(answer.laws, "different law"), given);
  if (answer.inexpressible > 0) {
    text += fmt::format("  {} without a release cannot be expressed: there are no figures\n",
                        plural(answer.inexpressible, "charge"));
  }
  if (answer.unreadable > 0) {
    text += fmt::format("  {} cannot be read: there are no figures\n", plural(answer.unreadable, "decision"));
  }
  return text;
}

std::optional<Rational> least_of(const Reaccount& answer) {
  Bound least;
  for (const Reaccount::Figure& figure : answer.figures) {
    if (figure.bound && (!least || *figure.bound < *least)) least = figure.bound;
  }
  return least;
}

Figures reaccount_figures(const Reaccount& answer) {
  const char* measure = reaccount_measure(answer);
  Figures figures{{"dataset", answer.dataset}, {"scope", answer.scope}};
  figures.push_back(
      {answer.delta ? "delta" : "epsilon", accounting::text(answer.delta ? *answer.delta : *answer.epsilon)});
  figures.push_back(count_figure("releases", answer.releases));
  figures.push_back(count_figure("draws", answer.draws));
  figures.push_back(count_figure("laws", answer.laws));
  figures.push_back(count_figure("inexpressible", answer.inexpressible));
  figures.push_back(count_figure("unreadable", answer.unreadable));
  figures.push_back(bound_figure("charged", measure, answer.charged));
  for (const Reaccount::Figure& figure : answer.figures) {
    figures.push_back(bound_figure(std::string(accounting::name(figure.accountant)), measure, figure.bound));
  }
  figures.push_back(bound_figure("least", measure, least_of(answer)));
  return figures;
}

std::vector<ReaccountRow> reaccount_rows(const Reaccount& answer) {
  const char* measure = reaccount_measure(answer);
  std::vector<ReaccountRow> rows{
      {"charged", short_bound(answer.charged, measure), "", "as they were chosen"}};
  for (const Reaccount::Figure& figure : answer.figures) {
    const Bound less = gain(answer, figure.bound);
    rows.push_back({std::string(accounting::name(figure.accountant)), short_bound(figure.bound, measure),
                    less ? "by " + short_bound(less, measure) : "",
                    accounting::fixed_in_advance(figure.accountant) ? "only if fixed in advance"
                                                                    : "a sum that a filter may keep"});
  }
  return rows;
}

std::string reaccount_text(const Reaccount& answer, const Style& style) {
  Table table({{"accountant"},
               {reaccount_measure(answer), Table::Align::right},
               {"less than charged", Table::Align::right},
               {"parameters"}});
  for (const ReaccountRow& row : reaccount_rows(answer)) table.add({row.begin(), row.end()});
  return style.bold(reaccount_heading(answer)) + table.text(style);
}

}  // namespace epsilog::command
