#include "decision_read_ahead.hpp"

#include <type_traits>
#include <utility>

namespace epsilog::engine {
namespace {

/// Leaves the inspection when nobody wants to hear the rest, nor what came of it.
struct Unwanted {};

}  // namespace

DecisionReadAhead::DecisionReadAhead(ledger::Snapshot& view, ledger::HistoryEnd end,
                                     std::chrono::milliseconds slice)
    : reader_([this, &view, end = std::move(end), slice] { read(view, end, slice); }) {}

DecisionReadAhead::~DecisionReadAhead() {
  const std::lock_guard guard(mutex_);
  unwanted_ = true;
  changed_.notify_all();
}

template <class Kind>
void DecisionReadAhead::push(const Kind& said) {
  if (filling_.used < filling_.items.size()) {
    filling_.items[filling_.used] = said;
  } else {
    filling_.items.emplace_back(said);
  }
  if (++filling_.used == kBatch) hand_over();
}

void DecisionReadAhead::read(ledger::Snapshot& view, const ledger::HistoryEnd& end,
                             std::chrono::milliseconds slice) {
  struct AtEnd {
    explicit AtEnd(DecisionReadAhead& decisions) : ahead(decisions) {}
    AtEnd(const AtEnd&) = delete;
    AtEnd& operator=(const AtEnd&) = delete;
    ~AtEnd() { ahead.end(); }
    DecisionReadAhead& ahead;
  };
  const AtEnd whatever_happens(*this);
  try {
    ledger::Inspection(view).each_decision(
        end, slice, [this](const ledger::StoredDecision& stored) { push(stored); },
        [this](const ledger::MalformedRecord& record) { push(record); },
        [this](const ledger::StoredFault& fault) { push(fault); });
  } catch (const Unwanted&) {
    return;
  } catch (...) {
    hand_over();  // what was read before it is judged
    throw;
  }
  hand_over();
}

void DecisionReadAhead::end() {
  const std::lock_guard guard(mutex_);
  all_read_ = true;
  changed_.notify_all();
}

void DecisionReadAhead::hand_over() {
  std::unique_lock guard(mutex_);
  changed_.wait(guard, [this] { return ready_.size() < kBatches || unwanted_; });
  if (unwanted_) throw Unwanted{};
  ready_.push_back(std::exchange(filling_, {}));
  if (!judged_.empty()) {
    filling_ = std::move(judged_.back());
    judged_.pop_back();
  }
  changed_.notify_all();
}

DecisionReadAhead::Batch DecisionReadAhead::next_batch() {
  std::unique_lock guard(mutex_);
  changed_.wait(guard, [this] { return !ready_.empty() || all_read_; });
  if (ready_.empty()) return {};
  Batch batch = std::move(ready_.front());
  ready_.pop_front();
  changed_.notify_all();
  return batch;
}

void DecisionReadAhead::give_back(Batch judged) {
  const std::lock_guard guard(mutex_);
  judged.used = 0;
  judged_.push_back(std::move(judged));
}

void DecisionReadAhead::each(const std::function<void(const ledger::StoredDecision&)>& visit,
                             const std::function<void(const ledger::MalformedRecord&)>& malformed,
                             const std::function<void(const ledger::StoredFault&)>& fault) {
  const auto tell = [&](const auto& said) {
    using Kind = std::remove_cvref_t<decltype(said)>;
    if constexpr (std::is_same_v<Kind, ledger::StoredDecision>) {
      visit(said);
    } else if constexpr (std::is_same_v<Kind, ledger::MalformedRecord>) {
      malformed(said);
    } else {
      fault(said);
    }
  };
  for (;;) {
    Batch batch = next_batch();
    if (batch.used == 0) break;
    for (std::size_t i = 0; i < batch.used; ++i) std::visit(tell, batch.items[i]);
    give_back(std::move(batch));
  }
  reader_.finish();
}

}  // namespace epsilog::engine
