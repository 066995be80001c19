#include "rollback_check.hpp"

#include <algorithm>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/canonical_json.hpp"
#include "epsilog/ledger/lines_missing.hpp"
#include "queries.hpp"

namespace epsilog::ledger {
namespace {

bool has_line(const EndMark& end, const RecoveredLines& lines) {
  if (lines.ledger != nullptr && has_marked_line(*lines.ledger, end)) return true;
  if (lines.replica == nullptr) return false;
  if (parse_canonical(line_of_replica(*lines.replica, 0)).at("id").text() != end.ledger_id) return true;
  return end.lines <= lines.content->end.size &&
         leaf_hash(line_of_replica(*lines.replica, end.lines - 1)) == end.leaf;
}

}  // namespace

AcceptedRollback accepted_rollback(const EndMarkReading& remembered, const RecoveredLines& lines,
                                   const LedgerFiles& files, bool accept_rollback) {
  if (!remembered.end || has_line(*remembered.end, lines)) return {};
  const EndMark& end = *remembered.end;
  std::int64_t found = lines.content != nullptr ? lines.content->end.size : 0;
  if (lines.ledger != nullptr) found = std::max(found, read_meta(*lines.ledger).log_size);
  if (accept_rollback) return {.remembered = end.lines, .found = found};
  throw LinesMissing("ledger " + files.database + ": " + files.lock() + " remembers " +
                         std::to_string(end.lines) + " lines since " + end.time +
                         ", and what would be there has " + std::to_string(found) +
                         " of them or another history. Nothing was done. " + seal_phrase(end) +
                         "If what is missing is lost: "
                         "--accept-rollback and a reason, --why",
                     end.lines, found);
}

}  // namespace epsilog::ledger
