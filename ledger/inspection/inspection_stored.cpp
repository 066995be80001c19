// What the file says twice of decisions and accounts, held against each other.
#include <algorithm>
#include <chrono>
#include <unordered_set>
#include <utility>
#include <variant>

#include "account_checksum.hpp"
#include "decision_id.hpp"
#include "decision_lookup.hpp"
#include "decision_rows.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/inspection.hpp"
#include "epsilog/ledger/ledger_time.hpp"
#include "history_rows.hpp"
#include "log_check.hpp"
#include "request_text.hpp"
#include "snapshot_state.hpp"
#include "stored_bytes.hpp"
#include "stored_values.hpp"

namespace epsilog::ledger {
namespace {

using Fault = std::function<void(const StoredFault&)>;

constexpr const char* kDecisionsOfSlice =
    EPSILOG_DECISION_COLUMNS "WHERE d.seq >= ?1 AND d.seq <= ?2 ORDER BY d.seq";

class DecisionCheck final {
 public:
  DecisionCheck(Connection& connection, const Fault& fault) : connection_(connection), fault_(fault) {
    SQLite::Statement versions =
        connection.prepare("SELECT version, after_decision FROM policy_version ORDER BY version");
    Query version(versions, connection.handle());
    while (version.step()) policies_.emplace_back(version.integer(1), version.integer(0));
  }

  void check(const StoredDecision& stored, const DecisionRecord& record, const Query& row) {
    check_id(stored);
    check_build(stored);
    check_policy(stored);
    check_accounts(stored);
    check_movements(stored, record);
    check_form(stored, record);
    check_texts(stored, record, row);
  }

 private:
  void fault(const StoredDecision& stored, const char* code, std::string message) {
    fault_({stored.id, code, std::move(message)});
  }

  void check_id(const StoredDecision& stored) {
    const std::string before = std::exchange(last_id_, stored.id);
    if (!is_id(stored.id) || !is_time(stored.created_at)) {
      return fault(stored, "id_time", "its id or its time is malformed");
    }
    if (!before.empty() && (!is_id(before) || stored.id <= before))
      return;  // named by who looks at the order
    if (!may_be_next_id(before, stored.id, parse_time(stored.created_at))) {
      fault(stored, "id_time", "its id is not of the time it is dated");
    }
  }

  void check_build(const StoredDecision& stored) {
    if (stored.build.version.empty() || stored.build.revision.empty()) {
      fault(stored, "build_changed", "does not say which program recorded it");
    }
  }

  void check_policy(const StoredDecision& stored) {
    std::int64_t active = 0;
    for (const auto& [after, version] : policies_) {
      if (after < stored.seq) active = version;
    }
    if (stored.draft.parent.empty() && stored.draft.policy_version != stored.decided_under) {
      fault(stored, "policy_order", "was asked under another policy version than it was decided under");
    }
    if (stored.decided_under != active) {
      fault(stored, "policy_order",
            "was decided under policy version " + std::to_string(stored.decided_under) + ", active was " +
                std::to_string(active));
    }
  }

  void check_accounts(const StoredDecision& stored) {
    for (const AccountState& account : stored.accounts) {
      if (account.dataset == stored.draft.dataset) continue;
      return fault(stored, "account_differs",
                   "lists account " + std::to_string(account.id) + ", which is of another dataset");
    }
  }

  /// What an outcome does to an account it does to each that it moves.
  void check_movements(const StoredDecision& stored, const DecisionRecord& record) {
    const Outcome outcome = record.outcome;
    const bool posts =
        outcome == Outcome::forfeited || (outcome == Outcome::granted && !record.parent.empty());
    const bool gives_back = outcome == Outcome::voided && !record.movements.empty();
    for (const Movement& movement : record.movements) {
      const std::int64_t spent = movement.spent_change;
      const std::int64_t reserved = movement.reserved_change;
      bool fits = spent == 0 && reserved == 0;
      if (!fits && posts) fits = spent > 0 && reserved == -spent;
      if (!fits && outcome == Outcome::granted && !posts) fits = spent > 0 && reserved == 0;
      if (!fits && outcome == Outcome::reserved) fits = spent == 0 && reserved > 0;
      if (!fits && gives_back) fits = spent == 0 && reserved < 0;
      const bool silent = movement.position == 0 && spent == 0 && reserved == 0;
      if (fits && !silent) continue;
      return fault(stored, "movement_differs",
                   "moves account " + std::to_string(movement.account) + " as its outcome does not");
    }
  }

