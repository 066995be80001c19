// Ledger time never goes back, and a forged clock does not move the calendar.
#include <nlohmann/json.hpp>

#include "epsilog/ledger/inspection.hpp"
#include "epsilog/ledger/ledger_time.hpp"
#include "ledger/support/fixture.hpp"
#include "ledger_clock.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;

namespace {

constexpr std::int64_t kSecond = 1'000;
constexpr std::int64_t kMinute = 60 * kSecond;
constexpr std::int64_t kDay = 24 * 60 * kMinute;

/// 2026-01-31T23:00:00Z: an hour before a new month.
const std::int64_t kStart = ledger::parse_time("2026-01-31T23:00:00.000Z");

/// A machine whose clocks the test moves, and a ledger made on it.
struct Machine {
  Machine() : path(directory.path() + "/L") {
    ledger::Ledger::create(path, policy(), {account("clinic", "epsilon", 1'000'000)}, options());
  }
  [[nodiscard]] ledger::Options options() {
    ledger::Options result;
    result.clock = [this] { return now; };
    return result;
  }
  [[nodiscard]] ledger::Ledger open() { return ledger::Ledger::open(path, options()); }

  /// Time passes: both clocks advance.
  void pass(std::int64_t ms) {
    now.wall_ms += ms;
    now.boot_ms += ms;
  }
  /// Somebody sets the wall clock.
  void step(std::int64_t ms) { now.wall_ms += ms; }
  void reboot() {
    now.boot_id += "'";
    now.boot_ms = 10 * kSecond;
  }

  /// Records a release and returns the calendar time its transaction saw.
  std::string release_at_calendar() {
    auto ledger = open();
    auto transaction = ledger.begin();
    std::string calendar = transaction.calendar_time();
    record_release(transaction, Epsilon::from_units(1), Rational(1));
    static_cast<void>(ledger.commit(std::move(transaction)));
    return calendar;
  }
  std::vector<ledger::ClockEvent> events() {
    std::vector<ledger::ClockEvent> found;
    auto snapshot = open().snapshot();
    snapshot.each_clock_event([&](const ledger::ClockEvent& event) { found.push_back(event); });
    CHECK(ledger::Inspection(snapshot).clock_faults().empty());
    CHECK(ledger::Inspection(snapshot).order_faults().empty());
    CHECK(ledger::Inspection(snapshot).facts().clock_events.claimed ==
          static_cast<std::int64_t>(found.size()));
    return found;
  }
  void confirm(const std::string& by = "curator") {
    auto ledger = open();
    commit_one(ledger, [&](auto& t) { t.confirm_clock(by); });
  }

  TemporaryDirectory directory;
  std::string path;
  ledger::ClockReading now{.wall_ms = kStart, .boot_ms = 7 * kDay, .boot_id = "boot"};
};

}  // namespace

TEST_CASE("clock: while it goes on as it should, calendar time is ledger time and nothing is noted",
          "[ledger][clock]") {
  Machine machine;
  CHECK(machine.release_at_calendar() == "2026-01-31T23:00:00.000Z");
  machine.pass(59 * kMinute);
  CHECK(machine.release_at_calendar() == "2026-01-31T23:59:00.000Z");
  machine.pass(40 * kDay);  // suspended, say: CLOCK_BOOTTIME goes on
  CHECK(machine.release_at_calendar() == "2026-03-12T23:59:00.000Z");
  CHECK(machine.events().empty());
}

