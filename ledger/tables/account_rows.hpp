// The accounts that one transaction has looked at.
//
// Between BEGIN IMMEDIATE and the end of the transaction nobody else writes, and whatever it writes itself is
// put here: so a row is read, and held against its checksum, once. What decides stays the conditional UPDATE,
// which names every balance as it is thought to be. Who looks by name for a row that was found by its number
// still asks the index: one that is damaged is not passed by.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "connection.hpp"
#include "epsilog/ledger/record.hpp"

namespace epsilog::ledger {

/// Thread-safety: one owner.
class AccountRows final {
 public:
  /// None when there is no such account, which is not remembered: it may be opened.
  /// Throws  as find_account().
  [[nodiscard]] std::optional<AccountState> find(Connection& connection, std::int64_t id);
  [[nodiscard]] std::optional<AccountState> find(Connection& connection, const AccountName& name);
  /// Those that exist, in the order of `names`.
  [[nodiscard]] std::vector<AccountState> find(Connection& connection, std::span<const AccountName> names);
  /// What was just written to a row.
  void put(const AccountState& written);
  /// Something was undone.
  void forget();

 private:
  std::unordered_map<std::int64_t, AccountState> rows_;  // by id
  std::map<AccountName, std::int64_t> ids_;
};

}  // namespace epsilog::ledger
