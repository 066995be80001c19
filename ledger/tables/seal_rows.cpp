#include "seal_rows.hpp"

#include "epsilog/ledger/ledger_time.hpp"
#include "ledger_clock.hpp"
#include "record_rows.hpp"
#include "stored_bytes.hpp"

namespace epsilog::ledger {
namespace {

constexpr const char* kLastSeal = "SELECT unsealed, at, by, why FROM seal_event ORDER BY seq DESC LIMIT 1";

}  // namespace

std::optional<Seal> read_seal(Connection& connection) {
  Query row = connection.query(kLastSeal);
  if (!row.step() || stored_truth(row.integer(0), "column unsealed")) return std::nullopt;
  return Seal{.at = row.time(1), .by = row.text(2), .why = row.text(3)};
}

void refuse_sealed(const std::string& what, const Seal& seal, const std::string& then) {
  throw LedgerSealed(what + " is sealed since " + seal.at + ", by " + seal.by + " (" + seal.why +
                     "): nothing is recorded in it any more. " + then);
}

void append_unsealed(Connection& db, Meta& meta, RecordLog& log, const std::string& by,
                     const std::string& why, const ClockReading& reading) {
  const ClockObservation clock = observe(meta, reading);
  meta.last_time = time_text(clock.now_ms);
  // A step of the clock is recorded by whoever writes next, who finds it again.
  if (clock.events.empty()) meta.clock = clock.state;
  meta.log_size = log.size();
  Recorder(db, meta, log)
      .write(
          SealEvent{.seq = ++meta.seal_events, .unsealed = true, .at = meta.last_time, .by = by, .why = why});
}

}  // namespace epsilog::ledger
