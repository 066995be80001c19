#include "json_writer.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::ledger {

JsonWriter& JsonWriter::text(std::string_view text) {
  const bool plain = std::all_of(text.begin(), text.end(),
                                 [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
  if (plain) {
    json_.append(1, '"').append(text).append(1, '"');
    return *this;
  }
  try {
    json_ += nlohmann::ordered_json(text).dump();
  } catch (const nlohmann::ordered_json::exception&) {
    throw InvalidParameter("ledger: a text to be recorded is not UTF-8");
  }
  return *this;
}

}  // namespace epsilog::ledger
