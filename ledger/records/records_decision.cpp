// The line of a decision.
#include <array>

#include "decision_id.hpp"
#include "epsilog/ledger/ledger_time.hpp"
#include "record_members.hpp"

namespace epsilog::ledger {
namespace {

constexpr std::array kOutcomes{
    Word<Outcome>{Outcome::granted, "granted"},     Word<Outcome>{Outcome::refused, "refused"},
    Word<Outcome>{Outcome::reserved, "reserved"},   Word<Outcome>{Outcome::pending, "pending"},
    Word<Outcome>{Outcome::approved, "approved"},   Word<Outcome>{Outcome::rejected, "rejected"},
    Word<Outcome>{Outcome::voided, "voided"},       Word<Outcome>{Outcome::data_accessed, "data_accessed"},
    Word<Outcome>{Outcome::forfeited, "forfeited"},
};
constexpr std::array kReservationKinds{Word<ReservationKind>{ReservationKind::plain, "plain"},
                                       Word<ReservationKind>{ReservationKind::data_token, "data_token"}};
constexpr std::string_view kNoReasons = "[]";

constexpr auto kBuildMembers = [](auto& members, auto& build) {
  members.bytes("revision", build.revision);
  members.bytes("version", build.version);
};

constexpr auto kMovement = [](auto& members, auto& movement) {
  members.count("account", movement.account, 1);
  const int decimals = members.decimals_of(movement.account);
  members.amount("limit", movement.balance.limit, decimals);
  members.count_if("position", movement.position);
  members.amount("reserved", movement.balance.reserved, decimals);
  members.change_if("reserved_change", movement.reserved_change, decimals);
  members.amount("spent", movement.balance.spent, decimals);
  members.change_if("spent_change", movement.spent_change, decimals);
};

bool ascend(const std::vector<Movement>& movements) {
  for (std::size_t i = 1; i < movements.size(); ++i) {
    if (movements[i].account <= movements[i - 1].account) return false;
  }
  return true;
}

constexpr auto kDecision = [](auto& members, auto& decision) {
  members.blind();
  members.object("build", [&](auto& inner) { kBuildMembers(inner, decision.build); });
  members.number_lists_if("component_values", decision.component_values);
  members.bytes_if("conflicting_key", decision.conflicting_key);
  members.hash_if("data_token_sha256", decision.token_sha256);
  members.bytes("dataset", decision.dataset);
  members.text_if("deadline", decision.deadline, is_time);
  members.count("decided_under", decision.decided_under, 1);
  members.text("id", decision.id, is_id);
  members.index();
  members.bytes_if("key", decision.key);
  members.kind("decision");
  members.objects_if("movements", decision.movements, kMovement);
  members.word("outcome", decision.outcome, kOutcomes);
  members.text_if("parent", decision.parent, is_id);
  members.count_if("plan", decision.plan);
  members.count("policy_version", decision.policy_version, 1);
  members.bytes("principal", decision.principal);
  members.bytes_if("purpose", decision.purpose);
  members.json_text_if("reasons", decision.reasons, kNoReasons);
  members.word_if("reservation", decision.reservation_kind, kReservationKinds);
  members.rules("rules", decision.rules);
  members.count("seq", decision.seq, 1);
  members.text("time", decision.created_at, is_time);
  members.numbers_if("values", decision.values);
  members.text_if("verb", decision.verb);
  members.text("via", decision.via, is_valid_via);
  members.bytes_if("why", decision.why);
  members.require_agreement(ascend(decision.movements), "movements: are not in the order of their accounts");
};

}  // namespace

bool is_valid_via(std::string_view via) {
  if (via == "claimed") return true;
  constexpr std::array<std::string_view, 2> kWays{"unix:", "token:"};
  for (const std::string_view way : kWays) {
    if (via.starts_with(way)) return via.size() > way.size();
  }
  return false;
}

void each_member(MemberWriter& members, const DecisionRecord& decision) {
  kDecision(members, decision);
}
void each_member(MemberReader& members, DecisionRecord& decision) {
  kDecision(members, decision);
}

}  // namespace epsilog::ledger
