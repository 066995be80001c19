#include "csv_cell.hpp"

#include "csv_text.hpp"
#include "json_parts.hpp"
#include "printable.hpp"

namespace epsilog::command {

std::string ascii_json(const Json& json) {
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::string csv_cell(const Json& field) {
  if (field.is_null()) return "";
  if (!field.is_string()) return ascii_json(field);
  const std::string text = field.get<std::string>();
  return is_quantity(text) ? text : no_formula(printable(text));
}

}  // namespace epsilog::command
