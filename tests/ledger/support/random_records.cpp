#include "ledger/support/random_records.hpp"

#include <algorithm>
#include <array>
#include <random>
#include <tuple>

#include "epsilog/accounting/quantity.hpp"
#include "epsilog/ledger/canonical_json.hpp"
#include "epsilog/ledger/json_writer.hpp"
#include "epsilog/ledger/ledger_time.hpp"

namespace epsilog::ledger_tests {
namespace {

using namespace epsilog::ledger;
using accounting::PostProcessing;
using accounting::Rational;

constexpr std::int64_t kAccounts = 4;

class RandomRecords {
 public:
  explicit RandomRecords(std::uint64_t seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t end) { return random_() % end; }
  bool chance(std::uint64_t of = 2) { return below(of) == 0; }

  std::int64_t count(std::int64_t least) {
    constexpr auto kMost = static_cast<std::int64_t>(kJsonCountMax);
    if (chance(8)) return chance() ? least : kMost;
    return least + static_cast<std::int64_t>(below(chance() ? 20 : kJsonCountMax - 10));
  }
  std::int64_t units() {
    if (chance(8)) return chance() ? 0 : accounting::kUnitsMax;
    const std::uint64_t units = below(std::uint64_t{1} << (1 + below(61)));
    return static_cast<std::int64_t>(chance() ? units / 1'000'000 * 1'000'000 : units);
  }
  std::int64_t change() { return chance() ? units() : -units(); }

