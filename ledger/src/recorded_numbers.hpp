// Exact numbers of texts that were recorded, kept while a connection lives.
//
// Most histories state the same few numbers over and over, and to read one of a hundred digits takes as long
// as the rest of its row.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "epsilog/accounting/rational.hpp"

namespace epsilog::ledger {

/// Thread-safety: one thread at a time.
class RecordedNumbers final {
 public:
  /// accounting::parse_canonical_rational(); the reference holds until the next call.
  /// Throws  LedgerCorrupt naming `what`.
  [[nodiscard]] const accounting::Rational& rational(std::string_view text, std::string_view what);

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>{}(text);
    }
  };
  std::unordered_map<std::string, accounting::Rational, Hash, std::equal_to<>> known_;
  accounting::Rational other_;  // the last that is not kept
};

}  // namespace epsilog::ledger
