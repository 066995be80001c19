#include "new_questions.hpp"

#include <algorithm>
#include <cstdint>

#include "canonical_request.hpp"
#include "computing.hpp"
#include "epsilog/ledger/digest.hpp"

namespace epsilog::serve {

bool is_retry(ledger::Snapshot& view, const engine::Request& request) {
  const auto bound = view.find_by_key(request.principal, request.key);
  return bound && bound->draft.request_digest == ledger::sha256_hex(engine::canonical_request(request));
}

void require_new_questions(const Call& call, std::span<const engine::Request> requests, std::size_t alphas) {
  std::size_t refusals = 0;
  std::uint64_t steps = 0;
  const auto add = [&](const engine::Request& one) {
    refusals += call.refusals_of(one.rows.size());
    steps += planning_steps_up(call, one, alphas, engine::PlannedFor::once);
  };
  std::for_each(requests.begin(), requests.end(), add);
  if (refusals <= call.refusals_left() && steps <= call.costs.planning_steps && has_processor_time(call))
    return;
  // Only now it matters which of them are new.
  ledger::Snapshot view = call.context.view.snapshot();
  refusals = steps = 0;
  for (const engine::Request& one : requests) {
    if (!is_retry(view, one)) add(one);
  }
  if (refusals == 0) return;
  call.require_refusals_left(refusals);
  require_plannable(call, steps);
  require_processor_time(call);
}

}  // namespace epsilog::serve
