// Requests that are not answered at once: reservations, approvals, and what waits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "epsilog/accounting/callback.hpp"
#include "epsilog/engine/actor.hpp"
#include "epsilog/engine/answer.hpp"
#include "epsilog/engine/history_page.hpp"
#include "epsilog/engine/progress.hpp"
#include "epsilog/engine/request.hpp"
#include "epsilog/engine/state_handle.hpp"
#include "epsilog/mechanisms/bit_source.hpp"

namespace epsilog::engine {

/// Holds requests back, decides what becomes of them, and lists them. What holds of each call stands in
/// engine.hpp.
class Requests {
 public:
  // Reservations and approvals (docs/reservations.md). The id is that of the reservation, of the request that
  // waits for approvals, or of any decision about them. The answer is how the request stands afterwards,
  // whoever brought that about: what was done already is not done twice. From commit() on each throws
  // NotFound when nothing of that id ever waited, NotPermitted, InvalidParameter when such a request cannot
  // be treated so, `by` is no name or known by no way there is; writing.

  /// Debits the request as reserved until its deadline, waits for approvals, or refuses.
  /// Throws  NotFound, Underivable; InvalidParameter unless it is held, has no supplied value, and
  ///         goes against a token only of value:NAME; writing.
  [[nodiscard]] Answer reserve(const Request& request, const Alphas& alphas);
  /// Draws and posts a reservation, charging exactly what was reserved. `supplied` is the text of --value, of
  /// value:NAME only. Of a statistic computed here, a token is on record before the source is read.
  /// Throws    SourceError, SourceIo, EntropyUnavailable as well.
  [[nodiscard]] Answer commit(const std::string& id, const Actor& by,
                              const std::optional<std::string>& supplied, mechanisms::BitSource& bits,
                              const Alphas& alphas, const Progress& progress = {});
  /// Ends what waits: given back when nobody can have seen the data, else charged in full.
  Answer cancel(const std::string& id, const Actor& by);
  /// Answer::recorded.token is the data token of a reservation that was made against one.
  Answer issue_token(const std::string& id, const Actor& by);
  /// Records an approval, with the reason if one is given. The last one that is needed decides the request
  /// again, on the balances of that moment.
  /// With `seen`, the tag of an answer (Answer::recorded.tag, as show() and pending() tell it), only if the
  /// request still stands as it stood there, and the policy that decides is the same. Where nothing would be
  /// recorded, because the request does not wait any more or `by` has approved it, the answer says so.
  /// Throws  RequestChanged (conflict_errors.hpp): nothing was recorded.
  Answer approve(const std::string& id, const Actor& by, const std::string& why = {},
                 const std::optional<std::string>& seen = {});
  Answer reject(const std::string& id, const Actor& by, const std::string& why);
  /// What is reserved or waits for approvals, oldest first; `dataset` "" = all. What cannot be read is left
  /// to EngineOptions::unreadable, here and in history().
  /// Throws  NotFound for a dataset that is neither declared nor on record; reading.
  void pending(const std::string& dataset, accounting::CallbackRef<void(const Answer&)> visit) const;
  /// One page of it, which also ends with the first of which `visit` returns false.
  /// Throws  likewise; InvalidParameter for a limit below 1, and for a text that is no cursor.
  HistoryEnd pending_while(const PendingPage& page, accounting::CallbackRef<bool(const Answer&)> visit) const;

 protected:
  explicit Requests(StateHandle state) : state_(std::move(state)) {}

 private:
  StateHandle state_;
};

}  // namespace epsilog::engine
