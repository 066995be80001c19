// GET /v1/me, budgets, pending, decisions, events: what is read, by each as far as they see it.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include "answer_json.hpp"
#include "call.hpp"
#include "epsilog/accounting/errors.hpp"
#include "problem.hpp"
#include "report_json.hpp"
#include "route.hpp"
#include "sight.hpp"

namespace epsilog::serve {
namespace {

using command::AnswerKind;
using command::Json;
using engine::Answer;
using engine::Duty;

constexpr std::int64_t kPageMost = engine::kNewestPageMax;
constexpr std::int64_t kPage = 100;

Json duties(const Caller& caller) {
  Json list = Json::array();
  for (const Duty duty : {Duty::curate, Duty::audit, Duty::operate}) {
    if (caller.has(duty)) list.push_back(engine::name(duty));
  }
  return list;
}

Response me(Call& call) {
  const Caller& caller = call.caller;
  const engine::Principal* principal = caller.principal;
  Json object{
      {"principal", principal == nullptr ? Json(nullptr) : Json(principal->name)},
      {"via", caller.who.via},
      {"curator_socket", caller.curator_socket},
      {"duties", duties(caller)},
      {"roles", principal == nullptr ? Json::array() : Json(principal->roles)},
      {"purposes", principal == nullptr || !principal->purposes ? Json(nullptr) : Json(*principal->purposes)},
      {"ledger_id", call.parts.ledger_id},
      {"policy_version", caller.view->policy_version},
      {"policy_sha256", caller.view->policy_sha256}};
  return json(200, object);
}

/// The dataset that is asked about, "" for all. Throws  NotFound.
std::string dataset_of(Call& call) {
  std::string dataset = call.text("dataset");
  if (!dataset.empty()) require_dataset(call.caller, dataset);
  call.about = dataset;
  return dataset;
}

Response budgets(Call& call) {
  call.run();
  const std::string dataset = dataset_of(call);
  const auto accounts = seen(call.caller, call.engine().budget(dataset));
  // A note is about a dataset, and so is said to who sees an account of it.
  std::vector<std::string> notes;
  for (const engine::Dataset& one : call.caller.view->policy.datasets()) {
    const bool shown = std::any_of(accounts.begin(), accounts.end(),
                                   [&](const auto& account) { return account.dataset == one.name; });
    if (!shown) continue;
    for (std::string& note : call.engine().notes(one.name)) notes.push_back(std::move(note));
  }
  return json_text(200, command::budget_json(call.parts.ledger_id, accounts, notes));
}

/// What the caller sees of it as one of a list; nothing where it is withheld or not theirs.
void add(Json& list, const Caller& caller, const Answer& answer, AnswerKind kind) {
  if (const auto visible = seen(caller, answer)) list.push_back(command::answer_object(*visible, kind));
}

Response pending(Call& call) {
  call.run();
  const std::string dataset = dataset_of(call);
  Json requests = Json::array();
  bool more = false;
  call.engine().pending(dataset, [&](const Answer& answer) {
    if (requests.size() < static_cast<std::size_t>(kPageMost)) {
      add(requests, call.caller, answer, AnswerKind::pending);
    } else {
      more = more || sees(call.caller, answer);
    }
  });
  return json(200, {{"ledger_id", call.parts.ledger_id}, {"requests", requests}, {"more", more}});
}

bool sees_all(const Caller& caller) {
  return caller.has(Duty::audit) || caller.has(Duty::curate);
}

Response decisions(Call& call) {
  call.run();
  engine::NewestPage page;
  page.dataset = dataset_of(call);
  page.before = call.text("before");
  page.limit = std::max<std::int64_t>(call.number("limit", kPageMost, kPage), 1);
  if (!sees_all(call.caller)) page.asker = call.caller.who.name;
  Json list = Json::array();
  const engine::HistoryEnd end = call.engine().newest(
      page, [&](const Answer& answer) { add(list, call.caller, answer, AnswerKind::history); });
  return json(200, {{"ledger_id", call.parts.ledger_id},
                    {"decisions", list},
                    {"next", end.more ? Json(end.cursor) : Json(nullptr)}});
}

Response one_decision(Call& call) {
  call.run();
  return standing(call, call.shown());
}

/// Those after a decision, oldest first. An analyst's own, and all of it for who oversees.
Response events(Call& call) {
  call.run();
  engine::HistoryPage page;
  page.after = std::to_string(call.number("after", std::int64_t{1} << 53, 0));
  page.limit = std::max<std::int64_t>(call.number("limit", kPageMost, kPage), 1);
  std::vector<Answer> read;
  engine::HistoryEnd end;
  const auto look = [&] {
    page.asker = sees_all(call.caller) ? "" : call.caller.who.name;
    read.clear();
    end = call.engine().history(page, [&](const Answer& answer) { read.push_back(answer); });
    page.after = end.cursor;
    return end.more || std::any_of(read.begin(), read.end(),
                                   [&](const Answer& answer) { return sees(call.caller, answer); });
  };
  const std::int64_t seconds = call.number("wait", kWaitMost, 0);
  if (!look() && seconds > 0) call.poll(seconds, [&](bool changed) { return changed && look(); });
  Json list = Json::array();
  for (const Answer& answer : read) add(list, call.caller, answer, AnswerKind::history);
  std::int64_t next = 0;
  std::from_chars(end.cursor.data(), end.cursor.data() + end.cursor.size(), next);
  return json(200,
              {{"ledger_id", call.parts.ledger_id}, {"events", list}, {"next", next}, {"more", end.more}});
}

}  // namespace

std::vector<Route> reading_routes() {
  return {{"GET", "/v1/me", Who::known, false, {}, &me},
          {"GET", "/v1/budgets", Who::known, false, {"dataset"}, &budgets},
          {"GET", "/v1/pending", Who::known, false, {"dataset"}, &pending},
          {"GET", "/v1/decisions", Who::known, false, {"dataset", "before", "limit"}, &decisions},
          {"GET", "/v1/decisions/{id}", Who::known, false, {}, &one_decision},
          {"GET", "/v1/events", Who::known, false, {"after", "limit", "wait"}, &events}};
}

}  // namespace epsilog::serve
