#include "ledger_view.hpp"

#include <algorithm>
#include <utility>

#include "epsilog/ledger/ledger_time.hpp"

namespace epsilog::serve {

namespace {

/// How late it is noticed what other processes recorded, at most.
constexpr std::chrono::milliseconds kLook{100};

}  // namespace

LedgerView::LedgerView(const std::string& ledger_path)
    : reader_(ledger::Ledger::open_read_only(ledger_path)) {}

Looked LedgerView::current(RefusalCount& refusals) {
  ledger::Snapshot snapshot = reader_.snapshot();
  refusals.catch_up(snapshot, ledger::wall_clock_ms());
  std::string now = snapshot.now();
  const std::int64_t version = snapshot.active_policy_version();
  const std::int64_t events = snapshot.credential_events();
  const std::int64_t decisions = snapshot.decisions();
  {
    const std::scoped_lock lock(mutex_);
    if (view_ && view_->policy_version == version && view_->credential_events == events) {
      return {view_, std::move(now), decisions};
    }
  }
  const ledger::PolicyVersion active = snapshot.active_policy();
  const std::string file = "policy version " + std::to_string(version);
  auto view = std::make_shared<const View>(
      View{engine::Policy::parse_stored(active.yaml, file), version, active.sha256, active.base_dir,
           active.applied_at, active.implies, events, engine::CredentialBook::of(snapshot)});
  const std::scoped_lock lock(mutex_);
  // Another thread may have read a later one meanwhile.
  const bool newer = !view_ || view_->policy_version < version || view_->credential_events < events;
  if (newer) view_ = view;
  return {std::move(view), std::move(now), decisions};
}

std::int64_t LedgerView::decisions() {
  return reader_.snapshot().decisions();
}

void LedgerView::wait(const std::function<bool()>& changed, std::chrono::steady_clock::time_point until) {
  for (;;) {
    std::uint64_t seen = 0;
    {
      const std::scoped_lock lock(mutex_);
      if (stopped_) return;
      seen = recorded_;
    }
    if (changed() || std::chrono::steady_clock::now() >= until) return;
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, std::min(until, std::chrono::steady_clock::now() + kLook),
                        [&] { return stopped_ || recorded_ != seen; });
  }
}

void LedgerView::recorded() noexcept {
  {
    const std::scoped_lock lock(mutex_);
    ++recorded_;
  }
  changed_.notify_all();
}

void LedgerView::stop() noexcept {
  {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
}

}  // namespace epsilog::serve
