#include "log_check.hpp"

#include <algorithm>
#include <utility>

#include "epsilog/accounting/errors.hpp"
#include "history_rows.hpp"
#include "record_log.hpp"
#include "record_rows.hpp"
#include "stored_bytes.hpp"

namespace epsilog::ledger {
namespace {

constexpr std::int64_t kDecision = static_cast<std::int64_t>(RecordKind::decision);

/// When a record says that it happened.
struct TimeOf {
  const std::string& operator()(const LedgerRecord& record) const { return record.created_at; }
  const std::string& operator()(const PolicyRecord& record) const { return record.version.applied_at; }
  const std::string& operator()(const PolicyLocation& record) const { return record.applied_at; }
  const std::string& operator()(const Relocation& record) const { return record.at; }
  const std::string& operator()(const AccountRecord& record) const { return record.opened_at; }
  const std::string& operator()(const LimitChange& record) const { return record.changed_at; }
  const std::string& operator()(const LimitRemoval& record) const { return record.removed_at; }
  const std::string& operator()(const PlanRecord& record) const { return record.first_at; }
  const std::string& operator()(const DecisionRecord& record) const { return record.created_at; }
  const std::string& operator()(const ClockEvent& record) const { return record.ledger_time; }
  const std::string& operator()(const CredentialEvent& record) const { return record.at; }
  const std::string& operator()(const KeyEvent& record) const { return record.at; }
  const std::string& operator()(const RecoveryEvent& record) const { return record.at; }
  const std::string& operator()(const SealEvent& record) const { return record.at; }
  const std::string& operator()(const FeatureRecord& record) const { return record.at; }
};

}  // namespace

LogCheck::LogCheck(Connection& connection, const HistoryEnd& end,
                   const std::function<void(const StoredFault&)>& fault,
                   const std::function<void()>& between_steps)
    : connection_(connection),
      end_(end),
      fault_(fault),
      between_steps_(between_steps),
      statement_(connection.prepare("SELECT line_index, kind, row, blind, leaf FROM log"
                                    " WHERE line_index >= ?1 AND line_index <= ?2 ORDER BY line_index")) {}

void LogCheck::pause() {
  rows_.reset();
}

void LogCheck::fault(const std::string& record, const char* code, std::string message) {
  fault_({record, code, std::move(message)});
}

std::string LogCheck::line_name() const {
  return "line " + std::to_string(row_.index);
}

bool LogCheck::next() {
  if (there_) return true;
  for (;;) {
    if (!over_ && !rows_) {
      rows_.emplace(statement_, connection_.handle());
      rows_->with(from_, end_.line);
    }
    over_ = over_ || !rows_->step();  // a statement that has ended is not stepped again
    if (over_) return false;
    const std::int64_t index = rows_->integer(0);
    if (index == INT64_MAX) over_ = true;  // nothing can follow
    from_ = std::max(from_, over_ ? index : index + 1);
    try {
      row_ = {.index = index,
              .kind = rows_->integer(1),
              .row = rows_->integer(2),
              .blind = sized_bytes<16>(rows_->bytes(3), "column blind"),
              .leaf = sized_bytes<32>(rows_->bytes(4), "column leaf")};
      if (row_.kind < 0 || row_.kind >= static_cast<std::int64_t>(kKinds)) {
        throw LedgerCorrupt("column kind is " + std::to_string(row_.kind));
      }
    } catch (const LedgerCorrupt& error) {
      fault("line " + std::to_string(index), "line_changed", error.what());
      expect_next();
      continue;
    }
    check_position();
    there_ = true;
    return true;
  }
}

/// Nothing stands behind the largest number that a row can have.
void LogCheck::expect_next() {
  if (expected_ < INT64_MAX) ++expected_;
}

/// Its number, its leaf's place in the tree, and that rows of a kind have lines in their order.
void LogCheck::check_position() {
  if (row_.index != expected_) {
    fault(line_name(), "log_order",
          "follows line " + std::to_string(expected_ - 1) + ", and nothing stands between");
    expected_ = row_.index;
  }
  expect_next();
  const auto kind = static_cast<std::size_t>(row_.kind);
  if (kind == 0 && row_.row != 0) fault(line_name(), "log_order", "is of a row where there is but one");
  ++count_.at(kind);
  if (count_.at(kind) > 1 && row_.row <= last_row_.at(kind)) {
    fault(line_name(), "log_order",
          "is of row " + std::to_string(row_.row) + ", and stands after that of row " +
              std::to_string(last_row_.at(kind)));
  }
  last_row_.at(kind) = row_.row;
  tree_.append(row_.leaf, [this](unsigned level, std::uint64_t number, const Hash& hash) {
    check_node(level, number, hash);
  });
}

void LogCheck::check_node(unsigned level, std::uint64_t number, const Hash& hash) {
  ++nodes_;
  const std::string name =
      "node " + std::to_string(number) + " of level " + std::to_string(level) + " of the tree";
  try {
    Hash stored{};
    read_nodes(connection_, level, number, std::span(&stored, 1));
    if (stored != hash) fault(name, "node_changed", "is not the hash of the two below it");
  } catch (const LedgerCorrupt& error) {
    fault(name, "node_changed", error.what());
  }
}

Line LogCheck::line_of(Record record) const {
  return {.index = static_cast<std::uint64_t>(row_.index), .blind = row_.blind, .record = std::move(record)};
}

void LogCheck::check_line(const Line& line) {
  try {
    if (leaf_hash(line_text(connection_, line)) == row_.leaf) return follow(line.record);
    fault(line_name(), "leaf_changed", "is not the line whose hash was recorded: its row was changed, or it");
  } catch (const LedgerCorrupt& error) {
    fault(line_name(), "leaf_changed", error.what());
  } catch (const InvalidParameter& error) {
    fault(line_name(), "leaf_changed", error.what());
  }
}

/// What holds between one line and those before it.
void LogCheck::follow(const Record& record) {
  const std::string& time = std::visit(TimeOf(), record);
  if (time < last_time_)
    fault(line_name(), "log_time", "is dated " + time + ", after a line of " + last_time_);
  check_fresh_plan(record, time);
  check_limit(record);
  last_time_ = std::max(last_time_, time);
  follow_seal(std::get_if<SealEvent>(&record));
}

/// What a policy version does to limits follows its location, with nothing but accounts in between.
void LogCheck::check_limit(const Record& record) {
  if (const auto* const place = std::get_if<PolicyLocation>(&record)) {
    applied_policy_ = place->version;
    return;
  }
  const auto* const change = std::get_if<LimitChange>(&record);
  const auto* const removal = std::get_if<LimitRemoval>(&record);
  if (change == nullptr && removal == nullptr) {
    if (!std::holds_alternative<AccountRecord>(record)) applied_policy_ = 0;
    return;
  }
  const std::int64_t version = change != nullptr ? change->policy_version : removal->policy_version;
  if (version == applied_policy_) return;
  fault(line_name(), "log_order",
        "is a limit of policy version " + std::to_string(version) + ", and does not follow it");
}

/// A plan has its line when its first decision is made: in the same instant, and directly before it. Where
/// that decision cannot be judged, its own fault says so, and the plan is blamed for nothing.
void LogCheck::check_fresh_plan(const Record& record, const std::string& time) {
  if (fresh_plan_ && row_.index == fresh_plan_->line + 1) {
    const std::string name = "plan " + std::to_string(fresh_plan_->number);
    const auto* const decision = std::get_if<DecisionRecord>(&record);
    if (decision == nullptr || decision->plan != fresh_plan_->number) {
      fault(name, "plan_unused", "is not what the line after it was decided by");
    } else if (time != fresh_plan_->time) {
      fault(name, "log_time", "is dated " + fresh_plan_->time + ", and its first decision " + time);
    }
  }
  const auto* const plan = std::get_if<PlanRecord>(&record);
  fresh_plan_.reset();
  if (plan != nullptr) fresh_plan_ = FreshPlan{row_.index, plan->number, time};
}

/// After a seal only its end is right, which is right nowhere else.
void LogCheck::follow_seal(const SealEvent* seal) {
  const bool unseals = seal != nullptr && seal->unsealed;
  if (sealed_ && !unseals) {
    fault(line_name(), "log_sealed", "follows a seal, after which only `unsealed` is right");
  } else if (unseals && !sealed_) {
    fault(line_name(), "log_sealed", "ends a seal, and follows none");
  }
  if (seal != nullptr) sealed_ = !seal->unsealed;
}

void LogCheck::check_other() {
  there_ = false;
  if (row_.kind == kDecision) return;  // of a row that cannot be read, which is said where it is read
  try {
    const Line line = line_of(record_at(connection_, row_.kind, row_.row));
    if (row_number(line.record) != row_.row) {
      fault(line_name(), "log_order", "is of row " + std::to_string(row_.row) + ", which it cannot be");
    }
    if (const auto* const plan = std::get_if<PlanRecord>(&line.record)) check_digest(*plan);
    check_line(line);
  } catch (const LedgerCorrupt& error) {
    fault(line_name(), "leaf_changed", error.what());
  } catch (const InvalidParameter& error) {
    fault(line_name(), "leaf_changed", error.what());
  }
}

/// By it a plan is found again.
void LogCheck::check_digest(const PlanRecord& plan) {
  Query row = connection_.query("SELECT digest FROM plan WHERE number = ?1");
  row.with(plan.number);
  if (row.step() && sized_bytes<32>(row.bytes(0), "column digest") == plan_digest(plan)) return;
  fault("plan " + std::to_string(plan.number), "digest_differs", "is not found by what it says");
}

void LogCheck::decision(DecisionRow& recorded) {
  while (next() && row_.index < recorded.line) check_other();
  const bool its_own =
      next() && row_.index == recorded.line && row_.kind == kDecision && row_.row == recorded.record.seq;
  if (!its_own) {
    fault(recorded.record.id, "leaf_changed",
          "says that its line is number " + std::to_string(recorded.line) + ", which is not its own");
    return;
  }
  there_ = false;
  Line line = line_of(std::move(recorded.record));
  check_line(line);
  recorded.record = std::get<DecisionRecord>(std::move(line.record));
}

void LogCheck::finish() {
  while (next()) {
    check_other();
    between_steps_();
  }
  pause();
  if (fresh_plan_ && expected_ == fresh_plan_->line + 1) {
    fault("plan " + std::to_string(fresh_plan_->number), "plan_unused",
          "is the last line: nothing was decided by it");
  }
  check_counts();
}

void LogCheck::check_counts() {
  if (!end_.lines) static_cast<void>(read_meta(connection_));  // throws what is wrong with it
  const std::int64_t lines = end_.lines.value_or(expected_);
  if (lines != expected_) {
    fault("meta", "count_differs",
          std::to_string(lines) + " lines were recorded, " + std::to_string(expected_) + " are there");
  }
  count_lines();
  if (count_.front() != 1) fault("log", "log_order", "has not one line of how the ledger began");
  count_nodes();
}

void LogCheck::count_lines() {
  for (std::size_t i = 0; i < kNumberedTables.size(); ++i) {
    const NumberedTable& table = kNumberedTables.at(i);
    const std::int64_t rows = rows_up_to(connection_, table, end_.rows.at(i), between_steps_);
    const std::int64_t lines = count_.at(static_cast<std::size_t>(table.kind));
    const auto differ = [&](RecordKind kind, std::int64_t found) {
      if (rows == found) return;
      fault("log", "count_differs",
            std::to_string(rows) + " rows are there of kind " +
                std::to_string(static_cast<std::int64_t>(kind)) + ", and " + std::to_string(found) +
                " lines");
    };
    differ(table.kind, lines);
    if (table.kind != RecordKind::policy) continue;
    differ(RecordKind::policy_location, count_.at(static_cast<std::size_t>(RecordKind::policy_location)));
  }
}

void LogCheck::count_nodes() {
  std::int64_t nodes = 0;
  for (const auto& [level, last] : end_.nodes ? *end_.nodes : last_nodes(connection_))
    nodes += nodes_up_to(connection_, level, last, between_steps_);
  if (nodes == nodes_) return;
  fault("log", "count_differs",
        std::to_string(nodes) + " nodes are stored of a tree that has " + std::to_string(nodes_));
}

}  // namespace epsilog::ledger
