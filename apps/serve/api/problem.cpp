#include "problem.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "body_object.hpp"
#include "epsilog/engine/conflict_errors.hpp"
#include "failure.hpp"

namespace epsilog::serve {
namespace {

/// One of them, or one with more behind its name: what lies beside it, or the end of a sentence.
bool is_known(std::string_view path, const std::vector<std::string>& known) {
  return std::any_of(known.begin(), known.end(), [&](const std::string& one) {
    return path.starts_with(one) && path.substr(one.size()).find('/') == std::string_view::npos;
  });
}

using wire::Json;

/// Seconds until it is worth to ask again.
constexpr int kRetrySoon = 1;

struct Meaning {
  int status;
  std::string_view detail;  ///< "": what the engine says of it, which follows from policy and request alone
};

/// Of the codes of command::describe(). What is not here is 500.
const std::map<std::string_view, Meaning>& meanings() {
  static const std::map<std::string_view, Meaning> kMeanings = {
      {"usage", {400, ""}},
      {"invalid_parameter", {400, ""}},
      {"not_found", {404, ""}},
      {"not_permitted", {403, ""}},
      {"policy_incomplete", {422, ""}},
      {"policy_error", {422, ""}},
      {"source_error", {503, "the data source is not as the policy says; its curator has to mend it"}},
      {"source_io", {503, "the data source cannot be read now"}},
      {"ledger_busy", {503, "the ledger cannot take it now: ask again, with the same key"}},
      {"ledger_files_replaced",
       {503,
        "the ledger's files were replaced under the daemon: ask again, with the same key, once it is "
        "restarted"}},
      {"ledger_io",
       {503, "the ledger cannot be written to until it is recovered; what was asked may be on record"}},
      {"replica_unavailable",
       {503, "the ledger's replica cannot be written to: ask again, with the same key"}},
      {"replica_behind", {503, "it is recorded, and told once the ledger's replica has it: ask again"}},
      {"ledger_rolled_back", {503, "the ledger is behind its replica; its curator has to recover it"}},
      {"lines_missing", {503, "lines of the ledger are missing; its curator has to recover it"}},
      {"ledger_corrupt", {503, "the ledger does not verify; its curator has to look at it"}},
      {"ledger_unusable", {503, "the ledger is not to be used as it stands; its curator has to look at it"}},
      {"needs_feature", {503, ""}},
      {"ledger_sealed",
       {503, "the ledger is sealed: nothing is recorded in it any more, and it may go on elsewhere"}},
      {"network_file_system",
       {503, "the ledger lies on a network file system; its curator has to move it to a local disk"}},
      {"not_verified", {503, "the ledger is not what was signed; its curator has to look at it"}},
      {"key_unusable", {503, "the ledger's key is not to be used"}},
      {"key_io", {503, "the ledger's key cannot be read or written now"}},
      {"entropy_unavailable", {503, "the system gave no random bits: ask again, with the same key"}},
      {"out_of_memory", {503, "there is no memory for it now"}}};
  return kMeanings;
}

std::string title(const std::string& code) {
  std::string words = code;
  for (char& c : words) {
    if (c == '_') c = ' ';
  }
  return words;
}

Response problem_response(int status, const Json& body, int retry_after) {
  Response response;
  response.status = status;
  response.content_type = kProblem;
  response.body = wire::one_object(body, -1);
  if (retry_after > 0) response.headers.push_back({"retry-after", std::to_string(retry_after)});
  return response;
}

Json object(int status, const std::string& code, const std::string& detail) {
  return {{"type", "/docs/api#" + code},
          {"title", title(code)},
          {"status", status},
          {"code", code},
          {"detail", detail}};
}

}  // namespace

std::string without_paths(std::string_view text, const std::vector<std::string>& known) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const char before = i == 0 ? ' ' : text[i - 1];
    const bool begins = text[i] == '/' && (before == ' ' || before == '\'' || before == '"' || before == '(');
    if (!begins) {
      result += text[i++];
      continue;
    }
    const std::size_t begin = i;
    // Of a path in quotes blanks are a part, and it ends with its quote.
    const bool quoted = before == '\'' || before == '"';
    while (i < text.size() && (quoted ? text[i] != before : text[i] != ' ')) ++i;
    const std::string_view path = text.substr(begin, i - begin);
    result += is_known(path, known) ? path : "(a path)";
  }
  return result;
}

std::vector<PolicyFault> without_paths(std::vector<PolicyFault> faults) {
  for (PolicyFault& fault : faults) fault.message = without_paths(fault.message);
  return faults;
}

HttpProblem::HttpProblem(int status, std::string code, std::string detail)
    : status_(status), code_(std::move(code)), detail_(std::move(detail)) {}

HttpProblem HttpProblem::with_retry_after(int seconds) && {
  retry_after_ = seconds;
  return std::move(*this);
}

Json problem_object(const HttpProblem& refused) {
  return object(refused.status(), refused.code(), refused.detail());
}

Response problem(const HttpProblem& refused) {
  Response response = problem_response(refused.status(), problem_object(refused), refused.retry_after());
  if (refused.status() == 401) response.headers.push_back({"www-authenticate", "Bearer realm=\"epsilog\""});
  return response;
}

Response problem(const std::exception& error, const std::string& dataset) {
  if (const auto* refused = dynamic_cast<const HttpProblem*>(&error)) return problem(*refused);
  if (const auto* bad = dynamic_cast<const BadBody*>(&error))
    return problem(HttpProblem(400, "invalid_body", bad->what()));
  // The command knows neither: it says what it does of what is there.
  if (dynamic_cast<const engine::PolicyConflict*>(&error) != nullptr) {
    return problem(
        HttpProblem(412, "stale_policy", "the active policy is another one by now: read it again"));
  }
  if (dynamic_cast<const engine::RequestChanged*>(&error) != nullptr) {
    return problem(HttpProblem(412, "stale_request", "the request stands otherwise by now: read it again"));
  }
  const command::Failure failure = command::describe(error);
  const auto known = meanings().find(failure.code);
  if (known == meanings().end()) {
    return problem_response(
        500, object(500, "internal", "the daemon failed; nothing is said of what it was doing"), 0);
  }
  const Meaning& meaning = known->second;
  std::string detail = meaning.detail.empty() ? without_paths(failure.message) : std::string(meaning.detail);
  if (!meaning.detail.empty() && !dataset.empty()) detail = dataset + ": " + detail;
  Json body = object(meaning.status, failure.code, detail);
  if (!failure.faults.empty()) body["faults"] = wire::faults_json(without_paths(failure.faults));
  return problem_response(meaning.status, body, meaning.status == 503 ? kRetrySoon : 0);
}

}  // namespace epsilog::serve
