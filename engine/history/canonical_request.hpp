// The form in which a request is digested, stored and read back for an audit.
#pragma once

#include <string>
#include <string_view>

#include "epsilog/engine/request.hpp"

namespace epsilog::engine {

/// Canonical JSON of what is asked: keys sorted, no blanks, exact canonical numbers. Never covers
/// the supplied value, so that a retry with another value is the same request (guarantee G5).
[[nodiscard]] std::string canonical_request(const Request& request);

/// The same with the key that turned out to be bound to another request, as a `key_conflict` refusal
/// stores it: such a refusal must not occupy the key itself.
[[nodiscard]] std::string conflicting_request(const Request& request);

/// What a stored request says.
struct StoredRequest {
  Request request;              ///< principal and key empty
  std::string conflicting_key;  ///< "" unless it was refused for a key conflict
};
/// Reads whatever canonical_request() and conflicting_request() ever wrote, of any length.
/// Throws  ledger::UnreadableRow if the text is not a canonical request.
[[nodiscard]] StoredRequest parse_stored_request(std::string_view json);

/// What is not taken from whoever asks: a canonical form of more than 65,536 bytes, of a batch more than
/// 1,048,576 or kBatchRowsMax rows, something that was typed too long (Request::too_long), or a condition
/// with a fault of the door (Predicate::new_request_fault). For the door only: to be called after the key was
/// looked up, never of a request that is on record.
/// Throws  InvalidParameter.
void require_within_caps(const Request& request, const std::string& canonical);

}  // namespace epsilog::engine
