#include "csv_rows.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "csv_text.hpp"
#include "epsilog/accounting/errors.hpp"
#include "json_parts.hpp"
#include "printable.hpp"

namespace epsilog::command {

using wire::Json;

namespace {

using Columns = std::vector<std::string>;
/// The objects that are rows, of one that --json prints.
using RowsOf = std::vector<Json> (*)(const Json& object);

CsvRows rows(Columns columns, RowsOf rows_of) {
  return [columns = std::move(columns), rows_of, headed = false](std::string_view object) mutable {
    std::string text = std::exchange(headed, true) ? "" : csv_line(columns);
    if (object.empty()) return text;
    for (const Json& row : rows_of(Json::parse(object))) {
      std::vector<std::string> cells;
      cells.reserve(columns.size());
      for (const std::string& column : columns) {
        const Json* field = field_at(row, column);
        cells.push_back(field == nullptr ? "" : csv_cell(*field));
      }
      text += csv_line(cells);
    }
    return text;
  };
}

std::vector<Json> list_of(const Json& object, const char* name) {
  const Json& list = object.at(name);
  return {list.begin(), list.end()};
}

/// The rows of a list, each with what is said of all of them.
std::vector<Json> with_fields(std::vector<Json> rows, const Json& object,
                              std::initializer_list<const char*> fields) {
  for (Json& row : rows) {
    for (const char* field : fields) row[field] = object.at(field);
  }
  return rows;
}

void append(Columns& columns, const std::vector<std::string>& more) {
  columns.insert(columns.end(), more.begin(), more.end());
}

const Columns kAccount = {"dataset",  "scope",     "measure", "limit",  "spent",
                          "reserved", "remaining", "kind",    "theorem"};

Columns account_and(const Columns& more) {
  Columns columns = kAccount;
  append(columns, more);
  return columns;
}

/// The number of columns, and quantiles as one more, by which the values of an answer are told apart.
std::size_t groups_of(const Json& answer) {
  const Json& by = answer.at("by");
  const std::size_t columns = by.is_array() ? by.size() : by.is_null() ? 0 : 1;
  const bool several = answer.at("statistic").get<std::string>().starts_with("quantiles:");
  return columns + (several ? 1 : 0);
}

/// What the answer is told in: a row of a batch has columns of its own.
struct ValueTable {
  std::size_t groups = 0;  ///< so many of each value; of a batch the most of any row
  bool batch = false;
};

ValueTable table_of(std::string_view object) {
  ValueTable table;
  if (object.empty()) return table;
  const Json answer = Json::parse(object);
  table.batch = answer.contains("rows");
  table.groups = groups_of(answer);
  if (!table.batch) return table;
  for (const Json& row : answer.at("rows")) table.groups = std::max(table.groups, groups_of(row));
  return table;
}

/// Each of several groups of a value has a column.
Columns value_columns(std::size_t intervals, const ValueTable& table) {
  Columns columns = {"decision_id", "dummy"};
  if (table.batch) append(columns, {"row", "statistic", "by", "where"});
  if (!table.batch && table.groups < 2) columns.emplace_back("group");
  for (std::size_t i = 0; (table.batch || table.groups > 1) && i < table.groups; ++i)
    columns.push_back("groups." + std::to_string(i));
  append(columns, {"value", "value_decimal", "value_hex", "suppressed"});
  for (const char* which : {"interval", "simultaneous"}) {
    for (std::size_t i = 0; i < intervals; ++i) {
      for (const char* field :
           {"alpha", "low", "high", "low_decimal", "high_decimal", "whole_range", "holds_from"}) {
        columns.push_back(std::string(which) + "." + std::to_string(i) + "." + field);
      }
    }
  }
  return columns;
}

/// Those of one answer that were released, and the suppressed ones without a value.
std::vector<Json> released_values(const Json& answer) {
  std::vector<Json> all;
  if (answer.at("cells").is_array()) {
    for (const Json& cell : answer.at("cells")) {
      if (!cell.at("value").is_null() || cell.contains("suppressed")) all.push_back(cell);
    }
  } else if (!answer.at("value").is_null()) {
    Json one = Json::object();
    for (const char* field : {"value", "value_decimal", "value_hex", "interval"}) {
      one[field] = answer.at(field);
    }
    one["simultaneous"] = answer.value("simultaneous", Json(nullptr));
    all.push_back(std::move(one));
  }
  return all;
}

/// With what is said of the row they are of.
std::vector<Json> values_of_row(const Json& row) {
  std::vector<Json> all = with_fields(released_values(row), row, {"row", "statistic", "by", "where"});
  for (Json& one : all) {
    if (one.contains("group") && !one.at("group").is_null()) one["groups"] = Json::array({one.at("group")});
  }
  return all;
}

std::vector<Json> values_of(const Json& object) {
  std::vector<Json> all;
  if (object.contains("rows")) {
    for (const Json& row : object.at("rows")) {
      for (Json& one : values_of_row(row)) all.push_back(std::move(one));
    }
  } else {
    all = released_values(object);
  }
  for (Json& row : all) {
    row["decision_id"] = object.at("decision_id");
    row["dummy"] = object.value("dummy", Json(nullptr));
  }
  return all;
}

}  // namespace

std::vector<std::string> columns_of(std::string_view words) {
  std::vector<std::string> columns;
  for (std::size_t end = 0; !words.empty(); words.remove_prefix(std::min(end + 1, words.size()))) {
    end = std::min(words.find(' '), words.size());
    columns.emplace_back(words.substr(0, end));
  }
  return columns;
}

const Json* field_at(const Json& object, std::string_view path) {
  const Json* at = &object;
  while (!path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    const std::string name(path.substr(0, dot));
    path.remove_prefix(std::min(dot + 1, path.size()));
    if (at->is_array()) {
      const std::size_t place = std::stoul(name);
      if (place >= at->size()) return nullptr;
      at = &(*at)[place];
    } else {
      if (!at->is_object() || !at->contains(name)) return nullptr;
      at = &at->at(name);
    }
  }
  return at;
}

std::string ascii_json(const Json& json) {
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::string csv_cell(const Json& field) {
  if (field.is_null()) return "";
  if (!field.is_string()) return ascii_json(field);
  const std::string text = field.get<std::string>();
  return is_quantity(text) ? text : no_formula(printable(text));
}

CsvRows account_rows() {
  return rows(account_and({"active"}), [](const Json& object) { return list_of(object, "accounts"); });
}

CsvRows change_rows() {
  return rows({"direction", "path", "before", "after", "why", "refused_once_charged", "line", "column"},
              [](const Json& object) {
                std::vector<Json> all;
                for (const char* list : {"looser", "tighter", "other"}) {
                  for (const Json& change : object.at(list)) all.push_back(change);
                }
                return all;
              });
}

CsvRows column_rows() {
  return rows(
      columns_of(
          "dataset source rows malformed malformed_at outside_blocks without_unit over_max_rows units kept "
          "rows_declared rows_exact beyond_rows_max column missing nulls unreadable unreadable_at "
          "out_of_bounds undeclared undeclared_at problems"),
      [](const Json& object) {
        std::vector<Json> all;
        for (Json dataset : object.at("datasets")) {
          const Json columns = dataset.at("columns");
          dataset.erase("columns");
          if (columns.empty()) all.push_back(dataset);
          for (const Json& column : columns) {
            all.push_back(dataset);
            all.back().update(column);
          }
        }
        return all;
      });
}

CsvRows compared_rows() {
  return rows({"mechanism", "arithmetic", "declared", "least", "decision", "loss.epsilon", "loss.delta",
               "loss.rho", "loss.rdp", "loss.adjusted", "alpha", "within", "precision", "scale", "grid",
               "accuracy", "rank_accuracy", "components", "why"},
              [](const Json& object) { return list_of(object, "mechanisms"); });
}

CsvRows composed_rows() {
  Columns columns = {"dataset", "scope", "delta",         "epsilon",   "releases",
                     "draws",   "laws",  "inexpressible", "unreadable"};
  for (const char* figure :
       {"charged", "pure", "approximate", "advanced", "optimal", "zcdp", "rdp", "pld", "least"}) {
    append(columns, {std::string(figure) + ".epsilon", std::string(figure) + ".delta"});
  }
  return rows(columns, [](const Json& object) { return list_of(object, "datasets"); });
}

CsvRows credential_rows() {
  return rows({"id", "state", "principal", "type", "uid", "token_sha256", "until", "at", "by", "why",
               "revoked.at", "revoked.by", "revoked.why"},
              [](const Json& object) { return list_of(object, "credentials"); });
}

CsvRows decision_rows() {
  return rows(
      columns_of("decision state decision_id seq ledger_id created_at replayed durable principal via key "
                 "policy_version decided_under rules build.version build.revision dataset statistic by where "
                 "totals consistent suppress_below purpose replica_behind value value_decimal value_hex "
                 "cells epsilon.requested epsilon.charged epsilon.adjusted epsilon.published "
                 "epsilon.published_note delta.requested delta.charged delta.adjusted rho.requested "
                 "rho.charged mechanism arithmetic precision sensitivity bound scale grid components unit "
                 "neighbours accounts post_processing notes reasons reasons_count parent deadline "
                 "reservation approvals.required approvals.given data_token data_accessed_by "
                 "data_token_sha256 ended_by why rows"),
      [](const Json& object) { return std::vector<Json>{object}; });
}

CsvRows forecast_rows() {
  return rows(account_and({"charge", "releases", "binds", "epsilon", "never"}), [](const Json& object) {
    return with_fields(list_of(object, "accounts"), object, {"epsilon", "never"});
  });
}

CsvRows replayed_rows() {
  return rows({"decision_id", "seq", "created_at", "outcome", "rules", "policy_version", "policy_sha256",
               "same", "faults"},
              [](const Json& object) {
                // The last line is about all of them.
                return object.contains("decision_id") ? std::vector<Json>{object} : std::vector<Json>{};
              });
}

CsvRows value_rows(std::size_t intervals) {
  return [intervals, table = CsvRows()](std::string_view object) mutable {
    if (!table) table = rows(value_columns(intervals, table_of(object)), &values_of);
    return table(object);
  };
}

}  // namespace epsilog::command
