#include "processor_time.hpp"

#include <time.h>

#include <algorithm>
#include <utility>

namespace epsilog::serve {

ProcessorTime::Account& ProcessorTime::filled(const std::string& principal) {
  constexpr std::size_t kKept = 4096;
  const Clock::time_point now = now_();
  const auto fill = [&](Account& account) {
    // What is longer than an hour ago fills any account: no product overflows.
    const auto passed = std::min<Time>(now - account.filled, std::chrono::hours(1));
    account.filled = now;
    account.left = std::min<Time>(account.left + passed / 1'000 * limits_.per_second.count(), limits_.burst);
  };
  if (accounts_.size() > kKept) {
    for (auto& [name, account] : accounts_) fill(account);
    std::erase_if(accounts_, [&](const auto& one) { return one.second.left >= limits_.burst; });
  }
  const auto [at, fresh] = accounts_.try_emplace(principal, Account{limits_.burst, now});
  fill(at->second);
  return at->second;
}

std::chrono::milliseconds ProcessorTime::wait(const std::string& principal) {
  const std::scoped_lock lock(mutex_);
  const Account& account = filled(principal);
  if (account.left > Time::zero()) return std::chrono::milliseconds(0);
  return std::chrono::ceil<std::chrono::milliseconds>(-account.left) * 1'000 / limits_.per_second.count() +
         std::chrono::milliseconds(1);
}

bool ProcessorTime::spend(const std::string& principal, Time used) {
  const std::scoped_lock lock(mutex_);
  Account& account = filled(principal);
  account.left = std::max<Time>(account.left - used, -limits_.burst);
  return account.left == -limits_.burst;
}

void ProcessorTime::change(const ProcessorLimits& limits) {
  const std::scoped_lock lock(mutex_);
  limits_ = limits;
}

bool ProcessorTime::Turn::take(const std::function<bool()>& given_up) {
  constexpr std::chrono::milliseconds kAsksEvery{50};
  std::unique_lock lock(time_.mutex_);
  while (!taken_) {
    taken_ = time_.computing_.insert(principal_).second;
    if (taken_) break;
    time_.turn_ended_.wait_for(lock, kAsksEvery);
    lock.unlock();
    if (given_up()) return false;
    lock.lock();
  }
  return true;
}

void ProcessorTime::Turn::end() noexcept {
  if (!std::exchange(taken_, false)) return;
  const std::scoped_lock lock(time_.mutex_);
  time_.computing_.erase(principal_);
  time_.turn_ended_.notify_all();
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
