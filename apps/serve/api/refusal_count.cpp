#include "refusal_count.hpp"

#include <algorithm>

#include "epsilog/ledger/ledger_time.hpp"

namespace epsilog::serve {
namespace {

constexpr std::int64_t kHourMs = 3'600'000;

}  // namespace

void RefusalCount::catch_up(ledger::Snapshot& view, std::int64_t now_ms) {
  const std::int64_t decisions = view.decision_count();
  if (decisions <= counted_decisions_) return;
  const std::scoped_lock lock(mutex_);
  if (decisions <= counted_decisions_) return;
  if (last_counted_seq_ < 0)
    last_counted_seq_ = view.decision_count_before(ledger::time_text(now_ms - kHourMs));
  view.each_outcome(last_counted_seq_, [&](const ledger::DecisionOutcome& decision) {
    last_counted_seq_ = decision.seq;
    if (decision.outcome == ledger::Outcome::refused) {
      note(decision.principal, {ledger::parse_time(decision.time), static_cast<std::size_t>(decision.rows)});
    }
  });
  counted_decisions_ = decisions;
  forget_before(now_ms - kHourMs);
}

void RefusalCount::add(const std::string& principal, std::int64_t at_ms) {
  const std::scoped_lock lock(mutex_);
  note(principal, {at_ms});
}

void RefusalCount::note(const std::string& principal, const Refusal& refusal) {
  std::deque<Refusal>& had = refusals_[principal];
  const auto earlier = [](const Refusal& one, const Refusal& other) { return one.at_ms < other.at_ms; };
  had.insert(std::upper_bound(had.begin(), had.end(), refusal, earlier), refusal);
}

std::size_t RefusalCount::last_hour(const std::string& principal, std::int64_t now_ms,
                                    std::size_t batch_most) {
  const std::scoped_lock lock(mutex_);
  forget_before(now_ms - kHourMs);
  const auto at = refusals_.find(principal);
  std::size_t count = 0;
  if (at == refusals_.end()) return count;
  for (const Refusal& one : at->second) count += std::min(one.rows, batch_most);
  return count;
}

void RefusalCount::forget_before(std::int64_t ms) {
  for (auto at = refusals_.begin(); at != refusals_.end();) {
    std::deque<Refusal>& had = at->second;
    while (!had.empty() && had.front().at_ms < ms) had.pop_front();
    at = had.empty() ? refusals_.erase(at) : std::next(at);
  }
}

}  // namespace epsilog::serve
