#include "record_rows.hpp"

#include <utility>

#include "account_checksum.hpp"
#include "data_token.hpp"
#include "epsilog/accounting/errors.hpp"
#include "row_columns.hpp"
#include "stored_bytes.hpp"

namespace epsilog::ledger {
namespace {

constexpr const char* kInsertPolicy =
    "INSERT INTO policy_version(" EPSILOG_POLICY_COLUMNS ") VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
constexpr const char* kInsertAccount =
    "INSERT INTO account(id, dataset, scope, measure, \"limit\", spent, reserved, checksum, opened_at)"
    " VALUES(?1, ?2, ?3, ?4, ?5, 0, 0, ?6, ?7)";
constexpr const char* kInsertClockEvent =
    "INSERT INTO clock_event(" EPSILOG_CLOCK_COLUMNS ") VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)";

class RowWriter final {
 public:
  explicit RowWriter(Connection& connection) : connection_(&connection) {}

  void operator()(const LedgerRecord&) const {}  // meta, which is written when all of it is known
  void operator()(const PolicyLocation&) const {}
  void operator()(const DecisionRecord&) const { EPSILOG_INVARIANT(false); }
  void operator()(const PolicyRecord& record) const {
    const PolicyVersion& version = record.version;
    connection_->query(kInsertPolicy)
        .with(version.version, version.yaml, bytes_of_hex<32>(version.sha256, "sha256"), version.base_dir,
              stored_time(version.applied_at), version.applied_by, version.why, version.after_decision,
              version.event, record.implies)
        .run();
  }
  void operator()(const AccountRecord& opened) const {
    const AccountState fresh{.id = opened.id,
                             .dataset = opened.name.dataset,
                             .scope = opened.name.scope,
                             .measure = opened.name.measure,
                             .balance = {.limit = opened.limit}};
    connection_->query(kInsertAccount)
        .with(fresh.id, fresh.dataset, fresh.scope, fresh.measure, fresh.balance.limit,
              account_checksum(fresh), stored_time(opened.opened_at))
        .run();
  }
  void operator()(const PlanRecord& plan) const {
    connection_->shared_rows().insert_plan(*connection_, plan, plan_digest(plan));
  }
  void operator()(const ClockEvent& event) const {
    connection_->query(kInsertClockEvent)
        .with(event.seq, event.after_decision, event.kind, stored_time(event.ledger_time),
              stored_time(event.wall_clock), event.by, event.event)
        .run();
  }
  template <HasRowTable Row>
  void operator()(const Row& record) const {
    insert_record(*connection_, record);
  }

