// What an audit says of a ledger, and of each decision.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "epsilog/engine/audit_fault.hpp"
#include "epsilog/ledger/end_mark_state.hpp"
#include "epsilog/ledger/record.hpp"

namespace epsilog::engine {

/// How far SQLite checks the file itself before its rows are checked, which they are in any case.
enum class StorageCheck {
  full,   ///< its integrity_check
  quick,  ///< its quick_check: not whether the indices have what the tables have, and no more
  none,
};

/// An approval in a name for which nothing vouches but whoever used it.
struct ClaimedApproval {
  std::string decision_id;
  std::string principal;
  std::string at;
};

inline constexpr std::size_t kClaimedApprovalsListed = 16;

/// A decision by a credential that had ended when it was recorded.
struct EndedCredential {
  std::string decision_id;
  std::string principal;
  std::string via;
  std::string at;
  std::string ended;  ///< when it had: its end, or its revocation if that came before
};

inline constexpr std::size_t kEndedCredentialsListed = 16;

struct AuditReport {
  bool ok = false;
  StorageCheck storage = StorageCheck::full;  ///< as was asked
  std::int64_t records = 0;                   ///< decisions examined
  std::vector<AuditFault> faults;
  /// What an auditor has to know and is no fault of the ledger.
  std::vector<AuditFault> notes;
  /// What L.lock said of the ledger's length when the audit began. Where nothing is remembered, acknowledged
  /// lines can be missing at the end without a trace.
  ledger::EndMarkState end_mark_state = ledger::EndMarkState::none;
  /// The files of replicas that the policy names no more and that do not say so yet: a restore would believe
  /// them.
  std::vector<std::string> stale_replicas = {};
  /// Whether a program serves the ledger's folder (FUSE): the files may lie on another machine, whose users would
  /// not see the charges of this one.
  bool over_fuse = false;
  std::vector<ledger::Relocation> relocations;  ///< by seq
  /// How many approvals no credential of the ledger vouches for: `claimed` ones of those that came at the first
  /// credential or after it, and of those before it ones that name a credential. Of these the first, at most
  /// kClaimedApprovalsListed. Nothing in a ledger that never had a credential and no such approval.
  std::optional<std::int64_t> claimed_approvals = {};
  std::vector<ClaimedApproval> claimed = {};
  /// How many decisions are by a credential that had ended by their time, as one that was admitted before may
  /// be, and of them those that came longest after, longest first, at most kEndedCredentialsListed; nothing in
  /// a ledger that never had a credential.
  std::optional<std::int64_t> ended_credentials = {};
  std::vector<EndedCredential> ended = {};
};

/// One decision, decided again from the policy, the request and the balances of its place in history.
struct ReplayedDecision {
  std::int64_t seq = 0;
  std::string decision_id;
  std::string created_at;
  std::string outcome;                   ///< as recorded: "granted", "refused", …
  ledger::Rules rules = ledger::kRules;  ///< it was decided under
  std::int64_t policy_version = 0;
  std::string policy_sha256;       ///< of that version
  std::vector<AuditFault> faults;  ///< empty: the same again, every text and every integer
};

}  // namespace epsilog::engine
