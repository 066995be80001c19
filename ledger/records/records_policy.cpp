// The lines of what a policy brings: its versions and where they are, accounts and their limits.
#include "epsilog/ledger/ledger_time.hpp"
#include "record_members.hpp"

namespace epsilog::ledger {
namespace {

constexpr auto kPolicy = [](auto& members, auto& policy) {
  auto& version = policy.version;
  members.count("after_decision", version.after_decision);
  members.blind();
  members.bytes("by", version.applied_by);
  members.count("event", version.event, 1);
  members.object_text_if("implies", policy.implies);
  members.index();
  members.kind("policy");
  members.text("sha256", version.sha256, is_sha256);
  members.text("time", version.applied_at, is_time);
  members.count("version", version.version, 1);
  members.bytes_if("why", version.why);
  members.bytes_if("yaml", version.yaml);
};

constexpr auto kPlace = [](auto& members, auto& place) {
  members.bytes_if("base_dir", place.base_dir);
  members.blind();
  members.index();
  members.kind("location");
  members.count("policy_version", place.version, 1);
  members.text("time", place.applied_at, is_time);
};

constexpr auto kRelocation = [](auto& members, auto& relocation) {
  members.count("after_decision", relocation.after_decision);
  members.blind();
  members.bytes("by", relocation.by);
  members.bytes("dataset", relocation.dataset);
  members.count("event", relocation.event, 1);
  members.index();
  members.kind("relocation");
  members.bytes("path", relocation.path);
  members.count("seq", relocation.seq, 1);
  members.text("time", relocation.at, is_time);
  members.bytes_if("why", relocation.why);
};

constexpr auto kAccount = [](auto& members, auto& account) {
  members.count("account", account.id, 1);
  members.blind();
  members.bytes("dataset", account.name.dataset);
  members.index();
  members.kind("account");
  members.amount_of_measure("limit", account.limit, account.name.measure);
  members.measure("measure", account.name.measure, account.limit);
  members.bytes_if("scope", account.name.scope);
  members.text("time", account.opened_at, is_time);
};

constexpr auto kLimitChange = [](auto& members, auto& change) {
  members.count("account", change.account, 1);
  members.count("after_decision", change.after_decision);
  members.blind();
  members.bytes("by", change.by);
  members.index();
  members.kind("limit_change");
  const int decimals = members.decimals_of(change.account);
  members.amount("new", change.new_limit, decimals);
  members.amount("old", change.old_limit, decimals);
  members.count("policy_version", change.policy_version, 1);
  members.count("seq", change.seq, 1);
  members.text("time", change.changed_at, is_time);
  members.bytes_if("why", change.why);
};

constexpr auto kLimitRemoval = [](auto& members, auto& removal) {
  members.count("account", removal.account, 1);
  members.count("after_decision", removal.after_decision);
  members.blind();
  members.bytes("by", removal.by);
  members.index();
  members.kind("limit_removal");
  members.count("policy_version", removal.policy_version, 1);
  members.count("seq", removal.seq, 1);
  members.text("time", removal.removed_at, is_time);
  members.bytes_if("why", removal.why);
};

}  // namespace

void each_member(MemberWriter& members, const PolicyRecord& policy) {
  kPolicy(members, policy);
}
void each_member(MemberReader& members, PolicyRecord& policy) {
  kPolicy(members, policy);
}
void each_member(MemberWriter& members, const PolicyLocation& place) {
  kPlace(members, place);
}
void each_member(MemberReader& members, PolicyLocation& place) {
  kPlace(members, place);
}
void each_member(MemberWriter& members, const Relocation& relocation) {
  kRelocation(members, relocation);
}
void each_member(MemberReader& members, Relocation& relocation) {
  kRelocation(members, relocation);
}
void each_member(MemberWriter& members, const AccountRecord& account) {
  kAccount(members, account);
}
void each_member(MemberReader& members, AccountRecord& account) {
  kAccount(members, account);
}
void each_member(MemberWriter& members, const LimitChange& change) {
  kLimitChange(members, change);
}
void each_member(MemberReader& members, LimitChange& change) {
  kLimitChange(members, change);
}
void each_member(MemberWriter& members, const LimitRemoval& removal) {
  kLimitRemoval(members, removal);
}
void each_member(MemberReader& members, LimitRemoval& removal) {
  kLimitRemoval(members, removal);
}

}  // namespace epsilog::ledger
