#include "ledger/support/told_history.hpp"

#include <sqlite3.h>

#include <functional>
#include <stdexcept>
#include <vector>

#include "decision_rows.hpp"
#include "epsilog/ledger/inspection.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "row_codec.hpp"

namespace epsilog::ledger_tests {
namespace {

using nlohmann::json;

/// Every row as an array of its columns.
std::vector<json> rows_of(const std::string& path, const std::string& sql) {
  sqlite3* db = nullptr;
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READWRITE, nullptr) != SQLITE_OK ||
      sqlite3_prepare_v2(db, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) {
    const std::string message = sqlite3_errmsg(db);
    sqlite3_close(db);
    throw std::runtime_error(message + ": " + sql);
  }
  std::vector<json> rows;
  while (sqlite3_step(statement) == SQLITE_ROW) {
    json row = json::array();
    for (int column = 0; column < sqlite3_column_count(statement); ++column) {
      if (sqlite3_column_type(statement, column) == SQLITE_INTEGER) {
        row.push_back(sqlite3_column_int64(statement, column));
      } else if (sqlite3_column_type(statement, column) == SQLITE_NULL) {
        row.push_back(nullptr);
      } else {
        row.push_back(reinterpret_cast<const char*>(sqlite3_column_text(statement, column)));
      }
    }
    rows.push_back(std::move(row));
  }
  sqlite3_finalize(statement);
  sqlite3_close(db);
  return rows;
}

std::int64_t schema_of(const std::string& path) {
  return rows_of(path, "PRAGMA user_version").at(0).at(0).get<std::int64_t>();
}

json release_of_rows(const std::string& path, const std::string& id, std::int64_t schema) {
  const std::string unit = schema >= 2 ? ", unit, relation" : ", '', ''";
  const auto rows = rows_of(path,
                            "SELECT mechanism, arithmetic, requested, charged, adjusted, published, cells,"
                            " post_processing, value, components" +
                                unit + " FROM release WHERE decision_id = '" + id + "'");
  if (rows.empty()) return nullptr;
  json release = rows.at(0);
  for (const int structured : {6, 7, 8, 9})
    release[structured] = json::parse(release[structured].get<std::string>());
  return release;
}

std::string text_of(const std::optional<accounting::Rational>& number) {
  return number ? accounting::text(*number) : "";
}

json release_of(const ledger::StoredDecision& decision) {
  if (!decision.release) return nullptr;
  const ledger::ReleaseRecord& release = *decision.release;
  json values = json::array();
  for (const auto& value : decision.values) values.push_back(accounting::text(value));
  return {release.mechanism,
          release.arithmetic,
          accounting::text(release.requested),
          accounting::text(release.charged.rational()),
          accounting::text(release.adjusted),
          text_of(release.published),
          release.cells.empty() ? std::vector<std::string>() : release.cells.lists().front(),
          json::parse(ledger::post_processing_json(decision.post_processing)),
          values,
          json::parse(ledger::components_json(release.components, decision.component_values)),
          release.unit,
          release.relation};
}

json accounts_of(const std::vector<ledger::AccountState>& accounts) {
  json all = json::array();
  for (const auto& account : accounts) {
    all.push_back({{"id", account.id},
                   {"scope", account.scope},
                   {"measure", account.measure},
                   {"limit", account.balance.limit},
                   {"spent", account.balance.spent},
                   {"reserved", account.balance.reserved}});
  }
  return all;
}

json decision_of(const ledger::StoredDecision& decision) {
  const ledger::DecisionDraft& draft = decision.draft;
  json charges = json::array();
  for (const auto& charge : decision.charges) charges.push_back({charge.account, charge.amount});
  return {{"seq", decision.seq},
          {"row",
           {decision.id, decision.created_at, draft.principal, draft.key, draft.request_digest, draft.request,
            draft.dataset, draft.policy_version, ledger::outcome_name(draft.outcome), draft.reasons,
            draft.parent, draft.deadline, static_cast<std::int64_t>(decision.rules), decision.program.version,
            decision.program.commit, decision.decided_under}},
          {"accounts", accounts_of(decision.accounts)},
          {"charges", charges},
          {"release", release_of(decision)}};
}

json decisions_of_rows(const std::string& path, std::int64_t schema) {
  const std::string more = schema >= 3
                               ? "parent, deadline, rules, program_version, program_commit, decided_under"
                           : schema == 2 ? "parent, deadline, 1, '', '', 0"
                                         : "'', '', 1, '', '', 0";
  json decisions = json::array();
  for (json& row : rows_of(path,
                           "SELECT seq, accounts, id, created_at, principal, key, request_digest, request,"
                           " dataset, policy_version, outcome, reasons, " +
                               more + " FROM decision ORDER BY seq")) {
    const json seq = row.at(0);
    const json accounts = json::parse(row.at(1).get<std::string>());
    const std::string id = row.at(2);
    row.erase(row.begin(), row.begin() + 2);
    decisions.push_back(
        {{"seq", seq},
         {"row", row},
         {"accounts", accounts},
         {"charges", rows_of(path, "SELECT account_id, amount FROM charge WHERE decision_id = '" + id +
                                       "' ORDER BY account_id")},
         {"release", release_of_rows(path, id, schema)}});
  }
  return decisions;
}

}  // namespace

