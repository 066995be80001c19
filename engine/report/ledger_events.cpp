#include "epsilog/engine/ledger_events.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/policy.hpp"
#include "epsilog/engine/policy_diff.hpp"
#include "epsilog/ledger/canonical_json.hpp"
#include "epsilog/ledger/ledger.hpp"

namespace epsilog::engine {
namespace {

using ledger::JsonValue;

/// Members that every record has, and those that an event keeps apart.
constexpr std::array<std::string_view, 9> kNotInWords{"after_decision", "blind", "by",   "event", "index",
                                                      "kind",           "seq",   "time", "why"};

std::string bytes_of(const JsonValue& record, std::string_view name) {
  const JsonValue* member = record.find(name);
  return member == nullptr ? "" : member->bytes();
}

std::uint64_t count_of(const JsonValue& record, std::string_view name) {
  const JsonValue* member = record.find(name);
  return member == nullptr ? 0 : member->count();
}

std::string lines_text(std::uint64_t count) {
  return std::to_string(count) + (count == 1 ? " line" : " lines");
}

/// A member in words: of a list or an object only that it is there.
std::string member_text(const JsonValue& value) {
  switch (value.kind()) {
    case JsonValue::Kind::string:
      return value.text();
    case JsonValue::Kind::count:
      return std::to_string(value.count());
    case JsonValue::Kind::truth:
      return "yes";
    case JsonValue::Kind::array:
    case JsonValue::Kind::object:
      return "…";
  }
  EPSILOG_INVARIANT(false);
}

/// Members of a record that no words here speak of: ", name value" each.
std::string other_members(const JsonValue& record, std::initializer_list<std::string_view> told) {
  std::string text;
  for (const std::string& name : record.names()) {
    const auto is = [&name](std::string_view known) { return known == name; };
    if (std::any_of(kNotInWords.begin(), kNotInWords.end(), is) || std::any_of(told.begin(), told.end(), is))
      continue;
    text += ", " + name + " " + member_text(record.at(name));
  }
  return text;
}

std::string recovery_words(const JsonValue& record) {
  const std::string& cause = record.at("cause").text();
  const std::uint64_t restored = count_of(record, "restored_lines");
  const std::uint64_t dropped = count_of(record, "dropped_lines");
  std::string text = "recovered: " + cause;
  if (cause == "poisoned") text = "put right after an input or output error";
  if (cause == "behind_replica") text = "put back from its replica: " + lines_text(restored);
  if (cause == "rebuilt") text = "made again of its replica: " + lines_text(restored);
  if (cause == "restored") {
    text = "a backup was put in its place, with " + lines_text(restored) + " of its replica after it";
  }
  if (cause == "rolled_back") {
    text =
        "rolled back: a backup was put in its place without a replica, and what was recorded after it is "
        "forgotten";
  }
  if (dropped > 0) text += "; " + lines_text(dropped) + " of the replica were dropped";
  if (const std::uint64_t found = count_of(record, "found_lines"); found > 0) {
    text += ", found " + std::to_string(found) + ", remembered " +
            std::to_string(count_of(record, "remembered_lines"));
  }
  return text + other_members(
                    record, {"cause", "restored_lines", "dropped_lines", "found_lines", "remembered_lines"});
}

std::string clock_words(const JsonValue& record) {
  const std::string& type = record.at("type").text();
  const std::string& wall_clock = record.at("wall_clock").text();
  if (type == "confirmed") return "the clock was confirmed, at " + wall_clock;
  return "the clock went " + type + ": it showed " + wall_clock;
}

std::string credential_words(const JsonValue& record) {
  const std::string name = "credential " + record.at("credential").text() + " (" + record.at("type").text() +
                           ") of " + record.at("principal").bytes();
  if (record.find("revoked") != nullptr) return name + " was revoked";
  const std::string until = bytes_of(record, "until");
  return name + " was added" + (until.empty() ? "" : ", until " + until);
}

/// One sentence of what a later version does to an earlier one.
std::string change_words(const PolicyChange& change) {
  std::string text = change.direction == Direction::incomparable ? "cannot be compared: " : "";
  text += change.path_text();
  if (change.before.empty()) return text + " is new: " + change.after;
  if (change.after.empty()) return text + " is there no more: " + change.before;
  return text + " from " + change.before + " to " + change.after;
}

/// Reads one line after the other.
class Events final {
 public:
  Events(ledger::Snapshot& view, const EventQuestion& question) : view_(view), question_(question) {}

  void line(const ledger::EventLine& line) {
    LedgerEvent event{
        .line = line.index, .after_decision = line.after_decision, .kind = "", .at = "", .what = ""};
    try {
      if (!line.fault.empty()) throw LedgerCorrupt(line.fault);
      const JsonValue record = ledger::parse_canonical(line.text);
      event.at = record.at("time").text();
      event.by = bytes_of(record, "by");
      event.why = bytes_of(record, "why");
      if (!describe_event(record, event)) return;
      event.kind = record.at("kind").text();
    } catch (const LedgerCorrupt& error) {
      event.what = std::string("cannot be read: ") + error.what();
    }
    if (question_.dataset.empty() || event.dataset.empty() || event.dataset == question_.dataset) {
      events_.push_back(std::move(event));
    }
  }