TEST_CASE("clock: set forwards, it does not start a new period until somebody vouches for it",
          "[ledger][clock]") {
  Machine machine;
  machine.pass(kMinute);
  static_cast<void>(machine.release_at_calendar());
  machine.pass(kMinute);
  machine.step(kDay);                                                  // February
  CHECK(machine.release_at_calendar() == "2026-01-31T23:01:00.000Z");  // granted all the same
  {
    auto ledger = machine.open();
    auto transaction = ledger.begin();
    CHECK(transaction.now() == "2026-02-01T23:02:00.000Z");  // ledger time itself went on
    CHECK(transaction.calendar_time() == "2026-01-31T23:01:00.000Z");
    auto snapshot = ledger.snapshot();
    CHECK(snapshot.calendar_time() == "2026-01-31T23:01:00.000Z");
    CHECK(snapshot.calendar_held_at() == "2026-01-31T23:01:00.000Z");
  }
  machine.pass(3 * kDay);  // waiting does not help, nor does another jump or going back
  CHECK(machine.release_at_calendar() == "2026-01-31T23:01:00.000Z");
  machine.step(kDay);
  CHECK(machine.release_at_calendar() == "2026-01-31T23:01:00.000Z");
  CHECK(machine.events().size() == 2);

  machine.confirm();
  machine.pass(kMinute);
  CHECK(machine.release_at_calendar() == "2026-02-05T23:03:00.000Z");
  const auto events = machine.events();
  REQUIRE(events.size() == 3);
  CHECK(events[0].kind == "forwards");
  CHECK(events[0].after_decision == 1);
  CHECK(events[0].ledger_time == "2026-01-31T23:01:00.000Z");
  CHECK(events[0].wall_clock == "2026-02-01T23:02:00.000Z");
  CHECK(events[1].kind == "forwards");
  CHECK(events[2].kind == "confirmed");
  CHECK(events[2].by == "curator");
  CHECK(events[2].after_decision == 4);
  CHECK_FALSE(machine.open().snapshot().calendar_held_at());
}

TEST_CASE("clock: many steps, each too small to be noticed, do not add up to a new period",
          "[ledger][clock]") {
  Machine machine;
  std::string calendar;
  for (int i = 0; i < 30; ++i) {  // two hours by four minutes each
    machine.pass(kSecond);
    machine.step(4 * kMinute);
    calendar = machine.release_at_calendar();
  }
  CHECK(calendar < "2026-01-31T23:10:00.000Z");
  REQUIRE_FALSE(machine.events().empty());
  CHECK(machine.events().front().kind == "forwards");
}

TEST_CASE("clock: a step of five minutes is let pass and one of a millisecond more is not",
          "[ledger][clock]") {
  Machine machine;
  machine.step(ledger::kForwardsMs);
  CHECK(machine.release_at_calendar() == "2026-01-31T23:05:00.000Z");
  CHECK(machine.events().empty());
  machine.step(1);
  CHECK(machine.release_at_calendar() == "2026-01-31T23:05:00.000Z");
  CHECK(machine.events().size() == 1);
}

TEST_CASE("clock: set back, ledger time stands, each step is noted once and no release fails",
          "[ledger][clock]") {
  Machine machine;
  machine.pass(kMinute);
  static_cast<void>(machine.release_at_calendar());
  machine.step(-kSecond);
  static_cast<void>(machine.release_at_calendar());
  CHECK(machine.events().empty());
  machine.step(-1);
  for (int i = 0; i < 3; ++i) {
    machine.pass(10);
    CHECK(machine.release_at_calendar() == "2026-01-31T23:01:00.000Z");
  }
  CHECK(machine.events().empty());  // 10 ms later it was within the second again
  machine.step(-kDay);
  for (int i = 0; i < 5; ++i) {
    machine.pass(kMinute);
    CHECK(machine.release_at_calendar() == "2026-01-31T23:01:00.000Z");
  }
  CHECK(machine.events().size() == 1);
  machine.step(-kDay);
  CHECK(machine.release_at_calendar() == "2026-01-31T23:01:00.000Z");
  const auto events = machine.events();
  REQUIRE(events.size() == 2);
  CHECK(events[0].kind == "backwards");
  CHECK(events[0].ledger_time == "2026-01-31T23:01:00.000Z");
  machine.step(2 * kDay);  // put right: that is no jump beyond what ledger time may show
  CHECK(machine.release_at_calendar() > "2026-01-31T23:05:00.000Z");
  CHECK(machine.events().size() == 2);
}

