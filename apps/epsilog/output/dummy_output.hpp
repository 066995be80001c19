// What a dummy run answered, so that nobody takes it for a release: text says "dummy" in its first line and
// beside each value, --quiet in each line, JSON has `dummy: true` first.
#pragma once

#include <string>

#include "console.hpp"
#include "epsilog/engine/dummy_release.hpp"

namespace epsilog::command {

/// The object of a release, before it `dummy` and `invented_rows`; what only a ledger gives is null in it.
[[nodiscard]] std::string dummy_json(const engine::DummyAnswer& dummy);
/// On standard output, a refusal as text on standard error.
void print_dummy(const engine::DummyAnswer& dummy, Console& console);

}  // namespace epsilog::command
