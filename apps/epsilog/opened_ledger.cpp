#include "opened_ledger.hpp"

#include "epsilog/ledger/ledger.hpp"

namespace epsilog::command {

void warn_if_poisoned(const std::string& ledger, Console& console) {
  if (const auto reason = ledger::Ledger::open_read_only(ledger).poisoned()) {
    console.message("warning: the ledger is poisoned: " + *reason +
                    "; nobody can write to it until `epsilog recover`");
  }
}

engine::Engine open_for_reading(const std::string& ledger, Console& console) {
  engine::Engine engine = engine::Engine::open(ledger);
  warn_if_poisoned(ledger, console);
  return engine;
}

}  // namespace epsilog::command