json told_by_rows(const std::string& path) {
  const std::int64_t schema = schema_of(path);
  const std::string placed = schema >= 3 ? "after_decision, event" : "-1, 0";
  json told = {
      {"meta", rows_of(path, "SELECT ledger_id, created_at FROM meta")},
      {"policies", rows_of(path, "SELECT version, yaml, sha256, base_dir, applied_at, applied_by, " + placed +
                                     " FROM policy_version ORDER BY 1")},
      {"accounts",
       rows_of(path, "SELECT id, dataset, scope, measure, budget, spent, reserved FROM account ORDER BY 1")},
      {"limit changes",
       rows_of(path,
               "SELECT seq, after_decision, policy_version, account_id, old_limit, new_limit,"
               " changed_at, by, why FROM limit_change ORDER BY 1")},
      {"decisions", decisions_of_rows(path, schema)},
      {"limit removals", json::array()},
      {"clock events", json::array()},
      {"migrations", json::array()},
      {"relocations", json::array()},
      {"open", json::array()}};
  if (schema >= 2) {
    const std::string event = schema >= 3 ? ", event" : ", 0";
    told["clock events"] = rows_of(path, "SELECT seq, after_decision, kind, ledger_time, wall_clock, by" +
                                             event + " FROM clock_event ORDER BY 1");
    told["migrations"] =
        rows_of(path, "SELECT version, after_decision, at" + event + " FROM schema_migration ORDER BY 1");
    told["open"] = rows_of(path, "SELECT decision_id FROM open_decision ORDER BY 1");
  }
  if (schema >= 3) {
    told["limit removals"] = rows_of(path,
                                     "SELECT seq, after_decision, policy_version, account_id, removed_at, by,"
                                     " why FROM limit_removal ORDER BY 1");
    told["relocations"] = rows_of(
        path, "SELECT seq, event, after_decision, dataset, path, at, by, why FROM relocation ORDER BY 1");
  }
  return told;
}

json told_by_library(const std::string& path) {
  auto snapshot = ledger::Ledger::open_read_only(path).snapshot();
  ledger::Inspection inspection(snapshot);
  const auto facts = inspection.facts();
  json told;
  told["meta"].push_back(json::array({facts.ledger_id, facts.created_at}));
  for (const char* list : {"policies", "accounts", "limit changes", "decisions", "limit removals",
                           "clock events", "migrations", "relocations", "open"}) {
    told[list] = json::array();
  }
  snapshot.each_policy_version([&](const ledger::PolicyVersion& version) {
    told["policies"].push_back({version.version, version.yaml, version.sha256, version.base_dir,
                                version.applied_at, version.applied_by, version.after_decision,
                                version.event});
  });
  inspection.each_account(
      [&](const ledger::AccountState& account) {
        told["accounts"].push_back({account.id, account.dataset, account.scope, account.measure,
                                    account.balance.limit, account.balance.spent, account.balance.reserved});
      },
      [](const ledger::StoredFault& fault) { throw std::runtime_error(fault.message); });
  snapshot.each_limit_change([&](const ledger::LimitChange& change) {
    told["limit changes"].push_back({change.seq, change.after_decision, change.policy_version, change.account,
                                     change.old_limit, change.new_limit, change.changed_at, change.by,
                                     change.why});
  });
  snapshot.each_limit_removal([&](const ledger::LimitRemoval& removal) {
    told["limit removals"].push_back({removal.seq, removal.after_decision, removal.policy_version,
                                      removal.account, removal.removed_at, removal.by, removal.why});
  });
  snapshot.each_clock_event([&](const ledger::ClockEvent& event) {
    told["clock events"].push_back({event.seq, event.after_decision, event.kind, event.ledger_time,
                                    event.wall_clock, event.by, event.event});
  });
  for (const auto& step : snapshot.schema_migrations()) {
    told["migrations"].push_back({step.version, step.after_decision, step.at, step.event});
  }
  snapshot.each_relocation([&](const ledger::Relocation& moved) {
    told["relocations"].push_back({moved.seq, moved.event, moved.after_decision, moved.dataset, moved.path,
                                   moved.at, moved.by, moved.why});
  });
  inspection.each_decision(
      [&](const ledger::StoredDecision& decision) { told["decisions"].push_back(decision_of(decision)); },
      [](const ledger::MalformedRecord& fault) { throw std::runtime_error(fault.message); },
      [](const ledger::StoredFault& fault) { throw std::runtime_error(fault.message); });
  for (const std::string& id : inspection.open_ids()) told["open"].push_back(json::array({id}));
  return told;
}

std::string difference(const json& one, const json& other) {
  constexpr std::size_t kShown = 3;
  std::string text;
  std::size_t shown = 0;
  for (const json& step : json::diff(one, other)) {
    if (++shown > kShown) break;
    const json::json_pointer at(step.at("path").get<std::string>());
    text += step.dump() + (one.contains(at) ? " was " + one.at(at).dump() : "") + "\n";
  }
  return text;
}

}  // namespace epsilog::ledger_tests
