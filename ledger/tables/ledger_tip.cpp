#include "ledger_tip.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "decision_id.hpp"
#include "epsilog/accounting/errors.hpp"
#include "known_features.hpp"
#include "queries.hpp"
#include "seal_rows.hpp"
#include "stored_bytes.hpp"

namespace epsilog::ledger {
namespace {

constexpr const char* kLast = "SELECT seq, id, rules, time FROM decision ORDER BY seq DESC LIMIT 1";
constexpr const char* kLastLine = "SELECT coalesce(max(line_index), -1) FROM log";
constexpr const char* kActiveVersion = "SELECT max(version) FROM policy_version";
constexpr const char* kDataVersion = "PRAGMA data_version";

/// What a newer program decided this one can neither judge nor go on from.
void require_known_rules(std::int64_t number) {
  if (number <= static_cast<std::int64_t>(kRules)) return;
  throw LedgerUnusable("the ledger has decisions made under rules " + std::to_string(number) +
                       ", this program knows them up to " +
                       std::to_string(static_cast<std::int64_t>(kRules)) + "; use the newer epsilog");
}

/// Of the last decision; its time.
std::string read_last_decision(Connection& connection, LedgerTip& tip) {
  Query last = connection.query(kLast);
  const bool any = last.step();
  if ((any ? last.integer(0) : 0) != tip.meta.decisions) {
    throw LedgerCorrupt("ledger: meta counts " + std::to_string(tip.meta.decisions) +
                        " decisions, the last one recorded has another number");
  }
  if (!any) return "";
  tip.last_id = id_text(sized_bytes<16>(last.bytes(1), "column id of the last decision"));
  require_known_rules(last.integer(2));
  return last.time(3);
}

void require_last_line(Connection& connection, const Meta& meta) {
  Query line = connection.query(kLastLine);
  if (!line.step() || line.integer(0) + 1 != meta.log_size) {
    throw LedgerCorrupt("ledger: meta counts " + std::to_string(meta.log_size) +
                        " lines, the last one written has another number");
  }
}

/// What the rows say of two columns of meta.
struct RecordedTimes {
  std::string time;     ///< of what was recorded last
  std::string held_at;  ///< since when the calendar is held; "" if it is not
};

/// Throws  LedgerCorrupt unless ledger time is that of what was recorded last, and the calendar is held where
///         the clock events say. A bit of meta that flipped must not renew a budget.
void require_consistent_meta(const Meta& meta, const RecordedTimes& recorded) {
  if (meta.last_time != recorded.time) {
    throw LedgerCorrupt("ledger: meta says that ledger time is " + meta.last_time +
                        ", what was recorded last says " + recorded.time);
  }
  if (meta.clock.held_at != recorded.held_at) {
    throw LedgerCorrupt("ledger: meta says that the calendar is held at '" + meta.clock.held_at +
                        "', the clock events say '" + recorded.held_at + "'");
  }
}

/// Throws  LedgerCorrupt also unless meta counts as many policy versions as there are.
void require_consistent_meta(Connection& connection, const Meta& meta, std::int64_t last_version) {
  if (meta.policy_versions != last_version) {
    throw LedgerCorrupt("ledger: meta counts " + std::to_string(meta.policy_versions) +
                        " policy versions, the last one recorded has number " + std::to_string(last_version));
  }
  require_consistent_meta(meta,
                          {.time = last_recorded_time(connection), .held_at = held_by_events(connection)});
}

/// Whether meta counts nothing that has a time but decisions in between.
bool only_decisions_came(const Meta& then, const Meta& now) {
  const auto others = [](const Meta& meta) {
    return std::tie(meta.policy_versions, meta.clock_events, meta.accounts, meta.relocations,
                    meta.credential_events, meta.key_events, meta.recoveries, meta.seal_events,
                    meta.features);
  };
  return others(then) == others(now);
}

/// The same as it was held against itself then, and what came since.
LedgerTip read_since(Connection& connection, LedgerTip then) {
  LedgerTip now{
      .meta = read_meta(connection), .last_id = "", .policy_version = 0, .log = std::move(then.log)};
  const std::string decided_at = read_last_decision(connection, now);
  require_last_line(connection, now.meta);
  now.stale_replicas = read_stale_replicas(connection);
  now.seal = read_seal(connection);
  const bool follows = now.log.follow(connection, now.meta.log_size);
  if (!follows) connection.shared_rows().forget();
  if (follows && only_decisions_came(then.meta, now.meta)) {
    now.policy_version = then.policy_version;
    require_consistent_meta(
        now.meta, {.time = std::max(then.meta.last_time, decided_at), .held_at = then.meta.clock.held_at});
    return now;
  }
  Query version = connection.query(kActiveVersion);
  if (version.step()) now.policy_version = version.integer(0);
  require_consistent_meta(connection, now.meta, now.policy_version);
  return now;
}

}  // namespace

const LedgerTip& LedgerTipCache::read(Connection& connection, const std::string& database) {
  Query row = connection.query(kDataVersion);
  if (!row.step()) throw LedgerCorrupt("ledger: SQLite does not tell the version of its data");
  const std::int64_t version = row.integer(0);
  if (!tip_ || version_ != version) {
    try {
      require_known_features(connection, database);
      LedgerTip then = tip_ ? *std::exchange(tip_, std::nullopt) : LedgerTip();
      tip_ = read_since(connection, std::move(then));
    } catch (...) {
      connection.shared_rows().forget();
      throw;
    }
    version_ = version;
  }
  return *tip_;
}

void LedgerTipCache::remember_tip(LedgerTip tip) {
  tip_ = std::move(tip);
}

}  // namespace epsilog::ledger
