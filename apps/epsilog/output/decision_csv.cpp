#include "decision_csv.hpp"

#include "answer_json.hpp"
#include "csv_rows.hpp"
#include "csv_text.hpp"
#include "json_parts.hpp"
#include "printable.hpp"

namespace epsilog::command {
namespace {

/// Texts come from whoever asked or wrote a policy; all else is written by the ledger.
enum class CellAuthor { ledger, text };

struct Column {
  const char* name;
  const char* field;           ///< of the object of `history --json`
  const char* part = nullptr;  ///< of an object in turn
  CellAuthor author = CellAuthor::ledger;
};

constexpr Column kDecisionColumns[] = {
    {"seq", "seq"},
    {"decision_id", "decision_id"},
    {"created_at", "created_at"},
    {"state", "state"},
    {"decision", "decision"},
    {"durable", "durable"},
    {"principal", "principal", nullptr, CellAuthor::text},
    {"key", "key", nullptr, CellAuthor::text},
    {"policy_version", "policy_version"},
    {"decided_under", "decided_under"},
    {"rules", "rules"},
    {"dataset", "dataset", nullptr, CellAuthor::text},
    {"statistic", "statistic", nullptr, CellAuthor::text},
    {"by", "by", nullptr, CellAuthor::text},
    {"where", "where", nullptr, CellAuthor::text},
    {"purpose", "purpose", nullptr, CellAuthor::text},
    {"epsilon.requested", "epsilon", "requested"},
    {"epsilon.charged", "epsilon", "charged"},
    {"delta.requested", "delta", "requested"},
    {"delta.charged", "delta", "charged"},
    {"rho.requested", "rho", "requested"},
    {"rho.charged", "rho", "charged"},
    {"mechanism", "mechanism"},
    {"value", "value"},
    {"cells", "cells"},
    {"reasons", "reasons", nullptr, CellAuthor::text},
    {"parent", "parent"},
    {"deadline", "deadline"},
    {"why", "why", nullptr, CellAuthor::text},
    {"via", "via"},
    {"rows", "rows"},
};

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

std::string cell_of(const Json& object, const Column& column) {
  const auto found = object.find(column.field);
  if (found == object.end() || found->is_null()) return "";
  const Json& value = column.part == nullptr ? *found : (*found)[column.part];
  if (value.is_null()) return "";
  const std::string field = column.name;
  if (field == "cells") return ascii_json(cells_of(value));
  if (field == "rows") return rows_text(value);
  if (field == "reasons") return no_formula(printable(reasons_text(value)));
  if (field == "by" && value.is_array()) {
    return no_formula(printable(engine::by_text(value.get<std::vector<std::string>>())));
  }
  if (!value.is_string()) return ascii_json(value);
  const std::string text = value.get<std::string>();
  return column.author == CellAuthor::text ? no_formula(printable(text)) : text;
}

}  // namespace

std::vector<std::string> decision_columns() {
  std::vector<std::string> names;
  for (const Column& column : kDecisionColumns) names.emplace_back(column.name);
  return names;
}

std::vector<std::string> decision_cells(const engine::Answer& answer) {
  const Json object = answer_object(answer, AnswerKind::history);
  std::vector<std::string> cells;
  for (const Column& column : kDecisionColumns) cells.push_back(cell_of(object, column));
  return cells;
}

}  // namespace epsilog::command
