#include "epsilog/engine/engine_options.hpp"

#include "epsilog/ledger/ledger_options.hpp"

namespace epsilog::engine {

ledger::Options EngineOptions::ledger_options() const {
  return {.wait = std::chrono::milliseconds(wait_ms),
          .clock = clock,
          .before_commit = before_commit,
          .warn = warn,
          .waiting = waiting};
}

}  // namespace epsilog::engine
