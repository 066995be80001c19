// How many refusals a principal has on record in the last hour, by whichever way it asked.
//
// A refusal costs no budget and a line of the ledger for ever: who asks again and again for what is refused
// is told to wait. Thread-safety: may be used from several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>

#include "epsilog/engine/engine.hpp"

namespace epsilog::serve {

class RefusalCount final {
 public:
  /// Counts what was recorded since it counted last; the first time, what the last hour has. `decisions`, so
  /// many as the caller has seen on record, says whether there is anything to count.
  /// Throws  as Engine::outcomes_after().
  void catch_up(const engine::Engine& engine, std::int64_t decisions, std::int64_t now_ms);
  [[nodiscard]] std::size_t of(const std::string& principal, std::int64_t now_ms);

 private:
  void forget_before(std::int64_t ms);

  std::mutex mutex_;
  std::int64_t seen_ = -1;     // the last decision that was counted; -1: none was looked at yet
  std::int64_t counted_ = -1;  // so many were on record then
  std::map<std::string, std::deque<std::int64_t>> times_;  // of refusals in the last hour, oldest first
};

}  // namespace epsilog::serve
