#include "new_questions.hpp"

#include <algorithm>

#include "canonical_request.hpp"
#include "epsilog/ledger/digest.hpp"

namespace epsilog::serve {

bool is_retry(ledger::Snapshot& view, const engine::Request& request) {
  const auto bound = view.find_key(request.principal, request.key);
  return bound && bound->draft.request_digest == ledger::sha256_hex(engine::canonical_request(request));
}

void require_refusals_left(const Call& call, std::span<const engine::Request> requests) {
  if (requests.size() <= call.refusals_left()) return;
  ledger::Snapshot view = call.parts.view.snapshot();
  call.require_refusals_left(static_cast<std::size_t>(std::count_if(
      requests.begin(), requests.end(), [&](const engine::Request& one) { return !is_retry(view, one); })));
}

}  // namespace epsilog::serve
