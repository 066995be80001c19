#include "text_lines.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "epsilog/engine/not_verified.hpp"
#include "epsilog/ledger/base64.hpp"

namespace epsilog::engine {

TextLines::TextLines(std::string_view text, std::string what, std::size_t first)
    : rest_(text), what_(std::move(what)), number_(first) {}

std::string_view TextLines::peek() const {
  return rest_.substr(0, std::min(rest_.find('\n'), rest_.size()));
}

std::string_view TextLines::next() {
  const std::size_t end = rest_.find('\n');
  ++number_;
  if (end == std::string_view::npos) {
    fail(rest_.empty() ? "is missing: the text ends before it" : "does not end with a line feed");
  }
  const std::string_view line = rest_.substr(0, end);
  rest_.remove_prefix(end + 1);
  return line;
}

std::string_view TextLines::after(std::string_view prefix) {
  const std::string_view line = next();
  if (!line.starts_with(prefix)) fail("does not begin with '" + std::string(prefix) + "'");
  return line.substr(prefix.size());
}

void TextLines::fail(const std::string& reason) const {
  throw NotVerified(what_ + ": line " + std::to_string(number_ - 1) + " " + reason);
}

std::uint64_t TextLines::count(std::string_view digits) const {
  std::uint64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data(), end, value);
  const bool digit_first = !digits.empty() && digits.front() >= '0' && digits.front() <= '9';
  if (!digit_first || error != std::errc() || stopped != end || value > INT64_MAX) {
    fail("has no whole number from 0 to 9223372036854775807");
  }
  if (digits.size() > 1 && digits.front() == '0') fail("has a number with leading zeroes");
  return value;
}

ledger::Hash TextLines::hash(std::string_view base64) const {
  const auto bytes = ledger::base64_bytes(base64);
  ledger::Hash hash{};
  if (!bytes || bytes->size() != hash.size()) fail("is not the base64 of a hash of 32 bytes");
  std::copy(bytes->begin(), bytes->end(), hash.begin());
  return hash;
}

}  // namespace epsilog::engine
