// How many refusals a principal had in the last hour: those on record, by whichever way it asked, and those
// that the daemon did not record.
//
// A refusal costs no budget and a line of the ledger for ever: who asks again and again for what is refused
// is told to wait. A batch that was refused counts as its rows, up to some number. Thread-safety: may be used
// from several threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>

#include "epsilog/ledger/snapshot.hpp"

namespace epsilog::serve {

class RefusalCount final {
 public:
  /// Counts what was recorded since it counted last; the first time, what the last hour has.
  /// Throws  as what it reads.
  void catch_up(ledger::Snapshot& view, std::int64_t now_ms);
  /// Counts one that is not on record: it is forgotten with this process.
  void add(const std::string& principal, std::int64_t at_ms);
  /// A batch counts as its rows, at most as `batch_most`.
  [[nodiscard]] std::size_t last_hour(const std::string& principal, std::int64_t now_ms,
                                      std::size_t batch_most = SIZE_MAX);

 private:
  struct Refusal {
    std::int64_t at_ms = 0;
    std::size_t rows = 1;
  };
  void note(const std::string& principal, const Refusal& refusal);
  void forget_before(std::int64_t ms);

  std::atomic<std::int64_t> counted_decisions_{-1};  // so many decisions were on record when it counted last
  std::mutex mutex_;
  std::int64_t last_counted_seq_ = -1;  // the last decision that was counted; -1: none was looked at yet
  std::map<std::string, std::deque<Refusal>> refusals_;  // of the last hour, oldest first
};

}  // namespace epsilog::serve
