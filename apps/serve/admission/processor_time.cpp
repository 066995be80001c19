#include "processor_time.hpp"

#include <time.h>

#include <algorithm>
#include <utility>

namespace epsilog::serve {

ProcessorTime::Allowance& ProcessorTime::refilled_allowance(const std::string& principal) {
  constexpr std::size_t kKept = 4096;
  const Clock::time_point now = now_();
  const auto fill = [&](Allowance& account) {
    // What is longer than an hour ago fills any account: no product overflows.
    const auto passed = std::min<Time>(now - account.filled_at, std::chrono::hours(1));
    account.filled_at = now;
    account.left = std::min<Time>(account.left + passed / 1'000 * limits_.per_second.count(), limits_.burst);
  };
  if (allowances_.size() > kKept) {
    for (auto& [name, account] : allowances_) fill(account);
    std::erase_if(allowances_, [&](const auto& one) { return one.second.left >= limits_.burst; });
  }
  const auto [at, fresh] = allowances_.try_emplace(principal, Allowance{limits_.burst, now});
  fill(at->second);
  return at->second;
}

std::chrono::milliseconds ProcessorTime::time_to_wait(const std::string& principal) {
  const std::scoped_lock lock(mutex_);
  const Allowance& account = refilled_allowance(principal);
  if (account.left > Time::zero()) return std::chrono::milliseconds(0);
  return std::chrono::ceil<std::chrono::milliseconds>(-account.left) * 1'000 / limits_.per_second.count() +
         std::chrono::milliseconds(1);
}

bool ProcessorTime::spend(const std::string& principal, Time used) {
  const std::scoped_lock lock(mutex_);
  Allowance& account = refilled_allowance(principal);
  account.left = std::max<Time>(account.left - used, -limits_.burst);
  return account.left == -limits_.burst;
}

void ProcessorTime::change(const ProcessorLimits& limits) {
  const std::scoped_lock lock(mutex_);
  limits_ = limits;
}

bool ProcessorTime::ComputeLock::acquire(const std::function<bool()>& given_up) {
  constexpr std::chrono::milliseconds kGivenUpCheckInterval{50};
  std::unique_lock lock(time_.mutex_);
  while (!acquired_) {
    acquired_ = time_.computing_principals_.insert(principal_).second;
    if (acquired_) break;
    time_.released_.wait_for(lock, kGivenUpCheckInterval);
    lock.unlock();
    if (given_up()) return false;
    lock.lock();
  }
  return true;
}

void ProcessorTime::ComputeLock::release() noexcept {
  if (!std::exchange(acquired_, false)) return;
  const std::scoped_lock lock(time_.mutex_);
  time_.computing_principals_.erase(principal_);
  time_.released_.notify_all();
}

ProcessorTime::Time ThreadTime::lap() {
  const ProcessorTime::Time before = std::exchange(last_, now());
  return last_ - before;
}

ProcessorTime::Time ThreadTime::now() {
  timespec used{};
  if (::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used) != 0) return {};
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

}  // namespace epsilog::serve
