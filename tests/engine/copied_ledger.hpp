// Ledgers that are prepared once and copied for every cell of docs/states.md, and the words of its tables.
#pragma once

#include "clinic.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/conflict_errors.hpp"
#include "epsilog/engine/not_verified.hpp"
#include "epsilog/ledger/files_replaced.hpp"
#include "epsilog/ledger/inspection.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "epsilog/ledger/lines_missing.hpp"
#include "epsilog/ledger/seal.hpp"
#include "noon_to_come.hpp"
#include "support/catch.hpp"

namespace epsilog::test {

/// The clocks of one machine; copies share them.
class SharedClock {
 public:
  explicit SharedClock(const ledger::ClockReading& at)
      : reading_(std::make_shared<ledger::ClockReading>(at)) {}
  void pass(std::chrono::milliseconds time) const {
    reading_->wall_ms += time.count();
    reading_->boot_ms += time.count();
  }
  /// Somebody sets the wall clock.
  void step(std::chrono::milliseconds time) const { reading_->wall_ms += time.count(); }
  [[nodiscard]] const ledger::ClockReading& reading() const { return *reading_; }
  [[nodiscard]] ledger::Clock clock() const {
    return [reading = reading_] { return *reading; };
  }

 private:
  std::shared_ptr<ledger::ClockReading> reading_;
};

/// What was told of a decision's values.
struct AcknowledgedValues {
  std::string decision;
  std::vector<accounting::Rational> values;
};

/// What was told of where a decision's line stands.
struct AcknowledgedLeaf {
  std::string decision;
  bool durable = false;
  std::optional<ledger::LogPosition> log;
};

/// What was told of the data token of a reservation that was made against one.
struct AcknowledgedToken {
  std::string reservation;
  bool durable = false;
  std::string token;
};

/// A ledger's file in a folder of its own, as a copy of one that nobody has open.
class CopiedLedger {
 public:
  CopiedLedger(const std::string& from, const ledger::ClockReading& at)
      : clock(at), path(folder_.path("clinic.ledger")) {
    std::filesystem::copy_file(from, path);
  }

  [[nodiscard]] std::string folder() const { return folder_.path(""); }
  [[nodiscard]] std::string sibling(const std::string& suffix) const { return path + suffix; }
  std::string write(const std::string& name, const std::string& text) const {
    return folder_.write(name, text);
  }
  [[nodiscard]] engine::EngineOptions options() {
    engine::EngineOptions options;
    options.clock = clock.clock();
    options.wait_ms = wait.count();
    options.unreadable = [this](const engine::UnreadableDecision&) { named_unreadable = true; };
    return options;
  }
  [[nodiscard]] ledger::Options ledger_options() { return options().ledger_options(); }
  [[nodiscard]] engine::Engine open() { return engine::Engine::open(path, options()); }

  /// The word of an answer; what it tells is kept for require_kept() and require_places().
  std::string word(const engine::Answer& answer) {
    const engine::Answer::Recorded& recorded_of = answer.recorded;
    if (recorded_of.durable)
      places.push_back({recorded_of.decision_id, *recorded_of.durable, recorded_of.log});
    if (answer.asked.reservation == engine::ReservationKind::reserved_against_token &&
        recorded_of.state != engine::RequestState::data_accessed) {
      tokens.push_back({recorded_of.granted ? recorded_of.parent : recorded_of.decision_id,
                        recorded_of.durable.value_or(false), recorded_of.token});
    }
    return listed_word(answer);
  }
  /// The same of one among many, which says nothing of the log.
  std::string listed_word(const engine::Answer& answer) {
    using engine::RequestState;
    if (!answer.released.values.empty())
      told.push_back({answer.recorded.decision_id, answer.released.values});
    if (answer.recorded.durable && !*answer.recorded.durable)
      return answer.released.values.empty() ? "withholds" : "?";
    switch (answer.recorded.state) {
      case RequestState::granted:
        if (answer.released.values.empty()) return "?";
        return answer.recorded.replayed || answer.recorded.seq <= recorded ? "replays" : "releases";
      case RequestState::refused:
        for (const engine::Reason& reason : answer.recorded.reasons) {
          if (reason.code == engine::RefusalCode::policy_changed) return "differs";
        }
        return "refuses";
      case RequestState::pending:
        return "waits";
      case RequestState::reserved:
        return "holds";
      case RequestState::rejected:
        return "rejects";
      case RequestState::cancelled:
      case RequestState::expired:
        return answer.recorded.why == "policy_changed" ? "ends" : "returns";
      case RequestState::forfeited:
        return "forfeits";
      case RequestState::data_accessed:
        return "tells";
      case RequestState::approved:
        break;
    }
    return "?";
  }

  /// What the call says, its failures included.
  template <class Call>
  std::string word_of(Call&& call) {
    named_unreadable = false;
    try {
      const std::string said = call();
      return said == "tells" && named_unreadable ? "names" : said;
    } catch (const std::exception& error) {
      messages.emplace_back(error.what());
      return word(error);
    }
  }

