#include "connection_slots.hpp"

#include <algorithm>
#include <iterator>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::serve {
namespace {

/// So many refusals of one user are told in a second; to tell one costs more than to close.
constexpr double kRefusalsPerSecond = 32;
/// With more users than that, those who have all they may have are forgotten.
constexpr std::size_t kUsersKept = 256;

}  // namespace

ConnectionSlots::User& ConnectionSlots::user(std::uint32_t uid, const ConnectionLimits& limits, Time now) {
  const double second = static_cast<double>(limits.uid_arrivals_per_second),
               burst = static_cast<double>(limits.uid_arrivals_burst);
  const auto fill = [&](User& one) {
    const double seconds = std::chrono::duration<double>(now - one.filled_at).count();
    one.filled_at = now;
    one.allowed_arrivals = std::min(burst, one.allowed_arrivals + seconds * second);
    one.sendable_refusals =
        std::min(kRefusalsPerSecond, one.sendable_refusals + seconds * kRefusalsPerSecond);
  };
  const auto known = users_.find(uid);
  if (known != users_.end()) {
    fill(known->second);
    return known->second;
  }
  if (users_.size() >= kUsersKept) {
    for (auto at = users_.begin(); at != users_.end();) {
      User& one = at->second;
      fill(one);
      const bool has_all = one.connections == 0 && one.allowed_arrivals >= burst &&
                           one.sendable_refusals >= kRefusalsPerSecond;
      at = has_all ? users_.erase(at) : std::next(at);
    }
  }
  return users_[uid] = User{.connections = 0,
                            .allowed_arrivals = burst,
                            .sendable_refusals = kRefusalsPerSecond,
                            .filled_at = now};
}

SlotOutcome ConnectionSlots::take(const Peer& peer, const ConnectionLimits& limits, Time now) {
  if (peer.curator) {
    if (curators_ >= limits.curator_connections) return SlotOutcome::refused;
    ++curators_;
    return SlotOutcome::taken;
  }
  User& comes = user(peer.uid, limits, now);
  if (comes.allowed_arrivals >= 1 && comes.connections < limits.per_uid && ordinary_ < limits.connections) {
    comes.allowed_arrivals -= 1;
    ++comes.connections;
    ++ordinary_;
    return SlotOutcome::taken;
  }
  if (comes.sendable_refusals < 1) return SlotOutcome::dropped;
  comes.sendable_refusals -= 1;
  return SlotOutcome::refused;
}

void ConnectionSlots::give_back(const Peer& peer) {
  if (peer.curator) {
    EPSILOG_INVARIANT(curators_ > 0);
    --curators_;
    return;
  }
  const auto found = users_.find(peer.uid);
  EPSILOG_INVARIANT(found != users_.end() && found->second.connections > 0 && ordinary_ > 0);
  --found->second.connections;
  --ordinary_;
}

}  // namespace epsilog::serve
