// What texts of requests say, each read once.
//
// A history asks the same questions over and over, and reading one takes longer than deciding it again. Equal
// bytes say the same, whoever wrote them, so that nothing is trusted that would not be read.
// Memory   at most 1,000 texts of at most 2,048 bytes, then it starts anew.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "canonical_request.hpp"

namespace epsilog::engine {

class StoredRequests final {
 public:
  struct ParsedText {
    StoredRequest stored;
    std::string canonical;    ///< canonical_request() of it
    std::string conflicting;  ///< conflicting_request() of it; "" if it names no conflicting key
  };

  /// SHA-256 in lower-case hexadecimal.
  [[nodiscard]] const std::string& digest(const std::string& text) { return cached(text).digest; }
  /// parse_stored_request() and what would be written of that; the reference holds until the next call.
  /// Throws  ledger::UnreadableRow.
  [[nodiscard]] const ParsedText& read(const std::string& text);

 private:
  struct CachedText {
    std::string digest;
    std::optional<ParsedText> read;
  };
  CachedText& cached(const std::string& text);

  std::unordered_map<std::string, CachedText> cached_;
  CachedText other_;  // the last that is not kept
};

}  // namespace epsilog::engine
