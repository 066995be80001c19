#include "meta_check.hpp"

#include "epsilog/accounting/errors.hpp"

namespace epsilog::ledger {

void require_consistent_meta(Connection& connection, const Meta& meta, std::int64_t last_version) {
  if (meta.policy_versions != last_version) {
    throw LedgerCorrupt("ledger: meta counts " + std::to_string(meta.policy_versions) +
                        " policy versions, the last one recorded has number " + std::to_string(last_version));
  }
  require_consistent_meta(meta,
                          {.time = last_recorded_time(connection), .held_at = held_by_events(connection)});
}

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

}  // namespace epsilog::ledger
