#include "read_principal_charges.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "decision_id.hpp"
#include "epsilog/accounting/errors.hpp"
#include "shared_rows.hpp"
#include "stored_bytes.hpp"

namespace epsilog::ledger {
namespace {

// Each names a decision that made a charge, and its plan: decisions of one plan charge alike.
constexpr const char* kAnsweredAtOnce =
    "SELECT seq, plan FROM decision INDEXED BY decision_charged"
    " WHERE dataset = ?1 AND principal = ?2 AND time > ?3 AND outcome = 1 AND parent = 0";
constexpr const char* kSettled =
    "SELECT held.seq, held.plan FROM decision AS settled INDEXED BY decision_settled"
    " CROSS JOIN decision AS held ON held.seq = settled.parent"
    " WHERE settled.dataset = ?1 AND held.principal = ?2 AND settled.time > ?3"
    " AND settled.outcome IN (1, 9) AND settled.parent > 0";
constexpr const char* kHeld =
    "SELECT held.seq, held.plan, held.id FROM open_decision AS open"
    " CROSS JOIN decision AS held ON held.seq = open.seq"
    " WHERE held.dataset = ?1 AND held.principal = ?2 AND held.outcome = 3";

constexpr const char* kOfScope = "SELECT id FROM account WHERE dataset = ?1 AND scope = ?2 AND measure = ?3";
constexpr const char* kOfPeriods =
    "SELECT id FROM account WHERE dataset = ?1 AND scope GLOB 'period:*' AND measure = ?2";
constexpr const char* kCharge =
    "SELECT spent_change + reserved_change FROM movement WHERE seq = ?1 AND account = ?2";
constexpr const char* kCharges =
    "SELECT account, spent_change + reserved_change FROM movement WHERE seq = ?1";

std::vector<std::int64_t> accounts_of(Connection& connection, const ChargeWindow& window) {
  std::vector<std::int64_t> ids;
  const bool periods = window.scope == "period";
  Query rows = connection.query(periods ? kOfPeriods : kOfScope);
  if (periods) {
    rows.with(window.dataset, window.measure);
  } else {
    rows.with(window.dataset, window.scope, window.measure);
  }
  while (rows.step()) ids.push_back(rows.integer(0));
  return ids;
}

/// What the decisions of one plan charge to the accounts, looked up once each.
class ChargeByPlan final {
 public:
  ChargeByPlan(Connection& connection, std::vector<std::int64_t> accounts)
      : connection_(connection), accounts_(std::move(accounts)) {}

  [[nodiscard]] std::int64_t of(std::int64_t plan, std::int64_t seq) {
    const auto [known, fresh] = amounts_.emplace(plan, 0);
    if (fresh) known->second = charge_of_decision(seq);
    return known->second;
  }

 private:
  [[nodiscard]] std::int64_t charge_of_decision(std::int64_t seq) {
    if (accounts_.size() == 1) {
      Query row = connection_.query(kCharge);
      row.with(seq, accounts_.front());
      return row.step() ? row.integer(0) : 0;
    }
    Query rows = connection_.query(kCharges);
    rows.with(seq);
    while (rows.step()) {
      if (std::find(accounts_.begin(), accounts_.end(), rows.integer(0)) != accounts_.end())
        return rows.integer(1);
    }
    return 0;
  }

  Connection& connection_;
  std::vector<std::int64_t> accounts_;
  std::unordered_map<std::int64_t, std::int64_t> amounts_;
};

}  // namespace

PrincipalCharges read_principal_charges(Connection& connection, const ChargeWindow& window,
                                        std::int64_t now_ms) {
  PrincipalCharges result;
  const auto dataset = connection.shared_rows().number_of_name(connection, window.dataset);
  const auto principal = connection.shared_rows().number_of_name(connection, window.principal);
  std::vector<std::int64_t> accounts = accounts_of(connection, window);
  if (!dataset || !principal || accounts.empty()) return result;
  ChargeByPlan charge(connection, std::move(accounts));
  // Of each plan how often, and one decision that has it: no statement is read while another is.
  std::unordered_map<std::int64_t, std::pair<std::int64_t, std::int64_t>> plans;
  for (const char* sql : {kAnsweredAtOnce, kSettled}) {
    plans.clear();
    Query rows = connection.query(sql);
    rows.with(*dataset, *principal, now_ms - window.seconds * 1000);
    while (rows.step()) {
      auto& [count, seq] = plans[rows.integer(1)];
      ++count;
      seq = rows.integer(0);
    }
    for (const auto& [plan, of_plan] : plans)
      result.charged += accounting::Integer(of_plan.first) * charge.of(plan, of_plan.second);
  }
  struct Open {
    std::int64_t seq;
    std::int64_t plan;
    std::string id;
  };
  std::vector<Open> open;
  {
    Query rows = connection.query(kHeld);
    rows.with(*dataset, *principal);
    while (rows.step()) {
      open.push_back(
          {rows.integer(0), rows.integer(1), id_text(sized_bytes<16>(rows.bytes(2), "column id"))});
    }
  }
  for (Open& one : open)
    result.open_reservations.push_back({std::move(one.id), charge.of(one.plan, one.seq)});
  return result;
}

}  // namespace epsilog::ledger
