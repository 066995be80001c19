#include "recovery_record.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/ledger_time.hpp"
#include "ledger_clock.hpp"
#include "record_rows.hpp"
#include "seal_rows.hpp"
#include "stored_bytes.hpp"

namespace epsilog::ledger {
namespace {

constexpr const char* kUpdateRecovered =
    "UPDATE meta SET last_time = ?1, wall_clock = ?2, boot_id = ?3, boot_offset = ?4, held_at = ?5,"
    " recoveries = ?6, log_size = ?7, replica_size = ?8, seal_events = ?9";

}  // namespace

void append_recovery(Connection& db, Meta& meta, RecordLog& log, RecoveryEvent event,
                     const ClockReading& reading) {
  const ClockObservation clock = observe(meta, reading);
  meta.last_time = time_text(clock.now_ms);
  // A step of the clock is recorded by whoever writes next, who finds it again.
  if (clock.events.empty()) meta.clock = clock.state;
  meta.log_size = log.size();
  event.seq = ++meta.recoveries;
  event.at = meta.last_time;
  Recorder(db, meta, log).write(std::move(event));
}

void append_closing(Connection& db, Meta& meta, RecordLog& log, const ClosingLines& closing,
                    const ClockReading& reading) {
  if (closing.unsealed) append_unsealed(db, meta, log, closing.unsealed->by, closing.unsealed->why, reading);
  if (closing.recovery) append_recovery(db, meta, log, *closing.recovery, reading);
}

void record_closing(Connection& db, const ClosingLines& closing, const ClockReading& reading,
                    std::int64_t replicated) {
  Meta meta = read_meta(db);
  RecordLog log = RecordLog::load(db, meta.log_size);
  append_closing(db, meta, log, closing, reading);
  meta.log_size = log.size();
  meta.replica_size = std::min(meta.replica_size, replicated);
  db.query(kUpdateRecovered)
      .with(stored_time(meta.last_time), stored_time(meta.clock.wall_clock), meta.clock.boot_id,
            meta.clock.boot_offset, stored_time(meta.clock.held_at), meta.recoveries, meta.log_size,
            meta.replica_size, meta.seal_events)
      .run();
  if (db.changes() != 1) throw LedgerCorrupt("ledger: meta does not have its one row");
}

std::optional<RecoveryEvent> last_recovery(Connection& db, const Meta& meta) {
  Query row = db.query("SELECT kind, row FROM log WHERE line_index = ?1");
  row.with(meta.log_size - 1);
  if (!row.step() || row.integer(0) != static_cast<std::int64_t>(RecordKind::recovery)) return std::nullopt;
  Record record = record_at(db, row.integer(0), row.integer(1));
  return std::get<RecoveryEvent>(std::move(record));
}

}  // namespace epsilog::ledger
