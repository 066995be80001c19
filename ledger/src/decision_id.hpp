// Ids of decisions, made from ledger time, and random names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace epsilog::ledger {

/// Ids of decisions: 26 characters of Crockford's base 32 without I, L, O, U, as ULIDs are: 48 bits
/// of milliseconds, 80 random bits. They order bytewise as the decisions do.
/// Requires  `previous` is "" or an id.
/// Ensures   the result is greater than `previous`; within the millisecond of `previous`, or when the
///           clock stands behind it, it is the id that follows.
[[nodiscard]] std::string next_id(const std::string& previous, std::int64_t ms);

/// Whether next_id(previous, ms) can have been `id`.
/// Requires  ids, `previous` possibly "".
[[nodiscard]] bool may_be_next_id(const std::string& previous, const std::string& id, std::int64_t ms);

/// 26 characters of the alphabet, the first at most '7'.
[[nodiscard]] bool is_id(std::string_view text);

/// 128 random bits as 32 lower-case hexadecimal digits.
[[nodiscard]] std::string random_hex_128();

}  // namespace epsilog::ledger
