// What the engine answers a request with: granted or refused, and why.
//
// A refusal is a value, recorded in the ledger, and costs nothing. Codes are numbered, on disk and
// never reused. One section each in docs/refusals.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace epsilog::engine {

enum class RefusalCode : std::uint8_t {
  statistic_not_allowed = 1,
  column_not_allowed = 2,
  key_conflict = 3,
  per_release_exceeded = 4,
  dataset_budget_exceeded = 5,
  measure_not_expressible = 6,  ///< goes before the limits: no amount would fit
  principal_not_allowed = 7,    ///< goes first, and alone
  purpose_not_allowed = 8,      ///< likewise
  forbidden = 9,                ///< goes before what is not allowed
  lifetime_exceeded = 10,
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

  friend bool operator==(const Reason&, const Reason&) = default;
};

/// The instant, RFC 3339 UTC, from which on the reason stands no more by itself: when the next period of a
/// budget that renews begins. "" where only the curator can change that.
[[nodiscard]] std::string changes_at(const Reason& reason);

/// Granted when there is no reason against.
class [[nodiscard]] Decision final {
 public:
  Decision() = default;
  explicit Decision(std::vector<Reason> reasons) : reasons_(std::move(reasons)) {}
  [[nodiscard]] bool granted() const noexcept { return reasons_.empty(); }
  /// Ordered by precedence of their codes (docs/refusals.md), then as the accounts of the request.
  [[nodiscard]] const std::vector<Reason>& reasons() const noexcept { return reasons_; }

 private:
  std::vector<Reason> reasons_;
};

/// The JSON array stored with a decision, and back.
[[nodiscard]] std::string reasons_json(const std::vector<Reason>& reasons);
[[nodiscard]] std::vector<Reason> parse_reasons(std::string_view json);

}  // namespace epsilog::engine
