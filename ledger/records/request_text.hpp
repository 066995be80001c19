// The text of a request, taken apart into what many decisions share and what is each one's own, and put
// together again to the byte.
//
//   request  = a canonical JSON object (canonical_json.hpp) of any members; of them "purpose", "reservation"
//   and
//              "conflicting_key" are a decision's own, the rest is the question
//   act      = {"decision":PARENT,"verb":VERB} or {"decision":PARENT,"verb":VERB,"why":WHY}
//
// Thread-safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "records.hpp"

namespace epsilog::ledger {

struct RequestParts {
  std::string question = {};  ///< canonical JSON; "" of an act
  std::string purpose = {};
  ReservationKind reservation_kind = ReservationKind::none;
  std::string conflicting_key = {};
  std::string verb = {};  ///< of an act; "" of a request
  std::string why = {};

  friend bool operator==(const RequestParts&, const RequestParts&) = default;
};

/// Nothing: the text would not come out again, and has to be kept.
/// Ensures  request_of() of the parts and the parent is `request`.
[[nodiscard]] std::optional<RequestParts> request_parts(std::string_view request, std::string_view parent);

/// Throws  LedgerCorrupt if the question is no canonical JSON object.
[[nodiscard]] std::string request_of(const RequestParts& parts, std::string_view parent);

}  // namespace epsilog::ledger
