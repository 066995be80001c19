// GET /v1/me, budgets, pending, decisions, events: what is read, by each as far as they see it.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include "answer_json.hpp"
#include "call.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/visible_budget.hpp"
#include "list_page.hpp"
#include "problem.hpp"
#include "report_json.hpp"
#include "route.hpp"
#include "visibility.hpp"

namespace epsilog::serve {
namespace {

using engine::Answer;
using engine::Duty;
using wire::AnswerKind;
using wire::Json;

constexpr std::int64_t kPageDecisionsMax = engine::kNewestPageMax;
constexpr std::int64_t kPageDecisions = 100;

Json duties(const Caller& caller) {
  Json list = Json::array();
  for (const Duty duty : {Duty::curate, Duty::audit, Duty::operate}) {
    if (caller.has_duty(duty)) list.push_back(engine::name(duty));
  }
  return list;
}

Response me(Call& call) {
  const Caller& caller = call.caller;
  const engine::Principal* principal = caller.principal;
  Json object{
      {"principal", principal == nullptr ? Json(nullptr) : Json(principal->name)},
      {"via", caller.actor.via},
      {"curator_socket", caller.curator_socket},
      {"duties", duties(caller)},
      {"roles", principal == nullptr ? Json::array() : Json(principal->roles)},
      {"purposes", principal == nullptr || !principal->purposes ? Json(nullptr) : Json(*principal->purposes)},
      {"ledger_id", call.context.ledger_id},
      {"policy_version", caller.view->policy_version},
      {"policy_sha256", caller.view->policy_sha256}};
  return json_response(200, object);
}

/// The dataset that is asked about, "" for all.
/// Throws  NotFound.
std::string dataset_of(Call& call) {
  std::string dataset = call.text("dataset");
  if (!dataset.empty()) require_dataset(call.caller, dataset);
  call.dataset = dataset;
  return dataset;
}

Response budgets(Call& call) {
  call.wait_for_slot();
  const std::string dataset = dataset_of(call);
  const engine::VisibleBudget budget =
      engine::visible_budget(call.engine(), call.caller.view->policy, viewer(call.caller), dataset);
  return json_text_response(200, wire::budget_json(call.context.ledger_id, budget.accounts, budget.notes));
}

Response pending(Call& call) {
  call.wait_for_slot();
  engine::PendingPage page;
  page.dataset = dataset_of(call);
  page.after = call.text("after");
  page.limit = kPageDecisionsMax;
  page.rows = false;
  ListPage list(call, "requests", wire::AnswerKind::pending);
  const engine::HistoryEnd end =
      call.engine().pending_while(page, [&](const Answer& answer) { return list.add(answer); });
  return list.finish({{"more", end.more}, {"next", end.more ? Json(end.cursor) : Json(nullptr)}});
}

std::string listed_asker(const Caller& caller) {
  return engine::listed_asker(caller.view->policy, viewer(caller));
}

Response decisions(Call& call) {
  call.wait_for_slot();
  engine::HistoryPage page;
  page.newest_first = true;
  page.dataset = dataset_of(call);
  page.after = call.text("before");
  page.limit = call.number("limit", kPageDecisionsMax, kPageDecisions, 1);
  page.asker = listed_asker(call.caller);
  page.rows = false;
  ListPage list(call, "decisions", wire::AnswerKind::history);
  const engine::HistoryEnd end =
      call.engine().history(page, [&](const Answer& answer) { return list.add(answer); });
  return list.finish({{"next", end.more ? Json(end.cursor) : Json(nullptr)}});
}

Response one_decision(Call& call) {
  call.wait_for_slot();
  return request_state_response(call, call.visible_answer());
}

/// Those after a decision, oldest first. An analyst's own, and all of it for who oversees.
Response events(Call& call) {
  call.wait_for_slot();
  engine::HistoryPage page;
  page.after = std::to_string(call.number("after", std::int64_t{1} << 53, 0));
  page.limit = call.number("limit", kPageDecisionsMax, kPageDecisions, 1);
  page.rows = false;
  std::vector<Answer> read;
  engine::HistoryEnd end;
  const auto asker = [&] { return listed_asker(call.caller); };
  const auto look = [&] {
    page.asker = asker();
    read.clear();
    std::size_t cells = 0;
    end = call.engine().history(page, [&](const Answer& answer) {
      read.push_back(answer);
      cells += cell_count(answer);
      return cells < kPageCells;
    });
    page.after = end.cursor;
    return end.more || std::any_of(read.begin(), read.end(),
                                   [&](const Answer& answer) { return may_see(call.caller, answer); });
  };
  const std::int64_t seconds = call.number("wait", kLongPollSecondsMax, 0);
  if (!look() && seconds > 0)
    call.poll(
        seconds, [&] { return PollCondition{.asker = asker()}; }, look);
  ListPage list(call, "decisions", wire::AnswerKind::history);
  std::int64_t next = 0;
  std::from_chars(end.cursor.data(), end.cursor.data() + end.cursor.size(), next);
  for (const Answer& answer : read) {
    const bool last = &answer == &read.back();
    if (list.add(answer) || last) continue;
    next = answer.recorded.seq;
    end.more = true;
    break;
  }
  return list.finish({{"next", next}, {"more", end.more}});
}

}  // namespace

std::vector<Route> reading_routes() {
  return {{"GET", "/v1/me", RouteAccess::known, false, {}, &me},
          {"GET", "/v1/budgets", RouteAccess::known, false, {"dataset"}, &budgets},
          {"GET", "/v1/pending", RouteAccess::known, false, {"dataset", "after"}, &pending, Effort::computes},
          {"GET",
           "/v1/decisions",
           RouteAccess::known,
           false,
           {"dataset", "before", "limit"},
           &decisions,
           Effort::computes},
          {"GET", "/v1/decisions/{id}", RouteAccess::known, false, {}, &one_decision},
          {"GET",
           "/v1/events",
           RouteAccess::known,
           false,
           {"after", "limit", "wait"},
           &events,
           Effort::computes}};
}

}  // namespace epsilog::serve
