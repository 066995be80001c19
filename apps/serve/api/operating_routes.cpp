// /healthz, /readyz, /metrics, /openapi.json.
#include "call.hpp"
#include "openapi_text.hpp"
#include "problem.hpp"
#include "report_json.hpp"
#include "route.hpp"

namespace epsilog::serve {
namespace {

Response health(Call&) {
  return json_response(200, {{"status", "alive"}});
}

/// Whether a release would be recorded now. The curator socket is told why not.
Response readiness(Call& call) {
  const auto found = call.context.readiness.current_report();
  if (!found->ready() && !call.caller.curator_socket) {
    throw HttpProblem(503, "not_ready", "no release is recorded now; the curator socket says why")
        .with_retry_after(1);
  }
  if (!found->ready()) throw HttpProblem(503, found->code, found->detail).with_retry_after(1);
  wire::Json ready = {{"status", "ready"}};
  if (call.caller.curator_socket) {
    const engine::LedgerCondition condition = call.engine().condition();
    ready["length_record"] = wire::length_record_name(condition.end_mark_state);
    ready["file_system"] = wire::file_system_name(condition.over_fuse);
    ready["stale_replicas"] = condition.stale_replicas;
    ready["missing_sources"] = wire::Json::array();
    for (const MissingSource& one : found->missing) {
      ready["missing_sources"].push_back({{"dataset", one.dataset}, {"why", one.why}});
    }
  }
  return json_response(200, ready);
}

Response metrics(Call& call) {
  Response response;
  response.content_type = "text/plain; version=0.0.4";
  response.body = call.context.metrics.text(call.context.admission.figures(), call.context.view.decisions(),
                                            call.engine().poison_reason().has_value(),
                                            call.context.readiness.current_report()->ready());
  return response;
}

Response openapi(Call&) {
  return json_text_response(200, std::string(openapi_text()));
}

}  // namespace

std::vector<Route> operating_routes() {
  return {{"GET", "/healthz", RouteAccess::everybody, false, {}, &health},
          {"GET", "/readyz", RouteAccess::everybody, false, {}, &readiness},
          {"GET", "/metrics", RouteAccess::operating, false, {}, &metrics},
          {"GET", "/openapi.json", RouteAccess::everybody, false, {}, &openapi}};
}

}  // namespace epsilog::serve
