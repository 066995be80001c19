// A text of lines, each ended by a line feed, read from the first on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "epsilog/ledger/merkle_proof.hpp"

namespace epsilog::engine {

/// Whoever reads says what it is that is read ("proof"); failures throw NotVerified with that and the line.
/// Thread-safety: confine. The text must outlive it.
class TextLines final {
 public:
  /// `first` is the number of the first line, where the text is a part of another.
  TextLines(std::string_view text, std::string what, std::size_t first = 1);

  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  [[nodiscard]] std::size_t number() const { return number_; }  ///< of the next line
  [[nodiscard]] std::string_view rest() const { return rest_; }
  /// The next line, without its line feed. Fails if there is none, or it does not end.
  std::string_view next();
  /// The same, without taking it; "" if there is none.
  [[nodiscard]] std::string_view peek() const;
  /// next() without `prefix`, which it must have.
  std::string_view after(std::string_view prefix);

  /// About the line that was taken last.
  [[noreturn]] void fail(const std::string& reason) const;
  /// Of that line: a decimal without leading zeroes, at most 2^63 - 1, as C2SP tlog-checkpoint, "Note text",
  /// has it.
  [[nodiscard]] std::uint64_t count(std::string_view digits) const;
  [[nodiscard]] ledger::Hash hash(std::string_view base64) const;

 private:
  std::string_view rest_;
  std::string what_;
  std::size_t number_;
};

}  // namespace epsilog::engine
