#include "forecast_output.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "amounts.hpp"
#include "answer_facts.hpp"
#include "answer_json.hpp"
#include "answer_text.hpp"
#include "epsilog/engine/measure.hpp"
#include "intervals_text.hpp"
#include "json_parts.hpp"
#include "printable.hpp"
#include "released_text.hpp"
#include "table_output.hpp"

namespace epsilog::command {

using wire::Json;

namespace {

using accounting::Rational;

std::string releases_word(std::int64_t count) {
  return with_digit_groups(count) + (count == 1 ? " more release" : " more releases");
}

/// The scarcest accounts, no more than one can see at once.
std::string rooms_text(const engine::Forecast& forecast, const Style& style) {
  constexpr std::size_t kMost = 20;
  if (forecast.accounts.empty()) return "";
  std::vector<engine::AccountForecast> shown = forecast.accounts;
  if (shown.size() > kMost) {
    std::stable_sort(shown.begin(), shown.end(), [](const auto& first, const auto& second) {
      return first.releases.value_or(accounting::kUnitsMax) < second.releases.value_or(accounting::kUnitsMax);
    });
    shown.resize(kMost);
  }
  Table table({{"scope"},
               {"measure"},
               {"remaining", Table::Align::right},
               {"each asks", Table::Align::right},
               {"more that fit", Table::Align::right},
               {""}});
  for (const engine::AccountForecast& one : shown) {
    const ledger::AccountState& account = one.account;
    table.add({account.scope.empty() ? account.dataset : account.scope, account.measure,
               with_digit_groups(wire::texts(account).remaining),
               with_digit_groups(engine::amount_text(account.measure, one.asked)),
               one.releases ? with_digit_groups(*one.releases) : "-", one.binds ? "binds" : ""});
  }
  std::string text = table.text(style);
  if (shown.size() < forecast.accounts.size()) {
    text +=
        fmt::format("and {} accounts that have room for as many or more\n",
                    with_digit_groups(static_cast<std::int64_t>(forecast.accounts.size() - shown.size())));
  }
  return text;
}

std::string reasons_text(const engine::Forecast& forecast) {
  std::string text;
  for (const engine::Reason& reason : forecast.each.recorded.reasons) {
    if (engine::is_balance_refusal(reason.code)) continue;
    text += "  " + std::string(engine::name(reason.code)) + ": " + printable(reason_message(reason)) + "\n";
  }
  return text;
}

std::string fitting_releases_text(const engine::Forecast& forecast, const Style& style) {
  const std::string fit = forecast.never ? "never fits" : releases_word(forecast.releases);
  std::string text = question_text(forecast.each) + ": ";
  text += (forecast.releases > 0 ? style.good(fit) : style.bad(fit)) + "\n";
  text += cost_and_accuracy_text(forecast.each, style) + narrow_intervals_note(forecast.each, style) +
          lost_within_text(forecast.each) + reasons_text(forecast);
  const std::string rooms = rooms_text(forecast, style);
  return text + (rooms.empty() ? "" : "\n" + rooms);
}

std::string nothing_fits_text(const engine::Request& request, const ForecastGoal& goal, const Style& style) {
  const std::string what = printable(request.question.statistic.text() + " of " + request.dataset);
  if (goal.count) {
    return what + ": " + style.bad("no epsilon fits for " + releases_word(*goal.count)) + "\n";
  }
  return what + ": " + style.bad("no epsilon is large enough for this accuracy") + "\n";
}

Json binding_json(const engine::Forecast& forecast) {
  Json list = Json::array();
  for (const engine::Reason& reason : forecast.each.recorded.reasons) {
    if (reason.code == engine::RefusalCode::per_release_limit_exceeded) {
      list.push_back({{"scope", reason.scope}, {"measure", reason.measure}});
    }
  }
  if (!list.empty() || forecast.never) return list;
  for (const engine::AccountForecast& one : forecast.accounts) {
    if (one.binds) list.push_back({{"scope", one.account.scope}, {"measure", one.account.measure}});
  }
  return list;
}

Json room_json(const engine::Forecast& forecast) {
  Json list = Json::array();
  for (const engine::AccountForecast& one : forecast.accounts) {
    Json account = wire::account_json(one.account);
    account["charge"] = engine::amount_text(one.account.measure, one.asked);
    account["releases"] = one.releases ? Json(*one.releases) : Json(nullptr);
    account["binds"] = one.binds;
    list.push_back(std::move(account));
  }
  return list;
}

/// The accuracy of the only mechanism call, of a table with totals that of its cells; empty where there are
/// several.
Json accuracies_json(const engine::Answer& answer) {
  if (wire::asks_quantiles(answer) || wire::asks_proportion(answer)) return Json::array();
  if (wire::asks_totals(answer) && !answer.planned.accuracy.empty())
    return wire::accuracy_json(answer.planned.accuracy.front());
  return answer.planned.accuracy.size() == 1 ? wire::accuracy_json(answer.planned.accuracy.front())
                                             : Json::array();
}

/// What a forecast adds to a question: nothing found, or nothing sought for who may not ask, is all null and
/// no releases.
void add_forecast(Json& object, const std::optional<engine::Forecast>& forecast) {
  const bool found = forecast && !engine::is_unread(forecast->each);
  object["epsilon"] = found ? Json(forecast->each.planned.record.charged.text()) : Json(nullptr);
  object["releases"] = forecast ? forecast->releases : 0;
  object["never"] = forecast && forecast->never;
  object["binding"] = forecast ? binding_json(*forecast) : Json::array();
  object["accuracy"] = forecast ? accuracies_json(forecast->each) : Json::array();
  if (forecast && wire::asks_quantiles(forecast->each))
    object["rank_accuracy"] = wire::rank_accuracy_json(forecast->each);
  object["holds_from"] = forecast ? wire::planned_sizes_json(forecast->each) : Json::array();
  if (forecast && forecast->each.planned.assumed) object["assumed"] = wire::assumed_json(forecast->each);
  if (forecast && !forecast->each.planned.lost_within.empty())
    object["lost_within"] = wire::lost_within_json(forecast->each);
  object["accounts"] = forecast ? room_json(*forecast) : Json::array();
}

}  // namespace

std::string forecast_text(const engine::Request& request, const ForecastGoal& goal,
                          const std::optional<engine::Forecast>& forecast, const Style& style) {
  return forecast ? fitting_releases_text(*forecast, style) : nothing_fits_text(request, goal, style);
}

std::string forecast_json(const std::string& ledger_id, const engine::Request& request,
                          const ForecastGoal& goal, const std::optional<engine::Forecast>& forecast) {
  const engine::Question& question = request.question;
  Json object{{"ledger_id", ledger_id},
              {"principal", request.principal},
              {"dataset", request.dataset},
              {"statistic", question.statistic.text()},
              {"by", wire::columns_json(question.by)},
              {"where", wire::or_null(question.where ? question.where->text() : "")},
              {"purpose", wire::or_null(request.purpose)},
              {"delta", request.delta ? Json(accounting::text(*request.delta)) : Json(nullptr)},
              {"count", goal.count ? Json(*goal.count) : Json(nullptr)},
              {"wanted", goal.accuracy ? wire::accuracy_json({*goal.accuracy})[0] : Json(nullptr)}};
  if (request.rho) object["rho"] = accounting::text(*request.rho);
  if (question.totals) {
    object["totals"] = accounting::text(*question.totals);
    object["consistent"] = question.consistent;
  }
  add_forecast(object, forecast);
  object["reasons"] = forecast ? wire::reason_list(forecast->each) : Json::array();
  return wire::pretty(object);
}

std::string forecast_plan_text(const engine::Request& request, const ForecastPlan& plan, const Style& style) {
  const ForecastGoal goal{.count = plan.count, .accuracy = std::nullopt};
  return plan_text(plan.plan, style) + "\n" + fitting_releases_text(plan.same, style) + "\nfor " +
         releases_word(plan.count) + "\n" + forecast_text(request, goal, plan.best, style);
}

std::string forecast_plan_json(const ForecastPlan& plan) {
  Json object = wire::answer_object(plan.plan, wire::AnswerKind::plan);
  Json same;
  add_forecast(same, plan.same);
  Json best{{"count", plan.count}};
  add_forecast(best, plan.best);
  object["forecast"] = std::move(same);
  object["for_count"] = std::move(best);
  return wire::pretty(object);
}

std::string planned_row_json(std::size_t line, const engine::Answer& answer) {
  const Json whole = wire::answer_object(answer, wire::AnswerKind::plan);
  Json object{{"line", line}};
  for (const char* name : {"decision", "replayed", "principal", "key", "dataset", "statistic", "by", "where",
                           "purpose", "epsilon", "delta", "reasons"}) {
    object[name] = whole.at(name);
  }
  if (whole.contains("rho")) object["rho"] = whole.at("rho");
  return wire::one_object(object, -1);
}

std::string batch_summary_json(const std::string& ledger_id, const BatchSummary& summary,
                               const std::vector<ledger::AccountState>& accounts) {
  return wire::one_object({{"ledger_id", ledger_id},
                           {"rows", summary.rows},
                           {"granted", summary.granted},
                           {"refused", summary.refused},
                           {"bad", summary.bad},
                           {"accounts", wire::accounts_json(accounts)}},
                          -1);
}

}  // namespace epsilog::command
