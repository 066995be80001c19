// Who asks: exactly one identity a request, from the kernel or from a token, never from what a request says.
//
//   Authorization: Bearer eps_…   decides alone, if it is there: a token that is not valid is no way back to
//   the uid uid 0 and the daemon's own    on the curator socket: hold all duties and cannot ask the socket's
//   peer             a uid that a valid credential maps to a principal
//
// A principal that the active policy does not declare is nobody.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "epsilog/engine/actor.hpp"
#include "ledger_view.hpp"
#include "message.hpp"
#include "service.hpp"

namespace epsilog::serve {

struct Caller {
  engine::Actor actor;
  std::shared_ptr<const AccessView> view;        ///< under which they were identified
  const engine::Principal* principal = nullptr;  ///< in `view`; nullptr of the keeper
  bool curator_socket = false;

  /// Of the machine: root or the daemon's own user.
  [[nodiscard]] bool is_keeper() const noexcept { return principal == nullptr; }
  [[nodiscard]] bool has_duty(engine::Duty duty) const;
};

/// Throws  HttpProblem (401) if it is nobody.
[[nodiscard]] Caller identify_caller(const RequestHead& head, const Peer& peer, CurrentView looked,
                                     std::uint32_t own_uid);

}  // namespace epsilog::serve
