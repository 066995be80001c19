// Ledgers of an older program go on: they migrate, verify, answer again what they answered, and what waits in
// them can be finished. What the command says of them is compared by tests/cli/old_ledgers_test.cpp.
#include <algorithm>
#include <set>

#include "canonical_request.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "kept_ledger.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;

namespace {

/// All of which this program verifies, those of an older schema included.
std::vector<std::string> readable() {
  std::vector<std::string> files{"schema1/clinic"};
  for (const OldLedger& old : kOldLedgers) files.emplace_back(old.file);
  for (const OldLedger& odd : kOddLedgers) {
    if (odd.verifies) files.emplace_back(odd.file);
  }
  return files;
}

int schema_of(const std::string& file) {
  if (file.starts_with("schema1/")) return 1;
  return file.starts_with("schema2/") ? 2 : 3;
}

std::string text(RequestState state) {
  return std::string(name(state));
}

bool is_value(const Answer& answer) {
  return answer.asked.statistic.starts_with("value:");
}

std::optional<std::string> supplied_for(const Answer& answer) {
  return is_value(answer) ? std::optional<std::string>("1") : std::nullopt;
}

std::vector<Answer> waiting(const Engine& engine) {
  std::vector<Answer> found;
  engine.pending("", [&](const Answer& answer) { found.push_back(answer); });
  return found;
}

/// Whoever may approve does, until it is decided.
Answer decided(Engine& engine, Answer answer) {
  for (const char* who : {"carol", "dave", "dora", "erin"}) {
    if (answer.recorded.state != RequestState::pending) break;
    try {
      answer = engine.approve(answer.recorded.decision_id, who);
    } catch (const NotPermitted&) {
      continue;
    }
  }
  return answer;
}

/// Brings what waits to its end: approved, committed with its value and token, or cancelled when nobody may
/// do that any more.
RequestState finished(Engine& engine, const Answer& open) {
  Answer answer = decided(engine, open);
  mechanisms::SystemBits bits;
  try {
    if (answer.recorded.state == RequestState::reserved) {
      if (open.asked.holding == Holding::reserved_against_token && open.recorded.token.empty()) {
        static_cast<void>(engine.issue_token(open.recorded.decision_id, open.asked.principal));
      }
      answer = engine.commit(open.recorded.decision_id, open.asked.principal, supplied_for(open), bits, {});
    }
  } catch (const NotPermitted&) {
  }
  if (answer.recorded.state == RequestState::pending || answer.recorded.state == RequestState::reserved) {
    answer = engine.cancel(open.recorded.decision_id, "carol");
  }
  if (answer.recorded.state == RequestState::granted) CHECK_FALSE(answer.released.values.empty());
  return answer.recorded.state;
}

/// Whether that must be granted: it waits under the active policy, or a later one touches none of it.
bool must_be_granted(const std::string& file, const Answer& open) {
  static const std::set<std::string> kUntouched{"nothing_relevant", "limits_compatible", "approver_removed"};
  if (file == "schema2/confirmed") return false;  // overdue
  if (file == "schema2/odd/limit_removed") return false;
  return file != "schema2/later_version" || kUntouched.contains(open.asked.dataset);
}

/// docs/reservations.md: given back only when nobody can have seen the data for it.
std::string end_by_deadline(const Answer& open) {
  const bool unguarded = is_value(open) && open.asked.holding != Holding::reserved_against_token;
  const bool may_have_been_seen =
      open.recorded.state == RequestState::reserved && (unguarded || !open.recorded.token.empty());
  return may_have_been_seen ? "forfeited" : "expired";
}

}  // namespace

TEST_CASE("old ledgers: each migrates with its balances, verifies, and every decision can be shown",
          "[engine][migration][old_ledgers]") {
  for (const std::string& file : readable()) {
    CAPTURE(file);
    const KeptLedger kept(file);
    CHECK(kept.migration.from == schema_of(file));
    CHECK(kept.balances() == kept.balances_before);
    CHECK(kept.faults().empty());
    Engine engine = kept.open();
    std::int64_t decisions = 0;
    engine.history("", 0, [&](const Answer& told) {
      CAPTURE(told.recorded.seq);
      ++decisions;
      CHECK(engine.show(told.recorded.decision_id, {}).recorded.seq >=
            told.recorded.seq);  // of what waited: how it ended
    });
    CHECK(std::to_string(decisions) + "|\n" == rows_of(kept.path(), "SELECT decisions FROM meta"));
    CHECK(decisions > 0);
  }
}

