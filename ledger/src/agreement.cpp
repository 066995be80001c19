#include "agreement.hpp"

#include "epsilog/accounting/errors.hpp"

namespace epsilog::ledger {

void require_agreeing_meta(Connection& connection, const Meta& meta, std::int64_t last_version) {
  if (meta.policy_versions != last_version) {
    throw LedgerCorrupt("ledger: meta counts " + std::to_string(meta.policy_versions) +
                        " policy versions, the last one recorded has number " + std::to_string(last_version));
  }
  const std::string last = last_recorded_time(connection);
  if (meta.last_time != last) {
    throw LedgerCorrupt("ledger: meta says that ledger time is " + meta.last_time +
                        ", what was recorded last says " + last);
  }
  const std::string held = held_by_events(connection);
  if (meta.clock.held_at != held) {
    throw LedgerCorrupt("ledger: meta says that the calendar is held at '" + meta.clock.held_at +
                        "', the clock events say '" + held + "'");
  }
}

}  // namespace epsilog::ledger