  std::string some_of(std::string_view characters, std::size_t size) {
    std::string text;
    while (text.size() < size) text += characters.at(below(characters.size()));
    return text;
  }
  std::string hex(std::size_t digits) { return some_of("0123456789abcdef", digits); }
  std::string plain() { return some_of("abcXYZ019 -_.:/", 1 + below(12)); }
  std::string utf8() {
    constexpr std::array<std::string_view, 14> kPieces{
        "a", "\"", "\\", "\n", "\t", "\x01", "\x1F", "\x7F", "é", "€", "𝄞", "/", "{\"hex\":\"ff\"}", "[]"};
    std::string text;
    for (std::uint64_t left = 1 + below(6); left > 0; --left) text += kPieces.at(below(kPieces.size()));
    return text;
  }
  /// Not empty.
  std::string bytes() {
    if (chance()) return plain();
    if (chance()) return utf8();
    std::string bytes;
    for (std::uint64_t left = 1 + below(6); left > 0; --left) bytes += static_cast<char>(below(256));
    return bytes;
  }
  std::string bytes_or_nothing() { return chance() ? bytes() : ""; }
  std::string time() {
    if (chance(16)) return chance() ? time_text(0) : time_text(kLatestMs);
    return time_text(static_cast<std::int64_t>(below(kLatestMs)));
  }
  std::string id() { return some_of("01234567", 1) + some_of("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 25); }
  Rational number() {
    if (chance(8)) return 0;
    Rational number(static_cast<long>(below(1'000'000)),
                    static_cast<unsigned long>(1 + below(chance() ? 1'000 : 64)));
    if (chance(8)) number *= accounting::power_of_ten(chance() ? 40 : -40);
    number.canonicalize();
    return chance() ? number : Rational(-number);
  }
  template <class Number>
  std::optional<Number> perhaps(const Number& number) {
    return chance() ? std::optional<Number>(number) : std::nullopt;
  }
  std::vector<Rational> numbers() {
    std::vector<Rational> numbers(below(4));
    for (Rational& one : numbers) one = number();
    return numbers;
  }
  /// A canonical value within some others.
  std::string json(unsigned depth) {
    JsonWriter writer;
    const std::uint64_t kind = depth > 3 ? 2 + below(3) : below(5);
    if (kind == 0) return object(depth + 1);
    if (kind == 1) {
      const std::vector<int> items(below(3));
      return writer.array(items, [&](int) { writer.raw(json(depth + 1)); }).take();
    }
    if (kind == 2) return writer.text(chance() ? plain() : utf8()).take();
    if (kind == 3) return std::to_string(count(0));
    return chance() ? "true" : "false";
  }
  std::string object(unsigned depth) {
    std::vector<std::string> names(depth == 1 ? 1 + below(3) : below(4));  // of a record none is empty
    for (std::string& name : names) name = plain();
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    std::string text = "{";
    for (const std::string& name : names) {
      text += (text.size() > 1 ? ",\"" : "\"") + name + "\":" + json(depth);
    }
    return text + "}";
  }
  std::string reasons() {
    if (chance()) return "[]";
    if (chance()) return "[" + object(1) + "]";
    return object(1);
  }

  ComponentRecord component() {
    return {.statistic = bytes_or_nothing(),
            .epsilon = accounting::Epsilon::from_units(units()),
            .delta = perhaps(accounting::Delta::from_units(units() % accounting::DeltaMeasure::units_max)),
            .sensitivity = number(),
            .sensitivity_l2_squared = perhaps(number()),
            .grid_sensitivity = perhaps(number()),
            .grid_sensitivity_l2_squared = perhaps(number()),
            .scale = number(),
            .grid = number(),
            .centre = perhaps(number()),
            .bound = perhaps(number()),
            .coordinates = count(0),
            .precision = chance() ? 0 : count(1),
            .adjusted = number(),
            .adjusted_delta = perhaps(number()),
            .rho = perhaps(number()),
            .published = perhaps(number()),
            .published_note = bytes_or_nothing()};
  }
  ReleaseRecord release() {
    ReleaseRecord release{.mechanism = bytes(),
                          .arithmetic = bytes_or_nothing(),
                          .requested = number(),
                          .charged = accounting::Epsilon::from_units(units()),
                          .adjusted = number(),
                          .published = perhaps(number()),
                          .components = {},
                          .cells = {},
                          .unit = bytes(),
                          .neighbours = bytes()};
    for (std::uint64_t left = below(3); left > 0; --left) release.components.push_back(component());
    if (chance() && chance() && !release.components.empty()) return batch(std::move(release));
    release.cells = cells();
    return release;
  }
  ledger::CellKeys cells() {
    std::vector<std::vector<std::string>> lists(below(4));
    for (auto& keys : lists) {
      do keys.push_back(bytes_or_nothing());
      while (chance());
    }
    return ledger::CellKeys(std::move(lists));
  }
  /// Of a row a component, so that there are as many as it takes.
  ReleaseRecord batch(ReleaseRecord release) {
    release.mechanism = ledger::kBatch;
    release.arithmetic.clear();
    for (std::size_t left = release.components.size(); left > 0; --left) {
      release.rows.push_back({.mechanism = bytes(),
                              .arithmetic = bytes_or_nothing(),
                              .requested = number(),
                              .charged = accounting::Epsilon::from_units(units()),
                              .adjusted = number(),
                              .published = perhaps(number()),
                              .cells = cells(),
                              .post_processing = recipe()});
    }
    if (!release.rows.empty() && chance()) {
      release.composed = {
          accounting::kComposedBy.at(below(accounting::kComposedBy.size())),
          accounting::Delta::from_units(count(1) % (accounting::DeltaMeasure::units_max - 1) + 1)};
    }
    return release;
  }
  PostProcessing recipe() {
    using Kind = PostProcessing::Kind;
    constexpr std::array kKinds{Kind::none,    Kind::mean_about, Kind::variance_about,
                                Kind::rounded, Kind::proportion, Kind::ratio};
    PostProcessing recipe;
    recipe.kind = kKinds.at(below(kKinds.size()));
    if (recipe.kind == Kind::none) return recipe;
    if (accounting::has_centre(recipe.kind)) recipe.centre = number();
    recipe.lower = number();
    recipe.upper = number();
    return recipe;
  }
  /// A component for each margin of a table.
  PlanRecord with_totals(PlanRecord plan) {
    using Kind = PostProcessing::Kind;
    constexpr std::array kKinds{Kind::totals, Kind::whole_totals, Kind::consistent_totals};
    ReleaseRecord& release = *plan.release;
    while (release.cells.empty()) release.cells = cells();
    release.cells.set_totals(true);
    release.components.clear();
    while (release.components.size() < release.cells.margins().all().size())
      release.components.push_back(component());
    plan.post_processing.kind = kKinds.at(below(kKinds.size()));
    return plan;
  }
  PlanRecord plan() {
    PlanRecord plan{
        .number = count(1), .policy_version = count(1), .question = object(1), .first_at = time()};
    plan.release = perhaps(release());
    if (plan.release && plan.release->rows.empty() && chance()) return with_totals(std::move(plan));
    if (plan.release && plan.release->rows.empty()) plan.post_processing = recipe();
    return plan;
  }
  Movement movement(std::int64_t account) {
    return {.account = account,
            .position = chance() ? 0 : count(1),
            .spent_change = chance() ? 0 : change(),
            .reserved_change = chance() ? 0 : change(),
            .balance = {units(), units(), units()}};
  }
  DecisionRecord decision() {
    constexpr std::array<const char*, 3> kVia{"claimed", "unix:0", "token:t1"};
    DecisionRecord decision{.seq = count(1),
                            .id = id(),
                            .created_at = time(),
                            .principal = bytes(),
                            .via = kVia.at(below(kVia.size())),
                            .key = bytes_or_nothing(),
                            .parent = chance() ? id() : "",
                            .deadline = chance() ? time() : "",
                            .outcome = static_cast<Outcome>(below(9)),
                            .reasons = reasons(),
                            .build = {bytes(), bytes()},
                            .policy_version = count(1),
                            .decided_under = count(1),
                            .dataset = bytes(),
                            .plan = chance() ? 0 : count(1),
                            .purpose = bytes_or_nothing(),
                            .reservation_kind = static_cast<ReservationKind>(below(3)),
                            .conflicting_key = bytes_or_nothing(),
                            .verb = chance() ? plain() : "",
                            .why = bytes_or_nothing()};
    for (std::uint64_t left = below(3); left > 0; --left) decision.component_values.push_back(numbers());
    decision.values = numbers();
    if (chance(4)) {
      for (auto& byte : decision.token_sha256.emplace()) byte = static_cast<std::uint8_t>(below(256));
    }
    for (std::int64_t account = 1; account <= kAccounts; ++account) {
      if (chance()) decision.movements.push_back(movement(account));
    }
    return decision;
  }
  PolicyRecord policy() {
    return {.version = {.version = count(1),
                        .yaml = bytes_or_nothing(),
                        .sha256 = hex(64),
                        .base_dir = "",
                        .applied_at = time(),
                        .applied_by = bytes(),
                        .why = bytes_or_nothing(),
                        .after_decision = count(0),
                        .event = count(1)},
            .implies = chance() ? object(1) : ""};
  }
  AccountRecord account() {
    constexpr std::array<const char*, 4> kMeasures{"epsilon", "delta", "rho", "rdp(5/2)"};
    return {.id = count(1),
            .name = {bytes(), bytes_or_nothing(), kMeasures.at(below(kMeasures.size()))},
            .limit = units(),
            .opened_at = time()};
  }
  std::int64_t account_number() { return 1 + static_cast<std::int64_t>(below(kAccounts)); }
  ClockEvent clock() {
    constexpr std::array<const char*, 3> kKinds{"backwards", "forwards", "confirmed"};
    const std::string kind = kKinds.at(below(kKinds.size()));
    return {.seq = count(1),
            .after_decision = count(0),
            .kind = kind,
            .ledger_time = time(),
            .wall_clock = time(),
            .by = kind == "confirmed" ? bytes() : "",
            .event = count(1)};
  }
  CredentialEvent credential() {
    const bool revoked = chance();
    const bool uid = chance();
    return {.seq = count(1),
            .revoked = revoked,
            .credential = utf8(),
            .type = uid ? "uid" : "token",
            .principal = bytes(),
            .value = revoked ? ""
                     : uid   ? std::to_string(below(std::uint64_t{1} << 32))
                             : hex(64),
            .until = revoked || chance() ? "" : time(),
            .at = time(),
            .by = bytes(),
            .why = bytes_or_nothing()};
  }
  SealEvent seal() {
    const bool unsealed = chance();
    return {.seq = count(1),
            .unsealed = unsealed,
            .at = time(),
            .by = bytes(),
            .why = unsealed ? bytes_or_nothing() : bytes()};
  }
  FeatureRecord feature() { return {.name = utf8(), .at = time()}; }
  RecoveryEvent recovery() {
    constexpr std::array<const char*, 5> kCauses{"poisoned", "behind_replica", "rebuilt", "restored",
                                                 "rolled_back"};
    return {.seq = count(1),
            .cause = kCauses.at(below(kCauses.size())),
            .restored = chance() ? 0 : static_cast<std::uint64_t>(count(1)),
            .dropped = chance() ? 0 : static_cast<std::uint64_t>(count(1)),
            .at = time(),
            .by = bytes(),
            .why = bytes_or_nothing()};
  }
  Record record() {
    switch (below(19)) {
      case 0:
        return LedgerRecord{.ledger_id = hex(32), .created_at = time()};
      case 1:
        return policy();
      case 2:
        return PolicyLocation{.version = count(1), .base_dir = bytes_or_nothing(), .applied_at = time()};
      case 3:
        return Relocation{.seq = count(1),
                          .event = count(1),
                          .after_decision = count(0),
                          .dataset = bytes(),
                          .path = bytes(),
                          .at = time(),
                          .by = bytes(),
                          .why = bytes_or_nothing()};
      case 4:
        return account();
      case 5:
        return LimitChange{.seq = count(1),
                           .after_decision = count(0),
                           .policy_version = count(1),
                           .account = account_number(),
                           .old_limit = units(),
                           .new_limit = units(),
                           .changed_at = time(),
                           .by = bytes(),
                           .why = bytes_or_nothing()};
      case 6:
        return LimitRemoval{.seq = count(1),
                            .after_decision = count(0),
                            .policy_version = count(1),
                            .account = account_number(),
                            .removed_at = time(),
                            .by = bytes(),
                            .why = bytes_or_nothing()};
      case 7:
        return clock();
      case 8:
        return credential();
      case 9:
        return KeyEvent{.seq = count(1),
                        .retired = chance(),
                        .verifier_key = plain(),
                        .at = time(),
                        .by = bytes(),
                        .why = bytes_or_nothing()};
      case 10:
        return recovery();
      case 11:
      case 12:
      case 13:
        return plan();
      case 14:
        return seal();
      case 15:
        return feature();
      default:
        return decision();
    }
  }
  Line line() {
    Line line{.index = static_cast<std::uint64_t>(count(0)), .record = record()};
    for (auto& byte : line.blind) byte = static_cast<std::uint8_t>(below(256));
    return line;
  }

 private:
  std::mt19937_64 random_;
};

auto tied(const PolicyRecord& a) {
  const PolicyVersion& v = a.version;
  return std::tie(v.version, v.yaml, v.sha256, v.base_dir, v.applied_at, v.applied_by, v.why,
                  v.after_decision, v.event, a.implies);
}
auto tied(const Relocation& a) {
  return std::tie(a.seq, a.event, a.after_decision, a.dataset, a.path, a.at, a.by, a.why);
}
auto tied(const LimitChange& a) {
  return std::tie(a.seq, a.after_decision, a.policy_version, a.account, a.old_limit, a.new_limit,
                  a.changed_at, a.by, a.why);
}
auto tied(const LimitRemoval& a) {
  return std::tie(a.seq, a.after_decision, a.policy_version, a.account, a.removed_at, a.by, a.why);
}
auto tied(const ClockEvent& a) {
  return std::tie(a.seq, a.after_decision, a.kind, a.ledger_time, a.wall_clock, a.by, a.event);
}

}  // namespace

ledger::Line random_line(std::uint64_t seed) {
  return RandomRecords(seed).line();
}

bool same_record(const ledger::Record& a, const ledger::Record& b) {
  return std::visit(
      []<class A, class B>(const A& one, const B& other) {
        if constexpr (!std::is_same_v<A, B>) {
          return false;
        } else if constexpr (requires { tied(one); }) {
          return tied(one) == tied(other);
        } else {
          return one == other;
        }
      },
      a, b);
}

}  // namespace epsilog::ledger_tests