  /// What the page promises of every cell, where the file can still be read: nothing is beyond its limit, no
  /// key has two requests, what was told is on record with its charge, and no message quotes a row.
  void require_kept() const {
    auto opened = ledger::Ledger::open_read_only(path, {.clock = clock.clock()});
    auto view = opened.snapshot();
    for (const ledger::AccountState& account : view.accounts("")) {
      CAPTURE(account.scope, account.measure);
      CHECK(account.balance.spent >= 0);
      CHECK(account.balance.reserved >= 0);
      CHECK(account.balance.spent <= account.balance.limit);
      CHECK(account.balance.reserved <= account.balance.limit - account.balance.spent);
    }
    std::map<std::pair<std::string, std::string>, std::string> by_key;
    std::map<std::string, ledger::StoredDecision> releases;
    view.each_decision(
        "", 0,
        [&](const ledger::StoredDecision& stored) {
          if (stored.release) releases.emplace(stored.id, stored);
          if (stored.draft.key.empty() || !stored.draft.parent.empty()) return;
          CAPTURE(stored.draft.key);
          CHECK(by_key.emplace(std::pair(stored.draft.principal, stored.draft.key), stored.id).second);
        },
        [](const ledger::MalformedRecord&) {});
    for (const AcknowledgedValues& one : told) {
      CAPTURE(one.decision);
      const auto found = releases.find(one.decision);
      REQUIRE(found != releases.end());
      CHECK(found->second.values == one.values);
      CHECK_FALSE((found->second.charges.empty() && found->second.draft.parent.empty()));
    }
  }
  /// What the page promises of where lines stand: whatever is durable says it, of its own leaf in a tree that
  /// is the beginning of today's, and nothing else does. `kept` are the places that were told before.
  void require_places(const std::map<std::string, ledger::LogPosition>& kept, bool whole_tree = true) const {
    auto opened = ledger::Ledger::open_read_only(path, {.clock = clock.clock()});
    auto view = opened.snapshot();
    for (const AcknowledgedLeaf& acknowledged_leaf : places) {
      CAPTURE(acknowledged_leaf.decision);
      CHECK(acknowledged_leaf.log.has_value() == acknowledged_leaf.durable);
      if (!acknowledged_leaf.log) continue;
      const ledger::LogPosition& place = *acknowledged_leaf.log;
      CHECK(place.index ==
            static_cast<std::uint64_t>(view.find_by_id(acknowledged_leaf.decision).value().line));
      CHECK(place.leaf == view.leaf(static_cast<std::int64_t>(place.index)));
      REQUIRE(place.index < place.tree.size);
      REQUIRE(place.tree.size <= view.tree().size);
      if (whole_tree) CHECK(place.tree.root == root_of(view, 0, static_cast<std::int64_t>(place.tree.size)));
      const auto before = kept.find(acknowledged_leaf.decision);
      if (before == kept.end()) continue;
      CHECK(place.index == before->second.index);
      CHECK(place.leaf == before->second.leaf);
      CHECK(place.tree.size >= before->second.tree.size);
    }
  }
  void require_clean_messages() const {
    for (const std::string& message : messages) {
      CAPTURE(message);
      for (const char* forbidden :
           {"sqlite3_", "std::", "basic_string", "terminate", "70000.00", "4000.25"}) {
        CHECK(message.find(forbidden) == std::string::npos);
      }
    }
  }
  /// "" when the audit finds nothing.
  [[nodiscard]] std::string faults() const {
    std::string text;
    for (const auto& fault : engine::audit_verify(path).faults) {
      text += fault.record + " " + fault.code + ": " + fault.message + "\n";
    }
    return text;
  }

  SharedClock clock;
  std::chrono::milliseconds wait{10'000};
  std::int64_t recorded = 0;  ///< so many decisions were there before
  bool named_unreadable = false;
  std::vector<AcknowledgedValues> told;
  std::vector<AcknowledgedLeaf> places;
  std::vector<AcknowledgedToken> tokens;
  std::vector<std::string> messages;

 private:
  /// Of the lines from `first` up to `last`, by the definition of RFC 6962.
  static ledger::Hash root_of(ledger::Snapshot& view, std::int64_t first, std::int64_t last) {
    if (last - first == 1) return view.leaf(first);
    std::int64_t left = 1;
    while (2 * left < last - first) left *= 2;
    return ledger::node_hash(root_of(view, first, first + left), root_of(view, first + left, last));
  }

  static std::string word(const std::exception& error) {
    const auto is = [&error]<class Exception>(std::type_identity<Exception>) {
      return dynamic_cast<const Exception*>(&error) != nullptr;
    };
    if (is(std::type_identity<ledger::ReplicaUnavailable>())) return "unavailable";
    if (is(std::type_identity<ledger::LinesMissing>())) return "lines missing";
    if (is(std::type_identity<ledger::LedgerRolledBack>())) return "rolled back";
    if (is(std::type_identity<ledger::FilesReplaced>())) return "replaced";
    if (is(std::type_identity<LedgerBusy>())) return "busy";
    if (is(std::type_identity<LedgerIo>())) return "io";
    if (is(std::type_identity<LedgerCorrupt>())) return "corrupt";
    if (is(std::type_identity<engine::NotVerified>())) return "contradicts";
    if (is(std::type_identity<ledger::LedgerSealed>())) return "sealed";
    if (is(std::type_identity<LedgerUnusable>())) return "unusable";
    if (is(std::type_identity<engine::NotPermitted>())) return "forbids";
    if (is(std::type_identity<SourceError>())) return "fails";
    if (is(std::type_identity<PolicyError>())) return "closed";
    if (is(std::type_identity<InvalidParameter>())) return "invalid";
    if (is(std::type_identity<NotFound>())) return "unknown";
    if (is(std::type_identity<engine::RequestChanged>())) return "moved";
    if (is(std::type_identity<engine::PolicyConflict>())) return "moved";
    return std::string("throws ") + error.what();
  }

  TemporaryFolder folder_;

 public:
  std::string path;  // after the folder it is in
};

}  // namespace epsilog::test
