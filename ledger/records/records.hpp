// Records: what happened, as lines of canonical JSON (docs/record_format.md). Every line follows from rows,
// and the rows can be made again from the lines.
//
// Thread-safety: pure functions; values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "epsilog/accounting/callback.hpp"
#include "epsilog/ledger/credential_event.hpp"
#include "epsilog/ledger/key_event.hpp"
#include "epsilog/ledger/record.hpp"
#include "grid_units.hpp"

namespace epsilog::ledger {

/// Random bytes of the operating system that keep the content of a line from being guessed by its leaf.
using Blind = std::array<std::uint8_t, 16>;
/// 32 random bytes that a data token is.
using TokenBytes = std::array<std::uint8_t, 32>;
/// SHA-256.
using Sha256 = std::array<std::uint8_t, 32>;

/// The first line.
struct LedgerRecord {
  std::string ledger_id;   ///< 32 lower-case hexadecimal digits
  std::string created_at;  ///< ledger time

  friend bool operator==(const LedgerRecord&, const LedgerRecord&) = default;
};

/// Where relative paths of a policy version start. Its line comes directly after that of the version.
struct PolicyLocation {
  std::int64_t version = 0;
  std::string base_dir = {};  ///< absolute; any bytes
  std::string applied_at;     ///< of the version

  friend bool operator==(const PolicyLocation&, const PolicyLocation&) = default;
};

/// An account at its beginning: nothing is spent or reserved.
struct AccountRecord {
  std::int64_t id = 0;  ///< 1, 2, ...
  AccountName name;
  std::int64_t limit = 0;  ///< grid units of the measure
  std::string opened_at;

  friend bool operator==(const AccountRecord&, const AccountRecord&) = default;
};

/// A question under a policy version and, once it was granted, how it is answered: constant facts that many
/// decisions share.
struct PlanRecord {
  std::int64_t number = 0;  ///< 1, 2, ... in the order of their lines
  std::int64_t policy_version = 0;
  /// Canonical JSON of the request without purpose, holding and conflicting key.
  std::string question = {};
  std::optional<ReleaseRecord> release = {};
  accounting::PostProcessing post_processing = {};  ///< of a release
  std::string first_at = {};                        ///< time of the first decision with it

  friend bool operator==(const PlanRecord&, const PlanRecord&);
};

/// What a decision did to an account, and how the account stood then. Grid units of its measure.
struct Movement {
  std::int64_t account = 0;
  std::int64_t position = 0;  ///< among the accounts that the decision shows, from 1; 0: it is not shown
  std::int64_t spent_change = 0;
  std::int64_t reserved_change = 0;
  accounting::Balance balance;  ///< after it

  friend bool operator==(const Movement&, const Movement&);
};

/// Whether budget is kept for a question rather than spent on it at once.
enum class ReservationKind : std::uint8_t { none, plain, data_token };

/// A decision; "" and 0 where something does not apply.
struct DecisionRecord {
  std::int64_t seq = 0;
  std::string id;  ///< 26 characters
  std::string created_at;
  std::string principal;
  std::string via;  ///< "claimed", "unix:UID", "token:ID"
  std::string key = {};
  std::string parent = {};  ///< id
  std::string deadline = {};
  Outcome outcome = Outcome::refused;
  std::string reasons = "[]";  ///< JSON array; "[]" unless refused
  Rules rules = kRules;
  Build build = {};
  std::int64_t policy_version = 0;
  std::int64_t decided_under = 0;
  std::string dataset;
  std::int64_t plan = 0;  ///< PlanRecord::number; 0: an act
  std::string purpose = {};
  ReservationKind reservation_kind = ReservationKind::none;
  std::string conflicting_key = {};
  std::string verb = {};  ///< of an act, whose request is {"decision":parent,"verb":verb,"why":why}
  std::string why = {};
  std::vector<std::vector<accounting::Rational>> component_values = {};  ///< [component][cell]
  std::vector<accounting::Rational> values = {};                         ///< [cell], post-processed
  /// SHA-256 of the data token that it issued.
  std::optional<Sha256> token_sha256 = {};
  std::vector<Movement> movements = {};  ///< ascending by account

