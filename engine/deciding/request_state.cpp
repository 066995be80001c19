#include "epsilog/engine/request_state.hpp"

namespace epsilog::engine {

std::string_view name(RequestState state) {
  switch (state) {
    case RequestState::granted:
      return "granted";
    case RequestState::refused:
      return "refused";
    case RequestState::pending:
      return "pending";
    case RequestState::reserved:
      return "reserved";
    case RequestState::approved:
      return "approved";
    case RequestState::rejected:
      return "rejected";
    case RequestState::data_accessed:
      return "data_accessed";
    case RequestState::cancelled:
      return "cancelled";
    case RequestState::expired:
      return "expired";
    case RequestState::forfeited:
      return "forfeited";
  }
  EPSILOG_INVARIANT(false);
}

}  // namespace epsilog::engine
