// The floor of many callers: bare rows, one transaction for all who wait.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "bare_ledger.hpp"

namespace epsilog::bench {

/// Who finds nobody at work takes all that wait into one transaction. Thread-safety: yes.
class BareGroups final {
 public:
  BareGroups(const std::string& path, const std::string& line) : rows_(path, line) {}

  void release() {
    Place mine;
    std::unique_lock guard(mutex_);
    waiting_.push_back(&mine);
    mine.changed.wait(guard, [&] { return mine.served || !leading_; });
    if (mine.served) return;
    leading_ = true;
    const std::vector<Place*> group = std::exchange(waiting_, {});
    guard.unlock();
    rows_.release(static_cast<std::int64_t>(group.size()));
    guard.lock();
    leading_ = false;
    for (Place* const place : group) {
      place->served = true;
      if (place != &mine) place->changed.notify_one();
    }
    if (!waiting_.empty()) waiting_.front()->changed.notify_one();
  }

 private:
  struct Place {
    std::condition_variable changed;
    bool served = false;
  };
  std::mutex mutex_;  // guards what follows, and every Place
  std::vector<Place*> waiting_;
  bool leading_ = false;
  BareLedger rows_;  // of who leads
};

}  // namespace epsilog::bench
