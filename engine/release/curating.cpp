#include "epsilog/engine/curating.hpp"

#include <chrono>

#include "engine_state.hpp"
#include "epsilog/accounting/errors.hpp"

namespace epsilog::engine {
std::optional<std::string> Curating::poison_reason() const {
  return state_->poison_reason();
}

void Curating::check_recording(std::int64_t wait_ms) const {
  const auto begun = state_->writer().begin_within(std::chrono::milliseconds(wait_ms));
  if (!begun) throw LedgerBusy("the ledger is written to by others for longer than a moment");
}

LedgerCondition Curating::condition() const {
  return {.end_mark_state = state_->writer().end_mark_state(),
          .stale_replicas = state_->snapshot().stale_replicas(),
          .over_fuse = state_->writer().is_on_fuse()};
}

}  // namespace epsilog::engine
