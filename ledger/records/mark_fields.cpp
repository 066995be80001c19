#include "mark_fields.hpp"

#include <charconv>

#include "epsilog/ledger/digest.hpp"

namespace epsilog::ledger {

std::string mark_with_digest(std::string line, std::size_t size) {
  line += sha256_hex(line) + "\n";
  line.resize(size, '\n');
  return line;
}

std::optional<std::string_view> line_of_mark(std::string_view bytes, std::size_t size) {
  constexpr std::size_t kDigest = 64;
  const auto line_end = bytes.find('\n');
  if (bytes.size() != size || line_end == std::string_view::npos) return std::nullopt;
  if (bytes.substr(line_end + 1, kDigest) != sha256_hex(bytes.substr(0, line_end + 1))) return std::nullopt;
  return bytes.substr(0, line_end);
}

std::string_view next_field(std::string_view& line) {
  const auto blank = line.find(' ');
  const std::string_view field = line.substr(0, blank);
  line.remove_prefix(blank == std::string_view::npos ? line.size() : blank + 1);
  return field;
}

std::optional<std::int64_t> count_field(std::string_view digits) {
  std::int64_t count = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  if (error != std::errc() || end != digits.data() + digits.size() || count < 0) return std::nullopt;
  return count;
}

}  // namespace epsilog::ledger