  void check_form(const StoredDecision& stored, const DecisionRecord& record) {
    const Outcome outcome = stored.draft.outcome;
    const bool opens = outcome == Outcome::reserved || outcome == Outcome::pending;
    if (opens == stored.draft.deadline.empty()) {
      fault(stored, "deadline_changed", "a reserved or pending decision has a deadline, and no other has");
    }
    if ((outcome == Outcome::refused) == (stored.draft.reasons == "[]")) {
      fault(stored, "decision_differs", "a refusal has reasons, and nothing else has");
    }
    const bool act = !record.verb.empty();
    if (act && (record.plan != 0 || !record.purpose.empty() ||
                record.reservation_kind != ReservationKind::none || !record.conflicting_key.empty())) {
      fault(stored, "decision_differs", "is an act, and says what only a request says");
    }
    if (outcome != Outcome::data_accessed && record.token_sha256) {
      fault(stored, "decision_differs", "has a data token, and issued none");
    }
    if (!act && !record.why.empty()) fault(stored, "decision_differs", "is no act, and says why");
    const bool alone = outcome == Outcome::granted || outcome == Outcome::refused || opens;
    if (record.parent.empty() ? !alone : outcome == Outcome::pending) {
      fault(stored, "decision_differs",
            "is about another decision where its outcome is not, or the other way");
    }
    if (!is_valid_via(record.via)) {
      fault(stored, "decision_differs", "says in no word that is known how its principal is known");
    }
    if (outcome != Outcome::granted && record.plan != 0 &&
        connection_.shared_rows().plan(connection_, record.plan)->release) {
      fault(stored, "decision_differs", "has no release, and a plan that has one");
    }
  }

  /// That columns are written as they are recorded.
  void check_texts(const StoredDecision& stored, const DecisionRecord& record, const Query& row) {
    const auto compare = [&](DecisionColumn column, const std::string& expected) {
      if (row.text(column) == expected) return;
      fault(stored, "text_changed",
            row.column_name(static_cast<int>(column)) + " is not written as it is recorded");
    };
    const ReleaseRecord* const release = stored.release ? &*stored.release : nullptr;
    const StoredValues written = stored_values(record, release, stored.post_processing);
    compare(DecisionColumn::values, written.values);
    compare(DecisionColumn::component_values, written.component_values);
    if (record.verb.empty() && !asks_the_question_of_its_plan(stored, record)) {
      fault(stored, "text_changed", "its request is not written as it is recorded");
    }
  }

  bool asks_the_question_of_its_plan(const StoredDecision& stored, const DecisionRecord& record) {
    const auto plan = connection_.shared_rows().plan(connection_, record.plan);
    const bool nothing_else = record.parent.empty() && stored.draft.request == plan->question;
    if (nothing_else && questions_.contains(record.plan)) return true;
    const auto parts = request_parts(stored.draft.request, record.parent);
    if (!parts || parts->question != plan->question) return false;
    if (questions_.size() == kQuestionsKept) questions_.clear();
    if (nothing_else) questions_.insert(record.plan);
    return true;
  }

