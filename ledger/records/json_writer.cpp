#include "epsilog/ledger/json_writer.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::ledger {

bool is_plain_json(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return is_plain_json(c); });
}

bool append_json_string(std::string& json, std::string_view text) {
  if (is_plain_json(text)) {
    json.append(1, '"').append(text).append(1, '"');
    return true;
  }
  try {
    json += nlohmann::ordered_json(text).dump();
  } catch (const nlohmann::ordered_json::exception&) {
    return false;
  }
  return true;
}

JsonWriter& JsonWriter::text(std::string_view text) {
  if (!append_json_string(json_, text)) {
    throw InvalidParameter("ledger: a text to be recorded is not UTF-8");
  }
  return *this;
}

JsonWriter& JsonWriter::bytes(std::string_view bytes) {
  if (append_json_string(json_, bytes)) return *this;
  constexpr std::string_view kDigits = "0123456789abcdef";
  json_ += R"({"hex":")";
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    json_.append(1, kDigits[value / 16]).append(1, kDigits[value % 16]);
  }
  json_ += R"("})";
  return *this;
}

JsonWriter& JsonWriter::count(std::uint64_t value) {
  EPSILOG_INVARIANT(value <= kJsonCountMax);
  return raw(std::to_string(value));
}

}  // namespace epsilog::ledger
