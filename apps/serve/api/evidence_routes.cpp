// /v1/checkpoints, /v1/proofs/{id}: what somebody keeps to hold the ledger to later.
#include "ascii.hpp"
#include "body_object.hpp"
#include "call.hpp"
#include "epsilog/engine/ledger_evidence.hpp"
#include "epsilog/engine/requested_checkpoint.hpp"
#include "evidence_json.hpp"
#include "problem.hpp"
#include "route.hpp"
#include "visibility.hpp"

namespace epsilog::serve {
namespace {

/// Asked for as the text that others read: C2SP has one for each, and JSON holds it as a member.
bool wants_text(const Call& call) {
  const std::string* accept = call.head.header("accept");
  return accept != nullptr && equals_ignoring_case(*accept, "text/plain");
}

Response as_text(std::string text) {
  Response response;
  response.content_type = "text/plain; charset=utf-8";
  response.body = std::move(text);
  return response;
}

engine::Checkpoint newest_checkpoint(const Call& call) {
  auto checkpoint = call.engine().newest_checkpoint();
  if (!checkpoint)
    throw HttpProblem(404, "no_checkpoint", "no checkpoint of this ledger was signed for its file");
  return std::move(*checkpoint);
}

Response read_checkpoint(Call& call) {
  call.wait_for_slot();
  const engine::Checkpoint checkpoint = newest_checkpoint(call);
  if (wants_text(call)) return as_text(engine::note_text(checkpoint.note));
  return json_text_response(200, wire::kept_checkpoint_json(checkpoint));
}

Response make_checkpoint(Call& call) {
  expect_empty(call.read_body(kBodyBytesMax));
  const auto made = call.engine().sign_checkpoint_now();
  if (!made) {
    throw HttpProblem(409, "no_checkpoint_key", "the active policy names no key that signs checkpoints");
  }
  return json_text_response(made->fresh ? 201 : 200, wire::checkpoint_json(made->checkpoint, made->by));
}

/// The line of a decision, and that the newest checkpoint has it.
Response prove(Call& call) {
  call.wait_for_slot();
  const engine::Answer answer = call.visible_answer();
  // Before the view, which then has every line of it.
  const auto checkpoint = call.engine().newest_checkpoint();
  ledger::Snapshot view = call.context.view.snapshot();
  const auto line = view.find_by_id(call.id);
  if (!line) throw request_not_found();
  switch (line_visibility(call.caller, answer, *line)) {
    case engine::LineVisibility::nothing:
      throw request_not_found();
    case engine::LineVisibility::hidden:
      throw HttpProblem(403, "not_permitted", "its line says a value or a balance that you do not see");
    case engine::LineVisibility::whole:
      break;
  }
  const auto index = static_cast<std::uint64_t>(line->line);
  if (!checkpoint || index >= checkpoint->tree.size) {
    throw HttpProblem(409, "not_signed_yet", "no checkpoint has it yet: ask again once one was signed");
  }
  const engine::ProvedLine proved = engine::prove_line(view, index, *checkpoint);
  if (wants_text(call)) return as_text(proved.line + '\n' + engine::inclusion_text(proved.proof));
  return json_text_response(200, wire::proved_line_json(proved));
}

}  // namespace

std::vector<Route> evidence_routes() {
  return {{"GET", "/v1/checkpoints", RouteAccess::known, false, {}, &read_checkpoint},
          {"POST", "/v1/checkpoints", RouteAccess::any_duty, true, {}, &make_checkpoint},
          {"GET", "/v1/proofs/{id}", RouteAccess::known, false, {}, &prove}};
}

}  // namespace epsilog::serve
