// What the idempotency key of a request says of it (guarantee G5).
#pragma once

#include <optional>
#include <string>

#include "decide.hpp"
#include "epsilog/engine/request.hpp"
#include "epsilog/ledger/record.hpp"

namespace epsilog::engine {

/// At most one is there; neither where the request bears no key, or one that nothing is bound to.
struct KeyBinding {
  std::optional<ledger::StoredDecision> replay = {};  ///< it was decided already: this is the answer
  std::optional<KeyConflict> conflict = {};           ///< the key was used for something else
};

/// Requires  `digest` is that of canonical_request(request); `reader` finds the keys of a ledger.
template <class Reader>
[[nodiscard]] KeyBinding key_binding(Reader& reader, const Request& request, const std::string& digest) {
  if (request.key.empty()) return {};
  std::optional<ledger::StoredDecision> earlier = reader.find_by_key(request.principal, request.key);
  if (!earlier) return {};
  if (earlier->draft.request_digest == digest) return {.replay = std::move(earlier)};
  return {.conflict = KeyConflict{request.key, earlier->id}};
}

}  // namespace epsilog::engine
