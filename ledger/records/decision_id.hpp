// Ids of decisions, made from ledger time, and random names.
#pragma once

#include <array>
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

/// The 128 bits that an id is.
/// Requires  is_id(). Bytes order as ids do.
[[nodiscard]] std::array<std::uint8_t, 16> id_bytes(std::string_view id);
/// Ensures  is_id(), and id_bytes() gives the bytes again.
[[nodiscard]] std::string id_text(const std::array<std::uint8_t, 16>& bytes);

/// Random bytes of the operating system.
/// Throws  EntropyUnavailable.
[[nodiscard]] std::array<std::uint8_t, 16> random_128();
[[nodiscard]] std::array<std::uint8_t, 32> random_256();
/// 128 random bits as 32 lower-case hexadecimal digits.
[[nodiscard]] std::string random_hex_128();

}  // namespace epsilog::ledger
