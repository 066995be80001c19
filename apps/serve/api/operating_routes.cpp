// /healthz, /readyz, /metrics, /openapi.json.
#include "call.hpp"
#include "openapi_text.hpp"
#include "problem.hpp"
#include "report_json.hpp"
#include "route.hpp"

namespace epsilog::serve {
namespace {

Response health(Call&) {
  return json(200, {{"status", "alive"}});
}

/// Whether a release would be recorded now, as far as can be told without recording one.
Response readiness(Call& call) {
  if (call.engine().poisoned()) {
    throw Refused(503, "ledger_io", "the ledger cannot be written to until it is recovered");
  }
  if (const auto seal = call.parts.view.snapshot().seal()) {
    throw Refused(503, "ledger_sealed",
                  "the ledger is sealed since " + seal->at +
                      ": nothing is recorded in it any more, and it may go on elsewhere");
  }
  command::Json ready = {{"status", "ready"}};
  if (call.caller.curator_socket) {
    const engine::LedgerCondition condition = call.engine().condition();
    ready["end_memory"] = command::end_memory_name(condition.end_memory);
    ready["file_system"] = command::file_system_name(condition.over_fuse);
    ready["untold_replicas"] = condition.untold_replicas;
  }
  return json(200, ready);
}

Response metrics(Call& call) {
  Response response;
  response.content_type = "text/plain; version=0.0.4";
  response.body = call.parts.metrics.text(call.parts.admission.figures(), call.parts.view.decisions(),
                                          call.engine().poisoned().has_value());
  return response;
}

Response openapi(Call&) {
  return json_text(200, std::string(openapi_text()));
}

}  // namespace

std::vector<Route> operating_routes() {
  return {{"GET", "/healthz", Who::everybody, false, {}, &health},
          {"GET", "/readyz", Who::everybody, false, {}, &readiness},
          {"GET", "/metrics", Who::operating, false, {}, &metrics},
          {"GET", "/openapi.json", Who::everybody, false, {}, &openapi}};
}

}  // namespace epsilog::serve
