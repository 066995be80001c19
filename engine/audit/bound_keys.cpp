#include "bound_keys.hpp"

#include <algorithm>
#include <vector>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::engine {

void BoundKeys::next(std::int64_t seq, bool has_key) {
  last_ = seq;
  if (has_key) unbound_.insert(seq);
}

std::optional<std::string> BoundKeys::bind(const ledger::StoredDecision& stored) {
  const Key key{stored.draft.principal, stored.draft.key};
  std::optional<std::string> before;
  if (!remembered_) before = first_with(key, stored.seq, stored.seq);
  if (remembered_) {
    const auto [entry, fresh] = remembered_->try_emplace(key, stored.id);
    if (!fresh) before = entry->second;
  }
  unbound_.erase(stored.seq);
  return before;
}

std::optional<std::string> BoundKeys::bound_to(const std::string& principal, const std::string& key) {
  const Key wanted{principal, key};
  if (!remembered_) {
    if (auto first = first_with(wanted, 0, last_ < INT64_MAX ? last_ + 1 : last_)) return first;
  }
  if (!remembered_) return std::nullopt;
  const auto entry = remembered_->find(wanted);
  return entry == remembered_->end() ? std::nullopt : std::optional(entry->second);
}

/// `own` is to be among the decisions that the index finds, unless it is 0.
std::optional<std::string> BoundKeys::first_with(const Key& key, std::int64_t own, std::int64_t below) {
  try {
    const std::vector<std::int64_t> found = inspection_.decisions_with_key(key.first, key.second);
    if (own == 0 || std::find(found.begin(), found.end(), own) != found.end()) {
      for (const std::int64_t seq : found) {
        if (seq >= below || unbound_.contains(seq)) continue;
        const auto row = inspection_.key_of(seq);
        if (row && row->principal == key.first && row->key == key.second) return row->id;
      }
      return std::nullopt;
    }
  } catch (const LedgerBusy&) {
    throw;
  } catch (const LedgerIo&) {
    throw;
  } catch (const LedgerCorrupt&) {  // named by who looks at the file
  }
  remember(below);
  return std::nullopt;
}

void BoundKeys::remember(std::int64_t below) {
  remembered_.emplace();
  inspection_.each_key(below, [this](const ledger::DecisionKey& row) {
    if (!unbound_.contains(row.seq)) remembered_->try_emplace({row.principal, row.key}, row.id);
  });
}

}  // namespace epsilog::engine
