// What `audit verify` cannot tell from the file alone.
#pragma once

#include <span>
#include <string_view>

namespace epsilog::engine {

/// A column of the ledger in which a changed value can verify: no other row that is stored depends on it.
/// Only something kept outside the file (a copy, a printed decision) shows the change.
struct AnchoredColumn {
  std::string_view column;  ///< "decision.principal"
  std::string_view what;    ///< and when a change of it is found all the same
  bool logged;  ///< a line says it too: a change is found unless log and tree were made anew as well
};

/// Ordered by column. tests/engine/audit/stored_columns_test.cpp edits every column of every table alone and
/// holds that these, and no others, can pass. Thread-safety: pure function.
[[nodiscard]] std::span<const AnchoredColumn> anchored_columns();

}  // namespace epsilog::engine
