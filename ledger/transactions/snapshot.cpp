#include "epsilog/ledger/snapshot.hpp"

#include <algorithm>
#include <utility>

#include "decision_id.hpp"
#include "decision_lookup.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/ledger_time.hpp"
#include "known_features.hpp"
#include "ledger_clock.hpp"
#include "queries.hpp"
#include "read_principal_charges.hpp"
#include "record_log.hpp"
#include "record_rows.hpp"
#include "request_text.hpp"
#include "row_columns.hpp"
#include "seal_rows.hpp"
#include "snapshot_state.hpp"
#include "stored_bytes.hpp"
#include "stored_lines.hpp"

namespace epsilog::ledger {

SnapshotState::SnapshotState(std::shared_ptr<LedgerState> shared)
    : ledger(std::move(shared)), connection(ledger->take_reader()) {
  try {
    begin();
  } catch (const StorageFailure& failure) {
    throw_translated(failure, "ledger " + ledger->files().database);
  }
}

SnapshotState::~SnapshotState() {
  if (ledger->own_process()) {
    end();
    if (!fit) return;
  } else {
    static_cast<void>(reader.release());  // counted in the parent
  }
  ledger->give_back_reader(std::move(connection));
}

void SnapshotState::begin() {
  EPSILOG_INVARIANT(reader == nullptr);
  meta_.reset();
  reader = std::make_unique<ReadingGate::Reader>(ledger->gate());
  try {
    const EndMarkReading remembered = ledger->end_mark_reading();
    connection->query("BEGIN").run();
    // A deferred transaction begins with its first read. What the row says is for who needs it.
    static_cast<void>(connection->query("SELECT one FROM meta").step());
    if (connection->shared_rows().forget_if_changed(*connection))
      require_known_features(*connection, ledger->files().database);
    ledger->require_lines(*connection, remembered);
  } catch (...) {
    connection->shared_rows().expect_change();  // what was refused is looked at again
    end();
    throw;
  }
}

void SnapshotState::end() noexcept {
  if (reader == nullptr) return;
  try {
    if (connection->in_transaction()) connection->query("ROLLBACK").run();
  } catch (const std::exception&) {
    fit = false;
  }
  reader.reset();
}

void SnapshotState::keep_open() {
  ledger->require_own_process();
  end();
  open_throughout = true;
  try {
    begin();
  } catch (const StorageFailure& failure) {
    fit = false;
    throw_translated(failure, "ledger " + ledger->files().database);
  }
}

void SnapshotState::close_between_reads() noexcept {
  open_throughout = false;
  if (ledger->own_process()) end();
}

bool SnapshotState::in_replica(std::int64_t line) {
  if (replica_size < 0) {
    Query row = connection->query("SELECT replica_size FROM meta");
    replica_size = row.step() ? row.integer(0) : 0;
  }
  if (line >= replicated && !replica_gave_up) {
    replicated = ledger->replicated_lines(line, replica_size);
    replica_gave_up = line >= replicated;
  }
  return line < replicated;
}

void SnapshotState::withhold(StoredDecision& decision) {
  if (decision.seq >= durable_below && !gave_up) {
    durable_below = ledger->durable_below(decision.seq);
    gave_up = decision.seq >= durable_below;
  }
  if (decision.seq < durable_below && in_replica(decision.line)) return;
  decision.in_replica = decision.seq >= durable_below;  // of that nothing is known then
  decision.durable = false;
  decision.values.clear();
  decision.component_values.clear();
  if (decision.token) decision.token->bytes.reset();
}

namespace {

/// So many lines there are up to that of a decision, it included.
std::int64_t lines_up_to(Connection& connection, std::int64_t seq) {
  Query row = connection.query("SELECT line_index FROM decision WHERE seq = ?1");
  row.with(seq);
  return row.step() ? row.integer(0) + 1 : 0;
}

/// Throws  LedgerCorrupt unless the log says that the line is of this decision.
Hash leaf_of(Connection& connection, const StoredDecision& decision) {
  Query row = connection.query("SELECT leaf FROM log WHERE line_index = ?1 AND kind = ?2 AND row = ?3");
  row.with(decision.line, static_cast<std::int64_t>(RecordKind::decision), decision.seq);
  if (!row.step()) {
    throw LedgerCorrupt("decision " + std::to_string(decision.seq) + ": line " +
                        std::to_string(decision.line) + " is not of it");
  }
  return sized_bytes<32>(row.bytes(0), "a hash of the tree");
}

}  // namespace

std::int64_t SnapshotState::durable_lines() {
  const Meta& meta = this->meta();
  // What came after the last decision was committed without one: of that the next one's number tells.
  const bool ends_with_decision = lines_up_to(*connection, meta.decisions) == meta.log_size;
  StoredDecision last;
  last.seq = ends_with_decision ? meta.decisions : meta.decisions + 1;
  withhold(last);
  const std::int64_t durable = last.durable ? meta.log_size : lines_up_to(*connection, durable_below - 1);
  return in_replica(durable - 1) ? durable : std::min(durable, replicated);
}

Snapshot::Snapshot(std::unique_ptr<SnapshotState> state) : state_(std::move(state)) {}
Snapshot::Snapshot(Snapshot&&) noexcept = default;
Snapshot::~Snapshot() = default;

void Snapshot::keep_open() {
  state_->keep_open();
}

void Snapshot::close_between_reads() noexcept {
  state_->close_between_reads();
}

std::string Snapshot::ledger_id() {
  return state_->ledger->ledger_id();
}

std::optional<std::string> Snapshot::poison_reason() const {
  return state_->ledger->poison_reason();
}

std::optional<StoredDecision> Snapshot::find_by_key(const std::string& principal, const std::string& key) {
  return state_->run_read([&](Connection& c) {
    auto found = find_decision_by_key(c, principal, key);
    state_->withhold(found);
    return found;
  });
}

std::optional<StoredDecision> Snapshot::find_by_id(const std::string& id) {
  return state_->run_read([&](Connection& c) {
    auto found = find_decision_by_id(c, id);
    state_->withhold(found);
    return found;
  });
}

std::optional<StoredDecision> Snapshot::find_by_token(const std::string& token) {
  return state_->run_read([&](Connection& c) {
    auto found = find_decision_by_token(c, token);
    state_->withhold(found);
    return found;
  });
}

std::int64_t Snapshot::active_policy_version() {
  return state_->run_read(
      [&](Connection& c) { return read_active_version(c, state_->meta().policy_versions); });
}

PolicyVersion Snapshot::active_policy() {
  return state_->run_read(
      [&](Connection& c) { return read_active_policy(c, state_->meta().policy_versions); });
}

std::vector<AccountState> Snapshot::accounts(const std::string& dataset) {
  return state_->run_read([&](Connection& c) { return read_accounts(c, dataset); });
}

std::vector<AccountState> Snapshot::accounts(std::span<const AccountName> names) {
  return state_->run_read([&](Connection& c) { return find_accounts(c, names); });
}

std::vector<StoredDecision> Snapshot::children(const std::string& id) {
  return state_->run_read([&](Connection& c) {
    auto found = read_children(c, id);
    for (StoredDecision& child : found) state_->withhold(child);
    return found;
  });
}

std::string Snapshot::now() {
  return state_->run_read(
      [&](Connection&) { return time_text(observe(state_->meta(), state_->ledger->clock()()).now_ms); });
}

PrincipalCharges Snapshot::charges(const ChargeWindow& window) {
  return state_->run_read([&](Connection& c) {
    return read_principal_charges(c, window, observe(state_->meta(), state_->ledger->clock()()).now_ms);
  });
}

std::vector<std::string> Snapshot::overdue_ids() {
  return state_->run_read([&](Connection& c) {
    return read_overdue(c, time_text(observe(state_->meta(), state_->ledger->clock()()).now_ms));
  });
}

std::string Snapshot::calendar_time() {
  return state_->run_read([&](Connection&) {
    const ClockObservation clock = observe(state_->meta(), state_->ledger->clock()());
    return clock.state.held_at.empty() ? time_text(clock.now_ms) : clock.state.held_at;
  });
}

std::optional<std::string> Snapshot::calendar_held_at() {
  return state_->run_read([&](Connection&) -> std::optional<std::string> {
    const ClockObservation clock = observe(state_->meta(), state_->ledger->clock()());
    if (clock.state.held_at.empty()) return std::nullopt;
    return clock.state.held_at;
  });
}

std::optional<std::string> Snapshot::location(const std::string& dataset) {
  return state_->run_read([&](Connection& c) { return read_location(c, dataset); });
}

std::optional<std::string> Snapshot::find_grant(const std::string& principal, const std::string& request) {
  return state_->run_read([&](Connection& c) -> std::optional<std::string> {
    const auto parts = request_parts(request, "");
    const auto who = c.shared_rows().number_of_name(c, principal);
    if (!parts || !who) return std::nullopt;
    Query row = c.query(
        "SELECT d.seq, d.id, d.line_index FROM decision AS d JOIN plan AS p ON p.number = d.plan"
        " WHERE d.seq > (SELECT max(seq) FROM decision) - ?6 AND d.principal = ?1 AND d.outcome = 1"
        " AND d.purpose = ?3 AND d.reservation = ?4 AND d.conflicting_key = ?5 AND p.question = ?2"
        " ORDER BY d.seq DESC LIMIT 1");
    row.with(*who, parts->question, parts->purpose, static_cast<std::int64_t>(parts->reservation_kind),
             parts->conflicting_key, kSameRequestWindow);
    if (!row.step()) return std::nullopt;
    StoredDecision found;
    found.seq = row.integer(0);
    found.id = id_text(sized_bytes<16>(row.bytes(1), "column id"));
    found.line = row.integer(2);
    state_->withhold(found);
    if (!found.durable) return std::nullopt;
    return found.id;
  });
}

std::optional<Seal> Snapshot::seal() {
  return state_->run_read([](Connection& connection) { return read_seal(connection); });
}

std::int64_t Snapshot::decision_count() {
  return state_->run_read([&](Connection&) { return state_->meta().decisions; });
}

namespace {

std::int64_t decisions_before_line(Connection& db, std::int64_t line) {
  Query row =
      db.query("SELECT row FROM log WHERE line_index < ?1 AND kind = 8 ORDER BY line_index DESC LIMIT 1");
  row.with(line);
  return row.step() ? row.integer(0) : 0;
}

/// -1 for 0, and where there is no such decision.
std::int64_t line_of_decision(Connection& db, std::int64_t seq) {
  Query row = db.query("SELECT line_index FROM decision WHERE seq = ?1");
  row.with(seq);
  return row.step() ? row.integer(0) : -1;
}

}  // namespace

void Snapshot::each_line(std::int64_t from, const std::function<void(std::string_view line)>& visit) {
  each_line(from, INT64_MAX, visit);
}

void Snapshot::each_line(std::int64_t from, std::int64_t end,
                         const std::function<void(std::string_view line)>& visit) {
  state_->run_read([&](Connection& db) {
    StoredLines lines(db, from, end);
    std::int64_t decisions = decisions_before_line(db, from);
    while (lines.next()) {
      // What is no decision was committed with the one that follows, or before it.
      StoredDecision next;
      next.seq = decisions + 1;
      next.line = lines.index();
      state_->withhold(next);
      if (!next.durable) {
        throw LedgerIo("line " + std::to_string(lines.index()) +
                       " is not known to be durable: it is not given away, nor what follows it");
      }
      if (lines.kind() == static_cast<std::int64_t>(RecordKind::decision)) decisions = lines.row();
      const std::string text = lines.text();
      visit(text);
    }
  });
}

void Snapshot::each_event_line(std::int64_t after_decision,
                               const std::function<void(const EventLine&)>& visit) {
  state_->run_read([&](Connection& db) {
    StoredLines lines(db, line_of_decision(db, after_decision) + 1);
    std::int64_t decisions = after_decision;
    while (lines.next()) {
      if (lines.kind() == static_cast<std::int64_t>(RecordKind::plan)) continue;
      if (lines.kind() == static_cast<std::int64_t>(RecordKind::decision)) {
        decisions = lines.row();
        continue;
      }
      EventLine event{.index = lines.index(), .after_decision = decisions};
      try {
        event.text = lines.text();
      } catch (const LedgerCorrupt& error) {
        event.fault = error.what();
      }
      visit(event);
    }
  });
}

TreeHead Snapshot::tree() {
  return state_->run_read([&](Connection& db) { return state_->ledger->tree(db, state_->meta().log_size); });
}

namespace {

void require_lines(SnapshotState& state, std::uint64_t size) {
  if (size > static_cast<std::uint64_t>(state.meta().log_size)) {
    throw InvalidParameter("the ledger does not have " + std::to_string(size) + " lines");
  }
}

auto stored_nodes(Connection& db) {
  return [&db](unsigned level, std::uint64_t first, std::span<Hash> hashes) {
    read_nodes(db, level, first, hashes);
  };
}

}  // namespace

TreeHead Snapshot::tree(std::uint64_t size) {
  return state_->run_read([&](Connection& db) {
    require_lines(*state_, size);
    return TreeHead{.size = size, .root = tree_root(size, stored_nodes(db))};
  });
}

std::vector<Hash> Snapshot::inclusion_proof(std::uint64_t index, std::uint64_t size) {
  return state_->run_read([&](Connection& db) {
    require_lines(*state_, size);
    return ledger::inclusion_proof(index, size, stored_nodes(db));
  });
}

std::vector<Hash> Snapshot::consistency_proof(std::uint64_t older, std::uint64_t newer) {
  return state_->run_read([&](Connection& db) {
    require_lines(*state_, newer);
    return ledger::consistency_proof(older, newer, stored_nodes(db));
  });
}

std::optional<LogPosition> Snapshot::log_position(const StoredDecision& decision,
                                                  const std::optional<TreeHead>& tree) {
  if (!decision.durable) return std::nullopt;
  return state_->run_read([&](Connection& db) -> std::optional<LogPosition> {
    LogPosition place{
        .index = static_cast<std::uint64_t>(decision.line), .leaf = leaf_of(db, decision), .tree = {}};
    if (tree && place.index < tree->size) {
      place.tree = *tree;
      return place;
    }
    const std::int64_t size = state_->durable_lines();
    if (decision.line >= size) return std::nullopt;
    place.tree = state_->ledger->tree(db, size);
    return place;
  });
}

Hash Snapshot::leaf(std::int64_t index) {
  return state_->run_read([&](Connection& db) {
    Hash leaf{};
    if (index < 0) throw LedgerCorrupt("line " + std::to_string(index) + " is not there");
    read_nodes(db, 0, static_cast<std::uint64_t>(index), std::span(&leaf, 1));
    return leaf;
  });
}

void Snapshot::each_policy_version(const std::function<void(const PolicyVersion&)>& visit) {
  state_->run_read([&](Connection& connection) {
    SQLite::Statement statement =
        connection.prepare("SELECT " EPSILOG_POLICY_COLUMNS " FROM policy_version ORDER BY version");
    Query rows(statement, connection.handle());
    while (rows.step()) visit(policy_of_row(rows));
  });
}

void Snapshot::each_limit_change(const std::function<void(const LimitChange&)>& visit) {
  state_->run_read([&](Connection& connection) { each_row<LimitChange>(connection, visit); });
}

void Snapshot::each_limit_removal(const std::function<void(const LimitRemoval&)>& visit) {
  state_->run_read([&](Connection& connection) { each_row<LimitRemoval>(connection, visit); });
}

void Snapshot::each_key_event(const std::function<void(const KeyEvent&)>& visit) {
  state_->run_read([&](Connection& connection) { each_row<KeyEvent>(connection, visit); });
}

void Snapshot::each_clock_event(const std::function<void(const ClockEvent&)>& visit) {
  state_->run_read([&](Connection& connection) {
    SQLite::Statement statement =
        connection.prepare("SELECT " EPSILOG_CLOCK_COLUMNS " FROM clock_event ORDER BY seq");
    Query rows(statement, connection.handle());
    while (rows.step()) visit(clock_event_of_row(rows));
  });
}

void Snapshot::each_relocation(const std::function<void(const Relocation&)>& visit) {
  state_->run_read([&](Connection& connection) { each_row<Relocation>(connection, visit); });
}

std::vector<std::string> Snapshot::stale_replicas() {
  return state_->run_read([](Connection& connection) {
    std::vector<std::string> paths;
    for (const StaleReplica& stale : read_stale_replicas(connection)) paths.push_back(stale.replica.path);
    return paths;
  });
}

}  // namespace epsilog::ledger
