#include "admission.hpp"

#include <algorithm>
#include <utility>

namespace epsilog::serve {
namespace {

BodyMemory::Limits body_memory_limits(const AdmissionLimits& limits) {
  return {limits.body_bytes, limits.wait_max};
}

}  // namespace

Admission::Admission(const AdmissionLimits& limits, std::function<Clock::time_point()> now)
    : now_(std::move(now)), limits_(limits), bodies_(body_memory_limits(limits)) {}

Admission::Principal& Admission::principal(const std::string& name) {
  const auto [at, fresh] = principals_.try_emplace(name);
  if (fresh) {
    at->second.tokens = static_cast<double>(limits_.burst);
    at->second.filled_at = now_();
  }
  return at->second;
}

/// Adds what time has.
void Admission::fill(Principal& principal) {
  const Clock::time_point now = now_();
  const double seconds = std::chrono::duration<double>(now - principal.filled_at).count();
  principal.filled_at = now;
  principal.tokens = std::min(static_cast<double>(limits_.burst),
                              principal.tokens + seconds * static_cast<double>(limits_.per_second));
}

std::variant<Admission::Entry, AdmissionDenial> Admission::enter(const std::string& name, bool curator,
                                                                 std::uint32_t user) {
  const std::scoped_lock lock(mutex_);
  if (stopping_) return AdmissionDenial::stopping;
  if (!curator) {
    Principal& asks = principal(name);
    fill(asks);
    if (asks.tokens < 1) return AdmissionDenial::too_fast;
    asks.tokens -= 1;
    if (asks.in_flight >= limits_.in_flight) return AdmissionDenial::too_many;
    ++asks.in_flight;
  }
  return Entry(*this, name, curator, user);
}

bool Admission::is_within_rate(const std::string& name) {
  const std::scoped_lock lock(mutex_);
  const auto found = principals_.find(name);
  if (found == principals_.end()) return true;
  fill(found->second);
  return found->second.tokens >= 1;
}

/// Takes a place if one is free and nobody waits for it.
/// Requires  the lock.
bool Admission::Entry::try_take_slot() {
  Admission& all = *admission_;
  std::size_t& taken = curator_ ? all.curator_running_ : all.running_;
  const std::size_t slots = curator_ ? all.limits_.curator_running : all.limits_.running;
  if (taken >= slots || (!curator_ && all.waiting_ > 0)) return false;
  ++taken;
  running_ = true;
  return true;
}

std::optional<AdmissionDenial> Admission::Entry::wait_for_slot() {
  std::unique_lock lock(admission_->mutex_);
  Admission& all = *admission_;
  if (running_) return std::nullopt;
  if (all.stopping_) return AdmissionDenial::stopping;
  if (try_take_slot()) return std::nullopt;
  // A curator does not wait in a line: there are as many places as there may be connections of theirs.
  if (curator_ || all.waiting_ + all.promised_ >= all.limits_.waiting) return AdmissionDenial::full;
  Waiter waiter;
  std::deque<Waiter*>& line = all.principal(principal_).waiting;
  line.push_back(&waiter);
  ++all.waiting_;
  waiter.woken.wait_for(lock, all.limits_.wait_max, [&] { return waiter.has_slot || all.stopping_; });
  if (waiter.has_slot) {
    running_ = true;
    return std::nullopt;
  }
  std::erase(line, &waiter);
  --all.waiting_;
  return all.stopping_ ? AdmissionDenial::stopping : AdmissionDenial::full;
}

std::optional<AdmissionDenial> Admission::Entry::promise_slot() {
  const std::scoped_lock lock(admission_->mutex_);
  Admission& all = *admission_;
  if (all.stopping_) return AdmissionDenial::stopping;
  const bool free = all.running_ < all.limits_.running && all.waiting_ == 0;
  if (!curator_ && !free && all.waiting_ + all.promised_ >= all.limits_.waiting) return AdmissionDenial::full;
  if (!curator_) ++all.promised_;
  promised_ = true;
  return std::nullopt;
}

void Admission::Entry::wait_for_promised_slot() {
  std::unique_lock lock(admission_->mutex_);
  Admission& all = *admission_;
  if (!std::exchange(promised_, false)) return;
  if (curator_) {  // a place for each connection: none waits
    ++all.curator_running_;
    running_ = true;
    return;
  }
  --all.promised_;
  if (try_take_slot()) return;
  Waiter waiter;
  all.principal(principal_).waiting.push_back(&waiter);
  ++all.waiting_;
  waiter.woken.wait(lock, [&] { return waiter.has_slot; });
  running_ = true;
}

std::optional<AdmissionDenial> Admission::Entry::try_take_memory(std::size_t bytes) {
  if (curator_ || body_.try_take_memory(bytes)) return std::nullopt;
  const std::scoped_lock lock(admission_->mutex_);
  return admission_->stopping_ ? AdmissionDenial::stopping : AdmissionDenial::full;
}

void Admission::Entry::take_memory(std::size_t bytes) {
  if (!curator_) body_.take_memory(bytes);
}

std::optional<AdmissionDenial> Admission::Entry::count_requests(std::size_t requests) {
  const std::scoped_lock lock(admission_->mutex_);
  if (curator_ || requests <= requests_) return std::nullopt;
  Admission& all = *admission_;
  Principal& asks = all.principal(principal_);
  const std::size_t more = requests - requests_;
  all.fill(asks);
  // One of those that may be asked at once was taken when it came.
  const std::size_t wanted = std::min(more, all.limits_.burst - std::min<std::size_t>(all.limits_.burst, 1));
  if (asks.tokens < static_cast<double>(wanted)) return AdmissionDenial::too_fast;
  if (asks.in_flight - requests_ >= all.limits_.in_flight) return AdmissionDenial::too_many;
  asks.tokens -= static_cast<double>(more);
  asks.in_flight += more;
  requests_ = requests;
  return std::nullopt;
}

std::optional<AdmissionDenial> Admission::Entry::become_long_poll() {
  const std::scoped_lock lock(admission_->mutex_);
  if (long_poll_) return std::nullopt;
  Admission& all = *admission_;
  if (all.stopping_) return AdmissionDenial::stopping;
  if (!curator_) {
    Principal& asks = all.principal(principal_);
    if (asks.long_polls >= all.limits_.long_polls) return AdmissionDenial::too_many_long_polls;
    ++asks.long_polls;
    asks.in_flight -= requests_;
  }
  if (running_) all.free_slot(curator_);
  running_ = false;
  long_poll_ = true;
  ++all.long_polls_;
  return std::nullopt;
}

/// Hands the place to who waits next: one of the principal after the one that was served last.
void Admission::free_slot(bool curator) {
  if (curator) {
    --curator_running_;
    return;
  }
  // With fewer places than before, those that are freed are not handed on.
  if (waiting_ == 0 || running_ > limits_.running) {
    --running_;
    return;
  }
  auto next = principals_.upper_bound(last_served_principal_);
  while (next == principals_.end() || next->second.waiting.empty()) {
    next = next == principals_.end() ? principals_.begin() : std::next(next);
  }
  Waiter& waiter = *next->second.waiting.front();
  next->second.waiting.pop_front();
  --waiting_;
  last_served_principal_ = next->first;
  waiter.has_slot = true;
  waiter.woken.notify_one();
}

void Admission::leave(Entry& entry) noexcept {
  const std::scoped_lock lock(mutex_);
  if (entry.running_) free_slot(entry.curator_);
  if (entry.promised_ && !entry.curator_) --promised_;
  if (entry.long_poll_) --long_polls_;
  if (entry.curator_) return;
  Principal& asks = principals_.find(entry.principal_)->second;
  if (entry.long_poll_) {
    --asks.long_polls;
  } else {
    asks.in_flight -= entry.requests_;
  }
  forget(entry.principal_);
}

/// So that those who ask nothing any more cost no memory: whose tokens are all there again.
void Admission::forget(const std::string& name) {
  constexpr std::size_t kKept = 4096;
  if (principals_.size() <= kKept) return;
  const auto at = principals_.find(name);
  const Principal& gone = at->second;
  if (gone.in_flight == 0 && gone.long_polls == 0 && gone.waiting.empty()) principals_.erase(at);
}

void Admission::change(const AdmissionLimits& limits) {
  const std::scoped_lock lock(mutex_);
  limits_ = limits;
  bodies_.change(body_memory_limits(limits));
}

void Admission::stop() {
  const std::scoped_lock lock(mutex_);
  stopping_ = true;
  for (auto& [name, principal] : principals_) {
    for (Waiter* waiter : principal.waiting) waiter->woken.notify_one();
  }
  bodies_.stop();
}

Admission::Figures Admission::figures() const {
  const std::scoped_lock lock(mutex_);
  return {running_ + curator_running_, waiting_, long_polls_, bodies_.bytes(), bodies_.waiting()};
}

Admission::Entry::Entry(Admission& admission, std::string principal, bool curator, std::uint32_t user)
    : admission_(&admission),
      principal_(std::move(principal)),
      curator_(curator),
      body_(admission.bodies_, principal_, user) {}

Admission::Entry::Entry(Entry&& other) noexcept
    : admission_(std::exchange(other.admission_, nullptr)),
      principal_(std::move(other.principal_)),
      curator_(other.curator_),
      running_(other.running_),
      promised_(other.promised_),
      long_poll_(other.long_poll_),
      body_(std::move(other.body_)),
      requests_(other.requests_) {}

Admission::Entry::~Entry() {
  if (admission_ != nullptr) admission_->leave(*this);
}

}  // namespace epsilog::serve
