// A line of canonical JSON taken apart, to be put together otherwise.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "epsilog/ledger/canonical_json.hpp"
#include "epsilog/ledger/json_writer.hpp"

namespace epsilog::ledger_tests {

struct JsonParts {
  ledger::JsonValue::Kind kind = ledger::JsonValue::Kind::object;
  std::string text;  ///< of what is neither object nor array
  std::vector<std::pair<std::string, JsonParts>> members;
  std::vector<JsonParts> items;

  explicit JsonParts(const ledger::JsonValue& value) : kind(value.kind()) {
    using Kind = ledger::JsonValue::Kind;
    if (kind == Kind::object) {
      for (const std::string& name : value.names()) members.emplace_back(name, JsonParts(value.at(name)));
    } else if (kind == Kind::array) {
      for (const ledger::JsonValue& item : value.items()) items.emplace_back(item);
    } else if (kind == Kind::string) {
      text = ledger::JsonWriter().text(value.text()).take();
    } else if (kind == Kind::count) {
      text = std::to_string(value.count());
    } else {
      text = value.truth() ? "true" : "false";
    }
  }
  explicit JsonParts(const std::string& line) : JsonParts(ledger::parse_canonical(line)) {}

  [[nodiscard]] std::string written() const {
    using Kind = ledger::JsonValue::Kind;
    std::string json;
    const auto next = [&json] { return json.empty() ? "" : ","; };
    if (kind == Kind::object) {
      for (const auto& [name, value] : members) json += next() + ('"' + name + "\":") + value.written();
      return '{' + json + '}';
    }
    if (kind == Kind::array) {
      for (const JsonParts& item : items) json += next() + item.written();
      return '[' + json + ']';
    }
    return text;
  }
};

}  // namespace epsilog::ledger_tests
