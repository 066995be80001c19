#include "epsilog/engine/engine_options.hpp"

#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/policy.hpp"
#include "epsilog/ledger/ledger_options.hpp"

namespace epsilog::engine {

std::optional<ledger::Replica> replica_of(const Policy& policy) {
  if (!policy.replica()) return std::nullopt;
  const bool synced = policy.replica()->sync == ReplicaFile::Sync::commit;
  return ledger::Replica{.path = policy.replica()->path,
                         .sync = synced ? ledger::Replica::Sync::commit : ledger::Replica::Sync::none};
}

bool is_tick(std::int64_t every_ms) noexcept {
  return every_ms >= 10 && every_ms <= 1'000 && 1'000 % every_ms == 0;
}

namespace {

/// A wall that shows the last tick. It goes wherever the wall clock goes, less than a second behind: no step
/// back that is noted (ledger::kBackwardsMs), whoever else writes by the clock itself.
ledger::Clock ticking(const ledger::Clock& clock, const TickedAnswers& answers) {
  if (!is_tick(answers.every_ms) || answers.after_ms < 0 || answers.after_ms > kTickedAfterMost) {
    throw InvalidParameter(
        "answers: 'every' has to be 10 ms to 1 s and a whole part of a second, 'after' at most 10 s");
  }
  return [clock, every = answers.every_ms] {
    ledger::ClockReading reading = clock();
    reading.wall_ms -= reading.wall_ms % every;
    return reading;
  };
}

}  // namespace

ledger::Options EngineOptions::ledger_options() const {
  return {.wait = std::chrono::milliseconds(wait_ms),
          .clock = answers ? ticking(clock, *answers) : clock,
          .before_commit = before_commit,
          .warn = warn,
          .report_wait = report_wait,
          .stop = stop,
          .replica = [](const ledger::PolicyVersion& version) {
            return replica_of(Policy::parse_stored(version.yaml, "the active policy"));
          }};
}

}  // namespace epsilog::engine