  friend bool operator==(const DecisionRecord&, const DecisionRecord&) = default;
};

/// A policy version with the object that its text implies.
struct PolicyRecord {
  PolicyVersion version;
  std::string implies = {};  ///< canonical JSON object

  friend bool operator==(const PolicyRecord&, const PolicyRecord&);
};

/// The ledger was put right after something broke.
struct RecoveryEvent {
  std::int64_t seq = 0;
  std::string cause;           ///< a word: "poisoned", "behind_replica", "rebuilt", "restored", "rolled_back"
  std::uint64_t restored = 0;  ///< lines put back from a replica
  std::uint64_t dropped = 0;   ///< lines that were in the replica and stand nowhere now
  /// Where an accepted rollback is recorded: how many lines L.lock remembered, and how many were found. Both
  /// are 0 otherwise.
  std::uint64_t remembered = 0;
  std::uint64_t found = 0;
  std::string at;
  std::string by;
  std::string why = {};

  friend bool operator==(const RecoveryEvent&, const RecoveryEvent&) = default;
};

/// The ledger ends here, or goes on elsewhere.
struct SealEvent {
  std::int64_t seq = 0;   ///< 1, 2, ... of seals and their ends together
  bool unsealed = false;  ///< else sealed
  std::string at;
  std::string by;
  std::string why = {};  ///< not "" of a seal

  friend bool operator==(const SealEvent&, const SealEvent&) = default;
};

/// Announces that the file, from this line on, needs a program that knows the feature.
struct FeatureRecord {
  std::int64_t number = 0;  ///< of its row, 1, 2, ...; its line does not say it
  std::string name;
  std::string at;

  friend bool operator==(const FeatureRecord&, const FeatureRecord&) = default;
};

/// In the order of the numbers that `log` stores them by (RecordKind).
using Record = std::variant<LedgerRecord, PolicyRecord, PolicyLocation, Relocation, AccountRecord,
                            LimitChange, LimitRemoval, PlanRecord, DecisionRecord, ClockEvent,
                            CredentialEvent, KeyEvent, RecoveryEvent, SealEvent, FeatureRecord>;

/// Numbers on disk for ever.
enum class RecordKind : std::uint8_t {
  ledger = 0,
  policy = 1,
  policy_location = 2,
  relocation = 3,
  account = 4,
  limit_change = 5,
  limit_removal = 6,
  plan = 7,
  decision = 8,
  clock_event = 9,
  credential = 10,
  key = 11,
  recovery = 12,
  seal = 13,
  feature = 14,
};

struct Line {
  std::uint64_t index = 0;
  Blind blind = {};
  Record record;
};

/// grid_decimals() of the measure of that account, of which a line came before. Throws what it will.
using DecimalsOfAccount = accounting::CallbackRef<int(std::int64_t account)>;

/// The line without its line feed.
/// Requires  amounts within 0..2^61, changes within -2^61..2^61, numbers and indices below 2^53.
/// Throws    InvalidParameter if a text that has to be UTF-8 is not.
[[nodiscard]] std::string line_text(const Line& line, DecimalsOfAccount decimals);

/// Ensures  line_text() of it is `text`, to the byte.
/// Throws   LedgerCorrupt naming the member that is missing, unknown, malformed or out of its range.
[[nodiscard]] Line parse_line(std::string_view text, DecimalsOfAccount decimals);

/// What a plan is found by: SHA-256 of {"policy_version":..,"question":..,"release":..} as in its line.
[[nodiscard]] Sha256 plan_digest(const PlanRecord& plan);

/// The member "release" of a plan's line, which is also how its row keeps it; "" without a release.
[[nodiscard]] std::string release_text(const PlanRecord& plan);
/// Fills `release` and `post_processing`.
/// Throws  LedgerCorrupt.
void parse_release_text(std::string_view text, PlanRecord& plan);

}  // namespace epsilog::ledger
