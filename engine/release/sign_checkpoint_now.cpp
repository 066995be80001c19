// Checkpoints that somebody asks for: the newest one, and one more.
#include "due_checkpoint.hpp"
#include "engine_state.hpp"
#include "epsilog/engine/engine.hpp"
#include "epsilog/engine/requested_checkpoint.hpp"

namespace epsilog::engine {
namespace {

/// Whoever asks is answered soon; to sign takes less, but for the first checkpoint of a long ledger.
constexpr std::chrono::milliseconds kWaitForKey(2'000);

std::optional<CheckpointRule> rule_of(EngineState& state) {
  ledger::Snapshot view = state.snapshot();
  const auto active = state.active_policy(view);
  const auto& wanted = active->policy.checkpoint();
  if (!wanted) return std::nullopt;
  return CheckpointRule{
      .key = wanted->key, .file = wanted->path, .lines = wanted->lines, .seconds = wanted->seconds};
}

}  // namespace

std::optional<Checkpoint> Curating::newest_checkpoint() const {
  const auto rule = rule_of(*state_);
  return rule ? last_checkpoint(state_->writer(), *rule) : std::nullopt;
}

std::optional<RequestedCheckpoint> Curating::sign_checkpoint_now() {
  state_->require_own_process();
  const auto rule = rule_of(*state_);
  if (!rule) return std::nullopt;
  return append_checkpoint(state_->writer(), state_->ledger_path, *rule, kWaitForKey);
}

}  // namespace epsilog::engine
