// What becomes of a request that is not answered at once: reservations and approvals
// (docs/reservations.md).
//
//   pending ──approved by enough──> reserved ──commit──> granted
//      │                               │ cancel, deadline: what was reserved is given back when nobody can
//      │                               │ have seen the data (cancelled, expired), else spent (forfeited)
//      ├──reject──> rejected
//      ├──approved, but no longer fits──> refused
//      └──cancel, deadline──> cancelled, expired
//
// Thread-safety: immutable values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::engine {

/// How a request stands, or what a single decision about it says.
enum class RequestState {
  granted,        ///< released and charged
  refused,        ///< costs nothing
  pending,        ///< waits for approvals; debits nothing
  reserved,       ///< waits for its commit; what it costs is reserved
  approved,       ///< of a single decision: somebody agreed
  rejected,       ///< an approver said no; costs nothing
  data_accessed,  ///< of a single decision: from here on the data may have been seen
  cancelled,      ///< given back, if anything had been reserved
  expired,        ///< likewise, by its deadline
  forfeited,      ///< cancelled or expired when the data may have been seen: charged in full, no release
};
/// "granted", "refused", "pending", …
[[nodiscard]] std::string_view name(RequestState state);

/// Who agreed to a pending request, when, and how they were known.
struct Approval {
  std::string by;
  std::string at;               ///< RFC 3339 UTC
  std::string via = "claimed";  ///< as with any decision (actor.hpp)
  std::string why = {};         ///< the reason that was given; "" = none
  friend bool operator==(const Approval&, const Approval&) = default;
};

/// Somebody may not do this to a request of another. Nothing was recorded.
class NotPermitted : public Error {
 public:
  using Error::Error;
  [[nodiscard]] std::string_view code() const noexcept override { return "not_permitted"; }
};

}  // namespace epsilog::engine
