#include "ledger/support/sample_records.hpp"

#include <array>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::ledger_tests {
namespace {

using namespace epsilog::ledger;
using accounting::Delta;
using accounting::Epsilon;
using accounting::PostProcessing;
using accounting::Rational;

constexpr const char* kTime = "2026-01-31T23:59:59.999Z";
constexpr const char* kLater = "2026-02-28T00:00:00.000Z";
constexpr const char* kDecision = "01KGABCDEFGHJKMNPQRSTVWXYZ";
constexpr const char* kParent = "01KGABCDEFGHJKMNPQRSTVWXY0";
const std::string kHash(64, 'b');
const std::string kBytes = "\xFF\n";

Line line(Record record) {
  Line made{.index = 7, .record = std::move(record)};
  for (std::size_t i = 0; i < made.blind.size(); ++i) made.blind.at(i) = static_cast<std::uint8_t>(0xA0 + i);
  return made;
}

ComponentRecord least_component() {
  return {.statistic = "",
          .epsilon = Epsilon::parse_down("0.5"),
          .sensitivity = 1,
          .scale = Rational(7, 3),
          .grid = 1,
          .adjusted = Rational(1, 2),
          .published_note = ""};
}

ComponentRecord whole_component() {
  return {.statistic = "sum",
          .epsilon = Epsilon::parse_down("0.5"),
          .delta = Delta::parse_down("0.000001"),
          .sensitivity = 10,
          .sensitivity_l2_squared = Rational(100),
          .grid_sensitivity = Rational(11),
          .grid_sensitivity_l2_squared = Rational(101),
          .scale = Rational(7, 3),
          .grid = Rational(1, 1024),
          .centre = Rational(-5, 2),
          .bound = Rational(64),
          .coordinates = 3,
          .precision = 53,
          .adjusted = Rational(49, 100),
          .adjusted_delta = Rational(1, 3'000'000),
          .rho = Rational(1, 7),
          .published = Rational(1, 2),
          .published_note = "not a bound"};
}

PlanRecord least_plan() {
  return {.number = 1, .policy_version = 1, .question = R"({"statistic":"count"})", .first_at = kTime};
}

PlanRecord whole_plan() {
  PlanRecord plan{.number = 12,
                  .policy_version = 3,
                  .question = R"({"dataset":"visits","epsilon":"0.5","statistic":"mean"})",
                  .first_at = kTime};
  plan.release = ReleaseRecord{.mechanism = "discrete_gaussian",
                               .arithmetic = "exact",
                               .requested = Rational(1, 2),
                               .charged = Epsilon::parse_down("0.5"),
                               .adjusted = Rational(49, 100),
                               .published = Rational(1, 2),
                               .components = {whole_component(), least_component()},
                               .cells = std::vector<std::string>{"north", "", kBytes},
                               .unit = "patient_id max_rows=3",
                               .neighbours = "add-remove"};
  plan.post_processing = {PostProcessing::Kind::mean_about, Rational(-1, 3), -10, Rational(21, 2)};
  return plan;
}

DecisionRecord least_decision() {
  return {.seq = 1,
          .id = kDecision,
          .created_at = kTime,
          .principal = "ann",
          .via = "claimed",
          .outcome = Outcome::approved,
          .build = {.version = "0.1.0", .revision = "0123abc+"},
          .policy_version = 1,
          .decided_under = 1,
          .dataset = "visits"};
}

DecisionRecord whole_decision() {
  DecisionRecord decision = least_decision();
  decision.via = "unix:1000";
  decision.key = "tuesday";
  decision.parent = kParent;
  decision.deadline = kLater;
  decision.outcome = Outcome::data_accessed;
  decision.reasons = R"([{"code":"epsilon_exceeded"}])";
  decision.policy_version = 3;
  decision.decided_under = 4;
  decision.plan = 12;
  decision.purpose = "a \"quarterly\" report";
  decision.reservation_kind = ReservationKind::data_token;
  decision.conflicting_key = "monday";
  decision.verb = "approve";
  decision.why = "as agreed\n";
  decision.component_values = {{Rational(-5, 2), 0}, {Rational(1, 3), 7}};
  decision.values = {Rational(22, 7), -1};
  decision.token_sha256.emplace().fill(0xC5);
  decision.movements = {
      {.account = 1, .position = 2, .spent_change = 500'000'000'000, .balance = {1'000'000'000'000, 1, 0}},
      {.account = 2, .reserved_change = -1, .balance = {1, 0, 0}},
      {.account = 4,
       .position = 1,
       .spent_change = std::int64_t{1} << 61,
       .reserved_change = -(std::int64_t{1} << 61),
       .balance = {std::int64_t{1} << 61, std::int64_t{1} << 61, 123'456'789}}};
  return decision;
}

PolicyVersion version() {
  return {.version = 2,
          .yaml = "",
          .sha256 = kHash,
          .base_dir = "",
          .applied_at = kTime,
          .applied_by = "cleo",
          .event = 2};
}

PolicyVersion whole_version() {
  PolicyVersion whole = version();
  whole.yaml = "version: 1\ndatasets: []\n";
  whole.why = "the board agreed";
  whole.after_decision = 5;
  whole.event = 3;
  return whole;
}

}  // namespace

int sample_decimals(std::int64_t account) {
  constexpr std::array kMeasures{"epsilon", "delta", "rho", "rdp(8)"};
  if (account < 1 || account > std::ssize(kMeasures)) throw LedgerCorrupt("has no line");
  return grid_decimals(kMeasures.at(static_cast<std::size_t>(account - 1)));
}

std::vector<SampleRecord> minimal_records() {
  return {
      {"ledger", line(LedgerRecord{.ledger_id = std::string(32, 'd'), .created_at = kTime})},
      {"policy", line(PolicyRecord{.version = version()})},
      {"place", line(PolicyLocation{.version = 2, .applied_at = kTime})},
      {"relocation", line(Relocation{.seq = 1,
                                     .event = 4,
                                     .dataset = "visits",
                                     .path = "/data/visits.csv",
                                     .at = kTime,
                                     .by = "cleo",
                                     .why = ""})},
      {"account", line(AccountRecord{.id = 1, .name = {"visits", "", "epsilon"}, .opened_at = kTime})},
      {"limit_change", line(LimitChange{.seq = 1,
                                        .policy_version = 2,
                                        .account = 1,
                                        .old_limit = 1'000'000'000'000,
                                        .changed_at = kTime,
                                        .by = "cleo",
                                        .why = ""})},
      {"limit_removal",
       line(LimitRemoval{
           .seq = 1, .policy_version = 2, .account = 1, .removed_at = kTime, .by = "cleo", .why = ""})},
      {"plan", line(least_plan())},
      {"decision", line(least_decision())},
      {"clock",
       line(ClockEvent{
           .seq = 1, .kind = "backwards", .ledger_time = kTime, .wall_clock = kTime, .by = "", .event = 1})},
      {"credential", line(CredentialEvent{.seq = 1,
                                          .revoked = true,
                                          .credential = "c1",
                                          .type = "uid",
                                          .principal = "ann",
                                          .at = kTime,
                                          .by = "cleo"})},
      {"key", line(KeyEvent{.seq = 1, .verifier_key = "epsilog/d+01234567+Ac=", .at = kTime, .by = "cleo"})},
      {"recovery", line(RecoveryEvent{.seq = 1, .cause = "rebuilt", .at = kTime, .by = "cleo"})},
      {"seal", line(SealEvent{.seq = 1, .at = kTime, .by = "cleo", .why = "moves"})},
      {"feature", line(FeatureRecord{.name = "a feature", .at = kTime})},
  };
}

std::vector<SampleRecord> full_records() {
  std::vector<SampleRecord> records = minimal_records();
  const auto record = [&records]<class Kind>(std::size_t at) -> Kind& {
    return std::get<Kind>(records.at(at).line.record);
  };
  records.at(1).line = line(PolicyRecord{.version = whole_version(), .implies = R"({"datasets":[]})"});
  records.at(2).line = line(PolicyLocation{.version = 2, .base_dir = "/srv/" + kBytes, .applied_at = kTime});
  auto& relocation = record.operator()<Relocation>(3);
  relocation.after_decision = 9;
  relocation.why = "a new disk";
  records.at(4).line = line(AccountRecord{.id = 4,
                                          .name = {"visits", "principal:ann", "rdp(8)"},
                                          .limit = 2'500'000'000'001,
                                          .opened_at = kTime});
  auto& change = record.operator()<LimitChange>(5);
  change.after_decision = 3;
  change.account = 2;
  change.old_limit = 1;
  change.new_limit = 1'000'000'000'000'000'000;
  change.why = "the board agreed";
  auto& removal = record.operator()<LimitRemoval>(6);
  removal.after_decision = 3;
  removal.why = "no longer needed";
  records.at(7).line = line(whole_plan());
  records.at(8).line = line(whole_decision());
  auto& clock = record.operator()<ClockEvent>(9);
  clock.after_decision = 5;
  clock.kind = "confirmed";
  clock.by = "cleo";
  clock.event = 6;
  auto& credential = record.operator()<CredentialEvent>(10);
  credential.revoked = false;
  credential.type = "token";
  credential.until = kLater;
  credential.value = kHash;
  credential.why = "joined";
  auto& key = record.operator()<KeyEvent>(11);
  key.retired = true;
  key.why = "lost";
  auto& recovery = record.operator()<RecoveryEvent>(12);
  recovery.restored = 4;
  recovery.dropped = 2;
  recovery.why = "the disk came back";
  return records;
}

}  // namespace epsilog::ledger_tests
