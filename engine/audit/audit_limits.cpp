#include "epsilog/engine/audit_limits.hpp"

#include <array>

namespace epsilog::engine {
namespace {

constexpr std::array kColumns = std::to_array<AnchoredColumn>({
    {"account.opened_at", "when, between what was recorded before and after it", true},
    {"build.revision", "what recorded decisions", true},
    {"build.version", "what recorded decisions", true},
    {"clock_event.after_decision", "where, among decisions that are dated alike", true},
    {"clock_event.by", "who confirmed a clock", true},
    {"clock_event.ledger_time", "when, between what was recorded before and after it", true},
    {"clock_event.type", "whether a step that held nothing went back or forth", true},
    {"clock_event.wall_clock", "what the clock showed", true},
    {"credential_event.at", "when, between what was recorded before and after it", true},
    {"credential_event.by", "who added or revoked a credential", true},
    {"credential_event.credential", "its id, of one that was not revoked and by which nobody came", true},
    {"credential_event.principal", "whose it is, of one that was not revoked and by which nobody came", true},
    {"credential_event.until", "when it ends", true},
    {"credential_event.value", "which token it is, or which uid, of one by which nobody came", true},
    {"credential_event.why", "why", true},
    {"decision.component_values", "what was drawn, where it comes to the same answer", true},
    {"decision.data_token_sha256", "which data token was issued, where this file does not hold its bytes",
     true},
    {"decision.id",
     "the last 16 characters, of one that nothing refers to and no other shares the millisecond with", true},
    {"decision.key", "a key, unless a conflict names it or it is bound twice", true},
    {"decision.plan", "what was asked, of a request that would have come to the same", true},
    {"decision.principal",
     "who asked or acted, unless an account, a rule, a key or an approval depends on it", true},
    {"decision.reservation", "how budget was to be kept, of a request that got none", true},
    {"decision.via", "what said who asked, unless the credentials of the ledger contradict it", true},
    {"decision.why", "why somebody acted", true},
    {"key_event.at", "when, between what was recorded before and after it", true},
    {"key_event.by", "who named a key", true},
    {"key_event.why", "why", true},
    {"meta.boot_id", "of the last write", false},
    {"meta.boot_offset", "of the last write", false},
    {"meta.ledger_id", "which ledger it is, where it names no key", true},
    {"meta.read_only", "whether it may be written to", false},
    {"meta.replica_size", "how many lines a replica is known to hold", false},
    {"meta.wall_clock", "of the last write", false},
    {"policy_version.applied_at",
     "when, between what was recorded before and after it, if it changed no limit", true},
    {"policy_version.applied_by", "by whom, if it changed no limit", true},
    {"policy_version.base_dir", "where relative paths of sources start", true},
    {"policy_version.why", "why, if it changed no limit", true},
    {"relocation.after_decision", "where, among decisions that are dated alike", true},
    {"relocation.at", "when, between what was recorded before and after it", true},
    {"relocation.by", "who relocated a source", true},
    {"relocation.dataset", "which source moved, where the policy declares several", true},
    {"relocation.path", "where the source is found", true},
    {"relocation.why", "why", true},
});

}  // namespace

std::span<const AnchoredColumn> anchored_columns() {
  return kColumns;
}

}  // namespace epsilog::engine
