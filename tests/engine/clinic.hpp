// A small clinic with a ledger, for tests of the release path.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "epsilog/engine/audit.hpp"
#include "epsilog/engine/engine.hpp"
#include "support/temporary_folder.hpp"

namespace epsilog::test {

inline constexpr const char* kVisits =
    "patient_id,age,cost,ward\n"
    "p1,34,120.50,A\n"
    "p1,34,80.00,B\n"
    "p2,71,4000.25,A\n"
    "p3,,99.99,C\n"
    "p4,55,70000.00,B\n"
    "p5,18,12.00,A\n";

/// `more` is put below the dataset's `budget`, indented by four blanks.
inline std::string clinic_policy(const std::string& budget, const std::string& more = "") {
  return "version: 1\n"
         "datasets:\n"
         "  clinic:\n"
         "    source: {csv: visits.csv}\n"
         "    unit: {id: patient_id, max_rows: 3}\n"
         "    rows: {max: 100000}\n"
         "    neighbours: add-remove\n"
         "    budget: {" +
         budget +
         "}\n"
         "    columns:\n"
         "      age:  {type: int, bounds: [0, 110]}\n"
         "      cost: {type: decimal, scale: 2, bounds: [0, 5000]}\n"
         "      ward: {type: string, values: [A, B, C]}\n"
         "    queries:\n"
         "      score: {bounds: [0, 10], sensitivity: 1}\n" +
         more;
}

class Clinic {
 public:
  explicit Clinic(const std::string& budget = "epsilon: 3", const std::string& more = "") {
    folder.write("visits.csv", kVisits);
    folder.write("policy.yaml", clinic_policy(budget, more));
    report = engine::Engine::init(folder.path("policy.yaml"), ledger(), "curator");
  }

  [[nodiscard]] std::string ledger() const { return folder.path("clinic.ledger"); }
  [[nodiscard]] engine::Engine open() const { return engine::Engine::open(ledger()); }

  TemporaryFolder folder;
  engine::InitReport report;
};

/// A clinic with an engine on its ledger: `auto [clinic, engine] = Open<Clinic>("epsilon: 3");`.
template <class Of>
struct Open {
  template <class... Options>
  explicit Open(const Options&... options) : clinic(options...), engine(clinic.open()) {}

  Of clinic;
  engine::Engine engine;
};

inline engine::Request request(const std::string& statistic, const std::string& epsilon,
                               const std::string& key = "", std::optional<std::string> by = std::nullopt,
                               std::optional<std::string> where = std::nullopt) {
  engine::Request result;
  result.dataset = "clinic";
  result.question = engine::parse_question(statistic, by, where);
  result.epsilon = accounting::parse_rational(epsilon, "epsilon");
  result.principal = "alice";
  result.key = key;
  return result;
}

inline engine::Request supplied(const std::string& value, const std::string& epsilon,
                                const std::string& key = "") {
  engine::Request result = request("value:score", epsilon, key);
  result.supplied = value;
  return result;
}

inline engine::Request held(engine::Request asked,
                            engine::ReservationKind reservation = engine::ReservationKind::reserved) {
  asked.reservation = reservation;
  return asked;
}

inline engine::Answer release(engine::Engine& engine, const engine::Request& request) {
  mechanisms::SystemBits bits;
  return engine.release(request, bits, {});
}

inline std::vector<engine::Answer> release_many(engine::Engine& engine,
                                                std::span<const engine::Request> requests) {
  mechanisms::SystemBits bits;
  return engine.release_many(requests, bits, {});
}

inline engine::Answer commit(engine::Engine& engine, const std::string& id,
                             const std::optional<std::string>& value = std::nullopt,
                             const std::string& by = "alice") {
  mechanisms::SystemBits bits;
  return engine.commit(id, by, value, bits, {});
}

inline std::vector<engine::RefusalCode> reason_codes(const engine::Answer& answer) {
  std::vector<engine::RefusalCode> codes;
  for (const engine::Reason& reason : answer.recorded.reasons) codes.push_back(reason.code);
  return codes;
}

/// "spent" of the dataset's epsilon account, as text.
inline std::string spent(const engine::Engine& engine) {
  for (const ledger::AccountState& account : engine.budget("clinic")) {
    if (account.measure == "epsilon") return accounting::Epsilon::from_units(account.balance.spent).text();
  }
  return "no account";
}

/// What is wrong with a ledger, a line each.
inline std::string audit_faults(const std::string& ledger) {
  std::string faults;
  for (const auto& fault : engine::audit_verify(ledger).faults) {
    faults += fault.record + " " + fault.code + ": " + fault.message + "\n";
  }
  return faults;
}

/// What is spent of the first account of that measure, in units; -1 without one.
inline std::int64_t spent_units(const engine::Engine& engine, const std::string& measure) {
  for (const ledger::AccountState& account : engine.budget("clinic")) {
    if (account.measure == measure) return account.balance.spent;
  }
  return -1;
}

/// How many decisions the history has.
inline std::size_t decisions(const engine::Engine& engine) {
  std::size_t count = 0;
  engine.history("", 0, [&count](const engine::Answer&) { ++count; });
  return count;
}

}  // namespace epsilog::test
