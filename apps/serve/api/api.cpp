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
#include "sight.hpp"

namespace epsilog::serve {
namespace {

/// "localhost" and "localhost:8080": over a socket of this machine there is no other, and a page of elsewhere
/// that a browser was led here by has its own.
bool is_this_machine(std::string_view host) {
  constexpr std::string_view kLocal = "localhost";
  if (!host.starts_with(kLocal)) return false;
  host.remove_prefix(kLocal.size());
  if (host.empty()) return true;
  return host.size() <= 6 && host.front() == ':' && all_digits(host.substr(1));
}

bool is_json(std::string_view type) {
  std::string bare;
  std::copy_if(type.begin(), type.end(), std::back_inserter(bare), [](char c) { return c != ' '; });
  return is_word(bare, "application/json") || is_word(bare, "application/json;charset=utf-8");
}

/// Throws  Refused for what no client of ours sends.
void check_head(const Route& route, const RequestHead& head) {
  const std::string* host = head.header("host");
  if (host == nullptr || !is_this_machine(*host))
    throw Refused(421, "wrong_host", "Host: localhost is expected");
  if (head.header("origin") != nullptr) {
    throw Refused(403, "cross_origin", "nothing is answered to pages of a browser");
  }
  const bool brings_body = head.content_length.value_or(0) > 0;
  if (brings_body && !route.takes_body) throw Refused(400, "body_unexpected", "no body is taken here");
  const std::string* type = head.header("content-type");
  if (brings_body && (type == nullptr || !is_json(*type))) {
    throw Refused(415, "not_json", "Content-Type: application/json is expected");
  }
  for (const auto& [name, value] : head.query) {
    if (std::find(route.parameters.begin(), route.parameters.end(), name) == route.parameters.end()) {
      throw Refused(400, "bad_parameter", "the parameter '" + name.substr(0, 60) + "' is not known here");
    }
  }
}

/// What the route answers; what it computes ends when nobody waits for it any more.
Response answered(Call& call) {
  if (call.route.effort == Effort::none) return call.route.answer(call);
  const Computing computing(call);
  try {
    return call.route.answer(call);
  } catch (const Stopped&) {
    throw computing.why();
  }
}

/// How long an answer is held back that says to come later: a client that asks again at once gets so many of
/// them in a second at most, on each of its connections, and costs next to nothing meanwhile.
constexpr std::chrono::milliseconds kPause{250};

/// As whom requests are counted: a keeper and a principal may have the same name.
std::string counted_as(const Caller& caller) {
  return caller.keeper() ? "" : caller.who.name;
}

}  // namespace

Response Api::answer(const RequestHead& head, const Peer& peer, Body& body) {
  Response response;
  std::string_view route_path;
  bool let_in = false;
  try {
    const Found found = find_route(head.method, head.path);
    if (found.route == nullptr && found.allowed.empty()) {
      throw Refused(404, "no_such_route", "there is nothing of that path");
    }
    if (found.route == nullptr) {
      response = turned_away(peer, Refused(405, "method_not_allowed", "allowed here: " + found.allowed));
      if (response.status == 405) response.headers.push_back({"allow", found.allowed});
    } else {
      route_path = found.route->path;
      response = routed(*found.route, found.id, head, peer, body, let_in);
    }
  } catch (const Refused& refused) {
    response = let_in ? problem(refused) : turned_away(peer, refused);
  } catch (const ledger::FilesReplaced& error) {
    response = problem(error, "");
    if (parts_.files_replaced) parts_.files_replaced();
  } catch (const std::exception& error) {
    response = problem(error, "");
  }
  if (response.status == 429 && !peer.curator) response.pause = kPause;
  parts_.metrics.answered(route_path, response.status);
  parts_.readiness.notice(response.status);
  return response;
}

Response Api::refusal(int status, std::string_view code, std::string_view message) {
  parts_.metrics.answered("", status);
  return problem(Refused(status, std::string(code), std::string(message)));
}

void Api::change(const CostLimits& limits) {
  costs_.planning_steps = limits.planning_steps;
  costs_.processor.change(limits.processor);
}

void Api::count_concealed(const Call& call, const engine::ConcealedDataset& none) {
  // Reading goes on without refusals left: what it meets then is neither counted nor logged any more.
  if (call.caller.keeper() || call.refusals_left() == 0) return;
  parts_.refusals.add(call.caller.who.name, ledger::wall_clock_ms());
  if (!parts_.warn) return;
  const bool known = declared(call.caller, none.dataset()) != nullptr;
  // A name that the policy does not have is a text of the caller's, and stays out of the log.
  parts_.warn("'" + call.caller.who.name + "' (" + call.caller.who.via + ") asked for " +
              (known ? "dataset '" + none.dataset() + "', which is not theirs"
                     : std::string("a dataset that is not declared")) +
              ": " + std::string(call.route.method) + " " + std::string(call.route.path));
}

Caller Api::identified(const Route& route, const RequestHead& head, const Peer& peer) {
  const std::string via = "unix:" + std::to_string(peer.uid);
  if (route.who == Who::everybody) return {engine::Asker("", via), nullptr, nullptr, peer.curator};
  // What is remembered may be older than the ledger, so it lets nobody in. Who is unknown by it is told to
  // come back, which is true in any case. Time is left out: what has ended is found by the look at the
  // ledger.
  if (!peer.curator && !parts_.admission.has_turn(via)) {
    const auto remembered = parts_.view.remembered();
    try {
      if (remembered) static_cast<void>(who_asks(head, peer, {remembered, ""}, parts_.own_uid));
    } catch (const Refused&) {
      throw not_admitted(NotAdmitted::too_fast);
    }
  }
  return who_asks(head, peer, parts_.view.current(parts_.refusals), parts_.own_uid);
}

Response Api::turned_away(const Peer& peer, const Refused& refused) {
  if (peer.curator) return problem(refused);
  const auto counted = parts_.admission.enter("unix:" + std::to_string(peer.uid), false, peer.uid);
  const auto* why = std::get_if<NotAdmitted>(&counted);
  return problem(why == nullptr ? refused : not_admitted(*why));
}

Response Api::routed(const Route& route, const std::string& id, const RequestHead& head, const Peer& peer,
                     Body& body, bool& let_in) {
  check_head(route, head);
  Caller caller = identified(route, head, peer);
  // Whoever is not known is counted by uid, so that nobody's questions of how the daemon is cost another's.
  const std::string counted = route.who == Who::everybody ? caller.who.via : counted_as(caller);
  let_in = true;  // or refused as the principal it is
  auto admitted = parts_.admission.enter(counted, peer.curator, peer.uid);
  if (const auto* why = std::get_if<NotAdmitted>(&admitted)) throw not_admitted(*why);
  if (route.who != Who::everybody) require_access(route, caller);
  Call call{parts_,
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
    return answered(call);
  } catch (const Refused&) {
    throw;
  } catch (const engine::ConcealedDataset& none) {
    count_concealed(call, none);
    return problem(none, "");
  } catch (const ledger::FilesReplaced&) {
    throw;
  } catch (const std::exception& error) {
    return problem(error, call.about);
  }
}

}  // namespace epsilog::serve
