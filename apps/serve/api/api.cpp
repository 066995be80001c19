#include "api.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <iterator>
#include <utility>
#include <variant>

#include "ascii.hpp"
#include "computing.hpp"
#include "epsilog/engine/concealed_dataset.hpp"
#include "epsilog/ledger/files_replaced.hpp"
#include "epsilog/ledger/ledger_time.hpp"
#include "problem.hpp"
#include "visibility.hpp"

namespace epsilog::serve {
namespace {

/// "localhost" and "localhost:8080": over a socket of this machine there is no other, and a page of elsewhere
/// that a browser was led here by has its own.
bool is_localhost(std::string_view host) {
  constexpr std::string_view kLocal = "localhost";
  if (!host.starts_with(kLocal)) return false;
  host.remove_prefix(kLocal.size());
  if (host.empty()) return true;
  return host.size() <= 6 && host.front() == ':' && all_digits(host.substr(1));
}

bool is_json(std::string_view type) {
  std::string bare;
  std::copy_if(type.begin(), type.end(), std::back_inserter(bare), [](char c) { return c != ' '; });
  return equals_ignoring_case(bare, "application/json") ||
         equals_ignoring_case(bare, "application/json;charset=utf-8");
}

/// Throws  HttpProblem for what no client of ours sends.
void check_head(const Route& route, const RequestHead& head) {
  const std::string* host = head.header("host");
  if (host == nullptr || !is_localhost(*host))
    throw HttpProblem(421, "wrong_host", "Host: localhost is expected");
  if (head.header("origin") != nullptr) {
    throw HttpProblem(403, "cross_origin", "nothing is answered to pages of a browser");
  }
  const bool brings_body = head.content_length.value_or(0) > 0;
  if (brings_body && !route.takes_body) throw HttpProblem(400, "body_unexpected", "no body is taken here");
  const std::string* type = head.header("content-type");
  if (brings_body && (type == nullptr || !is_json(*type))) {
    throw HttpProblem(415, "not_json", "Content-Type: application/json is expected");
  }
  for (const auto& [name, value] : head.query) {
    if (std::find(route.parameters.begin(), route.parameters.end(), name) == route.parameters.end()) {
      throw HttpProblem(400, "unknown_query_parameter",
                        "the parameter '" + name.substr(0, 60) + "' is not known here");
    }
  }
}

/// What the route answers; what it computes ends when nobody waits for it any more.
Response run_route(Call& call) {
  if (call.route.effort == Effort::none) return call.route.answer(call);
  const ComputationScope computing(call);
  try {
    return call.route.answer(call);
  } catch (const Stopped&) {
    throw computing.stop_problem();
  }
}

/// How long an answer is held back that says to come later: a client that asks again at once gets so many of
/// them in a second at most, on each of its connections, and costs next to nothing meanwhile.
constexpr std::chrono::milliseconds kRetryPause{250};

/// As whom requests are counted: a keeper and a principal may have the same name.
std::string admission_name(const Caller& caller) {
  return caller.is_keeper() ? "" : caller.actor.name;
}

}  // namespace

Response Api::answer(const RequestHead& head, const Peer& peer, Body& body) {
  Response response;
  std::string_view route_path;
  bool let_in = false;
  try {
    const RouteMatch found = find_route(head.method, head.path);
    if (found.route == nullptr && found.allowed.empty()) {
      throw HttpProblem(404, "no_such_route", "there is nothing of that path");
    }
    if (found.route == nullptr) {
      response = turn_away(peer, HttpProblem(405, "method_not_allowed", "allowed here: " + found.allowed));
      if (response.status == 405) response.headers.push_back({"allow", found.allowed});
    } else {
      route_path = found.route->path;
      response = dispatch(*found.route, found.id, head, peer, body, let_in);
    }
  } catch (const HttpProblem& refused) {
    response = let_in ? problem(refused) : turn_away(peer, refused);
  } catch (const ledger::FilesReplaced& error) {
    response = problem(error, "");
    if (context_.files_replaced) context_.files_replaced();
  } catch (const std::exception& error) {
    response = problem(error, "");
  }
  if (response.status == 429 && !peer.curator) response.pause = kRetryPause;
  context_.metrics.count_answer(route_path, response.status);
  context_.readiness.note_answer_status(response.status);
  return response;
}

Response Api::problem_response(int status, std::string_view code, std::string_view message) {
  context_.metrics.count_answer("", status);
  return problem(HttpProblem(status, std::string(code), std::string(message)));
}

void Api::change(const CostLimits& limits) {
  costs_.planning_steps = limits.planning_steps;
  costs_.processor.change(limits.processor);
}

void Api::count_concealed(const Call& call, const engine::ConcealedDataset& none) {
  // Reading goes on without refusals left: what it meets then is neither counted nor logged any more.
  if (call.caller.is_keeper() || call.refusals_left() == 0) return;
  context_.refusals.add(call.caller.actor.name, ledger::wall_clock_ms());
  if (!context_.warn) return;
  const bool known = declared_dataset(call.caller, none.dataset()) != nullptr;
  // A name that the policy does not have is a text of the caller's, and stays out of the log.
  context_.warn("'" + call.caller.actor.name + "' (" + call.caller.actor.via + ") asked for " +
                (known ? "dataset '" + none.dataset() + "', which is not theirs"
                       : std::string("a dataset that is not declared")) +
                ": " + std::string(call.route.method) + " " + std::string(call.route.path));
}

Caller Api::identify(const Route& route, const RequestHead& head, const Peer& peer) {
  const std::string via = "unix:" + std::to_string(peer.uid);
  if (route.access == RouteAccess::everybody) return {engine::Actor("", via), nullptr, nullptr, peer.curator};
  // What is remembered may be older than the ledger, so it lets nobody in. Who is unknown by it is told to
  // come back, which is true in any case. Time is left out: what has ended is found by the look at the
  // ledger.
  if (!peer.curator && !context_.admission.is_within_rate(via)) {
    const auto last_view = context_.view.last_view();
    try {
      if (last_view) static_cast<void>(identify_caller(head, peer, {last_view, ""}, context_.own_uid));
    } catch (const HttpProblem&) {
      throw admission_problem(AdmissionDenial::too_fast);
    }
  }
  return identify_caller(head, peer, context_.view.current(context_.refusals), context_.own_uid);
}

Response Api::turn_away(const Peer& peer, const HttpProblem& refused) {
  if (peer.curator) return problem(refused);
  const auto counted = context_.admission.enter("unix:" + std::to_string(peer.uid), false, peer.uid);
  const auto* why = std::get_if<AdmissionDenial>(&counted);
  return problem(why == nullptr ? refused : admission_problem(*why));
}

Response Api::dispatch(const Route& route, const std::string& id, const RequestHead& head, const Peer& peer,
                       Body& body, bool& let_in) {
  check_head(route, head);
  Caller caller = identify(route, head, peer);
  // Whoever is not known is counted by uid, so that nobody's questions of how the daemon is cost another's.
  const std::string counted =
      route.access == RouteAccess::everybody ? caller.actor.via : admission_name(caller);
  let_in = true;  // or refused as the principal it is
  auto admitted = context_.admission.enter(counted, peer.curator, peer.uid);
  if (const auto* why = std::get_if<AdmissionDenial>(&admitted)) throw admission_problem(*why);
  if (route.access != RouteAccess::everybody) require_access(route, caller);
  Call call{context_,
            route,
            head,
            peer,
            body,
            std::move(caller),
            std::get<Admission::Entry>(admitted),
            costs_,
            id,
            refusals_per_hour_};
  try {
    return run_route(call);
  } catch (const HttpProblem&) {
    throw;
  } catch (const engine::ConcealedDataset& none) {
    count_concealed(call, none);
    return problem(none, "");
  } catch (const ledger::FilesReplaced&) {
    throw;
  } catch (const std::exception& error) {
    return problem(error, call.dataset);
  }
}

}  // namespace epsilog::serve
