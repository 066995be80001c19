#include "found_decisions.hpp"

#include <cstdint>

#include "data_token.hpp"
#include "decision_id.hpp"
#include "decision_rows.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/unreadable_row.hpp"
#include "recorded_line.hpp"

namespace epsilog::ledger {
namespace {

constexpr const char* kSeqByKey =
    "SELECT seq FROM decision INDEXED BY decision_by_key WHERE principal = ?1 AND key = ?2 AND key <> ''";
constexpr const char* kSeqByKeyFirst =
    "SELECT seq FROM decision INDEXED BY decision_by_key_first"
    " WHERE key = ?2 AND principal = ?1 AND key <> ''";
constexpr const char* kSeqById = "SELECT seq FROM decision WHERE id = ?1";
constexpr const char* kSeqsOfChildren =
    "SELECT seq FROM decision WHERE parent = (SELECT seq FROM decision WHERE id = ?1) AND parent > 0"
    " ORDER BY seq";
constexpr const char* kTokens =
    "SELECT seq, token_sha256 FROM decision INDEXED BY decision_issues_one_token WHERE outcome = 7";
constexpr const char* kDecisionBySeq = EPSILOG_DECISION_COLUMNS "WHERE d.seq = ?1";

std::optional<std::int64_t> single_seq(Query& query) {
  if (!query.step()) return std::nullopt;
  return query.integer(0);
}

[[noreturn]] void index_differs(const StoredDecision& decision, const std::string& column) {
  throw LedgerCorrupt("decision " + std::to_string(decision.seq) + ": an index has another " + column +
                      " of it; the file is damaged");
}

std::optional<std::int64_t> seq_by_id(Connection& connection, const std::string& id) {
  Query query = connection.query(kSeqById);
  query.with(id_bytes(id));
  return single_seq(query);
}

/// The row that an index says has `seq`. Whoever is told of it is told its id, so the index of ids has to
/// lead to it as well.
StoredDecision decision_at(Connection& connection, std::int64_t seq) {
  Query query = connection.query(kDecisionBySeq);
  query.with(seq);
  if (!query.step()) {
    throw LedgerCorrupt("decision " + std::to_string(seq) + ": an index has it, and it is not there");
  }
  StoredDecision decision = read_decision(connection, query);
  if (seq_by_id(connection, decision.id) != seq) {
    throw UnreadableRow("decision " + std::to_string(seq) + ": the index of ids does not have its id");
  }
  return decision;
}

}  // namespace

std::optional<StoredDecision> find_decision_by_key(Connection& connection, const std::string& principal,
                                                   const std::string& key) {
  if (key.empty()) return std::nullopt;
  const auto who = connection.shared().number_of_name(connection, principal);
  if (!who) return std::nullopt;
  const auto by = [&](const char* sql) {
    Query query = connection.query(sql);
    query.with(*who, key);
    return single_seq(query);
  };
  const auto seq = by(kSeqByKey);
  if (!seq) {
    if (const auto other = by(kSeqByKeyFirst)) {
      throw LedgerCorrupt("decision " + std::to_string(*other) +
                          ": its key is missing in an index; the file is damaged");
    }
    return std::nullopt;
  }
  StoredDecision decision = decision_at(connection, *seq);
  if (decision.draft.principal != principal || decision.draft.key != key) index_differs(decision, "key");
  return decision;
}

std::optional<StoredDecision> find_decision_by_id(Connection& connection, const std::string& id) {
  if (!is_id(id)) return std::nullopt;
  const auto seq = seq_by_id(connection, id);
  if (!seq) return std::nullopt;
  StoredDecision decision = decision_at(connection, *seq);
  if (decision.id != id) index_differs(decision, "id");
  return decision;
}

std::optional<StoredDecision> find_decision_by_token(Connection& connection, const std::string& token) {
  const auto wanted = token_of_text(token);
  if (!wanted) return std::nullopt;
  const std::string hash(wanted->sha256.begin(), wanted->sha256.end());
  Query rows = connection.query(kTokens);
  while (rows.step()) {
    if (rows.bytes(1) == hash) return decision_at(connection, rows.integer(0));
  }
  return std::nullopt;
}

std::vector<StoredDecision> read_children(Connection& connection, const std::string& id) {
  if (!is_id(id)) return {};
  std::vector<std::int64_t> seqs;
  {
    Query rows = connection.query(kSeqsOfChildren);
    rows.with(id_bytes(id));
    while (rows.step()) seqs.push_back(rows.integer(0));
  }
  std::vector<StoredDecision> children;
  for (const std::int64_t seq : seqs) {
    children.push_back(decision_at(connection, seq));
    if (children.back().draft.parent != id) index_differs(children.back(), "parent");
  }
  return children;
}

}  // namespace epsilog::ledger
