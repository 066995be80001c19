// The rows that a verb prints as a table for programs (`--format csv`): the objects that --json prints, one a
// line.
//
// A column is called as the field is, that of an object in it with a dot between ("epsilon.charged"). What is
// null or not there is empty; a list is one cell of JSON in ASCII; a text is printable(), and no_formula()
// unless it is a quantity.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace epsilog::command {

/// A field of JSON as a cell of such a table.
[[nodiscard]] std::string csv_cell(const nlohmann::ordered_json& field);

/// JSON of ASCII alone, on one line, which no spreadsheet and no terminal takes for anything else.
[[nodiscard]] std::string ascii_json(const nlohmann::ordered_json& json);

/// The field at a path with dots; nullptr where it, or what it is in, is not there. A number is a place in a
/// list.
[[nodiscard]] const nlohmann::ordered_json* field_at(const nlohmann::ordered_json& object,
                                                     std::string_view path);
/// The words of a text, which are one blank apart.
[[nodiscard]] std::vector<std::string> columns_of(std::string_view words);

/// Told an object that --json prints, gives the lines of its rows, the header before the first. Told "",
/// which ends them, gives the header where there was none.
using CsvRows = std::function<std::string(std::string_view object)>;

[[nodiscard]] CsvRows account_rows();     ///< of budget
[[nodiscard]] CsvRows change_rows();      ///< of policy diff
[[nodiscard]] CsvRows column_rows();      ///< of data check, each with what is told of its dataset
[[nodiscard]] CsvRows compared_rows();    ///< of plan --compare
[[nodiscard]] CsvRows composed_rows();    ///< of audit reaccount
[[nodiscard]] CsvRows credential_rows();  ///< of credentials list
[[nodiscard]] CsvRows decision_rows();    ///< of history and pending
[[nodiscard]] CsvRows forecast_rows();    ///< the accounts that it looked at, each with what was found
[[nodiscard]] CsvRows replayed_rows();    ///< of audit replay
/// The cells of an answer, or its one value; none where nothing was released. Of each so many intervals.
[[nodiscard]] CsvRows value_rows(std::size_t intervals);

}  // namespace epsilog::command
