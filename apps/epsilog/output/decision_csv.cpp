#include "decision_csv.hpp"

#include <set>
#include <string_view>

#include "answer_json.hpp"
#include "csv_rows.hpp"
#include "csv_text.hpp"
#include "json_parts.hpp"
#include "printable.hpp"

namespace epsilog::command {

using wire::Json;

namespace {

const std::string_view kDecisionColumns =
    "seq decision_id created_at state decision durable principal key policy_version decided_under rules "
    "dataset statistic by where purpose epsilon.requested epsilon.charged delta.requested delta.charged "
    "rho.requested rho.charged mechanism value cells reasons parent deadline why via rows";
/// Texts come from whoever asked or wrote a policy; all else is written by the ledger.
const std::set<std::string_view> kWrittenByOthers = {"principal", "key",     "dataset", "statistic", "by",
                                                     "where",     "purpose", "reasons", "why"};

Json cells_of(const Json& cells) {
  Json list = Json::array();
  for (const Json& cell : cells) {
    const char* const name = cell.contains("groups") ? "groups" : "group";
    list.push_back({{name, cell[name]}, {"value", cell["value"]}});
  }
  return list;
}

/// Of a batch: what each row asked, and its answer.
std::string rows_text(const Json& rows) {
  Json list = Json::array();
  for (const Json& row : rows) {
    Json told = Json::object();
    for (const char* const name : {"row", "statistic", "by", "where", "value"}) {
      if (!row[name].is_null()) told[name] = row[name];
    }
    if (row["cells"].is_array()) told["cells"] = cells_of(row["cells"]);
    list.push_back(std::move(told));
  }
  return ascii_json(list);
}

/// "dataset_budget_exceeded epsilon; role_limit_exceeded role:research rho".
std::string reasons_text(const Json& reasons) {
  std::string text;
  for (const Json& reason : reasons) {
    text += (text.empty() ? "" : "; ") + reason["code"].get<std::string>();
    for (const char* of : {"scope", "measure"}) {
      const std::string word = reason[of].is_string() ? reason[of].get<std::string>() : "";
      if (!word.empty()) text += " " + word;
    }
  }
  return text;
}

std::string cell_of(const Json& object, const std::string& field) {
  const Json* const found = field_at(object, field);
  if (found == nullptr || found->is_null()) return "";
  const Json& value = *found;
  if (field == "cells") return ascii_json(cells_of(value));
  if (field == "rows") return rows_text(value);
  if (field == "reasons") return no_formula(printable(reasons_text(value)));
  if (field == "by" && value.is_array()) {
    return no_formula(printable(engine::by_text(value.get<std::vector<std::string>>())));
  }
  if (!value.is_string()) return ascii_json(value);
  const std::string text = value.get<std::string>();
  return kWrittenByOthers.contains(field) ? no_formula(printable(text)) : text;
}

}  // namespace

std::vector<std::string> decision_columns() {
  return columns_of(kDecisionColumns);
}

std::vector<std::string> decision_cells(const engine::Answer& answer) {
  const Json object = wire::answer_object(answer, wire::AnswerKind::history);
  std::vector<std::string> cells;
  for (const std::string& column : decision_columns()) cells.push_back(cell_of(object, column));
  return cells;
}

}  // namespace epsilog::command
