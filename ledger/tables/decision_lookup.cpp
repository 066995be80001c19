#include "decision_lookup.hpp"

#include <array>
#include <cstdint>
#include <set>

#include "data_token.hpp"
#include "decision_id.hpp"
#include "decision_rows.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/unreadable_row.hpp"
#include "leaf_check.hpp"

namespace epsilog::ledger {
namespace {

constexpr const char* kSeqByKey =
    "SELECT seq FROM decision INDEXED BY decision_by_key WHERE principal = ?1 AND key = ?2 AND key <> ''";
constexpr const char* kSeqByKeyFirst =
    "SELECT seq FROM decision INDEXED BY decision_by_key_first"
    " WHERE key = ?2 AND principal = ?1 AND key <> ''";
constexpr const char* kSeqById = "SELECT seq FROM decision WHERE id = ?1";
constexpr const char* kIdBySeq = "SELECT id FROM decision WHERE seq = ?1";
constexpr const char* kLastSeq = "SELECT max(seq) FROM decision";
constexpr const char* kSeqsOfChildren =
    "SELECT seq FROM decision INDEXED BY decision_by_parent WHERE parent = ?1 AND parent > 0 ORDER BY seq";
/// By the three indices that each have a part of them.
constexpr std::array kSeqsOfChildrenAgain = {
    "SELECT seq FROM decision INDEXED BY decision_resolves WHERE parent = ?1 AND " EPSILOG_RESOLVES,
    "SELECT seq FROM decision INDEXED BY decision_votes_once WHERE parent = ?1 AND outcome IN (5, 6)",
    "SELECT seq FROM decision INDEXED BY decision_issues_one_token WHERE parent = ?1 AND outcome = 7"};
constexpr const char* kTokens =
    "SELECT seq, data_token_sha256 FROM decision INDEXED BY decision_issues_one_token WHERE outcome = 7";
constexpr const char* kTokensAgain =
    "SELECT seq, data_token_sha256 FROM decision INDEXED BY decision_by_parent"
    " WHERE parent > 0 AND outcome = 7";
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

/// Throws  LedgerCorrupt of an index that does not have what is there.
[[noreturn]] void missing_in_index(std::int64_t seq, const std::string& what) {
  throw LedgerCorrupt("decision " + std::to_string(seq) + ": " + what +
                      " is missing in an index; the file is damaged");
}

std::string id_at(Connection& connection, std::int64_t seq) {
  Query row = connection.query(kIdBySeq);
  row.with(seq);
  if (!row.step())
    throw LedgerCorrupt("decision " + std::to_string(seq) + " is not there; the file is damaged");
  return row.bytes(0);
}

/// How many decisions the rows say there are, which the ledger says as well.
std::int64_t last_seq(Connection& connection) {
  Query row = connection.query(kLastSeq);
  const std::int64_t last = row.step() && !row.is_null(0) ? row.integer(0) : 0;
  if (last < read_meta(connection).decisions) {
    throw LedgerCorrupt("the decisions after " + std::to_string(last) +
                        " are not there; the file is damaged");
  }
  return last;
}

/// By the index; where that has none, by the rows.
/// Throws  LedgerCorrupt of an id that only a row has.
std::optional<std::int64_t> sure_seq_by_id(Connection& connection, const std::string& id) {
  if (const auto seq = seq_by_id(connection, id)) return seq;
  const std::int64_t place = first_decision_from(connection, id);
  if (place > last_seq(connection)) return std::nullopt;
  const auto bytes = id_bytes(id);
  if (id_at(connection, place) == std::string(bytes.begin(), bytes.end())) missing_in_index(place, "its id");
  return std::nullopt;
}

std::vector<std::int64_t> children_of(Connection& connection, const char* sql, std::int64_t parent) {
  Query rows = connection.query(sql);
  rows.with(parent);
  std::vector<std::int64_t> seqs;
  while (rows.step()) seqs.push_back(rows.integer(0));
  return seqs;
}

/// Ascending, each once.
std::vector<std::int64_t> children_again(Connection& connection, std::int64_t parent) {
  std::set<std::int64_t> seqs;
  for (const char* sql : kSeqsOfChildrenAgain) {
    for (const std::int64_t seq : children_of(connection, sql, parent)) seqs.insert(seq);
  }
  return {seqs.begin(), seqs.end()};
}

std::optional<std::int64_t> seq_by_token(Connection& connection, const char* sql, const std::string& hash) {
  Query rows = connection.query(sql);
  while (rows.step()) {
    if (rows.bytes(1) == hash) return rows.integer(0);
  }
  return std::nullopt;
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
  const auto who = connection.shared_rows().number_of_name(connection, principal);
  if (!who) return std::nullopt;
  const auto by = [&](const char* sql) {
    Query query = connection.query(sql);
    query.with(*who, key);
    return single_seq(query);
  };
  const auto seq = by(kSeqByKey);
  if (!seq) {
    if (const auto other = by(kSeqByKeyFirst)) missing_in_index(*other, "its key");
    return std::nullopt;
  }
  StoredDecision decision = decision_at(connection, *seq);
  if (decision.draft.principal != principal || decision.draft.key != key) index_differs(decision, "key");
  return decision;
}

std::optional<StoredDecision> find_decision_by_id(Connection& connection, const std::string& id) {
  if (!is_id(id)) return std::nullopt;
  const auto seq = sure_seq_by_id(connection, id);
  if (!seq) return std::nullopt;
  StoredDecision decision = decision_at(connection, *seq);
  if (decision.id != id) index_differs(decision, "id");
  return decision;
}

std::optional<StoredDecision> find_decision_by_token(Connection& connection, const std::string& token) {
  const auto wanted = token_of_text(token);
  if (!wanted) return std::nullopt;
  const std::string hash(wanted->sha256.begin(), wanted->sha256.end());
  if (const auto seq = seq_by_token(connection, kTokens, hash)) return decision_at(connection, *seq);
  if (const auto seq = seq_by_token(connection, kTokensAgain, hash)) missing_in_index(*seq, "its token");
  return std::nullopt;
}

std::vector<StoredDecision> read_children(Connection& connection, const std::string& id) {
  if (!is_id(id)) return {};
  const auto parent = sure_seq_by_id(connection, id);
  if (!parent) return {};
  const std::vector<std::int64_t> seqs = children_of(connection, kSeqsOfChildren, *parent);
  if (seqs != children_again(connection, *parent)) {
    throw LedgerCorrupt("decision " + std::to_string(*parent) +
                        ": two indices differ in what is about it; the file is damaged");
  }
  std::vector<StoredDecision> children;
  for (const std::int64_t seq : seqs) {
    children.push_back(decision_at(connection, seq));
    if (children.back().draft.parent != id) index_differs(children.back(), "parent");
  }
  return children;
}

std::int64_t first_decision_from(Connection& connection, const std::string& id) {
  const auto bytes = id_bytes(id);
  const std::string sought(bytes.begin(), bytes.end());
  std::int64_t from = 1;
  std::int64_t to = last_seq(connection) + 1;
  while (from < to) {
    const std::int64_t middle = from + (to - from) / 2;
    if (id_at(connection, middle) < sought) {
      from = middle + 1;
    } else {
      to = middle;
    }
  }
  return from;
}

}  // namespace epsilog::ledger
