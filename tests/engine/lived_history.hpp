// A clinic whose history a test composes, step by step, under clocks that it moves.
#pragma once

#include "clinic.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "tampering.hpp"

namespace epsilog::test {

inline constexpr std::int64_t kMinuteMs = 60'000;
inline constexpr std::int64_t kHourMs = 60 * kMinuteMs;
inline constexpr std::int64_t kDayOfMs = 24 * kHourMs;

/// A budget that renews every day, a limit of one principal (or none), reservations for two days.
struct LivedPolicy {
  int budget = 10;           ///< tenths of epsilon
  bool limit_of_bob = true;  ///< declared by name
  int revision = 0;          ///< makes another text of the same policy

  [[nodiscard]] std::string text() const {
    return clinic_policy("epsilon: " + std::to_string(budget / 10) + "." + std::to_string(budget % 10) +
                             ", renew: day, accept_unbounded_lifetime: true",
                         std::string("    limits: [{each: purpose, epsilon: 5}") +
                             (limit_of_bob ? ", {principal: bob, epsilon: 0.5}" : "") +
                             "]\n    purposes: [care]\n    reservations: {expires: 2d}\n"
                             "principals: {alice: {}, bob: {}}\n# " +
                             std::to_string(revision) + "\n");
  }
};

class LivedHistory {
 public:
  LivedHistory() {
    folder_.write("visits.csv", kVisits);
    folder_.write("policy.yaml", policy.text());
    (void)engine::Engine::init(folder_.path("policy.yaml"), ledger(), "curator");
    // After the ledger was made, at an hour before a new day, on a clock that is not this machine's.
    *reading_ = ledger::system_clock_reading();
    const std::int64_t ahead = 2 * kDayOfMs - reading_->wall_ms % kDayOfMs - kHourMs;
    pass(ahead);
    engine_ = std::make_unique<engine::Engine>(engine::Engine::open(ledger(), options()));
  }

  [[nodiscard]] std::string ledger() const { return folder_.path("clinic.ledger"); }
  [[nodiscard]] engine::Engine& engine() { return *engine_; }
  [[nodiscard]] engine::EngineOptions options() const {
    engine::EngineOptions options;
    options.clock = [reading = reading_] { return *reading; };
    return options;
  }

  /// Time passes: both clocks advance.
  void pass(std::int64_t ms) {
    reading_->wall_ms += ms;
    reading_->boot_ms += ms;
  }
  /// Somebody sets the wall clock.
  void step(std::int64_t ms) { reading_->wall_ms += ms; }

  engine::Answer release(const std::string& principal = "alice", const std::string& epsilon = "0.01") {
    engine::Request asked = request("count", epsilon);
    asked.principal = principal;
    asked.purpose = "care";
    return test::release(*engine_, asked);
  }
  std::string reserve(const std::string& principal = "alice", const std::string& epsilon = "0.01") {
    engine::Request asked = request("count", epsilon);
    asked.principal = principal;
    asked.purpose = "care";
    asked.reservation = engine::ReservationKind::reserved;
    return engine_->reserve(asked, {}).recorded.decision_id;
  }
  engine::ApplyReport apply() {
    ++policy.revision;
    folder_.write("policy.yaml", policy.text());
    return engine_->apply_policy(folder_.path("policy.yaml"), "curator", "test");
  }
  /// `epsilog clock confirm`.
  void confirm() {
    ledger::Options options;
    options.clock = this->options().clock;
    auto opened = ledger::Ledger::open(ledger(), options);
    auto transaction = opened.begin();
    transaction.confirm_clock("curator");
    (void)opened.commit(std::move(transaction));
  }

  /// What is wrong with the ledger, "" when nothing is.
  [[nodiscard]] std::string audit() const {
    std::string faults;
    for (const auto& fault : engine::audit_verify(ledger()).faults) {
      faults += fault.record + " " + fault.code + ": " + fault.message + "\n";
    }
    return faults;
  }
  void tamper(const std::string& sql) const { test::tamper(ledger(), sql); }

  LivedPolicy policy;

 private:
  TemporaryFolder folder_;
  std::shared_ptr<ledger::ClockReading> reading_ = std::make_shared<ledger::ClockReading>();
  std::unique_ptr<engine::Engine> engine_;
};

}  // namespace epsilog::test
