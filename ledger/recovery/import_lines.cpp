// A ledger made of lines: it shows the history that they tell, and nobody writes to it.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "account_checksum.hpp"
#include "decision_id.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "epsilog/ledger/ledger_time.hpp"
#include "epsilog/ledger/needs_feature.hpp"
#include "known_features.hpp"
#include "line_import.hpp"
#include "new_ledger_file.hpp"
#include "new_tables.hpp"
#include "record_rows.hpp"
#include "stored_bytes.hpp"

namespace epsilog::ledger {
namespace {

/// Numbers of rows stand in their order.
void require_next(std::int64_t& last, std::int64_t number, const char* what) {
  if (number != last + 1) {
    throw LedgerCorrupt(std::string("is ") + what + " " + std::to_string(number) + " where " +
                        std::to_string(last + 1) + " belongs");
  }
  last = number;
}

/// Refers to what stands before it, or to nothing.
void require_there(std::int64_t number, std::int64_t last, const char* what) {
  if (number <= last) return;
  throw LedgerCorrupt(std::string("refers to ") + what + " " + std::to_string(number) +
                      ", which does not stand before it");
}

class LineImport final {
 public:
  LineImport(Connection& db, const LineImportOptions& rules) : db_(db), rules_(rules) {}

  void add(std::string_view text) {
    const std::string name = "line " + std::to_string(log_.size());
    try {
      Line line = parse_line(text, [this](std::int64_t account) {
        const auto known = accounts_.find(account);
        if (known == accounts_.end()) {
          throw LedgerCorrupt("account " + std::to_string(account) + " is not opened before it");
        }
        return grid_decimals(known->second.measure);
      });
      require_position(line);
      require_known(line.record, name);
      std::visit([&](auto& record) { write(line, record); }, line.record);
    } catch (const LedgerCorrupt& error) {
      throw LedgerCorrupt(name + ": " + error.what());
    } catch (const StorageFailure& failure) {
      if (kind_of(failure) != FailureKind::constraint) throw;
      throw LedgerCorrupt(name + ": " + failure.what());
    }
  }

  void finish() {
    if (log_.size() == 0) throw LedgerCorrupt("there is no line");
    if (policy_) throw LedgerCorrupt("the place of the last policy version is missing");
    if (meta_.policy_versions == 0) throw LedgerCorrupt("there is no policy version");
    for (const auto& [id, account] : accounts_) {
      db_.query("UPDATE account SET \"limit\" = ?2, spent = ?3, reserved = ?4, checksum = ?5 WHERE id = ?1")
          .with(id, account.balance.limit, account.balance.spent, account.balance.reserved,
                account_checksum(account))
          .run();
    }
    if (rules_.at_end) rules_.at_end(db_, meta_, log_);
    meta_.log_size = log_.size();
    meta_.read_only = rules_.read_only;
    insert_meta(db_, meta_);
  }

 private:
  void require_position(const Line& line) {
    if (line.index != static_cast<std::uint64_t>(log_.size())) {
      throw LedgerCorrupt("has index " + std::to_string(line.index));
    }
    const bool begins = std::holds_alternative<LedgerRecord>(line.record);
    if (begins != (line.index == 0)) throw LedgerCorrupt("a ledger begins once, in its first line");
    const bool place = std::holds_alternative<PolicyLocation>(line.record);
    if (place != policy_.has_value()) {
      throw LedgerCorrupt("the place of a policy version comes directly after that version");
    }
    const auto* const seal = std::get_if<SealEvent>(&line.record);
    const bool unseals = seal != nullptr && seal->unsealed;
    if (sealed_ && !unseals) throw LedgerCorrupt("follows a seal, after which only `unsealed` is right");
    if (unseals && !sealed_) throw LedgerCorrupt("ends a seal, and follows none");
  }

  /// Nothing behind the announcement of a feature can be judged without it.
  static void require_known(const Record& record, const std::string& name) {
    const auto* const feature = std::get_if<FeatureRecord>(&record);
    if (feature != nullptr && !is_known_feature(feature->name)) throw NeedsFeature(name, feature->name);
  }

  void at(const std::string& time) { meta_.last_time = std::max(meta_.last_time, time); }

  void append(const Line& line) { log_.append(db_, row_number(line.record), line); }

