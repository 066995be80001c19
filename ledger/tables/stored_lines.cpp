#include "stored_lines.hpp"

#include "epsilog/accounting/errors.hpp"
#include "record_log.hpp"
#include "record_rows.hpp"
#include "stored_bytes.hpp"

namespace epsilog::ledger {

StoredLines::StoredLines(Connection& connection, std::int64_t from, std::int64_t end)
    : connection_(&connection),
      statement_(connection.prepare("SELECT line_index, kind, row, blind, leaf FROM log"
                                    " WHERE line_index >= ?1 AND line_index < ?2 ORDER BY line_index")),
      rows_(statement_, connection.handle()) {
  rows_.with(from, end);
}

bool StoredLines::next() {
  return rows_.step();
}

std::string StoredLines::text() {
  try {
    std::string text = line_text(*connection_, {.index = static_cast<std::uint64_t>(index()),
                                                .blind = sized_bytes<16>(rows_.bytes(3), "column blind"),
                                                .record = record_at(*connection_, kind(), row())});
    if (leaf_hash(text) != sized_bytes<32>(rows_.bytes(4), "column leaf")) {
      throw LedgerCorrupt("its row was changed: it does not have the leaf beside it");
    }
    return text;
  } catch (const LedgerCorrupt& error) {
    throw LedgerCorrupt("line " + std::to_string(index()) + ": " + error.what());
  }
}

}  // namespace epsilog::ledger
