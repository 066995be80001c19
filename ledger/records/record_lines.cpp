#include "records.hpp"

#include <tuple>

#include "epsilog/ledger/canonical_json.hpp"
#include "record_members.hpp"

namespace epsilog::ledger {
namespace {

/// Of the line without its movements, about; and of one of them.
constexpr std::size_t kLineBytes = 768;
constexpr std::size_t kMovementBytes = 128;

std::size_t size_expected(const Record& record) {
  const auto* decision = std::get_if<DecisionRecord>(&record);
  return kLineBytes + (decision == nullptr ? 0 : kMovementBytes * decision->movements.size());
}

/// Looks at the names of a line up to "kind", and at nothing else of it. `member` is the last that it came
/// to.
std::string kind_of(CanonicalTokens tokens, std::string& member) {
  std::string decoded;
  if (!tokens.take('{')) tokens.fail("a record is an object");
  do {
    if (tokens.next() != '"') tokens.fail("a name is missing");
    member = tokens.string(decoded);
    if (!tokens.take(':')) tokens.fail("a colon is missing");
    if (member == "kind") {
      if (tokens.next() != '"') throw LedgerCorrupt("is no string");
      return std::string(tokens.string(decoded));
    }
    tokens.extent();
  } while (tokens.take(','));
  if (!tokens.take('}')) throw LedgerCorrupt("neither a comma nor a brace follows it");
  member = "kind";
  throw LedgerCorrupt("is missing");
}

std::string kind_of(std::string_view text) {
  std::string member;
  try {
    return kind_of(CanonicalTokens(text), member);
  } catch (const LedgerCorrupt& error) {
    throw LedgerCorrupt(member.empty() ? error.what() : member + ": " + error.what());
  }
}

Record empty_record(std::string_view kind) {
  if (kind == "decision") return DecisionRecord{};
  if (kind == "plan") return PlanRecord{};
  if (kind == "account") return AccountRecord{};
  if (kind == "limit_change") return LimitChange{};
  if (kind == "limit_removal") return LimitRemoval{};
  if (kind == "policy") return PolicyRecord{};
  if (kind == "location") return PolicyLocation{};
  if (kind == "relocation") return Relocation{};
  if (kind == "clock") return ClockEvent{};
  if (kind == "ledger") return LedgerRecord{};
  if (kind == "credential") return CredentialEvent{};
  if (kind == "key") return KeyEvent{};
  if (kind == "recovery") return RecoveryEvent{};
  if (kind == "sealed" || kind == "unsealed")
    return SealEvent{.unsealed = kind == "unsealed", .at = "", .by = ""};
  if (kind == "feature") return FeatureRecord{};
  throw LedgerCorrupt("kind: is none that is known");
}

auto tied(const PolicyVersion& version) {
  return std::tie(version.version, version.yaml, version.sha256, version.base_dir, version.applied_at,
                  version.applied_by, version.why, version.after_decision, version.event);
}

auto tied(const accounting::Balance& balance) {
  return std::tie(balance.limit, balance.spent, balance.reserved);
}

}  // namespace

bool operator==(const PlanRecord& a, const PlanRecord& b) {
  return a.number == b.number && a.policy_version == b.policy_version && a.question == b.question &&
         a.release == b.release && a.post_processing == b.post_processing && a.first_at == b.first_at;
}

bool operator==(const Movement& a, const Movement& b) {
  return a.account == b.account && a.position == b.position && a.spent_change == b.spent_change &&
         a.reserved_change == b.reserved_change && tied(a.balance) == tied(b.balance);
}

bool operator==(const PolicyRecord& a, const PolicyRecord& b) {
  return tied(a.version) == tied(b.version) && a.implies == b.implies;
}

std::string line_text(const Line& line, DecimalsOfAccount decimals) {
  JsonWriter json;
  json.reserve(size_expected(line.record));
  json.raw("{");
  MemberWriter members(json, &line, decimals);
  std::visit([&](const auto& record) { each_member(members, record); }, line.record);
  return json.raw("}").take();
}

Line parse_line(std::string_view text, DecimalsOfAccount decimals) {
  CanonicalTokens tokens(text);
  if (text.size() > kLineBytesMax) tokens.fail("is too long");
  Line line{.record = empty_record(kind_of(text))};
  MemberReader members(tokens, &line, decimals);
  std::visit([&](auto& record) { each_member(members, record); }, line.record);
  members.close();
  if (!tokens.done()) tokens.fail("something follows the value");
  return line;
}

}  // namespace epsilog::ledger
