#include "record_log.hpp"

#include <utility>

#include "decision_id.hpp"
#include "epsilog/accounting/errors.hpp"
#include "stored_bytes.hpp"

namespace epsilog::ledger {
namespace {

constexpr const char* kInsertLine =
    "INSERT INTO log(line_index, kind, row, blind, leaf) VALUES(?1, ?2, ?3, ?4, ?5)";
constexpr const char* kInsertNode = "INSERT INTO node(level, number, hash) VALUES(?1, ?2, ?3)";
constexpr const char* kLeaves =
    "SELECT line_index, leaf FROM log WHERE line_index >= ?1 AND line_index < ?2 ORDER BY line_index";
constexpr const char* kNodes =
    "SELECT number, hash FROM node WHERE level = ?3 AND number >= ?1 AND number < ?2 ORDER BY number";

/// Beyond that the stored nodes are fewer.
constexpr std::int64_t kFollowMax = 1'024;

}  // namespace

std::int64_t kind_number(const Record& record) {
  return static_cast<std::int64_t>(record.index());
}

void read_nodes(Connection& connection, unsigned level, std::uint64_t first, std::span<Hash> hashes) {
  const auto begin = static_cast<std::int64_t>(first);
  const auto end = begin + static_cast<std::int64_t>(hashes.size());
  Query rows = connection.query(level == 0 ? kLeaves : kNodes);
  if (level == 0) {
    rows.with(begin, end);
  } else {
    rows.with(begin, end, static_cast<std::int64_t>(level));
  }
  std::int64_t expected = begin;
  for (; rows.step() && rows.integer(0) == expected; ++expected) {
    hashes[static_cast<std::size_t>(expected - begin)] = sized_bytes<32>(rows.bytes(1), "a hash of the tree");
  }
  if (expected != end) {
    throw LedgerCorrupt("log: node " + std::to_string(expected) + " of level " + std::to_string(level) +
                        " of the tree is not there");
  }
}

std::string line_text(Connection& connection, const Line& line) {
  return line_text(line, [&connection](std::int64_t account) {
    return grid_decimals(connection.shared_rows().account(connection, account).measure);
  });
}

RecordLog RecordLog::load(Connection& connection, std::int64_t size) {
  RecordLog log;
  if (size < 0) throw LedgerCorrupt("meta: counts " + std::to_string(size) + " lines");
  const auto stored = [&connection](unsigned level, std::uint64_t first, std::span<Hash> hashes) {
    read_nodes(connection, level, first, hashes);
  };
  log.tree_ = Frontier::load(static_cast<std::uint64_t>(size), stored);
  if (size > 0) {
    Hash last{};
    read_nodes(connection, 0, static_cast<std::uint64_t>(size) - 1, std::span(&last, 1));
    log.last_leaf_ = last;
  }
  return log;
}

/// Whether the leaf that is known last is where it was, in a tree of that size.
bool RecordLog::is_prefix_of(Connection& connection, std::int64_t size) const {
  if (!last_leaf_ || this->size() > size) return false;
  Hash leaf{};
  read_nodes(connection, 0, tree_.size() - 1, std::span(&leaf, 1));
  return leaf == *last_leaf_;
}

bool RecordLog::follow(Connection& connection, std::int64_t size) {
  const bool follows = is_prefix_of(connection, size);
  if (!follows || size - this->size() > kFollowMax) {
    *this = load(connection, size);
    return follows;
  }
  std::vector<Hash> leaves(static_cast<std::size_t>(size - this->size()));
  for (std::size_t done = 0; done < leaves.size();) {
    const std::size_t some = std::min<std::size_t>(leaves.size() - done, kTileWidth);
    read_nodes(connection, 0, tree_.size() + done, std::span(leaves).subspan(done, some));
    done += some;
  }
  if (leaves.empty()) return true;
  tree_.append(leaves, [](unsigned, std::uint64_t, const Hash&) {});
  last_leaf_ = leaves.back();
  return true;
}

std::int64_t RecordLog::append(Connection& connection, std::int64_t row, Record record) {
  return append(connection, row, {.index = tree_.size(), .blind = random_128(), .record = std::move(record)});
}

std::int64_t RecordLog::append(Connection& connection, std::int64_t row, const Line& line) {
  EPSILOG_INVARIANT(line.index == tree_.size());
  const auto index = static_cast<std::int64_t>(line.index);
  const std::string text = line_text(connection, line);
  const Hash leaf = leaf_hash(text);
  connection.query(kInsertLine).with(index, kind_number(line.record), row, line.blind, leaf).run();
  tree_.append(leaf, [&connection](unsigned level, std::uint64_t number, const Hash& hash) {
    connection.query(kInsertNode)
        .with(static_cast<std::int64_t>(level), static_cast<std::int64_t>(number), hash)
        .run();
  });
  last_leaf_ = leaf;
  if (kept_) {
    kept_->resize(kept_size_);  // what was undone since
    kept_->append(text).push_back('\n');
    kept_size_ = kept_->size();
  }
  return index;
}

}  // namespace epsilog::ledger
