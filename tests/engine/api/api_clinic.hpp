// A clinic as a program meets it that includes epsilog.hpp alone, with a clock that tests move.
#pragma once

#include <string>
#include <utility>

#include "epsilog/epsilog.hpp"
#include "waiting.hpp"

namespace epsilog::test {

struct ApiClinic {
  explicit ApiClinic(const std::string& approvals = kTwoApprovals, const std::string& budget = "epsilon: 3",
                     const std::string& more = "")
      : clinic(budget, more + waiting_rules(approvals)),
        ledger(over(engine::Engine::open(clinic.ledger(), clock.options()))) {}

  [[nodiscard]] ValueQuestion count(const Exact& epsilon) const {
    return ledger.ask("clinic", "count").epsilon(epsilon).as("alice");
  }

  Clinic clinic;
  MovedClock clock;
  Ledger ledger;
};

/// The alternative that an outcome is, as its accessors and its visit() tell it.
template <class Answered>
std::string alternative_of(const Outcome<Answered>& outcome) {
  std::string told;
  const auto add = [&told](const void* one, const std::string& name) {
    if (one != nullptr) told += name;
  };
  add(outcome.released(), "released");
  add(outcome.withheld(), "withheld");
  add(outcome.refused(), "refused");
  add(outcome.waiting(), "waiting");
  add(outcome.reserved(), "reserved");
  add(outcome.cancelled(), "cancelled");
  add(outcome.rejected(), "rejected");
  add(outcome.expired(), "expired");
  add(outcome.forfeited(), "forfeited");
  const std::string visited =
      outcome.visit([](const Answered&) { return "released"; }, [](const Withheld&) { return "withheld"; },
                    [](const Refused&) { return "refused"; }, [](const Waiting&) { return "waiting"; },
                    [](const Reserved&) { return "reserved"; }, [](const Cancelled&) { return "cancelled"; },
                    [](const Rejected&) { return "rejected"; }, [](const Expired&) { return "expired"; },
                    [](const Forfeited&) { return "forfeited"; });
  return told == visited ? told : told + ", but visited as " + visited;
}

}  // namespace epsilog::test
