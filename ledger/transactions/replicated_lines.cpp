// What a ledger knows of its replica beside a transaction: where it is, and what it holds.
#include <algorithm>
#include <exception>
#include <limits>
#include <thread>
#include <utility>

#include "ledger_state.hpp"
#include "queries.hpp"
#include "replica_mark.hpp"
#include "transaction_state.hpp"

namespace epsilog::ledger {

std::optional<Replica> LedgerState::replica_of_policy(const PolicyVersion& version) const {
  if (!options_.replica) return std::nullopt;
  return options_.replica(version);
}

const std::optional<Replica>& LedgerState::active_replica(std::int64_t version) {
  if (!active_replica_ || active_replica_->first != version) {
    active_replica_.reset();
    active_replica_.emplace(
        version, options_.replica ? replica_of_policy(read_active_policy(*writer_, version)) : std::nullopt);
  }
  return active_replica_->second;
}

std::int64_t LedgerState::replicated_lines(std::int64_t index, std::int64_t replica_size) const {
  if (replica_size == 0) return std::numeric_limits<std::int64_t>::max();
  constexpr std::chrono::milliseconds kPause(1);
  const Deadline deadline = deadline_after(options_.wait);
  for (bool tried = false;;) {
    // Read after the snapshot was taken: who wrote what is seen there says it when the replica has it.
    const std::int64_t size = std::max(replica_size, read_replica_mark(files_, ledger_id_).size);
    if (index < size) return size;
    // Whoever has the turn may be between its COMMIT and that.
    if (is_writer_lock_taken()) {
      if (std::chrono::steady_clock::now() >= deadline) return size;
      require_wait_wanted();
      std::this_thread::sleep_for(kPause);
    } else if (std::exchange(tried, true)) {
      return size;
    } else {
      try_to_replicate();
    }
  }
}

/// As a writer would before it writes, if nobody has the turn.
void LedgerState::try_to_replicate() const noexcept {
  if (!options_.replica || !owned(files_)) return;
  try {
    // Its own state and connection: those of this ledger may be another thread's.
    const TransactionState begun(std::make_shared<LedgerState>(files_.database, Access::read_write, options_),
                                 std::chrono::milliseconds(0));
  } catch (const std::exception&) {
    return;
  }
}

bool LedgerState::is_writer_lock_taken() const noexcept {
  try {
    return try_process_lock(files_).taken;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace epsilog::ledger
