// A field of JSON as a cell of a table for programs.
// Thread-safety: pure functions.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace epsilog::command {

/// "" of null; a text as csv_rows.hpp says; a list or an object as ascii_json().
[[nodiscard]] std::string csv_cell(const nlohmann::ordered_json& field);

/// JSON of ASCII alone, on one line, which no spreadsheet and no terminal takes for anything else.
[[nodiscard]] std::string ascii_json(const nlohmann::ordered_json& json);

}  // namespace epsilog::command
