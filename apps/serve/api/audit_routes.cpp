// /v1/verifications, /v1/reaccounts: what auditors have computed over the whole ledger.
#include <algorithm>
#include <chrono>
#include <utility>

#include "audit_jobs.hpp"
#include "body_object.hpp"
#include "call.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/audit.hpp"
#include "epsilog/engine/reaccount.hpp"
#include "figures_json.hpp"
#include "problem.hpp"
#include "reaccount_output.hpp"
#include "route.hpp"

namespace epsilog::serve {
namespace {

using accounting::Accountant;
using engine::StorageCheck;
using wire::Json;
using State = Verification::State;

/// So many faults of a ledger are told; who wants all of them has the command.
constexpr std::size_t kFaultsShownMax = 100;
/// How long composing may take. Whoever needs longer has the command.
constexpr std::chrono::seconds kReaccountTimeMax(60);
/// One figure of them is not broken off.
constexpr std::size_t kLawsMax = 10'000;

constexpr std::pair<std::string_view, StorageCheck> kStorage[] = {
    {"full", StorageCheck::full}, {"quick", StorageCheck::quick}, {"none", StorageCheck::none}};

StorageCheck storage_of(const std::string& name) {
  for (const auto& [known, storage] : kStorage) {
    if (name == known) return storage;
  }
  throw BadBody("storage: full, quick or none is expected");
}

std::string_view name_of(StorageCheck storage) {
  return std::find_if(std::begin(kStorage), std::end(kStorage),
                      [&](const auto& one) { return one.second == storage; })
      ->first;
}

std::string_view name_of(State state) {
  switch (state) {
    case State::running:
      return "running";
    case State::cancelling:
      return "cancelling";
    case State::done:
      return "done";
    case State::cancelled:
      return "cancelled";
    case State::failed:
      return "failed";
  }
  EPSILOG_INVARIANT(false);
}

/// Without what a library says of a damaged file, and without the places of files.
std::string message_of(const engine::AuditFault& fault) {
  if (fault.code == "storage_damaged" || fault.code == "ledger_corrupt") {
    return "the file is damaged; `epsilog audit verify` says where";
  }
  if (fault.code == engine::kPoisoned) return "nobody can write to the ledger until it is recovered";
  return without_paths(fault.message);
}

Json faults_of(const std::vector<engine::AuditFault>& faults) {
  Json list = Json::array();
  for (const engine::AuditFault& fault : faults) {
    if (list.size() == kFaultsShownMax) break;
    list.push_back({{"record", fault.record}, {"code", fault.code}, {"message", message_of(fault)}});
  }
  return list;
}

Json failure_of(const Verification& verification) {
  if (!verification.failure) return nullptr;
  try {
    std::rethrow_exception(verification.failure);
  } catch (const std::exception& error) {
    return Json::parse(problem(error, "").body);
  } catch (...) {
    return problem_object(HttpProblem(500, "internal", "the daemon failed"));
  }
}

Response verification_response(const Call& call, int status, const Verification& verification) {
  Json object{{"ledger_id", call.context.ledger_id},
              {"id", verification.id},
              {"state", name_of(verification.state)},
              {"percent", verification.percent},
              {"by", verification.by},
              {"storage", name_of(verification.storage)},
              {"started_at", verification.started_at},
              {"ended_at", wire::or_null(verification.ended_at)},
              {"problem", failure_of(verification)}};
  if (const auto& report = verification.report) {
    object["ok"] = report->ok;
    object["records"] = report->records;
    object["faults_count"] = report->faults.size();
    object["faults"] = faults_of(report->faults);
    object["notes"] = faults_of(report->notes);
    object["claimed_approvals"] = wire::claimed_approvals_json(*report);
    object["ended_credentials"] = wire::ended_credentials_json(*report);
  }
  return json_response(status, object);
}

/// Throws  NotFound.
Verification require_verification(const std::optional<Verification>& found) {
  if (!found) throw NotFound("no verification of that id was begun, or it is long over");
  return *found;
}

Response verify(Call& call) {
  BodyObject body(call.read_body(kBodyBytesMax));
  const StorageCheck storage = storage_of(body.string("storage").value_or("full"));
  body.expect_no_more();
  const AuditJobs::StartedVerification begun =
      call.context.audits.start_verification(call.caller.actor.name, storage);
  if (!begun.fresh) {
    throw HttpProblem(409, "verification_running",
                      "verification " + begun.verification.id + " runs: wait until it ends, or cancel it");
  }
  Response response = verification_response(call, 201, begun.verification);
  response.headers.push_back({"location", "/v1/verifications/" + begun.verification.id});
  return response;
}

Response read_verification(Call& call) {
  call.wait_for_slot();
  const std::int64_t seconds = call.number("wait", kLongPollSecondsMax, 0);
  Verification found = require_verification(call.context.audits.find(call.id));
  if (seconds > 0 && !found.ended()) {
    const auto ended = [&audits = call.context.audits, id = call.id] {
      const auto one = audits.find(id);
      return !one || one->ended();
    };
    call.poll(
        seconds, [&] { return PollCondition{.decisions = false, .ended = ended}; },
        [&] {
          found = require_verification(call.context.audits.find(call.id));
          return found.ended();
        });
  }
  return verification_response(call, 200, found);
}

Response cancel_verification(Call& call) {
  expect_empty(call.read_body(kBodyBytesMax));
  return verification_response(call, 200, require_verification(call.context.audits.cancel(call.id)));
}

std::vector<Accountant> accountants_of(const std::string& name) {
  const auto& all = accounting::kAccountants;
  if (name == "all") return {all.begin(), all.end()};
  std::string names;
  for (const Accountant accountant : all) {
    if (accounting::name(accountant) == name) return {accountant};
    names += std::string(accounting::name(accountant)) + ", ";
  }
  throw BadBody("accountant: " + names + "or all is expected");
}

engine::ReaccountQuestion question_of(BodyObject& body) {
  engine::ReaccountQuestion question;
  question.dataset = body.string("dataset").value_or("");
  question.accountants = accountants_of(body.string("accountant").value_or("all"));
  question.scopes = body.boolean("scopes").value_or(false);
  question.laws_max = kLawsMax;
  const auto delta = body.number("delta");
  const auto epsilon = body.number("epsilon");
  if (delta && epsilon) throw BadBody("delta and epsilon: give either, the other is what is asked");
  if (delta) question.delta = accounting::parse_rational(*delta, "delta");
  if (epsilon) question.epsilon = accounting::parse_rational(*epsilon, "epsilon");
  body.expect_no_more();
  return question;
}

Response reaccount(Call& call) {
  BodyObject body(call.read_body(kBodyBytesMax));
  const engine::ReaccountQuestion question = question_of(body);
  const AuditJobs::ReaccountLock composing = call.context.audits.try_lock_reaccount();
  if (!composing)
    throw HttpProblem(503, "overloaded", "another reaccount is being composed").with_retry_after(5);
  const auto until = std::chrono::steady_clock::now() + kReaccountTimeMax;
  const auto too_long = [] {
    return HttpProblem(503, "time_limit_exceeded",
                       "to compose what is on record takes longer than the daemon does; the command goes on");
  };
  const auto look = [&](double) {
    if (call.context.audits.stopping()) throw admission_problem(AdmissionDenial::stopping);
    if (std::chrono::steady_clock::now() >= until) throw too_long();
  };
  Json datasets = Json::array();
  try {
    for (const engine::Reaccount& answer :
         engine::reaccount(call.context.ledger_path, question, engine::Progress(look))) {
      datasets.push_back(command::object_json(command::reaccount_figures(answer)));
    }
  } catch (const engine::TooManyLaws&) {
    throw too_long();
  }
  call.reidentify_caller();  // it took its time
  return json_response(200, {{"ledger_id", call.context.ledger_id},
                             {"label", engine::kReaccountLabel},
                             {"datasets", std::move(datasets)}});
}

}  // namespace

std::vector<Route> audit_routes() {
  return {{"POST", "/v1/verifications", RouteAccess::auditor, true, {}, &verify},
          {"GET", "/v1/verifications/{id}", RouteAccess::auditor, false, {"wait"}, &read_verification},
          {"POST", "/v1/verifications/{id}/cancel", RouteAccess::auditor, true, {}, &cancel_verification},
          {"POST", "/v1/reaccounts", RouteAccess::auditor, true, {}, &reaccount, Effort::computes}};
}

}  // namespace epsilog::serve
