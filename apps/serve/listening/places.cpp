#include "places.hpp"

#include <algorithm>
#include <iterator>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::serve {
namespace {

/// So many refusals of one user are told in a second; to tell one costs more than to close.
constexpr double kWords = 32;
/// With more users than that, those who have all they may have are forgotten.
constexpr std::size_t kUsersKept = 256;

}  // namespace

Places::User& Places::user(std::uint32_t uid, const Limits& limits, Time now) {
  const double second = static_cast<double>(limits.uid_second), burst = static_cast<double>(limits.uid_burst);
  const auto fill = [&](User& one) {
    const double seconds = std::chrono::duration<double>(now - one.filled).count();
    one.filled = now;
    one.arrivals = std::min(burst, one.arrivals + seconds * second);
    one.words = std::min(kWords, one.words + seconds * kWords);
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
      const bool has_all = one.connections == 0 && one.arrivals >= burst && one.words >= kWords;
      at = has_all ? users_.erase(at) : std::next(at);
    }
  }
  return users_[uid] = User{.connections = 0, .arrivals = burst, .words = kWords, .filled = now};
}

Arrival Places::take(const Peer& peer, const Limits& limits, Time now) {
  if (peer.curator) {
    if (curators_ >= limits.curator_connections) return Arrival::refused;
    ++curators_;
    return Arrival::taken;
  }
  User& comes = user(peer.uid, limits, now);
  if (comes.arrivals >= 1 && comes.connections < limits.per_uid && ordinary_ < limits.connections) {
    comes.arrivals -= 1;
    ++comes.connections;
    ++ordinary_;
    return Arrival::taken;
  }
  if (comes.words < 1) return Arrival::dropped;
  comes.words -= 1;
  return Arrival::refused;
}

void Places::give_back(const Peer& peer) {
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
