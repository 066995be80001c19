// A ledger of a policy that comes as text.
#pragma once

#include <string>

#include "epsilog/engine/engine.hpp"

namespace epsilog::engine {

/// As Engine::init(), of a policy whose relative paths start at `folder`, "": the working directory. Faults call
/// it "policy".
/// Throws  likewise.
InitReport init_from_text(const std::string& yaml, const std::string& folder, const std::string& ledger_path,
                          const std::string& by, const EngineOptions& options = {});

}  // namespace epsilog::engine
