// What pages of decisions have in common: cursors, and visits that one unreadable decision does not end.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine_state.hpp"
#include "epsilog/accounting/callback.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/stopping.hpp"
#include "epsilog/engine/answer.hpp"

namespace epsilog::engine {

/// Visits one decision of a list. What cannot be read is told, and hides nothing that follows.
template <class Read>
void visit_readable(EngineState& state, const std::string& id,
                    accounting::CallbackRef<void(const Answer&)> visit, const Read& read) {
  accounting::stop_if_requested();
  std::optional<Answer> answer;
  try {
    answer = read();
  } catch (const LedgerCorrupt& fault) {
    return state.report_unreadable(id, fault.what());
  }
  visit(*answer);
}

/// Returns the place that a cursor tells. `order` begins the cursors of one order, so that none is taken for another.
/// Throws  InvalidParameter for a text that no page ended with.
inline std::int64_t place_of_cursor(const std::string& cursor, std::string_view order) {
  if (cursor.empty()) return 0;
  std::int64_t seq = 0;
  const char* const end = cursor.data() + cursor.size();
  const bool begins = cursor.starts_with(order);
  const auto [stop, error] = std::from_chars(cursor.data() + (begins ? order.size() : 0), end, seq);
  const std::int64_t first = order.empty() ? 0 : 1;
  if (begins && error == std::errc() && stop == end && seq >= first &&
      cursor == std::string(order) + std::to_string(seq)) {
    return seq;
  }
  throw InvalidParameter("history: '" + cursor + "' is not where a page ended");
}

inline void require_dataset_known(EngineState& state, ledger::Snapshot& view, const std::string& dataset) {
  if (dataset.empty() || !view.accounts(dataset).empty()) return;
  (void)state.active_policy(view)->policy.dataset(dataset);
}

inline void require_one_at_least(std::int64_t limit) {
  if (limit < 1) throw InvalidParameter("history: a page has one decision at least");
}

/// Returns a visit that ends no page.
inline auto each_of(accounting::CallbackRef<void(const Answer&)>& visit) {
  return [&visit](const Answer& answer) {
    visit(answer);
    return true;
  };
}

template <class Page>
BatchRows rows_of(const Page& page) {
  return page.rows ? BatchRows::included : BatchRows::left_out;
}

}  // namespace epsilog::engine
