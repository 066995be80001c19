// The form that the marks in L.lock share: fields separated by one blank, a line feed, then a digest.
//
// Thread-safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace epsilog::ledger {

/// Returns a mark of exactly `size` bytes: the line, its digest, and line feeds up to the end.
/// Requires  `line` ends with its only line feed, and has at most size - 65 bytes.
[[nodiscard]] std::string mark_with_digest(std::string line, std::size_t size);

/// Returns the line of a mark without its line feed, or nothing if the size or the digest is wrong.
[[nodiscard]] std::optional<std::string_view> line_of_mark(std::string_view bytes, std::size_t size);

/// Takes the next field off a line; the last one ends with the line.
[[nodiscard]] std::string_view next_field(std::string_view& line);

/// Returns a whole number in decimal digits, at least 0, or nothing.
[[nodiscard]] std::optional<std::int64_t> count_field(std::string_view digits);

}  // namespace epsilog::ledger
