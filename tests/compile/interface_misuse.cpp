// What a program can write with epsilog.hpp, and what it cannot.
#include <iostream>

#include "epsilog/epsilog.hpp"

namespace {

using namespace epsilog;

[[maybe_unused]] std::string meant(const Ledger& ledger) {
  const auto outcome = ledger.ask("hospital", "mean:age")
                           .where("age >= 65")
                           .epsilon("1/5")
                           .delta(Exact{1, 1'000'000})
                           .as("alice")
                           .key("monday")
                           .release();
  const auto table = ledger.ask("hospital", "count").by("ward", "sex").rho(1).as("alice").release();
  if (const auto* one = table.released()) return one->cells().at(0).name();
  if (const auto* one = outcome.released()) return one->value().text() + one->interval("0.05").low().text();
  return outcome.visit(
      [](const ReleasedValue& one) { return one.charged().text(); },
      [](const Withheld& one) { return one.key(); },
      [](const Refused& one) { return one.reasons().front().code; },
      [](const Waiting& one) { return one.deadline(); }, [](const Reserved& one) { return one.deadline(); },
      [](const Cancelled& one) { return one.message(); }, [](const Rejected& one) { return one.why(); },
      [](const Expired& one) { return one.message(); },
      [](const Forfeited& one) { return one.charged().text(); });
}

#if defined(EPSILOG_EPSILON_FROM_DOUBLE)
[[maybe_unused]] auto misused(const Ledger& ledger) {
  return ledger.ask("hospital", "count").epsilon(0.2);
}
#elif defined(EPSILOG_EPSILON_FROM_FLOAT)
[[maybe_unused]] auto misused(const Ledger& ledger) {
  return ledger.ask("hospital", "count").epsilon(0.2F);
}
#elif defined(EPSILOG_EPSILON_FROM_BOOL)
[[maybe_unused]] auto misused(const Ledger& ledger) {
  return ledger.ask("hospital", "count").epsilon(true);
}
#elif defined(EPSILOG_EPSILON_FROM_CHARACTER)
[[maybe_unused]] auto misused(const Ledger& ledger) {
  return ledger.ask("hospital", "count").epsilon('1');
}
#elif defined(EPSILOG_FRACTION_FROM_DOUBLE)
[[maybe_unused]] auto misused() {
  return Exact(0.2, 1);
}
#elif defined(EPSILOG_RHO_FROM_DOUBLE)
[[maybe_unused]] auto misused(const Ledger& ledger) {
  return ledger.ask("hospital", "count").rho(0.2);
}
#elif defined(EPSILOG_INTERVAL_AT_DOUBLE)
[[maybe_unused]] auto misused(const ReleasedValue& one) {
  return one.interval(0.05);
}
#elif defined(EPSILOG_VALUE_OF_TABLE)
[[maybe_unused]] auto misused(const TableOutcome& outcome) {
  return outcome.released()->value();
}
#elif defined(EPSILOG_CELLS_OF_VALUE)
[[maybe_unused]] auto misused(const ValueOutcome& outcome) {
  return outcome.released()->cells();
}
#elif defined(EPSILOG_VALUE_OF_OUTCOME)
[[maybe_unused]] auto misused(const ValueOutcome& outcome) {
  return outcome.value();
}
#elif defined(EPSILOG_VALUE_OF_REFUSED)
[[maybe_unused]] auto misused(const ValueOutcome& outcome) {
  return outcome.refused()->value();
}
#elif defined(EPSILOG_TABLE_TAKEN_FOR_VALUE)
[[maybe_unused]] ValueOutcome misused(const Ledger& ledger) {
  return ledger.ask("hospital", "count").by("ward").epsilon(1).as("alice").release();
}
#elif defined(EPSILOG_COLUMNS_IN_BRACES)
[[maybe_unused]] auto misused(const Ledger& ledger) {
  return ledger.ask("hospital", "count").by({"ward", "sex"});
}
#elif defined(EPSILOG_POINTER_INTO_NOTHING)
[[maybe_unused]] auto misused(const Ledger& ledger) {
  return ledger.ask("hospital", "count").epsilon(1).as("alice").release().released();
}
#elif defined(EPSILOG_FORGOTTEN_WITHHELD)
[[maybe_unused]] void misused(const ValueOutcome& outcome) {
  outcome.visit([](const ReleasedValue&) {}, [](const Refused&) {}, [](const Waiting&) {},
                [](const Reserved&) {}, [](const Cancelled&) {}, [](const Rejected&) {},
                [](const Expired&) {}, [](const Forfeited&) {});
}
#elif defined(EPSILOG_FORGOTTEN_FORFEITED)
[[maybe_unused]] void misused(const TableOutcome& outcome) {
  outcome.visit([](const ReleasedTable&) {}, [](const Withheld&) {}, [](const Refused&) {},
                [](const Waiting&) {}, [](const Reserved&) {}, [](const Cancelled&) {},
                [](const Rejected&) {}, [](const Expired&) {});
}
#elif defined(EPSILOG_OUTCOME_MADE)
[[maybe_unused]] auto misused(const ReleasedValue& one) {
  return ValueOutcome(one);
}
#endif

}  // namespace
