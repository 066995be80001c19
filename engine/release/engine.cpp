#include "epsilog/engine/engine.hpp"

#include "engine_state.hpp"

namespace epsilog::engine {

Engine::Engine(const StateHandle& state)
    : Asking(state), Requests(state), LedgerHistory(state), Curating(state) {}
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;
Engine::~Engine() = default;

Engine Engine::open(const std::string& ledger_path, const EngineOptions& options) {
  return Engine(StateHandle(std::make_shared<EngineState>(ledger_path, options)));
}

}  // namespace epsilog::engine
