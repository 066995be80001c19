#include "last_standing.hpp"

#include <utility>

#include "agreement.hpp"
#include "decision_id.hpp"
#include "epsilog/accounting/errors.hpp"

namespace epsilog::ledger {
namespace {

constexpr const char* kLast = "SELECT id, rules FROM decision ORDER BY seq DESC LIMIT 1";
constexpr const char* kLastSeq = "SELECT coalesce(max(seq), 0) FROM decision";
constexpr const char* kActiveVersion = "SELECT max(version) FROM policy_version";
constexpr const char* kDataVersion = "PRAGMA data_version";

/// What a newer program decided this one can neither judge nor go on from.
void require_known_rules(std::int64_t number) {
  if (number <= static_cast<std::int64_t>(kRules)) return;
  throw LedgerUnusable("the ledger has decisions made under rules " + std::to_string(number) +
                       ", this program knows them up to " +
                       std::to_string(static_cast<std::int64_t>(kRules)) + "; use the newer epsilog");
}

}  // namespace

Standing read_standing(Connection& connection) {
  Standing standing{.meta = read_meta(connection), .last_id = "", .policy_version = 0};
  Query seq = connection.query(kLastSeq);
  if (!seq.step() || seq.integer(0) != standing.meta.decisions) {
    throw LedgerCorrupt("ledger: meta counts " + std::to_string(standing.meta.decisions) +
                        " decisions, the last one recorded has another number");
  }
  Query last = connection.query(kLast);
  if (last.step()) {
    standing.last_id = last.text(0);
    require_known_rules(last.integer(1));
  }
  if (!standing.last_id.empty() && !is_id(standing.last_id))
    throw LedgerCorrupt("ledger: the last decision's id is malformed");
  Query version = connection.query(kActiveVersion);
  if (version.step()) standing.policy_version = version.integer(0);
  require_agreeing_meta(connection, standing.meta, standing.policy_version);
  return standing;
}

const Standing& LastStanding::read(Connection& connection) {
  Query row = connection.query(kDataVersion);
  if (!row.step()) throw LedgerCorrupt("ledger: SQLite does not tell the version of its data");
  const std::int64_t version = row.integer(0);
  if (!standing_ || version_ != version) {
    standing_.reset();
    standing_ = read_standing(connection);
    version_ = version;
  }
  return *standing_;
}

void LastStanding::committed(Standing standing) {
  standing_ = std::move(standing);
}

}  // namespace epsilog::ledger