TEST_CASE("clock: a jump that was itself wrong cannot be confirmed before time has caught up",
          "[ledger][clock]") {
  Machine machine;
  machine.step(40 * kDay);
  static_cast<void>(machine.release_at_calendar());
  machine.step(-40 * kDay);  // the operator notices
  CHECK_THROWS_AS(machine.confirm(), LedgerBusy);
  CHECK(machine.release_at_calendar() == "2026-01-31T23:00:00.000Z");
  machine.pass(40 * kDay);
  machine.confirm();
  CHECK(machine.release_at_calendar() == "2026-03-12T23:00:00.000Z");
}

TEST_CASE("clock: nothing held means nothing to confirm, and nobody confirms namelessly", "[ledger][clock]") {
  Machine machine;
  CHECK_THROWS_AS(machine.confirm(), InvalidParameter);
  machine.step(kDay);
  CHECK_THROWS_AS(machine.confirm(""), InvalidParameter);
  machine.confirm();  // notices, notes and confirms in one transaction
  const auto events = machine.events();
  REQUIRE(events.size() == 2);
  CHECK(events[0].kind == "forwards");
  CHECK(events[1].kind == "confirmed");
  CHECK(machine.release_at_calendar() == "2026-02-01T23:00:00.000Z");
}

TEST_CASE("clock: a transaction that is dropped notes nothing, and the next one notices again",
          "[ledger][clock]") {
  Machine machine;
  machine.step(kDay);
  {
    auto ledger = machine.open();
    const auto transaction = ledger.begin();
    CHECK(transaction.calendar_time() == "2026-01-31T23:00:00.000Z");
  }
  CHECK(machine.events().empty());
  CHECK(machine.release_at_calendar() == "2026-01-31T23:00:00.000Z");
  CHECK(machine.events().size() == 1);
}

TEST_CASE("clock: across a reboot the advance cannot be checked, but a calendar held stays held",
          "[ledger][clock]") {
  Machine machine;
  machine.reboot();
  machine.step(kDay);
  CHECK(machine.release_at_calendar() == "2026-02-01T23:00:00.000Z");  // documented: unnoticed
  machine.step(kDay);
  CHECK(machine.release_at_calendar() == "2026-02-01T23:00:00.000Z");
  machine.reboot();
  CHECK(machine.release_at_calendar() == "2026-02-01T23:00:00.000Z");
  CHECK(machine.events().size() == 1);
}

TEST_CASE("clock: no reading of the clocks fails a release", "[ledger][clock]") {
  Machine machine;
  for (const std::int64_t wall : {std::int64_t{-1}, INT64_MIN / 4, std::int64_t{0}, kStart}) {
    machine.now.wall_ms = wall;
    CHECK(machine.release_at_calendar() == "2026-01-31T23:00:00.000Z");
  }
  machine.now.boot_id.clear();
  machine.now.boot_ms = 0;
  CHECK(machine.release_at_calendar() == "2026-01-31T23:00:00.000Z");
  machine.now.wall_ms = INT64_MAX;
  CHECK(machine.release_at_calendar() == "9999-12-31T23:59:59.999Z");
  CHECK(machine.release_at_calendar() == "9999-12-31T23:59:59.999Z");
}

TEST_CASE("clock: a ledger just made of lines trusts the clock it finds and checks it from then on",
          "[ledger][clock]") {
  ledger::Meta meta;
  meta.last_time = "2026-01-31T23:00:00.000Z";
  const ledger::ClockReading later{.wall_ms = kStart + kDay, .boot_ms = 500, .boot_id = "b"};
  const auto first = ledger::observe(meta, later);
  CHECK(first.events.empty());
  CHECK(first.state.held_at.empty());
  CHECK(first.state.boot_offset == kStart + kDay - 500);
  meta.clock = first.state;
  meta.last_time = ledger::time_text(first.now_ms);
  auto forged = later;
  forged.wall_ms += kDay;
  CHECK(ledger::observe(meta, forged).state.held_at == meta.last_time);
}

