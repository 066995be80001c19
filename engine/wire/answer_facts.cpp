#include "answer_facts.hpp"

#include <string_view>

#include "epsilog/engine/date.hpp"

namespace epsilog::wire {

using accounting::Rational;

bool asks_proportion(const engine::Answer& answer) {
  return answer.planned.post_processing == accounting::PostProcessing::Kind::proportion;
}

bool asks_ratio(const engine::Answer& answer) {
  return answer.planned.post_processing == accounting::PostProcessing::Kind::ratio;
}

bool asks_totals(const engine::Answer& answer) {
  return accounting::has_totals(answer.planned.post_processing) && answer.planned.record.cells.has_totals() &&
         answer.planned.record.components.size() == answer.planned.record.cells.margins().all().size();
}

std::vector<std::string> columns_drawn(const engine::Answer& answer, std::size_t component) {
  std::vector<std::string> columns;
  const auto margins = answer.planned.record.cells.margins();
  for (const std::size_t column : margins.all().at(component).kept)
    columns.push_back(answer.asked.by.at(column));
  return columns;
}

bool asks_quantiles(const engine::Answer& answer) {
  const auto& components = answer.planned.record.components;
  return components.size() == 1 && (components.front().statistic == "quantile" || asks_days(answer));
}

bool asks_days(const engine::Answer& answer) {
  const auto& components = answer.planned.record.components;
  return components.size() == 1 && components.front().statistic == "quantile_day";
}

std::string exact_text(const engine::Answer& answer, const Rational& value) {
  return asks_days(answer) ? engine::date_text(value.get_num().get_si()) : accounting::text(value);
}

std::string quantile_text(const engine::Answer& answer, std::size_t i) {
  std::string_view rest = answer.asked.statistic;
  rest.remove_prefix(rest.rfind(':') + 1);
  for (; i > 0; --i) rest.remove_prefix(rest.find(',') + 1);
  return std::string(rest.substr(0, rest.find(',')));
}

accounting::Integer any_value_to(const engine::Answer& answer, std::size_t i,
                                 const engine::Accuracy& accuracy) {
  const Rational quantile = accounting::parse_rational(quantile_text(answer, i), "quantile");
  return engine::any_value_to(quantile, accuracy.a.rational());
}

}  // namespace epsilog::wire
