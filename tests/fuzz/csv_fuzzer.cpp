// A CSV file. The first byte chooses the dialect. The records are the same however the bytes are cut, and what is read
// is read again when each field is written in quotes.
#include "epsilog/engine/csv_records.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "fuzz_target.hpp"

namespace {

using epsilog::engine::CsvRecords;
using CsvRows = std::vector<std::optional<std::vector<std::string>>>;

/// Nothing stands for a malformed record.
CsvRows csv_rows(std::string_view text, CsvRecords::Dialect dialect, std::size_t step) {
  std::size_t at = 0;
  CsvRecords reader(dialect, [&](char* data, std::size_t size) {
    const std::size_t count = text.copy(data, std::min(size, step), at);
    at += count;
    return count;
  });
  CsvRows rows;
  while (reader.next()) {
    rows.emplace_back();
    if (!reader.malformed()) rows.back().emplace(reader.fields().begin(), reader.fields().end());
  }
  return rows;
}

std::string quoted_csv(const CsvRows& rows) {
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row->size(); ++i) {
      text += i == 0 ? "\"" : ",\"";
      for (const char c : row->at(i)) text += c == '"' ? "\"\"" : std::string(1, c);
      text += '"';
    }
    text += '\n';
  }
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace epsilog;
  if (size == 0) return 0;
  const unsigned choice = data[0];
  const std::string_view text = fuzz::text_of(data + 1, size - 1);
  const CsvRecords::Dialect dialect = {.delimiter = ",;\t|"[choice % 4],
                                       .multiline = (choice & 4U) != 0,
                                       .encoding = static_cast<engine::Encoding>(choice / 8 % 3)};
  CsvRows rows = csv_rows(text, dialect, size);
  fuzz::require(rows == csv_rows(text, dialect, 1 + choice % 7),
                "records do not depend on how bytes are cut");
  const auto malformed = std::remove(rows.begin(), rows.end(), std::nullopt);
  if (malformed == rows.end()) ++fuzz::accepted_count;
  rows.erase(malformed, rows.end());
  fuzz::require(csv_rows(quoted_csv(rows), {.multiline = true}, size) == rows,
                "fields in quotes are read alike");
  return 0;
}
