// The lines of what happens to the ledger as a whole: its beginning, clocks, credentials, keys,
// recoveries, seals, features.
#include <array>

#include "epsilog/ledger/ledger_time.hpp"
#include "record_members.hpp"

namespace epsilog::ledger {
namespace {

constexpr std::uint64_t kRecordFormat = 1;
constexpr std::size_t kLedgerIdDigits = 32;

using StringWord = Word<std::string_view>;
constexpr std::array kClockWords{StringWord{"backwards", "backwards"}, StringWord{"forwards", "forwards"},
                                 StringWord{"confirmed", "confirmed"}};
constexpr std::array kCauses{StringWord{"poisoned", "poisoned"},
                             StringWord{"behind_replica", "behind_replica"}, StringWord{"rebuilt", "rebuilt"},
                             StringWord{"restored", "restored"}, StringWord{"rolled_back", "rolled_back"}};
constexpr std::array kCredentialTypes{StringWord{"uid", "uid"}, StringWord{"token", "token"}};

bool is_ledger_id(std::string_view text) {
  std::array<unsigned char, kLedgerIdDigits / 2> bytes;
  return text.size() == kLedgerIdDigits && read_hex(text, bytes.data());
}

/// A user id of the operating system in decimal digits.
bool is_uid(std::string_view text) {
  constexpr std::size_t kDigitsMax = 10;
  if (text.empty() || text.size() > kDigitsMax || (text.size() > 1 && text.front() == '0')) return false;
  std::uint64_t value = 0;
  for (const char c : text) {
    if (!is_digit(c)) return false;
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return value <= UINT32_MAX;
}

constexpr auto kBegun = [](auto& members, auto& begun) {
  members.blind();
  members.constant("format", kRecordFormat);
  members.text("id", begun.ledger_id, is_ledger_id);
  members.index();
  members.kind("ledger");
  members.text("time", begun.created_at, is_time);
};

constexpr auto kClockEvent = [](auto& members, auto& event) {
  members.count("after_decision", event.after_decision);
  members.blind();
  members.bytes_if("by", event.by);
  members.count("event", event.event, 1);
  members.index();
  members.kind("clock");
  members.count("seq", event.seq, 1);
  members.text("time", event.ledger_time, is_time);
  members.word("type", event.kind, kClockWords);
  members.text("wall_clock", event.wall_clock, is_time);
  members.require_agreement((event.kind == "confirmed") == !event.by.empty(),
                            "by: is there of a confirmation alone");
};

constexpr auto kCredential = [](auto& members, auto& event) {
  members.blind();
  members.bytes("by", event.by);
  members.text("credential", event.credential);
  members.index();
  members.kind("credential");
  members.bytes("principal", event.principal);
  members.mark_if("revoked", event.revoked);
  members.count("seq", event.seq, 1);
  members.text("time", event.at, is_time);
  members.word("type", event.type, kCredentialTypes);
  members.text_if("until", event.until, is_time);
  members.text_if("value", event.value, event.type == "uid" ? is_uid : is_sha256);
  members.bytes_if("why", event.why);
  members.require_agreement(!event.revoked || event.until.empty(),
                            "until: a credential that is revoked has none");
  members.require_agreement(event.revoked == event.value.empty(), "value: is there unless it is revoked");
};

constexpr auto kKey = [](auto& members, auto& event) {
  members.blind();
  members.bytes("by", event.by);
  members.index();
  members.kind("key");
  members.mark_if("retired", event.retired);
  members.count("seq", event.seq, 1);
  members.text("time", event.at, is_time);
  members.text("verifier_key", event.verifier_key);
  members.bytes_if("why", event.why);
};

constexpr auto kRecovery = [](auto& members, auto& event) {
  members.blind();
  members.bytes("by", event.by);
  members.word("cause", event.cause, kCauses);
  members.count_if("dropped_lines", event.dropped);
  members.count_if("found_lines", event.found);
  members.index();
  members.kind("recovery");
  members.count_if("remembered_lines", event.remembered);
  members.count_if("restored_lines", event.restored);
  members.count("seq", event.seq, 1);
  members.text("time", event.at, is_time);
  members.bytes_if("why", event.why);
};

constexpr auto kSeal = [](auto& members, auto& event) {
  members.blind();
  members.bytes("by", event.by);
  members.index();
  members.kind(event.unsealed ? "unsealed" : "sealed");
  members.count("seq", event.seq, 1);
  members.text("time", event.at, is_time);
  if (event.unsealed) {
    members.bytes_if("why", event.why);
  } else {
    members.bytes("why", event.why);
  }
};

constexpr auto kFeature = [](auto& members, auto& feature) {
  members.blind();
  members.index();
  members.kind("feature");
  members.text("name", feature.name);
  members.text("time", feature.at, is_time);
};

}  // namespace

bool is_credential_value(std::string_view type, std::string_view value) {
  if (type == "uid") return is_uid(value);
  return type == "token" && is_sha256(value);
}

void each_member(MemberWriter& members, const LedgerRecord& begun) {
  kBegun(members, begun);
}
void each_member(MemberReader& members, LedgerRecord& begun) {
  kBegun(members, begun);
}
void each_member(MemberWriter& members, const ClockEvent& event) {
  kClockEvent(members, event);
}
void each_member(MemberReader& members, ClockEvent& event) {
  kClockEvent(members, event);
}
void each_member(MemberWriter& members, const CredentialEvent& event) {
  kCredential(members, event);
}
void each_member(MemberReader& members, CredentialEvent& event) {
  kCredential(members, event);
}
void each_member(MemberWriter& members, const KeyEvent& event) {
  kKey(members, event);
}
void each_member(MemberReader& members, KeyEvent& event) {
  kKey(members, event);
}
void each_member(MemberWriter& members, const RecoveryEvent& event) {
  kRecovery(members, event);
}
void each_member(MemberReader& members, RecoveryEvent& event) {
  kRecovery(members, event);
}
void each_member(MemberWriter& members, const SealEvent& event) {
  kSeal(members, event);
}
void each_member(MemberReader& members, SealEvent& event) {
  kSeal(members, event);
}
void each_member(MemberWriter& members, const FeatureRecord& feature) {
  kFeature(members, feature);
}
void each_member(MemberReader& members, FeatureRecord& feature) {
  kFeature(members, feature);
}

}  // namespace epsilog::ledger
