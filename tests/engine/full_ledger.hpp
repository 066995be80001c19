// A ledger whose history has nearly everything that one can have.
#pragma once

#include <unistd.h>

#include "epsilog/engine/checkpoint.hpp"
#include "epsilog/engine/credentials.hpp"
#include "epsilog/engine/named_keys.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "epsilog/ledger/ledger_time.hpp"
#include "file_text.hpp"
#include "support/catch.hpp"
#include "waiting.hpp"

namespace epsilog::test {

/// Decisions of every outcome by several mechanisms, a raised limit, a policy that changes none, a clock that
/// was set forth, confirmed and set back.
class FullLedger {
 public:
  FullLedger() : folder_(in_memory()) {
    folder_.write("visits.csv", kVisits);
    apply("3");
    const auto reading = std::make_shared<ledger::ClockReading>(ledger::system_clock_reading());
    engine::EngineOptions options;
    options.clock = [reading] { return *reading; };
    const auto confirm = [&] {
      ledger::Ledger ledger = ledger::Ledger::open(path(), {.clock = options.clock});
      ledger::Transaction transaction = ledger.begin();
      transaction.confirm_clock("operator");
      (void)ledger.commit(std::move(transaction));
    };
    const auto pass = [&](std::int64_t ms) {
      reading->wall_ms += ms;
      reading->boot_ms += ms;
    };
    {
      engine::Engine opened = engine::Engine::open(path(), options);
      pass(10);
      CHECK(release(opened, request("count", "0.25", "k1")).recorded.granted);
      engine::Request mean = request("mean:cost", "0.25", "k2", "ward");
      mean.delta = accounting::Rational(1, 10'000'000);
      CHECK(release(opened, mean).recorded.granted);
      CHECK_FALSE(release(opened, request("count", "0.125", "k1")).recorded.granted);
      CHECK(release(opened, request("units", "0.25")).recorded.granted);
      pass(10);
      folder_.write("raised.yaml", document("6"));
      (void)opened.apply_policy(folder_.path("raised.yaml"), "curator", "raise");
      pass(10);
      CHECK(release(opened, supplied("3", "0.1")).recorded.granted);
      folder_.write("same.yaml", document("6") + "# reviewed\n");
      (void)opened.apply_policy(folder_.path("same.yaml"), "reviewer", "review");
      waits(opened, pass);
      pass(10);
      folder_.write("moved.csv", kVisits);
      (void)opened.relocate("clinic", folder_.path("moved.csv"), "mover", "moved");
      pass(10);
      {
        ledger::Ledger ledger = ledger::Ledger::open(path(), {.clock = options.clock});
        const engine::VerifierKey key{.name = engine::ledger_origin(ledger.ledger_id())};
        (void)engine::record_key_change(ledger, key.text(), engine::KeyChange::add, "keeper", "first");
        pass(10);
        (void)engine::record_key_change(ledger, key.text(), engine::KeyChange::retire, "keeper", "lost");
        pass(10);
        const std::string until = ledger::time_text(ledger::parse_time(ledger.snapshot().now()) + 60'000);
        const auto token =
            engine::new_token(ledger, {.principal = "alice", .until = until, .by = "keeper", .why = "asks"});
        pass(10);
        (void)engine::revoke_credential(ledger, token.credential.id, "keeper", "left");
        pass(10);
        (void)engine::add_uid(ledger, {.principal = "carol", .by = "keeper", .why = "approves"}, 1000);
      }
      pass(10);
      reading->wall_ms += 3'600'000;  // set forth
      CHECK(release(opened, supplied("3", "0.1")).recorded.granted);
      confirm();
      reading->wall_ms -= 3'600'000;  // put right
      CHECK(release(opened, supplied("4", "0.1")).recorded.granted);
    }
    bytes_ = file_text(path());
  }

  [[nodiscard]] std::string path() const { return folder_.path("ledger"); }
  void restore() const {
    for (const char* beside : {"-wal", "-shm"}) ::unlink((path() + beside).c_str());
    std::ofstream(path(), std::ios::binary | std::ios::trunc).write(bytes_.data(), std::ssize(bytes_));
  }

 private:
  static std::string document(const std::string& epsilon) {
    return clinic_policy(
        "epsilon: " + epsilon + ", delta: 1e-6",
        "    release: {mean: {mechanism: gaussian}, units: {mechanism: discrete_laplace}}\n" +
            waiting_rules(kTwoApprovals));
  }
  void apply(const std::string& epsilon) {
    folder_.write("policy.yaml", document(epsilon));
    (void)engine::Engine::init(folder_.path("policy.yaml"), path(), "curator");
  }
  template <class Pass>
  static void waits(engine::Engine& opened, const Pass& pass) {
    mechanisms::SystemBits bits;
    const auto held = [&](const std::string& epsilon, engine::ReservationKind reservation) {
      engine::Request asked = supplied("", epsilon);
      asked.supplied.reset();
      asked.reservation = reservation;
      pass(1);
      return opened.reserve(asked, {}).recorded.decision_id;
    };
    const std::string posted = held("0.1", engine::ReservationKind::reserved_against_token);
    (void)opened.issue_token(posted, "alice");
    CHECK(opened.commit(posted, "alice", "5", bits, {}).recorded.granted);
    (void)opened.cancel(held("0.1", engine::ReservationKind::reserved), "alice");
    const std::string forfeited = held("0.1", engine::ReservationKind::reserved_against_token);
    (void)opened.issue_token(forfeited, "alice");
    (void)opened.cancel(forfeited, "alice");
    const std::string approved = held("0.6", engine::ReservationKind::reserved);
    (void)opened.approve(approved, "carol");
    (void)opened.approve(approved, "dave");
    (void)opened.reject(held("0.7", engine::ReservationKind::reserved), "carol", "too much");
    (void)held("0.8", engine::ReservationKind::reserved);
    (void)held("0.1", engine::ReservationKind::reserved);
  }

  TemporaryFolder folder_;
  std::string bytes_;
};

}  // namespace epsilog::test
