// What the engine answers a request with: granted or refused, and why.
//
// A refusal is a value, recorded in the ledger, and costs nothing. Codes are numbered, on disk and
// never reused. One section each in docs/refusals.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace epsilog::engine {

enum class RefusalCode : std::uint8_t {
  statistic_not_allowed = 1,
  column_not_allowed = 2,
  key_conflict = 3,
  per_release_limit_exceeded = 4,
  dataset_budget_exceeded = 5,
  measure_not_expressible = 6,  ///< goes before the limits: no amount would fit
  principal_not_allowed = 7,    ///< goes first, and alone
  purpose_not_allowed = 8,      ///< likewise
  forbidden = 9,                ///< goes before what is not allowed
  lifetime_budget_exceeded = 10,
  block_budget_exceeded = 11,
  principal_limit_exceeded = 12,
  role_limit_exceeded = 13,
  purpose_limit_exceeded = 14,
  policy_changed = 15,  ///< of a request that waited; alone
};
[[nodiscard]] std::string_view name(RefusalCode code);
/// Throws  InvalidParameter.
[[nodiscard]] RefusalCode parse_refusal_code(std::string_view name);

/// One limit or rule that failed. Amounts are canonical texts in the measure; "" = not applicable.
struct Reason {
  RefusalCode code = RefusalCode::dataset_budget_exceeded;
  std::string scope;    ///< "" = the dataset as a whole
  std::string measure;  ///< of the account (measure.hpp), or ""
  std::string limit;
  std::string spent;
  std::string reserved = {};  ///< by requests that are not released yet; "" when nothing is
  std::string asked;
  std::string over_by;
  std::string fits;  ///< the largest ask that would pass now
  std::string message;
  std::size_t row = 0;  ///< of a batch, counted from 1, where it stands against that row by itself; else 0

  friend bool operator==(const Reason&, const Reason&) = default;
};

/// The instant, RFC 3339 UTC, from which on the reason stands no more by itself: when the next period of a
/// budget that renews begins. "" where only the curator can change that.
[[nodiscard]] std::string changes_at(const Reason& reason);

/// Granted when there is no reason against.
class [[nodiscard]] Decision final {
 public:
  Decision() = default;
  /// Requires  `reasons` are the first of `count`, and not none if there are any.
  Decision(std::vector<Reason> reasons, std::size_t count) : reasons_(std::move(reasons)), count_(count) {}
  [[nodiscard]] bool granted() const noexcept { return count_ == 0; }
  /// Ordered by precedence of their codes (docs/refusals.md), then as the accounts of the request. As many as
  /// it was decided with.
  [[nodiscard]] const std::vector<Reason>& reasons() const noexcept { return reasons_; }
  /// How many there are in all.
  [[nodiscard]] std::size_t count() const noexcept { return count_; }

 private:
  std::vector<Reason> reasons_;
  std::size_t count_ = 0;
};

/// At most so many reasons are stored with a decision, and at most so many bytes of them, of more than one:
/// who asks for what 4,096 blocks do not hold is told so, and does not fill the ledger. The rest follows from
/// the figures of its place in the history.
inline constexpr std::size_t kReasonsStored = 16;
inline constexpr std::size_t kReasonBytesStored = 8 * 1024;

/// Those of a decision that are stored.
[[nodiscard]] std::vector<Reason> stored_reasons(const Decision& decision);
/// The text stored with a decision: the array of its reasons, or, when there are more than are stored,
/// {"count": N, "first": […]}.
[[nodiscard]] std::string reasons_text(const Decision& decision);
[[nodiscard]] std::string reasons_json(const std::vector<Reason>& reasons);
/// Back.
/// Throws  LedgerCorrupt.
[[nodiscard]] Decision parse_reasons(std::string_view json);

}  // namespace epsilog::engine
