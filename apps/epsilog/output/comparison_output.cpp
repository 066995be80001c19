#include "comparison_output.hpp"

#include "answer_facts.hpp"
#include "answer_json.hpp"
#include "answer_text.hpp"
#include "epsilog/accounting/errors.hpp"
#include "json_parts.hpp"
#include "printable.hpp"
#include "released_text.hpp"
#include "table_output.hpp"

namespace epsilog::command {

using wire::Json;

namespace {

using accounting::Rational;

/// "30", of several draws "120 and 4.2"; "-" where it says nothing at that alpha.
std::string within_text(const engine::ComparedPlan& one, const Rational& alpha, const Style& style) {
  std::string text;
  if (one.plan) {
    for (const std::vector<engine::Accuracy>& of_component : one.plan->planned.accuracy) {
      for (const engine::Accuracy& accuracy : of_component) {
        if (accuracy.alpha.rational() != alpha) continue;
        text += (text.empty() ? "" : " and ") + error_text(accuracy.a, style);
      }
    }
  }
  return text.empty() ? "-" : text;
}

std::string remark_of(const engine::ComparedPlan& one) {
  std::string text = one.least ? "least" : "";
  if (one.declared) text += text.empty() ? "the policy's" : ", the policy's";
  if (!one.why_not.empty()) text += text.empty() ? "no" : ", no";
  return text;
}

/// The first that was planned: what all of them share is read off it. nullptr where none was.
const engine::ComparedPlan* any_planned(const engine::MechanismComparison& comparison) {
  for (const engine::ComparedPlan& one : comparison.mechanisms) {
    if (one.plan) return &one;
  }
  return nullptr;
}

/// What the figures of accuracy are of.
std::string accuracy_note(const engine::Answer& plan) {
  if (wire::asks_quantiles(plan)) return "within so many rows of the exact quantile";
  if (wire::asks_totals(plan)) {
    std::string parts;
    for (std::size_t i = 0; i < plan.planned.record.components.size(); ++i)
      parts += (parts.empty() ? "" : " and ") + margin_name(plan, i);
    return "within so much of the exact " + parts;
  }
  if (plan.planned.record.components.size() == 1 && !wire::asks_proportion(plan)) {
    return plan.planned.record.cells.empty() ? "within so much of the exact answer"
                                             : "within so much of each cell's exact answer";
  }
  std::string parts;
  for (const ledger::ComponentRecord& component : plan.planned.record.components) {
    parts += (parts.empty() ? "" : " and ") + part_name(component);
  }
  return "within so much of its parts: " + parts;
}

std::string requested_loss_text(const engine::Request& request) {
  if (request.rho) return "rho " + accounting::text(*request.rho);
  return "epsilon " + accounting::text(request.epsilon) +
         (request.delta ? ", delta " + accounting::text(*request.delta) : "");
}

Json loss_json(const engine::ComparedPlan& one) {
  Json rdp = Json::array();
  for (const auto& [order, divergence] : one.loss.renyi) {
    rdp.push_back({{"order", order}, {"divergence", divergence}});
  }
  return {{"epsilon", wire::or_null(one.loss.epsilon)},
          {"delta", wire::or_null(one.loss.delta)},
          {"rho", wire::or_null(one.loss.rho)},
          {"rdp", std::move(rdp)},
          {"adjusted", one.plan ? wire::number_json(one.plan->planned.record.adjusted) : Json(nullptr)}};
}

/// As plan tells them, each with its accuracy alone.
Json components_json(const Json& plan) {
  Json list = Json::array();
  for (const Json& component : plan.at("components")) {
    list.push_back({{"statistic", component.at("statistic")},
                    {"scale", component.at("scale")},
                    {"grid", component.at("grid")},
                    {"accuracy", component.at("accuracy")}});
    if (component.contains("by")) list.back()["by"] = component.at("by");
  }
  return list;
}

Json compared_json(const engine::ComparedPlan& one, const Rational& alpha) {
  Json object{{"mechanism", one.mechanism},
              {"arithmetic", one.arithmetic},
              {"declared", one.declared},
              {"least", one.least}};
  const Json plan = one.plan ? wire::answer_object(*one.plan, wire::AnswerKind::plan) : Json::object();
  const auto planned = [&plan](const char* name) { return plan.value(name, Json(nullptr)); };
  object["decision"] = planned("decision");
  object["loss"] = loss_json(one);
  object["alpha"] = accounting::text(alpha);
  object["within"] = nullptr;
  if (one.plan && one.plan->planned.accuracy.size() == 1 && !wire::asks_proportion(*one.plan)) {
    for (const engine::Accuracy& accuracy : one.plan->planned.accuracy.front()) {
      if (accuracy.alpha.rational() == alpha) object["within"] = wire::rounded_up_json(accuracy.a);
    }
  }
  for (const char* name : {"precision", "scale", "grid", "accuracy", "rank_accuracy"}) {
    object[name] = planned(name);
  }
  object["components"] = one.plan ? components_json(plan) : Json(nullptr);
  object["why"] = wire::or_null(one.why_not);
  return object;
}

}  // namespace

std::string comparison_text(const engine::Request& request, const engine::MechanismComparison& comparison,
                            const std::vector<Rational>& alphas, const Style& style) {
  const engine::ComparedPlan* const any = any_planned(comparison);
  std::vector<Table::Heading> headings{{"mechanism"}, {"arithmetic"}};
  for (const Rational& alpha : alphas) {
    headings.push_back({"within, " + confidence_text(alpha), Table::Align::right});
  }
  for (const char* measure : {"epsilon", "delta", "rho"}) {
    headings.push_back({measure, Table::Align::right});
  }
  if (any != nullptr) {
    for (const auto& [order, divergence] : any->loss.renyi) {
      headings.push_back({"rdp(" + order + ")", Table::Align::right});
    }
  }
  headings.push_back({""});

  Table table(headings);
  std::string whys;
  for (const engine::ComparedPlan& one : comparison.mechanisms) {
    std::vector<std::string> cells{one.mechanism, one.arithmetic};
    for (const Rational& alpha : alphas) cells.push_back(within_text(one, alpha, style));
    for (const std::string* loss : {&one.loss.epsilon, &one.loss.delta, &one.loss.rho}) {
      cells.push_back(loss->empty() ? "-" : with_digit_groups(short_text(*loss)));
    }
    for (const auto& [order, divergence] : one.loss.renyi)
      cells.push_back(with_digit_groups(short_text(divergence)));
    cells.resize(headings.size() - 1, "-");
    cells.push_back(remark_of(one));
    table.add(std::move(cells));
    if (!one.why_not.empty()) {
      whys += "  " + one.mechanism + (one.mechanism == "snapping" ? ", " + one.arithmetic : "") + ": " +
              printable(one.why_not) + "\n";
    }
  }
  const std::string subject = any != nullptr
                                  ? question_text(*any->plan)
                                  : printable(request.question.statistic.text() + " of " + request.dataset);
  std::string text =
      subject + ": every mechanism at " + requested_loss_text(request) + "\n\n" + table.text(style);
  if (any != nullptr) text += "  " + accuracy_note(*any->plan) + "\n";
  return text + (whys.empty() ? "" : "\n" + whys);
}

std::string comparison_json(const engine::Request& request, const engine::MechanismComparison& comparison,
                            const std::vector<Rational>& alphas) {
  const engine::Question& question = request.question;
  const auto exact = [](const auto& number) {
    return number ? Json(accounting::text(*number)) : Json(nullptr);
  };
  Json list = Json::array();
  for (const engine::ComparedPlan& one : comparison.mechanisms) {
    list.push_back(compared_json(one, alphas.front()));
  }
  return wire::pretty({{"ledger_id", comparison.ledger_id},
                       {"policy_version", comparison.policy_version},
                       {"principal", request.principal},
                       {"dataset", request.dataset},
                       {"statistic", question.statistic.text()},
                       {"by", wire::columns_json(question.by)},
                       {"where", wire::or_null(question.where ? question.where->text() : "")},
                       {"purpose", wire::or_null(request.purpose)},
                       {"epsilon", request.rho ? Json(nullptr) : Json(accounting::text(request.epsilon))},
                       {"delta", exact(request.delta)},
                       {"rho", exact(request.rho)},
                       {"mechanisms", std::move(list)}});
}

std::string bare_mechanism(const engine::MechanismComparison& comparison) {
  for (const engine::ComparedPlan& one : comparison.mechanisms) {
    if (one.least) return one.mechanism + "\t" + one.arithmetic + "\n";
  }
  return "";
}

}  // namespace epsilog::command
