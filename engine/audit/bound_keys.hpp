// Which decision an idempotency key was bound to first, in memory that does not grow with the history.
//
// Keys are looked for in the file's own index, which is not trusted for it: while the file stands still the
// look-up of a key finds the same rows whenever it is made, and each decision that binds one has to be among
// them. Where all so far were, no earlier decision with the key can be missing; who writes meanwhile only
// adds later ones. From the first that is not, or without that index, the keys are kept in memory: of a file
// that is damaged, and named as such.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "epsilog/ledger/inspection.hpp"

namespace epsilog::engine {

class BoundKeys final {
 public:
  /// Requires  the inspection outlives this.
  explicit BoundKeys(ledger::Inspection& inspection) : inspection_(inspection) {}

  /// Call it for every decision in order of seq: its key, if it has one, is not bound unless bind() follows.
  void next(std::int64_t seq, bool has_key);
  /// The id of the decision that its key was bound to before, if any.
  /// Throws  LedgerBusy, LedgerIo.
  [[nodiscard]] std::optional<std::string> bind(const ledger::StoredDecision& stored);
  /// The id of the first decision so far that the key is bound to.
  /// Throws  as bind().
  [[nodiscard]] std::optional<std::string> bound_to(const std::string& principal, const std::string& key);

 private:
  using Key = std::pair<std::string, std::string>;  // principal, key

  /// Looks in the index; in memory from when that fails.
  [[nodiscard]] std::optional<std::string> first_with(const Key& key, std::int64_t own, std::int64_t below);
  void remember(std::int64_t below);

  ledger::Inspection& inspection_;
  std::int64_t last_ = 0;
  std::set<std::int64_t> unbound_;  // with a key, and a fault
  std::optional<std::map<Key, std::string>> remembered_;
};

}  // namespace epsilog::engine
