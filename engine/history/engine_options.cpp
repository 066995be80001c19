#include "epsilog/engine/engine_options.hpp"

#include "epsilog/engine/policy.hpp"
#include "epsilog/ledger/ledger_options.hpp"

namespace epsilog::engine {

std::optional<ledger::Replica> replica_of(const Policy& policy) {
  if (!policy.replica()) return std::nullopt;
  const bool synced = policy.replica()->sync == ReplicaFile::Sync::commit;
  return ledger::Replica{.path = policy.replica()->path,
                         .sync = synced ? ledger::Replica::Sync::commit : ledger::Replica::Sync::none};
}

ledger::Options EngineOptions::ledger_options() const {
  return {.wait = std::chrono::milliseconds(wait_ms),
          .clock = clock,
          .before_commit = before_commit,
          .warn = warn,
          .waiting = waiting,
          .replica = [](const ledger::PolicyVersion& version) {
            return replica_of(Policy::parse_stored(version.yaml, "the active policy"));
          }};
}

}  // namespace epsilog::engine
