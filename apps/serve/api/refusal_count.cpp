#include "refusal_count.hpp"

#include <algorithm>

#include "epsilog/ledger/ledger_time.hpp"

namespace epsilog::serve {
namespace {

constexpr std::int64_t kHourMs = 3'600'000;

}  // namespace

void RefusalCount::catch_up(ledger::Snapshot& view, std::int64_t now_ms) {
  const std::int64_t decisions = view.decisions();
  if (decisions <= counted_) return;
  const std::scoped_lock lock(mutex_);
  if (decisions <= counted_) return;
  if (seen_ < 0) seen_ = view.decisions_before(ledger::time_text(now_ms - kHourMs));
  view.each_outcome(seen_, [&](const ledger::DecisionOutcome& decision) {
    seen_ = decision.seq;
    if (decision.outcome == ledger::Outcome::refused) {
      note(decision.principal, ledger::parse_time(decision.time));
    }
  });
  counted_ = decisions;
  forget_before(now_ms - kHourMs);
}

void RefusalCount::add(const std::string& principal, std::int64_t at_ms) {
  const std::scoped_lock lock(mutex_);
  note(principal, at_ms);
}

void RefusalCount::note(const std::string& principal, std::int64_t at_ms) {
  std::deque<std::int64_t>& times = times_[principal];
  times.insert(std::upper_bound(times.begin(), times.end(), at_ms), at_ms);
}

std::size_t RefusalCount::of(const std::string& principal, std::int64_t now_ms) {
  const std::scoped_lock lock(mutex_);
  forget_before(now_ms - kHourMs);
  const auto at = times_.find(principal);
  return at == times_.end() ? 0 : at->second.size();
}

void RefusalCount::forget_before(std::int64_t ms) {
  for (auto at = times_.begin(); at != times_.end();) {
    std::deque<std::int64_t>& times = at->second;
    while (!times.empty() && times.front() < ms) times.pop_front();
    at = times.empty() ? times_.erase(at) : std::next(at);
  }
}

}  // namespace epsilog::serve
