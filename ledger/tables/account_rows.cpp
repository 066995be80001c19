#include "account_rows.hpp"

#include <utility>

#include "queries.hpp"

namespace epsilog::ledger {

std::optional<AccountState> AccountRows::find(Connection& connection, std::int64_t id) {
  if (const auto known = rows_.find(id); known != rows_.end()) return known->second;
  auto found = find_account(connection, id);
  if (found) put(*found);
  return found;
}

std::optional<AccountState> AccountRows::find(Connection& connection, const AccountName& name) {
  if (const auto known = ids_.find(name); known != ids_.end()) return rows_.at(known->second);
  auto found = find_account(connection, name);
  if (found) {
    put(*found);
    ids_.emplace(name, found->id);
  }
  return found;
}

std::vector<AccountState> AccountRows::find(Connection& connection, std::span<const AccountName> names) {
  std::vector<AccountState> accounts;
  accounts.reserve(names.size());
  for (const AccountName& name : names) {
    if (auto account = find(connection, name)) accounts.push_back(std::move(*account));
  }
  return accounts;
}

void AccountRows::put(const AccountState& written) {
  rows_.insert_or_assign(written.id, written);
}

void AccountRows::forget() {
  rows_.clear();
  ids_.clear();
}

}  // namespace epsilog::ledger
