// The decisions of a ledger, read and decoded on a thread of their own ahead of who judges them.
//
// Reading takes twice as long as judging, and neither needs the other but in this one direction. What is said
// of the decisions comes in the order in which Inspection::each_decision says it, an error of reading where
// it stands.
//
// At most kBatches batches of kBatch decisions are read and not yet judged. What was judged is read into
// again: to free what another thread allocated takes longer than to read it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <variant>
#include <vector>

#include "epsilog/ledger/inspection.hpp"
#include "worker_thread.hpp"

namespace epsilog::engine {

class DecisionReadAhead final {
 public:
  /// Starts to read, up to that end and in such slices.
  /// Requires  nobody else uses `view` as long as this lives.
  /// Throws    std::system_error if there can be no thread.
  DecisionReadAhead(ledger::Snapshot& view, ledger::HistoryEnd end, std::chrono::milliseconds slice);
  DecisionReadAhead(const DecisionReadAhead&) = delete;
  DecisionReadAhead& operator=(const DecisionReadAhead&) = delete;
  /// Ends the reading where it is.
  ~DecisionReadAhead();

  /// As Inspection::each_decision, on the thread that calls. Call it once.
  void each(const std::function<void(const ledger::StoredDecision&)>& visit,
            const std::function<void(const ledger::MalformedRecord&)>& malformed,
            const std::function<void(const ledger::StoredFault&)>& fault);

 private:
  using DecodedItem = std::variant<ledger::StoredDecision, ledger::MalformedRecord, ledger::StoredFault>;
  struct Batch {
    std::vector<DecodedItem> items;
    std::size_t used = 0;  // so many of the first ones are said; the others are room
  };
  static constexpr std::size_t kBatch = 32;
  static constexpr std::size_t kBatches = 4;

  void read(ledger::Snapshot& view, const ledger::HistoryEnd& end, std::chrono::milliseconds slice);
  void end();
  template <class Kind>
  void push(const Kind& said);
  void hand_over();
  [[nodiscard]] Batch next_batch();
  void give_back(Batch judged);

  Batch filling_;     // of the thread that reads
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<Batch> ready_;
  std::vector<Batch> judged_;
  bool all_read_ = false;  // or reading failed
  bool unwanted_ = false;
  WorkerThread reader_;  // last: it uses the rest
};

}  // namespace epsilog::engine
