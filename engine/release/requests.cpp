#include "epsilog/engine/requests.hpp"

#include <limits>

#include "checkpoint_signer.hpp"
#include "decision_call.hpp"
#include "engine_state.hpp"
#include "epsilog/accounting/errors.hpp"
#include "page_visit.hpp"
#include "recorded_names.hpp"
#include "request_path.hpp"

namespace epsilog::engine {
Answer Requests::reserve(const Request& request, const Alphas& alphas) {
  const CheckpointSigner::AfterCall at_end(state_->checkpoints());
  if (request.reservation == ReservationKind::none)
    throw InvalidParameter("reserve: the request says nothing of being held");
  return std::move(decide_requests(*state_, {&request, 1}, nullptr, alphas, {}).front());
}

Answer Requests::commit(const std::string& id, const Actor& by, const std::optional<std::string>& supplied,
                        mechanisms::BitSource& bits, const Alphas& alphas, const Progress& progress) {
  const CheckpointSigner::AfterCall at_end(state_->checkpoints());
  check_actor(by);
  return commit_reservation(*state_, {id, by, supplied}, bits, alphas, progress);
}

Answer Requests::cancel(const std::string& id, const Actor& by) {
  const CheckpointSigner::AfterCall at_end(state_->checkpoints());
  check_actor(by);
  return cancel_request(*state_, id, by);
}

Answer Requests::issue_token(const std::string& id, const Actor& by) {
  const CheckpointSigner::AfterCall at_end(state_->checkpoints());
  check_actor(by);
  return issue_data_token(*state_, id, by);
}

Answer Requests::approve(const std::string& id, const Actor& by, const std::string& why,
                         const std::optional<std::string>& seen) {
  const CheckpointSigner::AfterCall at_end(state_->checkpoints());
  check_actor(by);
  check_reason(why);
  return approve_request(*state_, id, by, why, seen);
}

Answer Requests::reject(const std::string& id, const Actor& by, const std::string& why) {
  const CheckpointSigner::AfterCall at_end(state_->checkpoints());
  check_actor(by);
  check_reason(why);
  return reject_request(*state_, id, by, why);
}

void Requests::pending(const std::string& dataset, accounting::CallbackRef<void(const Answer&)> visit) const {
  constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();
  static_cast<void>(pending_while({.dataset = dataset, .limit = kAll}, each_of(visit)));
}

HistoryEnd Requests::pending_while(const PendingPage& page,
                                   accounting::CallbackRef<bool(const Answer&)> visit) const {
  require_one_at_least(page.limit);
  ledger::Snapshot view = state_->snapshot();
  require_dataset_known(*state_, view, page.dataset);
  bool goes_on = true;
  const auto told = [&](const Answer& answer) { goes_on = visit(answer); };
  const ledger::RangeEnd end = view.each_open_while(
      {.dataset = page.dataset, .after = place_of_cursor(page.after, ""), .limit = page.limit},
      [&](const ledger::StoredDecision& stored) {
        visit_readable(*state_, stored.id, told, [&] {
          const auto family = family_of(view, stored.id);
          if (!family) throw LedgerCorrupt("it is listed as open but waits for nothing");
          return state_->family_answer(*family, view, {}, rows_of(page));
        });
        return goes_on;
      },
      [&](const ledger::MalformedRecord& record) { state_->report_unreadable(record.id, record.message); });
  return {std::to_string(end.last), end.more};
}

}  // namespace epsilog::engine
