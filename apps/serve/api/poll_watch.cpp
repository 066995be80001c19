#include "poll_watch.hpp"

#include <poll.h>

#include <algorithm>
#include <exception>
#include <new>
#include <system_error>
#include <utility>
#include <vector>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::serve {
namespace {

/// How late it is noticed what other processes recorded, and what ended, at most.
constexpr std::chrono::milliseconds kLedgerCheckInterval{100};

bool has_ended(const PollCondition& awaited) noexcept {
  try {
    return awaited.ended && awaited.ended();
  } catch (const std::exception&) {
    return true;  // the poll looks for itself
  }
}

}  // namespace

PollWatch::PollWatch(ReadNews read_news) : read_news_(std::move(read_news)) {
  try {
    thread_ = std::thread([this] { work(); });
  } catch (const std::system_error&) {
    throw Error("no thread is left to serve with");
  }
}

PollWatch::~PollWatch() {
  {
    const std::scoped_lock lock(mutex_);
    ends_ = true;
  }
  bell_.ring();
  thread_.join();
}

void PollWatch::work() noexcept {
  std::vector<pollfd> sockets(1);
  std::vector<std::uint64_t> numbers(1);  // of the polls whose sockets those are
  Clock::time_point next = Clock::now();
  bool first = true;
  for (;;) {
    try {
      sockets.assign(1, {bell_.fd(), POLLIN, 0});
      numbers.assign(1, 0);
      const std::scoped_lock lock(mutex_);
      if (ends_) return;
      for (const auto& [number, waiting] : waiting_polls_) {
        if (waiting->gone_) continue;
        // No event is asked for, so what a client sends on does not wake. Of a Unix socket POLLHUP says that
        // the other end is closed. POLLRDHUP is said also of a client that sends no more and reads its
        // answer.
        sockets.push_back({waiting->socket_, 0, 0});
        numbers.push_back(number);
      }
      if (waiting_polls_.empty()) first = true;
    } catch (const std::bad_alloc&) {
      sockets.resize(numbers.size());  // those that are not there are watched after the next look
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()).count();
    const int wait = numbers.size() == 1 ? -1 : static_cast<int>(std::max<std::int64_t>(left, 0));
    static_cast<void>(::poll(sockets.data(), sockets.size(), wait));
    if (sockets[0].revents != 0) bell_.silence();
    bool look_now = false;
    {
      const std::scoped_lock lock(mutex_);
      for (std::size_t i = 1; i < sockets.size(); ++i) {
        const auto found = sockets[i].revents == 0 ? waiting_polls_.end() : waiting_polls_.find(numbers[i]);
        if (found == waiting_polls_.end()) continue;
        found->second->gone_ = true;
        found->second->woken_.notify_one();
      }
      look_now = !waiting_polls_.empty() && (first || recorded_ || Clock::now() >= next);
      if (look_now) recorded_ = false;  // before the look, so that what is recorded during it is looked at
    }
    if (!look_now) continue;
    wake_polls(std::exchange(first, false));
    next = Clock::now() + kLedgerCheckInterval;
  }
}

void PollWatch::wake_polls(bool first) noexcept {
  News news;
  try {
    news = read_news_(first);
  } catch (const std::exception&) {
    news.all = true;  // each poll looks for itself, and tells what is wrong
  }
  const std::scoped_lock lock(mutex_);
  for (const auto& [number, waiting] : waiting_polls_) {
    const PollCondition& awaited = waiting->awaited_;
    const bool wake = news.all || (awaited.decisions && news.concerns(awaited.asker)) || has_ended(awaited);
    if (!wake) continue;
    waiting->news_ = true;
    waiting->woken_.notify_one();
  }
}

void PollWatch::notify_recorded() noexcept {
  {
    const std::scoped_lock lock(mutex_);
    if (waiting_polls_.empty()) return;
    recorded_ = true;
  }
  bell_.ring();
}

void PollWatch::stop() noexcept {
  const std::scoped_lock lock(mutex_);
  stopped_ = true;
  for (const auto& [number, waiting] : waiting_polls_) waiting->woken_.notify_one();
}

PollWatch::WaitingPoll::WaitingPoll(PollWatch& watch, int socket) : watch_(watch), socket_(socket) {
  {
    const std::scoped_lock lock(watch_.mutex_);
    number_ = ++watch_.last_number_;
    watch_.waiting_polls_.emplace(number_, this);
  }
  watch_.bell_.ring();
}

PollWatch::WaitingPoll::~WaitingPoll() {
  const std::scoped_lock lock(watch_.mutex_);
  watch_.waiting_polls_.erase(number_);
}

void PollWatch::WaitingPoll::await(PollCondition awaited) {
  const std::scoped_lock lock(watch_.mutex_);
  awaited_ = std::move(awaited);
}

bool PollWatch::WaitingPoll::wait(Clock::time_point until) {
  std::unique_lock lock(watch_.mutex_);
  woken_.wait_until(lock, until, [&] { return news_ || gone_ || watch_.stopped_; });
  return !gone_ && !watch_.stopped_ && std::exchange(news_, false);
}

}  // namespace epsilog::serve
