// Pages of what a ledger holds, and where each ended.
#pragma once

#include <cstdint>
#include <string>

#include "epsilog/engine/answer.hpp"

namespace epsilog::engine {

/// A part of the history, in either order.
struct HistoryPage {
  std::string dataset = {};  ///< "" = all
  /// With true, what came since the first page is not in a later one, and `limit` is at most kNewestPageMax.
  bool newest_first = false;
  /// Where the page before of the same order ended (HistoryEnd::cursor); "": the first page.
  std::string after = {};
  std::int64_t limit = 100;  ///< how many decisions, >= 1
  /// Only requests that this principal asked, and whatever was decided or done about them, by whom it may be;
  /// "" = everybody's. What the principal did about requests of others is not among it.
  std::string asker = {};
  /// Where `after` is "": begins with the first decision of that ledger time or later. Not newest first.
  std::string since = {};
  Alphas alphas = {};  ///< at which intervals of what was released are told
  bool rows = true;    ///< false: a batch is told without Answer::rows, components and values
};

/// A part of what is reserved or waits for approvals, oldest first.
struct PendingPage {
  std::string dataset = {};  ///< "" = all
  std::string after = {};    ///< where the page before ended; "": the first page
  std::int64_t limit = 100;  ///< how many of them, >= 1
  bool rows = true;          ///< as of HistoryPage
};
inline constexpr std::int64_t kNewestPageMax = 1'000;

/// Where a page of the history ended.
struct HistoryEnd {
  /// Means nothing but this place, in this ledger, for ever; for pages of the same order.
  std::string cursor;
  /// Whether a decision follows by now; later ones can be asked for all the same. With an asker, whether one
  /// may: such a page ends after the ledger::kAskerWindow decisions that it looked at, and can be empty.
  bool more = false;
};

}  // namespace epsilog::engine
