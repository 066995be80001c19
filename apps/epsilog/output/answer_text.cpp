#include "answer_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "accounts_text.hpp"
#include "answer_facts.hpp"
#include "cells_text.hpp"
#include "epsilog/engine/held_calendar.hpp"
#include "intervals_text.hpp"
#include "printable.hpp"
#include "released_text.hpp"
#include "table_output.hpp"

namespace epsilog::command {
namespace {

using accounting::Rational;

std::string subject(const engine::Answer& answer) {
  if (engine::is_unread(answer)) return printable("a question about " + answer.asked.dataset);
  const std::string rows = answer.rows.empty() ? "" : fmt::format(" of {} rows", answer.rows.size());
  std::string text = answer.asked.statistic + rows + " of " + answer.asked.dataset;
  if (!answer.asked.by.empty()) text += " by " + engine::by_text(answer.asked.by);
  if (answer.asked.totals)
    text += std::string(answer.asked.consistent ? " with consistent totals of " : " with totals of ") +
            accounting::text(*answer.asked.totals);
  if (!answer.asked.where.empty()) text += " where " + answer.asked.where;
  if (answer.asked.suppress_below)
    text += " suppressed below " + accounting::text(*answer.asked.suppress_below);
  return printable(text);
}

/// What the accuracy of a component is of: the answer, one of the totals, or a part that the answer is made
/// of.
std::string accurate_part(const engine::Answer& answer, std::size_t component) {
  const bool cells = !answer.planned.record.cells.empty();
  if (wire::asks_totals(answer) && component > 0) {
    const std::string name = margin_name(answer, component);
    return (name.starts_with("the ") ? "" : "each of the ") + name;
  }
  const bool parts = !wire::asks_totals(answer) && answer.planned.accuracy.size() > 1;
  if (!parts && !wire::asks_proportion(answer))
    return cells ? "each cell's exact answer" : "the exact answer";
  return (cells ? "each cell's exact " : "its exact ") +
         part_name(answer.planned.record.components.at(component));
}

std::string accuracy_text(const engine::Answer& answer, const Style& style) {
  if (!answer.rows.empty()) return "";
  if (wire::asks_quantiles(answer)) return rank_accuracy_text(answer, style);
  std::string text;
  if (const std::optional<engine::AssumedAccuracy>& assumed = answer.planned.assumed) {
    const char* whom = answer.planned.record.cells.empty() ? "the exact answer" : "each cell's exact answer";
    for (const engine::Accuracy& one : assumed->accuracy) {
      text += field(text.empty() ? "accuracy" : "",
                    fmt::format("with {} confidence within {} of {}, if of {} {}", confidence_text(one.alpha),
                                error_text(one.a, style), whom, with_digit_groups(assumed->rows),
                                assumed->rows == 1 ? "row" : "rows"));
    }
  }
  for (std::size_t i = 0; i < answer.planned.accuracy.size(); ++i) {
    for (const engine::Accuracy& one : answer.planned.accuracy[i]) {
      text += field(text.empty() ? "accuracy" : "",
                    fmt::format("with {} confidence within {} of {}", confidence_text(one.alpha),
                                error_text(one.a, style), accurate_part(answer, i)));
    }
  }
  if (answer.asked.consistent && !text.empty())
    text += field("", "before cells and totals are made to add up");
  if (answer.asked.statistic.starts_with("variance:"))
    text += field("variance", "of the rows themselves: divided by their number n, not by n - 1");
  return text;
}

std::string precision_text(const ledger::ComponentRecord& component) {
  return component.precision == 0 ? "" : fmt::format(", {} bits", component.precision);
}

/// Requires  it has a bound.
std::string bound_text(const ledger::ComponentRecord& component) {
  const std::string bound = with_digit_groups(short_text(*component.bound));
  if (!component.centre || *component.centre == 0) return bound;
  return bound + " about " + with_digit_groups(short_text(*component.centre));
}

/// "sensitivity 1, bound 100000, scale 10, grid 16" of snapping; noise on a grid has no bound.
std::string parameters_text(const ledger::ComponentRecord& component) {
  std::string text = "sensitivity " + short_text(component.sensitivity);
  if (component.sensitivity_l2_squared) {
    text += ", L2 squared " + short_text(*component.sensitivity_l2_squared);
  }
  if (component.bound) text += ", bound " + bound_text(component);
  return text + ", scale " + short_text(component.scale) + ", grid " + short_text(component.grid);
}

std::string rounded_text(const engine::Answer& answer) {
  using Kind = accounting::PostProcessing::Kind;
  const Kind kind = answer.planned.post_processing;
  if (kind == Kind::consistent_totals) return ", made consistent";
  return kind == Kind::rounded || kind == Kind::whole_totals ? ", rounded to whole numbers" : "";
}

enum class Detail { brief, with_reasons };

/// "" unless the style is verbose.
std::string mechanism_text(const engine::Answer& answer, Detail detail, const Style& style) {
  std::string text;
  if (!style.verbose || !answer.rows.empty()) return text;
  for (std::size_t i = 0; i < answer.planned.record.components.size(); ++i) {
    const ledger::ComponentRecord& component = answer.planned.record.components[i];
    text +=
        field(i == 0 ? "mechanism" : "",
              fmt::format("{} of {}, {}{}{}", answer.planned.record.mechanism, part_name(component),
                          answer.planned.record.arithmetic, precision_text(component), rounded_text(answer)));
    text += field("", parameters_text(component));
    if (detail == Detail::brief || i >= answer.planned.precision_reasons.size() ||
        answer.planned.precision_reasons[i].empty())
      continue;
    text += field("", "precision " + answer.planned.precision_reasons[i]);
  }
  return text;
}

/// "" for a pure mechanism.
std::string delta_text(const engine::Answer& answer, const Style& style) {
  if (!answer.planned.delta) return "";
  std::string text = "; delta " + answer.planned.delta->charged;
  if (answer.planned.delta->requested != answer.planned.delta->charged)
    text += ", asked " + answer.planned.delta->requested;
  return style.verbose ? text + ", proved " + short_text(answer.planned.delta->adjusted) : text;
}

/// "; proved loss ~0.0999…; published bound …".
std::string loss_text(const engine::Answer& answer) {
  std::string text = "; proved loss " + short_text(answer.planned.record.adjusted);
  if (!answer.planned.record.published) return text;
  const bool bound =
      std::all_of(answer.planned.record.components.begin(), answer.planned.record.components.end(),
                  [](const auto& component) { return component.published_note.empty(); });
  return text + (bound ? "; published bound " + short_text(*answer.planned.record.published)
                       : "; published form is not a bound here");
}

/// Of a batch that is charged as one: by what, and what would have been charged; else "".
std::string composed_text(const engine::Answer& answer) {
  const auto& composed = answer.planned.record.composed;
  if (!composed) return "";
  const accounting::ApproximateLoss sum = engine::sum_of_rows(answer);
  std::string text = "; all rows as one, by " + std::string(accounting::name(composed->by)) +
                     "; their sums are epsilon " + sum.epsilon.text();
  return sum.pure() ? text : text + ", delta " + sum.delta.text();
}

/// "epsilon 0.1"
std::string cost_text(const engine::Answer& answer, const Style& style) {
  const ledger::ReleaseRecord& record = answer.planned.record;
  std::string text = "epsilon " + record.charged.text();
  if (!record.composed && record.requested != record.charged.rational())
    text += ", asked " + accounting::text(record.requested);
  if (style.verbose && !record.composed) text += loss_text(answer);
  text += delta_text(answer, style) + composed_text(answer);
  if (!answer.planned.rho) return text;
  text += "; asked as rho " + answer.planned.rho->requested;
  return text + (answer.planned.rho->charged == answer.planned.rho->requested
                     ? ""
                     : ", on the grid " + answer.planned.rho->charged);
}

std::string approvals_needed(const engine::Answer& answer) {
  return fmt::format("{} approval{}", answer.planned.approvals_required,
                     answer.planned.approvals_required == 1 ? "" : "s");
}

std::string approvals_text(const engine::Answer& answer) {
  std::string text =
      fmt::format("{} of {}", answer.recorded.approvals.size(), answer.planned.approvals_required);
  for (std::size_t i = 0; i < answer.recorded.approvals.size(); ++i) {
    const engine::Approval& approval = answer.recorded.approvals[i];
    text += (i == 0 ? ": " : ", ") + approval.by + (approval.why.empty() ? "" : " (" + approval.why + ")");
  }
  return text;
}

std::string state_text(const engine::Answer& answer, const Style& style) {
  const std::string nothing = "; nothing was charged";
  switch (answer.recorded.state) {
    case engine::RequestState::granted:
      return style.good("granted");
    case engine::RequestState::refused:
      return style.bad("refused") + nothing;
    case engine::RequestState::pending:
      return style.good("waits for approvals");
    case engine::RequestState::reserved:
      return style.good("reserved");
    case engine::RequestState::approved:
      return style.good("approved by " + printable(answer.asked.principal));
    case engine::RequestState::rejected:
      return style.bad("rejected") + nothing;
    case engine::RequestState::data_accessed:
      return style.good("data accessed");
    case engine::RequestState::cancelled:
      return style.bad("cancelled") + nothing;
    case engine::RequestState::expired:
      return style.bad("expired") + nothing;
    case engine::RequestState::forfeited:
      return style.bad("forfeited") + "; charged in full, because the data may have been seen";
  }
  EPSILOG_INVARIANT(false);
}

bool is_issued(const engine::Answer& answer) {
  return !answer.recorded.token.empty() || !answer.recorded.token_sha256.empty();
}

/// The data token, or since when the data may have been seen; "" without either. The decision that issued a
/// token does not tell it again.
std::string data_access_text(const engine::Answer& answer) {
  if (!answer.recorded.token.empty()) return field("data token", answer.recorded.token);
  if (!answer.recorded.data_accessed_by.empty())
    return field("data", "may have been seen since " + answer.recorded.data_accessed_by);
  if (!is_issued(answer) || answer.recorded.state == engine::RequestState::data_accessed) return "";
  return field("data token", "not in this ledger, which was made of lines: they have its SHA-256 only, " +
                                 answer.recorded.token_sha256);
}

/// The command that takes the request on; "" when there is none.
std::string next_step(const engine::Answer& answer) {
  if (answer.recorded.state == engine::RequestState::pending)
    return "epsilog approve " + answer.recorded.decision_id;
  if (answer.recorded.state != engine::RequestState::reserved) return "";
  if (answer.asked.reservation == engine::ReservationKind::reserved_against_token && !is_issued(answer)) {
    return "epsilog token " + answer.recorded.decision_id;
  }
  const bool supplied = answer.asked.statistic.starts_with("value:");
  return "epsilog commit " + answer.recorded.decision_id + (supplied ? " --value -" : "");
}

/// What the mark in its cells means.
std::string suppressed_text(const engine::Answer& answer) {
  if (!answer.asked.suppress_below) return "";
  return field(kSuppressed, "counted below " + accounting::text(*answer.asked.suppress_below) +
                                " and not shown; --json has the draws, under components");
}

/// Which rows are in no cell of the table, where the policy lets there be any.
std::string left_out_text(const engine::Answer& answer) {
  if (answer.planned.left_out.empty()) return "";
  return field("left out",
               answer.planned.left_out + (answer.asked.totals ? ": in no cell or total" : ": in no cell"));
}

/// The accounts a request touched.
std::string affected_accounts_text(const engine::Answer& answer, const Style& style) {
  return scarcest_text(answer.recorded.accounts, style) + notes_text(answer.planned.notes);
}

/// The answer, on the line of the question or in a table below it.
std::string values_text(const engine::Answer& answer, const std::string& heading, const Style& style) {
  if (answer.planned.record.cells.empty()) {
    return subject(answer) + ": " + style.bold(released_text(answer, 0, style)) +
           intervals_text(answer, style) + (heading == "value" ? "" : " (dummy)") + "\n";
  }
  return subject(answer) + "\n\n" + cells_text(answer, heading, style) + "\n" + suppressed_text(answer) +
         left_out_text(answer);
}

/// What each row of a batch says; "" of what is none. `heading`: of values, "" where there are none.
std::string rows_text(const engine::Answer& answer, const std::string& heading, Detail detail,
                      const Style& style) {
  std::string text;
  for (std::size_t i = 0; i < answer.rows.size(); ++i) {
    const engine::Answer& row = answer.rows[i];
    const bool told = !heading.empty() && !row.released.values.empty();
    text += fmt::format("\nrow {}: ", i + 1) +
            (told ? values_text(row, heading, style) : subject(row) + "\n") + accuracy_text(row, style) +
            narrow_intervals_note(row, style) + field("cost", cost_text(row, style)) +
            mechanism_text(row, detail, style);
  }
  return text.empty() ? text : text + "\nall rows\n";
}

/// Whether how near it is follows from a number of rows, which is private.
bool accuracy_needs_rows(const engine::Answer& answer) {
  return answer.planned.post_processing == accounting::PostProcessing::Kind::mean_about ||
         wire::asks_proportion(answer) || wire::asks_quantiles(answer);
}

/// Of a plan: what more could be asked of it. "" where that was asked, or would say nothing.
std::string assume_count_advice(const engine::Answer& answer) {
  const auto lacks = [](const engine::Answer& one) {
    return accuracy_needs_rows(one) && !one.planned.assumed.has_value();
  };
  const bool cells = !answer.planned.record.cells.empty();
  const bool some = std::any_of(answer.rows.begin(), answer.rows.end(), lacks);
  if (!some && !lacks(answer)) return "";
  return field("advice", std::string("--assume-count N says how accurate ") +
                             (some    ? "means, proportions and quantiles"
                              : cells ? "a cell"
                                      : "an answer") +
                             " of N rows would be");
}

}  // namespace

std::string lost_within_text(const engine::Answer& answer) {
  std::string text;
  for (const engine::LossWithinWindow& sum : answer.planned.lost_within) {
    const std::string waits = "above " + sum.limit + ", so that it waits for " + approvals_needed(answer);
    text += field("approvals",
                  fmt::format("{} {} asked, and {} lost in the last {}: together {}", sum.measure, sum.asked,
                              sum.before, sum.window, sum.above ? waits : "not above " + sum.limit));
  }
  return text;
}

std::string question_text(const engine::Answer& answer) {
  return subject(answer);
}

std::string cost_and_accuracy_text(const engine::Answer& answer, const Style& style) {
  if (engine::is_unread(answer)) return "";
  return field("cost", cost_text(answer, style)) + accuracy_text(answer, style);
}

std::string plan_text(const engine::Answer& answer, const Style& style) {
  std::string text = answer.recorded.granted ? style.good("would be granted") : style.bad("would be refused");
  if (answer.recorded.state == engine::RequestState::pending) {
    text = style.good(fmt::format("would wait for {}", approvals_needed(answer)));
  }
  text += ": " + subject(answer) + "\n";
  text += rows_text(answer, "", Detail::with_reasons, style);
  if (!answer.planned.record.components.empty()) {
    text += cost_and_accuracy_text(answer, style) + narrow_intervals_note(answer, style) +
            mechanism_text(answer, Detail::with_reasons, style);
  }
  text += lost_within_text(answer);
  for (const std::string& advice : answer.planned.advice) text += field("advice", advice);
  text += assume_count_advice(answer);
  if (!engine::is_unread(answer)) text += "\n" + affected_accounts_text(answer, style);
  if (!answer.recorded.granted) text += "\n" + refusal_text(answer, style);
  return text;
}

std::string release_text(const engine::Answer& answer, const Style& style) {
  std::string text;
  if (!engine::has_values(answer)) {
    text += subject(answer) + (answer.recorded.durable.value_or(false)
                                   ? ": not shown to those who do not see values\n"
                                   : ": withheld, because it is not known to be on the disk\n");
  } else if (answer.rows.empty()) {
    text += values_text(answer, "value", style);
  } else {
    text += subject(answer) + "\n" + rows_text(answer, "value", Detail::brief, style);
  }
  text += accuracy_text(answer, style) + intervals_note(answer, style) + small_values_note(answer, style) +
          field("cost", cost_text(answer, style));
  text += mechanism_text(answer, Detail::brief, style);
  text += field("decision", answer.recorded.decision_id + " at " + answer.recorded.created_at +
                                (answer.recorded.replayed ? ", stored earlier and free now" : ""));
  return text + "\n" + affected_accounts_text(answer, style);
}

std::string dummy_text(const engine::Answer& would_be, std::int64_t rows, const Style& style) {
  std::string text = style.bad("dummy run") + ": " + with_digit_groups(rows) +
                     " rows invented from the policy; no data, no ledger, nothing charged\n";
  if (would_be.rows.empty()) {
    text += values_text(would_be, "dummy value", style);
  } else {
    text += subject(would_be) + "\n" + rows_text(would_be, "dummy value", Detail::with_reasons, style);
  }
  text += accuracy_text(would_be, style) + intervals_note(would_be, style) +
          small_values_note(would_be, style) + field("would cost", cost_text(would_be, style));
  text += mechanism_text(would_be, Detail::with_reasons, style);
  if (would_be.planned.approvals_required > 0) {
    text += field("approvals", "a release would wait for " + approvals_needed(would_be));
  }
  return text + notes_text(would_be.planned.notes);
}

std::string waiting_text(const engine::Answer& answer, const Style& style) {
  std::string text = state_text(answer, style) + ": " + subject(answer) + "\n";
  const bool open = answer.recorded.state == engine::RequestState::pending ||
                    answer.recorded.state == engine::RequestState::reserved;
  if (open) {
    text += rows_text(answer, "", Detail::brief, style);
    text += cost_and_accuracy_text(answer, style) + mechanism_text(answer, Detail::brief, style);
  }
  if (answer.planned.approvals_required > 0 && answer.recorded.ended_by.empty()) {
    text += field("approvals", approvals_text(answer));
  }
  text += field("decision", answer.recorded.decision_id + " at " + answer.recorded.created_at +
                                (answer.recorded.replayed ? ", recorded earlier under this key" : ""));
  if (open) text += field("deadline", answer.recorded.deadline);
  text += data_access_text(answer);
  if (!answer.recorded.ended_by.empty()) text += field("ended by", answer.recorded.ended_by);
  if (!answer.recorded.why.empty()) text += field("why", answer.recorded.why);
  const std::string next = next_step(answer);
  if (!next.empty()) text += field("next", next);
  return text + "\n" + affected_accounts_text(answer, style);
}

std::string decision_text(const engine::Answer& answer, const Style& style) {
  if (answer.recorded.state == engine::RequestState::granted) return release_text(answer, style);
  if (answer.recorded.state == engine::RequestState::refused) return refusal_text(answer, style);
  return waiting_text(answer, style);
}

std::string bare_values(const engine::Answer& answer) {
  std::string text;
  for (std::size_t i = 0; i < answer.rows.size(); ++i) {
    const std::string values = bare_values(answer.rows[i]);
    for (std::size_t begin = 0; begin < values.size();) {
      const std::size_t end = values.find('\n', begin) + 1;
      text += fmt::format("{}\t{}", i + 1, values.substr(begin, end - begin));
      begin = end;
    }
  }
  for (std::size_t i = 0; i < answer.released.values.size(); ++i) {
    if (!answer.planned.record.cells.empty()) {
      for (const auto& key : answer.planned.record.cells.keys_of(i))
        text += printable(key.value_or("")) + "\t";
    }
    text +=
        (engine::is_suppressed(answer, i) ? "" : wire::exact_text(answer, answer.released.values[i])) + "\n";
  }
  return text;
}

std::string reason_message(const engine::Reason& reason) {
  constexpr std::string_view kNothing = "; at most 0 fits";
  std::string message = reason.message;
  if (!message.ends_with(kNothing)) return message;
  message.resize(message.size() - kNothing.size());
  return message + "; nothing fits";
}

std::string refusal_text(const engine::Answer& answer, const Style& style) {
  std::string text;
  if (!answer.recorded.decision_id.empty()) {
    text += style.bad("refused") + ": " + subject(answer) + "; nothing was charged\n";
    text += field("decision", answer.recorded.decision_id + " at " + answer.recorded.created_at +
                                  (answer.recorded.replayed ? ", recorded earlier under this key" : ""));
    text += "\n";
  }
  Table amounts({{"scope"},
                 {"measure"},
                 {"limit", Table::Align::right},
                 {"spent", Table::Align::right},
                 {"asked", Table::Align::right},
                 {"over by", Table::Align::right},
                 {"largest that fits", Table::Align::right}});
  for (const engine::Reason& reason : answer.recorded.reasons) {
    const std::string when = engine::changes_at(answer, reason);
    text += "  " + std::string(engine::name(reason.code)) + ": " + printable(reason_message(reason)) +
            (when.empty() ? "" : "; a new period begins at " + when) + "\n";
    if (reason.limit.empty() || !style.verbose) continue;
    amounts.add({reason.scope.empty() ? answer.asked.dataset : reason.scope, reason.measure, reason.limit,
                 reason.spent.empty() ? "-" : reason.spent, reason.asked, reason.over_by,
                 reason.fits.empty() ? "-" : reason.fits});
  }
  if (answer.recorded.reasons_count > answer.recorded.reasons.size()) {
    text += fmt::format("  and {} more; epsilog plan names all that stand against it now\n",
                        answer.recorded.reasons_count - answer.recorded.reasons.size());
  }
  return amounts.empty() ? text : text + "\n" + amounts.text(style);
}

}  // namespace epsilog::command
