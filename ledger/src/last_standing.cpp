#include "last_standing.hpp"

#include <utility>

#include "agreement.hpp"
#include "decision_id.hpp"
#include "epsilog/accounting/errors.hpp"
#include "stored_bytes.hpp"

namespace epsilog::ledger {
namespace {

constexpr const char* kLast = "SELECT id, rules FROM decision ORDER BY seq DESC LIMIT 1";
constexpr const char* kLastSeq = "SELECT coalesce(max(seq), 0) FROM decision";
constexpr const char* kLastLine = "SELECT coalesce(max(idx), -1) FROM log";
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

Standing read_standing(Connection& connection, RecordLog known) {
  Standing standing{
      .meta = read_meta(connection), .last_id = "", .policy_version = 0, .log = std::move(known)};
  Query seq = connection.query(kLastSeq);
  if (!seq.step() || seq.integer(0) != standing.meta.decisions) {
    throw LedgerCorrupt("ledger: meta counts " + std::to_string(standing.meta.decisions) +
                        " decisions, the last one recorded has another number");
  }
  Query last = connection.query(kLast);
  if (last.step()) {
    standing.last_id = id_text(sized_bytes<16>(last.bytes(0), "column id of the last decision"));
    require_known_rules(last.integer(1));
  }
  Query version = connection.query(kActiveVersion);
  if (version.step()) standing.policy_version = version.integer(0);
  require_agreeing_meta(connection, standing.meta, standing.policy_version);
  Query line = connection.query(kLastLine);
  if (!line.step() || line.integer(0) + 1 != standing.meta.log_size) {
    throw LedgerCorrupt("ledger: meta counts " + std::to_string(standing.meta.log_size) +
                        " lines, the last one written has another number");
  }
  standing.log.follow(connection, standing.meta.log_size);
  return standing;
}

const Standing& LastStanding::read(Connection& connection) {
  Query row = connection.query(kDataVersion);
  if (!row.step()) throw LedgerCorrupt("ledger: SQLite does not tell the version of its data");
  const std::int64_t version = row.integer(0);
  if (!standing_ || version_ != version) {
    if (standing_) log_ = std::move(standing_->log);
    standing_.reset();
    connection.shared().forget();
    standing_ = read_standing(connection, std::move(log_));
    log_ = RecordLog();
    version_ = version;
  }
  return *standing_;
}

void LastStanding::committed(Standing standing) {
  standing_ = std::move(standing);
}

}  // namespace epsilog::ledger
