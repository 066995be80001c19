// Curating: policies, sources, checkpoints, and whether the ledger can be written to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "epsilog/engine/answer.hpp"
#include "epsilog/engine/state_handle.hpp"
#include "epsilog/ledger/end_mark_state.hpp"
#include "epsilog/ledger/record.hpp"

namespace epsilog::engine {

struct Checkpoint;           // checkpoint.hpp
struct PolicyReview;         // policy_review.hpp
struct RequestedCheckpoint;  // requested_checkpoint.hpp

/// Whether something would be believed that should not be.
struct LedgerCondition {
  ledger::EndMarkState end_mark_state =
      ledger::EndMarkState::none;                ///< what L.lock says of the ledger's length
  std::vector<std::string> stale_replicas = {};  ///< as ledger::Snapshot::stale_replicas()
  bool over_fuse = false;                        ///< as ledger::Ledger::is_on_fuse()
};

struct ApplyReport {
  std::int64_t policy_version = 0;
  std::string policy_sha256;
  bool changed = false;  ///< false when the active policy already has these bytes
  std::vector<ledger::LimitChange> limit_changes;
  std::vector<ledger::LimitRemoval> limit_removals;
};

/// A policy that comes as a text, from who is not where the files are.
struct PolicyUpload {
  std::string yaml;             ///< its bytes, at most 256 KiB
  std::string name = "policy";  ///< to show in faults
  /// Of the bytes of the version that it replaces, in lower-case hexadecimal digits; nothing: whichever that
  /// is. Another active one is PolicyConflict, also for who only asks what the text would change.
  std::optional<std::string> expected_sha256 = {};
  /// The principal who applies it, "" for one whom no policy names. Then a text that leaves nobody with the
  /// duty `curate`, or takes away that of who applies it, has the fault `would_lock_out` at `principals`.
  /// Nothing: duties play no part.
  std::optional<std::string> acting = {};
};

struct RelocateReport {
  std::string dataset;
  std::string from;      ///< where the source was found until then
  std::string to;        ///< absolute
  std::string at;        ///< ledger time
  bool changed = false;  ///< false: it was found there already, and nothing is recorded
};

/// Applies policies, moves sources and looks after a ledger. What holds of each call stands in engine.hpp.
class Curating {
 public:
  // Checkpoints of the file to which the active policy has them appended (docs/evidence.md), beside those
  // that come by themselves. Each throws KeyIo, KeyUnusable (key_file.hpp), NotVerified (not_verified.hpp) as
  // those would be warned of; reading.

  /// The newest; nothing where the policy has none signed, or none was.
  [[nodiscard]] std::optional<Checkpoint> newest_checkpoint() const;
  /// Signs one now, unless the newest has every line already; nothing where the policy has none signed. Waits
  /// at most two seconds for another who signs.
  std::optional<RequestedCheckpoint> sign_checkpoint_now();

  /// A source that is written as in the active version stays where it is found (docs/policy_lifecycle.md).
  /// Throws  PolicyError when the policy itself or the change is not acceptable; InvalidParameter for one
  ///         that is looser, with no `why`; SourceError as init(); writing.
  ApplyReport apply_policy(const std::string& policy_path, const std::string& by, const std::string& why);
  /// The same of a text. Relative paths start where those of the active version do.
  /// Throws  likewise; PolicyConflict (conflict_errors.hpp).
  ApplyReport apply_policy(const PolicyUpload& policy, const std::string& by, const std::string& why);
  /// What apply_policy() would do as the ledger stands, what is overdue by now taken as ended; changes nothing. A
  /// path that is written otherwise and leads to where the source is found is not refused once charged.
  /// Throws  PolicyError when the policy itself is not valid; SourceError as init(); PolicyConflict; reading.
  [[nodiscard]] PolicyReview review(const std::string& policy_path) const;
  [[nodiscard]] PolicyReview review(const PolicyUpload& policy) const;
  /// What the active policy names outside EngineOptions::folders, sources where they are found now; nothing
  /// where those are not set. For who starts over a ledger that was kept without them.
  /// Throws  reading.
  [[nodiscard]] std::vector<PolicyFault> folder_faults() const;

  /// The source of the dataset is found at `path` from now on, relative to the working directory. That the
  /// same data stand there nobody can check: `by` vouches for it, and it is recorded with who and why.
  /// Throws    NotFound; PolicyError where EngineOptions::folders forbid the place; SourceError where the
  /// dataset has no source, or what is there is not of the kind and
  ///           shape that the policy declares, or belongs to the ledger; InvalidParameter without `why`;
  ///           writing.
  RelocateReport relocate(const std::string& dataset, const std::string& path, const std::string& by,
                          const std::string& why);
  /// Where the rows of the dataset are found now, "" without a source.
  /// Throws  NotFound; reading.
  [[nodiscard]] std::string source_of(const std::string& dataset) const;
  /// Why nobody can write until the ledger is recovered; nothing while it is sound.
  [[nodiscard]] std::optional<std::string> poison_reason() const;
  /// Begins to record as a release does, then undoes it: nothing is recorded.
  /// Requires  wait_ms >= 0.
  /// Throws    LedgerBusy if others write for longer than that; writing.
  void check_recording(std::int64_t wait_ms) const;
  /// What the curator should know of the ledger's files.
  /// Throws  LedgerBusy, and as reading does.
  [[nodiscard]] LedgerCondition condition() const;

 protected:
  explicit Curating(StateHandle state) : state_(std::move(state)) {}

 private:
  StateHandle state_;
};

}  // namespace epsilog::engine
