// A clinic whose requests wait: for approvals, for their commit, for a clock that tests move.
#pragma once

#include <memory>
#include <string>

#include "clinic.hpp"
#include "epsilog/ledger/clock.hpp"
#include "noon_to_come.hpp"

namespace epsilog::test {

/// Time that passes only when a test says so; copies share it.
class MovedClock {
 public:
  MovedClock() : start_(noon_to_come()), passed_ms_(std::make_shared<std::int64_t>(0)) {}

  void pass_seconds(std::int64_t seconds) { *passed_ms_ += seconds * 1000; }
  [[nodiscard]] engine::EngineOptions options() const {
    engine::EngineOptions options;
    options.clock = [start = start_, passed = passed_ms_] {
      ledger::ClockReading reading = start;
      reading.wall_ms += *passed;
      reading.boot_ms += *passed;
      return reading;
    };
    return options;
  }

 private:
  ledger::ClockReading start_;
  std::shared_ptr<std::int64_t> passed_ms_;
};

/// alice asks, carol and dave may approve, eve may not; `approvals` is "" or a line of the dataset.
inline std::string waiting_rules(const std::string& approvals) {
  return (approvals.empty() ? "" : "    approvals: " + approvals + "\n") +
         "    reservations: {expires: 1h}\n"
         "principals:\n"
         "  alice: {roles: [research]}\n"
         "  bob: {roles: [research]}\n"
         "  carol: {roles: [custodian]}\n"
         "  dave: {}\n"
         "  eve: {}\n";
}
inline constexpr const char* kTwoApprovals =
    "{required: 2, by: {principals: [dave, alice], roles: [custodian]}, above: {epsilon: 0.5}, expires: 2h}";

/// A clinic with a clock; epsilon 3, releases above 0.5 need two approvals.
class WaitingClinic {
 public:
  explicit WaitingClinic(const std::string& approvals = kTwoApprovals,
                         const std::string& budget = "epsilon: 3")
      : clinic(budget, waiting_rules(approvals)),
        engine(engine::Engine::open(clinic.ledger(), clock.options())) {}

  [[nodiscard]] engine::Answer reserve(
      const std::string& statistic, const std::string& epsilon,
      engine::ReservationKind reservation = engine::ReservationKind::reserved, const std::string& key = "") {
    engine::Request asked = request(statistic, epsilon, key);
    asked.reservation = reservation;
    return engine.reserve(asked, {});
  }
  [[nodiscard]] engine::Answer commit(const std::string& id, const std::optional<std::string>& value = {},
                                      const std::string& by = "alice") {
    return test::commit(engine, id, value, by);
  }
  /// "spent/reserved" of the dataset's epsilon.
  [[nodiscard]] std::string balance() const {
    const ledger::AccountState account = engine.budget("clinic").at(0);
    return accounting::Epsilon::from_units(account.balance.spent).text() + "/" +
           accounting::Epsilon::from_units(account.balance.reserved).text();
  }
  /// What is wrong with the ledger, "" when nothing is.
  [[nodiscard]] std::string audit() const { return audit_faults(clinic.ledger()); }

  Clinic clinic;
  MovedClock clock;  // starts when the ledger is there, so that ledger time follows it
  engine::Engine engine;
};

inline std::string text(engine::RequestState state) {
  return std::string(engine::name(state));
}

}  // namespace epsilog::test
