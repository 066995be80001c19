#include "epsilog/engine/audit_limits.hpp"

#include <array>

namespace epsilog::engine {
namespace {

constexpr std::array kColumns = std::to_array<AnchoredColumn>({
    {"clock_event.after_decision", "where, among decisions that are dated alike"},
    {"clock_event.by", "who confirmed a clock"},
    {"clock_event.kind", "whether a step that held nothing went back or forth"},
    {"clock_event.ledger_time", "when, between what was recorded before and after it"},
    {"clock_event.wall_clock", "what the clock showed"},
    {"decision.id",
     "the last 16 characters, of one that nothing refers to and no other shares the millisecond with"},
    {"decision.key", "a key, unless a conflict names it or it is bound twice"},
    {"decision.principal",
     "who asked or acted, unless an account, a rule, a key or an approval depends on it"},
    {"decision.program_commit", "what recorded it"},
    {"decision.program_version", "what recorded it"},
    {"limit_change.why", "why, of a policy version that changed one limit only"},
    {"meta.boot_id", "of the last write"},
    {"meta.boot_offset", "of the last write"},
    {"meta.ledger_id", "which ledger it is"},
    {"meta.wall_clock", "of the last write"},
    {"policy_version.applied_at",
     "when, between what was recorded before and after it, if it changed no limit"},
    {"policy_version.applied_by", "by whom, if it changed no limit"},
    {"policy_version.base_dir", "where relative paths of sources start"},
    {"relocation.after_decision", "where, among decisions that are dated alike"},
    {"relocation.at", "when, between what was recorded before and after it"},
    {"relocation.by", "who relocated a source"},
    {"relocation.dataset", "which source moved, where the policy declares several"},
    {"relocation.path", "where the source is found"},
    {"relocation.why", "why"},
});

}  // namespace

std::span<const AnchoredColumn> anchored_columns() {
  return kColumns;
}

}  // namespace epsilog::engine
