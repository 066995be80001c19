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

/// Whether a release would be recorded now. The curator socket is told why not.
Response readiness(Call& call) {
  const auto found = call.parts.readiness.now();
  if (!found->ready() && !call.caller.curator_socket) {
    throw Refused(503, "not_ready", "no release is recorded now; the curator socket says why").retry_in(1);
  }
  if (!found->ready()) throw Refused(503, found->code, found->detail).retry_in(1);
  command::Json ready = {{"status", "ready"}};
  if (call.caller.curator_socket) {
    const engine::LedgerCondition condition = call.engine().condition();
    ready["end_memory"] = command::end_memory_name(condition.end_memory);
    ready["file_system"] = command::file_system_name(condition.over_fuse);
    ready["untold_replicas"] = condition.untold_replicas;
    ready["missing_sources"] = command::Json::array();
    for (const MissingSource& one : found->missing) {
      ready["missing_sources"].push_back({{"dataset", one.dataset}, {"why", one.why}});
    }
  }
  return json(200, ready);
}

Response metrics(Call& call) {
  Response response;
  response.content_type = "text/plain; version=0.0.4";
  response.body =
      call.parts.metrics.text(call.parts.admission.figures(), call.parts.view.decisions(),
                              call.engine().poisoned().has_value(), call.parts.readiness.now()->ready());
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
