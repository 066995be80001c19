// The smallest parts of canonical JSON (canonical_json.hpp), taken from a line one after the other.
//
// Thread-safety: one thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace epsilog::ledger {

[[nodiscard]] constexpr bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

/// Requires  the line outlives it.
/// Throws    LedgerCorrupt saying at which byte and what is wrong.
class CanonicalTokens final {
 public:
  explicit CanonicalTokens(std::string_view line) : line_(line) {}

  [[noreturn]] void fail(std::string_view what) const;
  [[nodiscard]] std::size_t at() const noexcept { return at_; }
  [[nodiscard]] bool done() const noexcept { return at_ == line_.size(); }
  [[nodiscard]] std::string_view rest() const { return line_.substr(at_); }
  /// '\0' at the end.
  [[nodiscard]] char next() const { return at_ < line_.size() ? line_[at_] : '\0'; }
  /// '\0' is never wanted, so that the end is none of what is.
  bool take(char wanted) {
    if (next() != wanted) return false;
    ++at_;
    return true;
  }
  bool take(std::string_view word) {
    if (!rest().starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  /// Requires  as many are left.
  void skip(std::size_t bytes) noexcept { at_ += bytes; }
  /// What the string says: bytes of the line if they are that, else `decoded`.
  /// Requires  next() == '"'.
  std::string_view string(std::string& decoded);
  /// Requires  is_digit(next()).
  std::uint64_t count();
  /// The bytes of the value that begins here, whose strings are read and whose other parts are not.
  std::string_view extent();

 private:
  std::string_view escaped_string(std::size_t begin, std::string& decoded);

  std::string_view line_;
  std::size_t at_ = 0;
};

/// The bytes that {"hex":…} stands for.
/// Throws  LedgerCorrupt, also if they are UTF-8.
[[nodiscard]] std::string bytes_of_hex(std::string_view hex);

/// Two lower-case digits a byte; false: it is something else, and `bytes` is of no use.
/// Requires  hex.size() == 2 * size.
[[nodiscard]] bool read_hex(std::string_view hex, unsigned char* bytes);

}  // namespace epsilog::ledger
