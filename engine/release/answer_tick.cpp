#include "answer_tick.hpp"

#include <algorithm>
#include <thread>

namespace epsilog::engine {
namespace {

using std::chrono::milliseconds;

/// By how much ticks are late: the wall clock shows them surely by then.
constexpr milliseconds kSurely{2};
/// How far the clocks may have come apart before the ticks follow; less is how they are read.
constexpr milliseconds kApart{1};

/// Where CLOCK_MONOTONIC was when the wall clock showed its last tick.
AnswerTicks::Clock::time_point last_tick(milliseconds every) {
  const auto now = AnswerTicks::Clock::now();
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  return now - std::chrono::duration_cast<AnswerTicks::Clock::duration>(wall % every);
}

}  // namespace

AnswerTicks::AnswerTicks(const TickedAnswers& answers)
    : after_(answers.after_ms), every_(answers.every_ms), origin_(last_tick(every_)) {}

AnswerTicks::Clock::time_point AnswerTicks::due(Clock::time_point arrived) {
  const Clock::time_point earliest = std::max(Clock::now(), arrived + after_);
  const std::lock_guard lock(mutex_);
  const Clock::time_point seen = last_tick(every_);
  const Clock::duration apart = ((seen - origin_) % every_ + every_) % every_;
  if (apart > kApart && apart < every_ - kApart) origin_ = seen;
  const Clock::duration since = std::max(earliest - origin_ - kSurely, Clock::duration::zero());
  const auto ticks = (since + every_ - Clock::duration(1)) / every_;
  return origin_ + ticks * every_ + kSurely;
}

void AnswerTicks::wait(Clock::time_point arrived) {
  std::this_thread::sleep_until(due(arrived));
}

}  // namespace epsilog::engine