  void write(const Line& line, const LedgerRecord& begun) {
    meta_.ledger_id = begun.ledger_id;
    meta_.created_at = meta_.last_time = begun.created_at;
    append(line);
  }
  void write(const Line& line, PolicyRecord& record) {
    require_next(meta_.policy_versions, record.version.version, "policy version");
    record.version.implies = record.implies;
    policy_ = record.version;
    append(line);  // its row comes with its place
  }
  void write(const Line& line, const PolicyLocation& place) {
    if (place.version != policy_->version || place.applied_at != policy_->applied_at) {
      throw LedgerCorrupt("is the place of another policy version");
    }
    policy_->base_dir = place.base_dir;
    insert_row(db_, PolicyRecord{.version = *policy_, .implies = policy_->implies});
    append(line);
    event(policy_->event, policy_->applied_at);
    policy_.reset();
  }
  void write(const Line& line, const AccountRecord& opened) {
    require_next(meta_.accounts, opened.id, "account");
    insert_row(db_, opened);
    append(line);
    accounts_[opened.id] = {.id = opened.id,
                            .dataset = opened.name.dataset,
                            .scope = opened.name.scope,
                            .measure = opened.name.measure,
                            .balance = {.limit = opened.limit}};
    at(opened.opened_at);
  }
  void write(const Line& line, const LimitChange& change) {
    require_next(meta_.limit_changes, change.seq, "limit change");
    insert_row(db_, change);
    append(line);
    accounts_.at(change.account).balance.limit = change.new_limit;
  }
  void write(const Line& line, const LimitRemoval& removal) {
    require_next(meta_.limit_removals, removal.seq, "limit removal");
    insert_row(db_, removal);
    append(line);
  }
  void write(const Line& line, const Relocation& relocation) {
    require_next(meta_.relocations, relocation.seq, "relocation");
    insert_row(db_, relocation);
    append(line);
    event(relocation.event, relocation.at);
  }
  void write(const Line& line, const PlanRecord& plan) {
    require_next(meta_.plans, plan.number, "plan");
    insert_row(db_, plan);
    append(line);
  }
  void write(const Line& line, const ClockEvent& seen) {
    require_next(meta_.clock_events, seen.seq, "clock event");
    insert_row(db_, seen);
    append(line);
    if (seen.kind == "forwards" && meta_.clock.held_at.empty()) meta_.clock.held_at = seen.ledger_time;
    if (seen.kind == "confirmed") meta_.clock.held_at.clear();
    event(seen.event, seen.ledger_time);
  }
  void write(const Line& line, const CredentialEvent& credential) {
    require_next(meta_.credential_events, credential.seq, "credential event");
    insert_row(db_, credential);
    append(line);
    at(credential.at);
  }
  void write(const Line& line, const KeyEvent& key) {
    require_next(meta_.key_events, key.seq, "key event");
    insert_row(db_, key);
    append(line);
    at(key.at);
  }
  void write(const Line& line, const RecoveryEvent& recovery) {
    require_next(meta_.recoveries, recovery.seq, "recovery");
    insert_row(db_, recovery);
    append(line);
    at(recovery.at);
  }
  void write(const Line& line, const SealEvent& seal) {
    require_next(meta_.seal_events, seal.seq, "seal event");
    insert_row(db_, seal);
    append(line);
    at(seal.at);
    sealed_ = !seal.unsealed;
  }
  void write(const Line& line, FeatureRecord& feature) {
    feature.number = ++meta_.features;
    insert_row(db_, feature);
    append(line);
    at(feature.at);
  }
  void write(const Line& line, const DecisionRecord& record) {
    require_next(meta_.decisions, record.seq, "decision");
    require_there(record.plan, meta_.plans, "plan");
    require_there(record.policy_version, meta_.policy_versions, "policy version");
    require_there(record.decided_under, meta_.policy_versions, "policy version");
    insert_decision(db_, meta_, record, values_of(record), log_.size(), token_of(record));
    append(line);
    for (const Movement& movement : record.movements) {
      accounting::Balance& balance = accounts_.at(movement.account).balance;
      balance.spent = movement.balance.spent;
      balance.reserved = movement.balance.reserved;
    }
    list_open(record);
    at(record.created_at);
  }

  [[nodiscard]] StoredValues values_of(const DecisionRecord& record) const {
    if (record.plan == 0 || !may_be_brief(record)) return values_at_length(record);
    const auto plan = db_.shared_rows().plan(db_, record.plan);
    return stored_values(record, plan->release ? &*plan->release : nullptr, plan->post_processing);
  }
  [[nodiscard]] TokenColumns token_of(const DecisionRecord& record) const {
    if (!record.token_sha256) return {};
    return columns_of(*record.token_sha256, rules_.token ? rules_.token(record) : "");
  }

  void list_open(const DecisionRecord& record) {
    if (!record.deadline.empty()) {
      db_.query("INSERT INTO open_decision(seq, deadline) VALUES(?1, ?2)")
          .with(record.seq, stored_time(record.deadline))
          .run();
    }
    const bool resolves = !record.parent.empty() && record.outcome != Outcome::approved &&
                          record.outcome != Outcome::data_accessed;
    if (!resolves) return;
    db_.query("DELETE FROM open_decision WHERE seq = (SELECT seq FROM decision WHERE id = ?1)")
        .with(id_bytes(record.parent))
        .run();
  }

  void event(std::int64_t number, const std::string& time) {
    require_next(meta_.events, number, "event");
    at(time);
  }

  Connection& db_;
  const LineImportOptions& rules_;
  Meta meta_;
  RecordLog log_;
  std::map<std::int64_t, AccountState> accounts_;
  std::optional<PolicyVersion> policy_;  // of which the place comes next
  bool sealed_ = false;                  // by the line before
};

}  // namespace

std::int64_t import_all(Connection& db, const std::function<std::optional<std::string>()>& next_line,
                        const LineImportOptions& rules) {
  make_tables(db);
  LineImport import(db, rules);
  std::int64_t lines = 0;
  for (; auto line = next_line(); ++lines) import.add(*line);
  import.finish();
  return lines;
}

std::int64_t Ledger::import_lines(const std::string& path,
                                  const std::function<std::optional<std::string>()>& next_line,
                                  const Options& options) {
  std::int64_t lines = 0;
  make_ledger_file(path, options, [&](Connection& db, const NewLedgerTarget& place) {
    lines = import_all(db, next_line, {});
    if (!options.accept_missing_lines) require_marked_lines(db, place.remembered, place.files);
  });
  return lines;
}

}  // namespace epsilog::ledger
