// The keys that a ledger names: records with who and why, that the audit and an import know.
#include "epsilog/engine/named_keys.hpp"

#include "clinic.hpp"
#include "epsilog/engine/checkpoint.hpp"
#include "epsilog/engine/signing_key.hpp"
#include "refused_for.hpp"
#include "support/catch.hpp"
#include "tampering.hpp"

using namespace epsilog;
using namespace epsilog::test;
using namespace engine;

namespace {

std::string key_of(const std::string& name, SignatureType type = SignatureType::ed25519) {
  return engine::SigningKey::generate(name, type).verifier().text();
}

engine::KeyReport change(const Clinic& clinic, const std::string& key, KeyChange how,
                         const std::string& by = "cleo", const std::string& why = "board") {
  ledger::Ledger ledger = ledger::Ledger::open(clinic.ledger(), {});
  return engine::record_key_change(ledger, key, how, by, why);
}

std::vector<ledger::KeyEvent> events_of(const std::string& path) {
  std::vector<ledger::KeyEvent> events;
  ledger::Ledger::open_read_only(path).snapshot().each_key_event(
      [&](const ledger::KeyEvent& event) { events.push_back(event); });
  return events;
}

}  // namespace

TEST_CASE("key add, key retire: each is a line with who and why, and the ledger verifies",
          "[evidence][keys]") {
  const Clinic clinic;
  const std::string name = engine::ledger_origin(clinic.report.ledger_id);
  const std::string first = key_of(name);
  const std::string second = key_of(name);
  const std::uint64_t lines = ledger::Ledger::open_read_only(clinic.ledger()).snapshot().tree().size;
  CHECK(change(clinic, first, KeyChange::add).changed);
  CHECK(change(clinic, second, KeyChange::add, "dave", "another machine").changed);
  engine::Engine engine = clinic.open();
  CHECK(release(engine, request("count", "0.1")).recorded.granted);
  const engine::KeyReport retired = change(clinic, first, KeyChange::retire, "cleo", "lost");
  CHECK(retired.changed);
  CHECK(change(clinic, first, KeyChange::add).changed);  // found again

  const std::vector<ledger::KeyEvent> events = events_of(clinic.ledger());
  REQUIRE(events.size() == 4);
  CHECK(events[2] ==
        ledger::KeyEvent{
            .seq = 3, .retired = true, .verifier_key = first, .at = retired.at, .by = "cleo", .why = "lost"});
  CHECK(events[1].by == "dave");
  ledger::Snapshot view = ledger::Ledger::open_read_only(clinic.ledger()).snapshot();
  std::string line;
  view.each_line(static_cast<std::int64_t>(lines), static_cast<std::int64_t>(lines) + 1,
                 [&](std::string_view text) { line = text; });
  CHECK_THAT(line, says("\"kind\":\"key\",\"seq\":1") && says("\"why\":\"board\"") && says(first));
  CHECK(audit_faults(clinic.ledger()).empty());

  std::vector<std::string> exported;
  view.each_line(0, [&](std::string_view text) { exported.emplace_back(text); });
  const std::string copy = clinic.folder.path("copy.ledger");
  auto next = exported.begin();
  static_cast<void>(ledger::Ledger::import_lines(copy, [&]() -> std::optional<std::string> {
    return next == exported.end() ? std::nullopt : std::optional(*next++);
  }));
  CHECK(events_of(copy) == events);
  CHECK(audit_faults(copy).empty());
}

TEST_CASE("key add, key retire: what is so already records nothing, and what makes no sense is refused",
          "[evidence][keys][negative]") {
  const Clinic clinic;
  const std::string name = engine::ledger_origin(clinic.report.ledger_id);
  const std::string key = key_of(name);
  CHECK_THAT(refused_for<NotFound>([&] { return change(clinic, key, KeyChange::retire); }),
             says("names no key"));
  CHECK(change(clinic, key, KeyChange::add).changed);
  CHECK_FALSE(change(clinic, key, KeyChange::add).changed);
  CHECK(change(clinic, key, KeyChange::retire).changed);
  CHECK_FALSE(change(clinic, key, KeyChange::retire).changed);
  CHECK(events_of(clinic.ledger()).size() == 2);
  const auto refused = [&](const std::string& of, const std::string& by = "cleo",
                           const std::string& why = "w") {
    return refused_for<InvalidParameter>([&] { return change(clinic, of, KeyChange::add, by, why); });
  };
  CHECK_THAT(refused("nonsense"), says("is not NAME+HASH+KEY"));
  CHECK_THAT(refused(key_of("epsilog/0123456789abcdef0123456789abcdef")), says("and the ledger is " + name));
  CHECK_THAT(refused(key_of(name, SignatureType::cosignature)), says("is a witness's"));
  CHECK_THAT(refused(key_of(name), ""), says("who says so"));
  CHECK_THAT(refused(key_of(name), "cleo", ""), says("a reason is needed"));
  CHECK(events_of(clinic.ledger()).size() == 2);
  // The ledger itself keeps to it, whoever asks.
  ledger::Ledger ledger = ledger::Ledger::open(clinic.ledger(), {});
  for (const bool retired : {true, false}) {
    const std::string fresh = retired ? key_of(name) : key;
    ledger::Transaction transaction = ledger.begin();
    if (!retired) transaction.record_key(fresh, false, "cleo", "");
    CHECK_THROWS_AS(transaction.record_key(fresh, retired, "cleo", ""), InvalidParameter);
    CHECK_FALSE(transaction.is_open());
  }
  CHECK(events_of(clinic.ledger()).size() == 2);
}

TEST_CASE("audit verify: a key event that cannot be is named, though the log was made anew",
          "[evidence][keys][negative]") {
  const auto faults_after = [](const std::string& sql) {
    const Clinic clinic;
    const std::string name = engine::ledger_origin(clinic.report.ledger_id);
    static_cast<void>(change(clinic, key_of(name), KeyChange::add));
    tamper_with_log(clinic.ledger(), sql);
    return audit_faults(clinic.ledger());
  };
  CHECK_THAT(faults_after("UPDATE key_event SET retired = 1"),
             says("key event 1 key_unfounded: retires a key that is not one of this ledger then"));
  CHECK_THAT(faults_after("UPDATE key_event SET verifier_key = 'k'"), says("is not NAME+HASH+KEY"));
  CHECK_THAT(faults_after("UPDATE key_event SET verifier_key = '" +
                          key_of("epsilog/0123456789abcdef0123456789abcdef") + "'"),
             says("key_unfounded: the key is of epsilog/"));
  CHECK_THAT(faults_after("INSERT INTO key_event SELECT 2, 0, verifier_key, at, by, why FROM key_event;"
                          "UPDATE meta SET key_events = 2"),
             says("key event 2 key_unfounded: adds a key that is one of this ledger already"));
}
