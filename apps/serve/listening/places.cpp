#include "places.hpp"

#include "epsilog/accounting/errors.hpp"

namespace epsilog::serve {

bool Places::take(const Peer& peer, const Limits& limits) {
  if (peer.curator) {
    if (curators_ >= limits.curator_connections) return false;
    ++curators_;
    return true;
  }
  const auto found = of_uid_.find(peer.uid);
  const std::size_t has = found == of_uid_.end() ? 0 : found->second;
  if (ordinary_ >= limits.connections || has >= limits.per_uid) return false;
  ++of_uid_[peer.uid];
  ++ordinary_;
  return true;
}

void Places::give_back(const Peer& peer) {
  if (peer.curator) {
    EPSILOG_INVARIANT(curators_ > 0);
    --curators_;
    return;
  }
  const auto found = of_uid_.find(peer.uid);
  EPSILOG_INVARIANT(found != of_uid_.end() && ordinary_ > 0);
  if (--found->second == 0) of_uid_.erase(found);
  --ordinary_;
}

}  // namespace epsilog::serve