  Connection& connection_;
  const Fault& fault_;
  std::vector<std::pair<std::int64_t, std::int64_t>> policies_;  // after_decision, version; by version
  static constexpr std::size_t kQuestionsKept = 4'096;
  std::unordered_set<std::int64_t> questions_;  // of plans, found to be whole requests
  std::string last_id_;
};

}  // namespace

void Inspection::each_account(const std::function<void(const AccountState&)>& visit, const Fault& fault) {
  snapshot_->state_->run_read([&](Connection& connection) {
    each_account_as_stored(connection, [&](const AccountState& account, bool sound) {
      if (!sound) {
        fault({"account " + std::to_string(account.id), "checksum_differs",
               "its columns do not have the checksum beside them"});
      }
      visit(account);
    });
  });
}

IdRange Inspection::ids_with_prefix(const std::string& text) {
  // The least and the greatest id that begin so.
  constexpr std::size_t kLength = 26;
  if (text.size() > kLength) return {};
  const std::string least = text + std::string(kLength - text.size(), '0');
  std::string greatest = text + std::string(kLength - text.size(), 'Z');
  if (text.empty()) greatest.front() = '7';
  if (!is_id(least)) return {};
  return snapshot_->state_->run_read([&](Connection& connection) {
    SQLite::Statement statement =
        connection.prepare("SELECT count(*), min(id) FROM decision WHERE id >= ?1 AND id <= ?2");
    Query range(statement, connection.handle());
    range.with(id_bytes(least), id_bytes(greatest));
    static_cast<void>(range.step());
    IdRange found{.count = range.integer(0), .first = ""};
    if (found.count > 0) {
      found.first = id_text(sized_bytes<16>(range.bytes(1), "column id"));
    } else if (first_decision_from(connection, least) != first_decision_from(connection, greatest)) {
      throw LedgerCorrupt("decisions whose ids begin with '" + text +
                          "' are missing in the index of ids; the file is damaged");
    }
    return found;
  });
}

namespace {

/// Nothing for a row without a key, or with one that is no text.
std::optional<DecisionKey> key_of_row(Connection& connection, const Query& row) {
  try {
    DecisionKey found{.seq = row.integer(0),
                      .id = id_text(sized_bytes<16>(row.bytes(1), "column id")),
                      .principal = connection.shared_rows().name(connection, row.integer(2)),
                      .key = row.text(3)};
    if (!found.key.empty()) return found;
  } catch (const LedgerCorrupt&) {  // named where the row is read
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::int64_t> Inspection::decisions_with_key(const std::string& principal,
                                                         const std::string& key) {
  return snapshot_->state_->run_lookup([&](Connection& connection) {
    std::vector<std::int64_t> found;
    const auto who = connection.shared_rows().number_of_name(connection, principal);
    if (!who) return found;
    Query rows = connection.query(
        "SELECT seq FROM decision INDEXED BY decision_by_key WHERE principal = ?1 AND key = ?2 AND key <> ''"
        " ORDER BY seq");
    rows.with(*who, key);
    while (rows.step()) found.push_back(rows.integer(0));
    return found;
  });
}

std::optional<DecisionKey> Inspection::key_of(std::int64_t seq) {
  return snapshot_->state_->run_lookup([&](Connection& connection) -> std::optional<DecisionKey> {
    Query row = connection.query("SELECT seq, id, principal, key FROM decision NOT INDEXED WHERE seq = ?1");
    row.with(seq);
    if (!row.step()) return std::nullopt;
    return key_of_row(connection, row);
  });
}

void Inspection::each_key(std::int64_t below, const std::function<void(const DecisionKey&)>& visit) {
  snapshot_->state_->run_read([&](Connection& connection) {
    SQLite::Statement statement = connection.prepare(
        "SELECT seq, id, principal, key FROM decision NOT INDEXED WHERE seq < ?1 ORDER BY seq");
    Query rows(statement, connection.handle());
    rows.with(below);
    while (rows.step()) {
      if (const auto found = key_of_row(connection, rows)) visit(*found);
    }
  });
}

std::vector<std::string> Inspection::open_ids() {
  return snapshot_->state_->run_read([](Connection& connection) {
    std::vector<std::string> ids;
    Query rows = connection.query(
        "SELECT d.id FROM open_decision AS o JOIN decision AS d ON d.seq = o.seq ORDER BY o.seq");
    while (rows.step()) ids.push_back(id_text(sized_bytes<16>(rows.bytes(0), "column id")));
    return ids;
  });
}

HistoryEnd Inspection::end() {
  return snapshot_->state_->run_read([](Connection& connection) { return read_history_end(connection); });
}

namespace {

/// What was read in one slice, in its order, until it may be told.
class SliceBuffer final {
 public:
  template <class Kind>
  void add(Kind said) {
    said_.emplace_back(std::move(said));
  }
  [[nodiscard]] bool full() const { return said_.size() >= kMost; }
  /// Leaves nothing, whoever of those that are told throws.
  void tell(const std::function<void(const StoredDecision&)>& visit,
            const std::function<void(const MalformedRecord&)>& malformed, const Fault& fault) {
    const std::vector<One> telling = std::exchange(said_, {});
    said_.reserve(telling.size());
    for (const One& one : telling) {
      if (const auto* const decision = std::get_if<StoredDecision>(&one)) visit(*decision);
      if (const auto* const record = std::get_if<MalformedRecord>(&one)) malformed(*record);
      if (const auto* const stored = std::get_if<StoredFault>(&one)) fault(*stored);
    }
  }

 private:
  using One = std::variant<StoredDecision, MalformedRecord, StoredFault>;
  static constexpr std::size_t kMost = 256;
  std::vector<One> said_;
};

/// The decisions of a history in slices, and its log beside them.
class SlicedDecisions final {
 public:
  SlicedDecisions(SnapshotState& state, const HistoryEnd& end, std::chrono::milliseconds slice,
                  std::function<void()> tell, SliceBuffer& said)
      : state_(state),
        end_(end),
        slice_(slice),
        tell_(std::move(tell)),
        said_(said),
        decisions_(*state.connection, fault_),
        log_(*state.connection, end, fault_, between_steps_),
        statement_(state.connection->prepare(kDecisionsOfSlice)) {}

  void read() {
    while (read_slice()) next_slice();
    log_.finish();
  }

 private:
  using Time = std::chrono::steady_clock::time_point;

  [[nodiscard]] bool over() const { return std::chrono::steady_clock::now() - begun_ >= slice_; }

  /// False after the last decision. A slice has one at least that lies beyond those before it, or it would be
  /// read again for ever in a file whose rows are in no order.
  bool read_slice() {
    Query rows(statement_, state_.connection->handle());
    rows.with(from_, end_.decision);
    const std::int64_t begun_from = from_;
    bool any = false;
    while (rows.step()) {
      const std::int64_t seq = rows.integer(0);
      read_decision(rows);
      if (seq == INT64_MAX) return false;  // nothing can follow
      from_ = std::max(from_, seq + 1);
      any = any || seq >= begun_from;
      if (any && (said_.full() || over())) return true;
    }
    return false;
  }

  void read_decision(const Query& rows) {
    Connection& connection = *state_.connection;
    std::optional<StoredDecision> decision;
    try {
      DecisionRow recorded = record_of_row(connection, rows);
      log_.decision(recorded);
      decision = decision_of(connection, recorded, ValueCheck::as_stored);
      decisions_.check(*decision, recorded.record, rows);
    } catch (const LedgerCorrupt& error) {
      if (decision) {
        said_.add(StoredFault{decision->id, "record_unreadable", error.what()});
      } else {
        said_.add(MalformedRecord{.seq = rows.integer(0), .message = error.what()});
      }
    }
    if (decision) said_.add(std::move(*decision));
  }

  /// Requires  no statement is in use but that of the log.
  void next_slice() {
    log_.pause();
    state_.between_slices(tell_);
    if (!state_.open_throughout && stored_leaf(*state_.connection, end_.line) != end_.leaf) {
      throw LedgerBusy("ledger " + state_.ledger->files().database +
                       ": another history was put in its place while it was read; retry");
    }
    begun_ = std::chrono::steady_clock::now();
  }

  SnapshotState& state_;
  const HistoryEnd& end_;
  const std::chrono::milliseconds slice_;
  const std::function<void()> tell_;
  SliceBuffer& said_;
  const Fault fault_ = [this](const StoredFault& fault) { said_.add(fault); };
  const std::function<void()> between_steps_ = [this] {
    if (said_.full() || over()) next_slice();
  };
  DecisionCheck decisions_;
  LogCheck log_;
  SQLite::Statement statement_;
  std::int64_t from_ = INT64_MIN;
  Time begun_ = std::chrono::steady_clock::now();
};

}  // namespace

void Inspection::each_decision(const std::function<void(const StoredDecision&)>& visit,
                               const std::function<void(const MalformedRecord&)>& malformed,
                               const Fault& fault) {
  each_decision(end(), kUnlimitedSlice, visit, malformed, fault);
}

void Inspection::each_decision(const HistoryEnd& end, std::chrono::milliseconds slice,
                               const std::function<void(const StoredDecision&)>& visit,
                               const std::function<void(const MalformedRecord&)>& malformed,
                               const Fault& fault) {
  SnapshotState& state = *snapshot_->state_;
  SliceBuffer said;
  const auto tell = [&] { said.tell(visit, malformed, fault); };
  try {
    state.run_read([&](Connection&) { SlicedDecisions(state, end, slice, tell, said).read(); });
  } catch (...) {
    tell();  // what was read before it
    throw;
  }
  tell();
}

}  // namespace epsilog::ledger