TEST_CASE("clock: the system's clocks are read, and advance", "[ledger][clock]") {
  const auto first = ledger::system_clock_reading();
  const auto second = ledger::system_clock_reading();
  CHECK(first.boot_ms > 0);
  CHECK(second.boot_ms >= first.boot_ms);
  CHECK(first.boot_id == second.boot_id);
  CHECK(first.wall_ms > 1'700'000'000'000);
}

TEST_CASE("clock: overdue is what is due by ledger time, the earliest first", "[ledger][clock]") {
  Machine machine;
  std::vector<std::string> ids;
  {
    auto ledger = machine.open();
    auto transaction = ledger.begin();
    for (const char* deadline :
         {"2026-02-03T00:00:00.000Z", "2026-02-01T00:00:00.000Z", "2026-02-01T00:00:00.000Z"}) {
      auto draft = draft_of(ids.size() == 2 ? ledger::Outcome::pending : ledger::Outcome::reserved);
      draft.deadline = deadline;
      ids.push_back(record_outcome(transaction, draft, Epsilon::from_units(1)));
    }
    CHECK(transaction.overdue_ids().empty());
    static_cast<void>(ledger.commit(std::move(transaction)));
  }
  machine.pass(60 * kMinute - 1);
  CHECK(machine.open().begin().overdue_ids().empty());
  machine.pass(1);
  CHECK(machine.open().begin().overdue_ids() == std::vector<std::string>{ids[1], ids[2]});
  machine.pass(9 * kDay);
  auto ledger = machine.open();
  auto transaction = ledger.begin();
  CHECK(transaction.overdue_ids() == std::vector<std::string>{ids[1], ids[2], ids[0]});
  record_outcome(transaction, draft_of(ledger::Outcome::voided, ids[1]), Epsilon::from_units(1));
  CHECK(transaction.overdue_ids() == std::vector<std::string>{ids[2], ids[0]});
  static_cast<void>(ledger.commit(std::move(transaction)));
}

TEST_CASE("clock: a deadline that has passed already, or is no time, is not recorded", "[ledger][clock]") {
  Machine machine;
  for (const char* deadline :
       {"2026-01-31T23:00:00.000Z", "2026-01-01T00:00:00.000Z", "2026-02-31T00:00:00.000Z", "tomorrow", ""}) {
    CAPTURE(deadline);
    auto ledger = machine.open();
    auto transaction = ledger.begin();
    auto draft = draft_of(ledger::Outcome::reserved);
    draft.deadline = deadline;
    CHECK_THROWS_AS(transaction.reserve(draft, charge_of(Epsilon::from_units(1))), InvalidParameter);
  }
  auto ledger = machine.open();
  auto transaction = ledger.begin();
  auto draft = granted();
  draft.deadline = "2027-01-01T00:00:00.000Z";
  CHECK_THROWS_AS(transaction.charge(draft, charge_of(Epsilon::from_units(1)), Epsilon::from_units(1)),
                  InvalidParameter);
}

TEST_CASE("clock: a time has one spelling, and whatever is another text is none",
          "[ledger][clock][negative]") {
  for (const std::int64_t ms :
       {std::int64_t{0}, std::int64_t{1'709'251'199'999}, std::int64_t{253'402'300'799'999}}) {
    const std::string text = ledger::time_text(ms);
    REQUIRE(ledger::parse_time(text) == ms);
    for (std::size_t i = 0; i < text.size(); ++i) {
      for (int byte = 0; byte < 256; ++byte) {
        std::string other = text;
        other[i] = static_cast<char>(byte);
        if (!ledger::is_time(other)) continue;
        const bool written = ledger::time_text(ledger::parse_time(other)) == other;
        if (!written) FAIL_CHECK(other);
      }
      if (ledger::is_time(text.substr(0, i) + text.substr(i + 1))) FAIL_CHECK(text << " without " << i);
    }
  }
  for (const char* none :
       {"", "2024-02-30T00:00:00.000Z", "2023-02-29T00:00:00.000Z", "2024-00-01T00:00:00.000Z",
        "2024-13-01T00:00:00.000Z", "2024-01-01T24:00:00.000Z", "2024-01-01T00:60:00.000Z",
        "2024-01-01T00:00:60.000Z", "1969-12-31T23:59:59.999Z", "2024-01-01 00:00:00.000Z",
        "2024-01-01T00:00:00.000z", "2024-01-01T00:00:00.000+", "2024-1-001T00:00:00.000Z"}) {
    CHECK_FALSE(ledger::is_time(none));
  }
}

