// What an audit found, for people.
#pragma once

#include <string>

#include "audit_json.hpp"
#include "console.hpp"

namespace epsilog::command {

/// The verdict, what was examined, each fault or note, and the relocations that nobody can check.
[[nodiscard]] std::string audit_text(const engine::AuditReport& report, const Examined& examined,
                                     const Style& style);

}  // namespace epsilog::command