TEST_CASE("old ledgers: whatever was asked under a key has its stored answer again, free",
          "[engine][migration][old_ledgers]") {
  int granted = 0;
  int others = 0;
  for (const std::string& file : readable()) {
    CAPTURE(file);
    const KeptLedger kept(file);
    Engine engine = kept.open();
    auto ledger = ledger::Ledger::open_read_only(kept.path());
    ledger::Snapshot view = ledger.snapshot();
    view.each_decision(
        "", 0,
        [&](const ledger::StoredDecision& stored) {
          if (!stored.draft.parent.empty() || stored.draft.key.empty()) return;
          CAPTURE(stored.seq, stored.draft.request);
          Request request = parse_stored_request(stored.draft.request).request;
          request.principal = stored.draft.principal;
          request.key = stored.draft.key;
          const bool reserves = request.holding != Holding::none;
          const Answer shown = engine.show(stored.id, {});
          if (!reserves) request.supplied = supplied_for(shown);
          mechanisms::SystemBits bits;
          const Answer again = reserves ? engine.reserve(request, {}) : engine.release(request, bits, {});
          CHECK(again.recorded.replayed);
          CHECK(again.recorded.state == shown.recorded.state);
          CHECK(again.recorded.decision_id == shown.recorded.decision_id);
          CHECK(again.released.values == shown.released.values);
          CHECK(again.released.values.empty() == (again.recorded.state != RequestState::granted));
          ++(again.recorded.state == RequestState::granted ? granted : others);
        },
        {});
    CHECK(kept.balances() == kept.balances_before);
    CHECK(ledger.snapshot().decisions() == view.decisions());
  }
  CHECK(granted >= 40);
  CHECK(others >= 40);
}

TEST_CASE("old ledgers: what waits in them can be approved and committed",
          "[engine][migration][old_ledgers]") {
  int granted = 0;
  for (const std::string& file : readable()) {
    if (file.starts_with("schema3/")) continue;  // their sources were relocated to where there are none
    CAPTURE(file);
    const KeptLedger kept(file);
    Engine engine = kept.open();
    // Reservations first: what is approved must fit beside them.
    for (const RequestState state : {RequestState::reserved, RequestState::pending}) {
      for (const Answer& open : waiting(engine)) {
        if (open.recorded.state != state) continue;
        CAPTURE(open.asked.dataset, open.asked.statistic, open.asked.key, open.asked.principal);
        const RequestState end = finished(engine, open);
        if (must_be_granted(file, open)) CHECK(text(end) == "granted");
        granted += end == RequestState::granted ? 1 : 0;
      }
    }
    CHECK(waiting(engine).empty());
    CHECK(kept.faults().empty());
  }
  CHECK(granted >= 40);
}

TEST_CASE("old ledgers: what waits in them ends by its deadline, given back or charged by who saw the data",
          "[engine][migration][old_ledgers]") {
  std::set<std::string> ends;
  for (const std::string& file : readable()) {
    CAPTURE(file);
    const KeptLedger kept(file);
    Engine engine = kept.open();
    const std::vector<Answer> open = waiting(engine);
    kept.pass_seconds(std::int64_t{400} * 24 * 3600);
    for (const Answer& late : open) {
      CAPTURE(late.asked.dataset, late.asked.statistic, late.asked.key);
      try {
        static_cast<void>(engine.cancel(late.recorded.decision_id, late.asked.principal));
      } catch (const NotPermitted&) {  // whoever writes first ends them all
      }
      const std::string end = text(engine.show(late.recorded.decision_id, {}).recorded.state);
      CHECK(end == end_by_deadline(late));
      ends.insert(end);
    }
    CHECK(waiting(engine).empty());
    CHECK(kept.faults().empty());
    for (const ledger::AccountState& account : engine.budget("")) CHECK(account.balance.reserved == 0);
  }
  CHECK(ends == std::set<std::string>{"expired", "forfeited"});
}

TEST_CASE("old ledgers: what is still in time when its period is over can be finished too",
          "[engine][migration][old_ledgers]") {
  const KeptLedger kept("schema2/periods");
  Engine engine = kept.open();
  kept.pass_seconds(std::int64_t{8} * 24 * 3600);
  const std::vector<Answer> open = waiting(engine);
  CHECK(open.size() == 10);
  for (const Answer& late : open) {
    CAPTURE(late.asked.dataset, late.asked.statistic);
    static_cast<void>(finished(engine, late));
  }
  CHECK(waiting(engine).empty());
  CHECK(kept.faults().empty());
}

TEST_CASE("old ledgers: those that older rules wrote wrongly migrate with their balances",
          "[engine][migration][old_ledgers]") {
  for (const OldLedger& odd : kOddLedgers) {
    CAPTURE(odd.file);
    const KeptLedger kept(odd.file);
    CHECK(kept.balances() == kept.balances_before);
    if (!odd.verifies) continue;
    const AuditReport report = audit_verify(kept.path());
    CHECK(report.ok);
    const auto noted = [&](const AuditFault& note) { return note.code == odd.note; };
    if (odd.note[0] != '\0') CHECK(std::ranges::any_of(report.notes, noted));
  }
}