 private:
  Connection* connection_;
};

struct RowNumber {
  std::int64_t operator()(const LedgerRecord&) const { return 0; }
  std::int64_t operator()(const PolicyRecord& record) const { return record.version.version; }
  std::int64_t operator()(const PolicyLocation& record) const { return record.version; }
  std::int64_t operator()(const AccountRecord& record) const { return record.id; }
  std::int64_t operator()(const PlanRecord& record) const { return record.number; }
  std::int64_t operator()(const FeatureRecord& record) const { return record.number; }
  template <class Numbered>
  std::int64_t operator()(const Numbered& record) const {
    return record.seq;
  }
};

/// What is recorded is what is read again.
void require_read_back(const PlanRecord& plan) {
  if (!plan.release) return;
  bool same = false;
  try {
    PlanRecord read;
    parse_release_text(release_text(plan), read);
    same =
        read.release == plan.release && is_same_post_processing(read.post_processing, plan.post_processing);
  } catch (const LedgerCorrupt&) {
  }
  if (!same) throw Error("ledger: a release would not be read back as what it is; nothing was recorded");
}

void require_read_back(const StoredValues& stored, const DecisionRecord& record, const ReleaseRecord* release,
                       const accounting::PostProcessing& post_processing) {
  bool same = false;
  try {
    DecisionRecord read;
    read_values(stored, release, post_processing, read);
    same = read.component_values == record.component_values && read.values == record.values;
  } catch (const LedgerCorrupt&) {
  }
  if (!same) throw Error("ledger: a release would not be read back as what it is; nothing was recorded");
}

/// A digest that was changed would give a decision a plan that is not its own.
void require_same(const PlanRecord& plan, const PlanRecord& stored) {
  const bool same = stored.policy_version == plan.policy_version && stored.question == plan.question &&
                    stored.release == plan.release &&
                    is_same_post_processing(stored.post_processing, plan.post_processing);
  if (!same) {
    throw LedgerCorrupt("ledger: plan " + std::to_string(plan.number) +
                        " does not have the digest beside it; the file is damaged");
  }
}

std::vector<accounting::Rational> values_of_line(const StoredDecision& decision) {
  if (!decision.release) return decision.values;
  return recorded_values(*decision.release, decision.post_processing, decision.values);
}

}  // namespace

void insert_row(Connection& connection, const Record& record) {
  std::visit(RowWriter(connection), record);
}

std::int64_t row_number(const Record& record) {
  return std::visit(RowNumber(), record);
}

void Recorder::log_row(const Record& record) {
  log_->append(*connection_, row_number(record), record);
  meta_->log_size = log_->size();
}

void Recorder::write(const Record& record) {
  insert_row(*connection_, record);
  log_row(record);
}

void Recorder::write_policy(const PolicyVersion& version) {
  write(PolicyRecord{.version = version, .implies = version.implies});
  write(PolicyLocation{
      .version = version.version, .base_dir = version.base_dir, .applied_at = version.applied_at});
}

std::int64_t Recorder::plan_of(const StoredDecision& decision, const RequestParts& parts) {
  if (!parts.verb.empty()) return 0;
  PlanRecord plan{.number = meta_->plans + 1,
                  .policy_version = decision.draft.policy_version,
                  .question = parts.question,
                  .release = decision.release,
                  .post_processing = decision.post_processing,
                  .first_at = decision.created_at};
  SharedRows& shared = connection_->shared_rows();
  if (const PlanRecord* const known = shared.known_plan(plan)) return known->number;
  const Sha256 digest = plan_digest(plan);
  if (const auto known = shared.number_of_plan(*connection_, digest)) {
    plan.number = *known;
    require_same(plan, *shared.plan(*connection_, *known));
  } else {
    require_read_back(plan);
    shared.insert_plan(*connection_, plan, digest);
    ++meta_->plans;
    log_row(plan);
  }
  const std::int64_t number = plan.number;
  shared.remember_plan(std::move(plan));
  return number;
}

void Recorder::write_decision(StoredDecision& decision, std::vector<Movement> movements) {
  const DecisionDraft& draft = decision.draft;
  const auto parts = request_parts(draft.request, draft.parent);
  if (!parts) throw InvalidParameter("ledger: a request is a canonical JSON object; nothing was recorded");
  if (!parts->verb.empty() && decision.release) {
    throw InvalidParameter("ledger: what is done about a request has no release; nothing was recorded");
  }
  DecisionRecord record{.seq = decision.seq,
                        .id = decision.id,
                        .created_at = decision.created_at,
                        .principal = draft.principal,
                        .via = decision.via,
                        .key = draft.key,
                        .parent = draft.parent,
                        .deadline = draft.deadline,
                        .outcome = draft.outcome,
                        .reasons = draft.reasons,
                        .rules = decision.rules,
                        .build = decision.build,
                        .policy_version = draft.policy_version,
                        .decided_under = decision.decided_under,
                        .dataset = draft.dataset,
                        .plan = plan_of(decision, *parts),
                        .purpose = parts->purpose,
                        .reservation_kind = parts->reservation_kind,
                        .conflicting_key = parts->conflicting_key,
                        .verb = parts->verb,
                        .why = parts->why,
                        .component_values = decision.component_values,
                        .values = values_of_line(decision),
                        .token_sha256 = decision.token ? std::optional(decision.token->sha256) : std::nullopt,
                        .movements = std::move(movements)};
  decision.line = log_->size();
  const ReleaseRecord* const release = decision.release ? &*decision.release : nullptr;
  const StoredValues values = stored_values(record, release, decision.post_processing);
  if (release != nullptr) require_read_back(values, record, release, decision.post_processing);
  insert_decision(*connection_, *meta_, record, values, decision.line, columns_of(decision.token));
  log_row(record);
  decision.log = {.index = static_cast<std::uint64_t>(decision.line), .leaf = log_->last_leaf(), .tree = {}};
}

}  // namespace epsilog::ledger