TEST_CASE(
    "clock: what was noticed stands among the lines before what went by it, and their times never go back",
    "[ledger][clock][record]") {
  enum class Done { release, refuse, reserve_in_new_account, member, apply_policy, relocate };
  for (const Done done : {Done::release, Done::refuse, Done::reserve_in_new_account, Done::member,
                          Done::apply_policy, Done::relocate}) {
    CAPTURE(static_cast<int>(done));
    Machine machine;
    static_cast<void>(machine.release_at_calendar());
    machine.pass(kMinute);
    machine.step(kDay);
    auto ledger = machine.open();
    auto transaction = ledger.begin();
    const auto release = [&] { record_release(transaction, Epsilon::from_units(1), Rational(1)); };
    switch (done) {
      case Done::release:
        release();
        break;
      case Done::refuse:
        transaction.refuse(refused());
        break;
      case Done::reserve_in_new_account: {
        const auto opened = transaction.open_account(account("clinic", "epsilon", 5, "ward:a"));
        transaction.reserve(draft_of(ledger::Outcome::reserved),
                            charge_of(Epsilon::from_units(1), opened.id));
        break;
      }
      case Done::member:
        CHECK_THROWS(transaction.run_in_savepoint([&] {
          release();
          throw std::runtime_error("undone");
        }));
        transaction.run_in_savepoint(release);
        break;
      case Done::apply_policy:
        transaction.apply_policy(policy("version: 1\n# again\n"), {}, "why");
        break;
      case Done::relocate:
        transaction.relocate("clinic", "/elsewhere", "curator", "why");
        break;
    }
    static_cast<void>(ledger.commit(std::move(transaction)));

    std::vector<std::string> kinds;
    std::string last;
    ledger.snapshot().each_line(0, [&](std::string_view line) {
      const auto read = nlohmann::json::parse(line);
      kinds.push_back(read.at("kind"));
      CHECK(last <= read.at("time").get<std::string>());
      last = read.at("time");
    });
    const auto clock = std::find(kinds.begin(), kinds.end(), "clock");
    REQUIRE(clock != kinds.end());
    // Ledger, policy, its place, the account, plan and release of before.
    CHECK(clock - kinds.begin() == 6);
    CHECK(machine.events().size() == 1);
  }
}

TEST_CASE("clock: one that shows a time before 1970 leaves lines that can be read again", "[ledger][clock]") {
  for (const std::int64_t wall_ms : {std::int64_t{-kDay}, std::int64_t{0}}) {
    CAPTURE(wall_ms);
    TemporaryDirectory directory;
    ledger::Options options;
    options.clock = [wall_ms] {
      return ledger::ClockReading{.wall_ms = wall_ms, .boot_ms = 0, .boot_id = "b"};
    };
    const std::string path = directory.path() + "/L";
    ledger::Ledger::create(path, policy(), {account("clinic", "epsilon", 1'000'000)}, options);
    auto ledger = ledger::Ledger::open(path, options);
    release(ledger, Epsilon::from_units(1), Rational(1), "k");
    const std::vector<std::string> lines = lines_of(ledger.snapshot());
    CHECK(ledger::Ledger::import_lines(directory.path() + "/copy", each_of(lines)) ==
          static_cast<std::int64_t>(lines.size()));
  }
}