  [[nodiscard]] std::vector<LedgerEvent> take_events() { return std::move(events_); }

 private:
  /// Puts a record in words. False where it is told as a part of another event, or of the accounts.
  bool describe_event(const JsonValue& record, LedgerEvent& event) {
    const std::string& kind = record.at("kind").text();
    if (kind == "account") return false;
    if (kind == "limit_change" || kind == "limit_removal") return limit(record, kind == "limit_removal");
    if (kind == "location") return false;
    event.what = words(kind, record, event);
    return true;
  }

  std::string words(const std::string& kind, const JsonValue& record, LedgerEvent& event) {
    if (kind == "ledger") return "the ledger began, with id " + record.at("id").text();
    if (kind == "policy") return policy(record, event);
    if (kind == "relocation") {
      event.dataset = record.at("dataset").bytes();
      return "the source of " + event.dataset + " moved to " + record.at("path").bytes();
    }
    if (kind == "clock") return clock_words(record);
    if (kind == "credential") return credential_words(record);
    if (kind == "key") {
      return "key " + record.at("verifier_key").text() +
             (record.find("retired") == nullptr ? " was added" : " was retired");
    }
    if (kind == "recovery") return recovery_words(record);
    if (kind == "sealed") return "sealed: it goes on elsewhere" + other_members(record, {});
    if (kind == "unsealed") return "unsealed: it goes on from here" + other_members(record, {});
    return kind + other_members(record, {});
  }

  std::string policy(const JsonValue& record, LedgerEvent& event) {
    const std::uint64_t version = record.at("version").count();
    const std::string yaml = bytes_of(record, "yaml");
    std::string text = "policy version " + std::to_string(version);
    try {
      const Policy after = Policy::parse_stored(yaml, "policy");
      if (const auto before = yaml_of(version - 1)) {
        add_looser_changes(Policy::parse_stored(*before, "policy"), after, event);
      }
    } catch (const PolicyError&) {
      text += ", whose text or that before it cannot be read";
    }
    return text;
  }

  /// Nothing for a version that is not there.
  std::optional<std::string> yaml_of(std::uint64_t version) {
    if (texts_.empty()) {
      view_.each_policy_version([this](const ledger::PolicyVersion& one) {
        texts_[static_cast<std::uint64_t>(one.version)] = one.yaml;
      });
    }
    const auto found = texts_.find(version);
    return found == texts_.end() ? std::nullopt : std::optional(found->second);
  }

  void add_looser_changes(const Policy& before, const Policy& after, LedgerEvent& event) const {
    for (const PolicyChange& change : diff(before, after)) {
      if (change.direction != Direction::looser && change.direction != Direction::incomparable) continue;
      const bool of_another = !question_.dataset.empty() && change.path.size() > 1 &&
                              change.path[0] == "datasets" && change.path[1] != question_.dataset;
      if (!of_another) event.looser.push_back(change_words(change));
    }
  }

  /// A limit changes by the policy version before it.
  bool limit(const JsonValue& record, bool removed) {
    const auto& [dataset, name] = account(record.at("account").count());
    if (events_.empty() || events_.back().kind != "policy") return false;
    if (!question_.dataset.empty() && dataset != question_.dataset) return false;
    events_.back().limits.push_back(
        name + (removed ? ": no limit any more"
                        : ": limit " + record.at("old").text() + " to " + record.at("new").text()));
    return false;
  }

  struct Account {
    std::string dataset;
    std::string name;
  };

  const Account& account(std::uint64_t number) {
    if (accounts_.empty()) {
      for (const ledger::AccountState& one : view_.accounts("")) {
        accounts_[static_cast<std::uint64_t>(one.id)] = {
            one.dataset, one.measure + " of " + one.dataset + (one.scope.empty() ? "" : ", " + one.scope)};
      }
    }
    return accounts_[number];
  }

  ledger::Snapshot& view_;
  const EventQuestion& question_;
  std::vector<LedgerEvent> events_;
  std::map<std::uint64_t, std::string> texts_;  // of policy versions
  std::map<std::uint64_t, Account> accounts_;   // by number
};

}  // namespace

bool is_recovery(const LedgerEvent& event) {
  return event.kind == "recovery" || event.kind == "sealed" || event.kind == "unsealed";
}

std::vector<LedgerEvent> ledger_events(ledger::Snapshot& view, const EventQuestion& question) {
  Events events(view, question);
  view.each_event_line(question.after_decision,
                       [&events](const ledger::EventLine& line) { events.line(line); });
  return events.take_events();
}

std::vector<LedgerEvent> ledger_events(const std::string& ledger_path, const EventQuestion& question,
                                       const EngineOptions& options) {
  const ledger::Ledger ledger = ledger::Ledger::open_read_only(ledger_path, options.ledger_options());
  ledger::Snapshot view = ledger.snapshot();
  return ledger_events(view, question);
}

}  // namespace epsilog::engine
