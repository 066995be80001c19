// Whether what is about to be recorded can be read again.
//
// Checked before anything is recorded, always: a row that its own reader does not understand would be charged
// and then stand in the way of verification for ever.
#pragma once

#include <string>
#include <vector>

#include "epsilog/engine/decision.hpp"
#include "epsilog/engine/request.hpp"

namespace epsilog::engine {

/// Requires  canonical = canonical_request(request).
/// Throws    InvalidParameter unless the canonical text reads back as the request.
void require_recordable(const Request& request, const std::string& canonical);

/// reasons_text(), which reads back as the same.
/// Throws    Error.
[[nodiscard]] std::string recordable_reasons(const Decision& decision);

}  // namespace epsilog::engine
