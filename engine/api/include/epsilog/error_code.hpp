// A stable word for each kind of error.
#pragma once

#include <string_view>

#include "epsilog/accounting/errors.hpp"

namespace epsilog {

/// Returns the code of an error, which does not change when its message does: "ledger_busy", "not_found", …
/// (docs/library.md).
[[nodiscard]] std::string_view error_code(const Error& error) noexcept;

}  // namespace epsilog
