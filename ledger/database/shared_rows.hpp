// The constant facts that rows of decisions refer to by number: names, programs, plans, names of accounts.
//
// Their rows never change, so each is read once a connection and kept: by one that reads while nobody else
// commits, by one that writes as long as the file goes on from what it knows (tip_cache.hpp). What a
// transaction that is rolled back had added is forgotten with it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "records.hpp"

namespace epsilog::ledger {

class Connection;

/// As far as recipes are recorded: what those with a range have beside their kind.
[[nodiscard]] bool is_same_post_processing(const accounting::PostProcessing& one,
                                           const accounting::PostProcessing& other);

/// Thread-safety: one thread at a time.
class SharedRows final {
 public:
  /// By number. Throw  StorageFailure, LedgerCorrupt if there is none, or it cannot be read. The references
  /// hold until the next call.
  [[nodiscard]] const std::string& name(Connection& connection, std::int64_t no);
  [[nodiscard]] const Build& build(Connection& connection, std::int64_t no);
  [[nodiscard]] std::shared_ptr<const PlanRecord> plan(Connection& connection, std::int64_t no);
  [[nodiscard]] const AccountName& account(Connection& connection, std::int64_t id);

  /// The number of what is there; nothing if it is not.
  [[nodiscard]] std::optional<std::int64_t> number_of_name(Connection& connection, const std::string& name);
  [[nodiscard]] std::optional<std::int64_t> number_of_build(Connection& connection, const Build& program);
  [[nodiscard]] std::optional<std::int64_t> number_of_plan(Connection& connection, const Sha256& digest);

  /// The plan that was found or written here and says the same, number and time aside; nullptr if none was.
  [[nodiscard]] const PlanRecord* known_plan(const PlanRecord& plan) const;
  void remember_plan(PlanRecord plan);

  /// Whether a plan or policy version was compared with its line (leaf_check.hpp) and is as it was then.
  [[nodiscard]] bool is_verified(RecordKind kind, std::int64_t number) const;
  void mark_verified(RecordKind kind, std::int64_t number) { verified_.emplace(kind, number); }

  /// New rows, of the number that follows.
  void insert_name(Connection& connection, std::int64_t no, const std::string& name);
  void insert_build(Connection& connection, std::int64_t no, const Build& program);
  void insert_plan(Connection& connection, const PlanRecord& plan, const Sha256& digest);

  void forget();
  /// forget() unless nobody else committed since it was called last. Returns whether somebody did, or may have.
  /// Requires  a transaction that has read.
  bool forget_if_changed(Connection& connection);
  /// What the next forget_if_changed() finds counts as changed.
  void expect_change() noexcept { version_ = -1; }

 private:
  struct DigestHash {
    std::size_t operator()(const Sha256& digest) const noexcept;
  };
  std::unordered_map<std::int64_t, std::string> names_;
  std::unordered_map<std::string, std::int64_t> numbers_of_names_;
  std::map<std::int64_t, Build> builds_;
  std::unordered_map<std::int64_t, std::shared_ptr<const PlanRecord>> plans_;
  std::unordered_map<Sha256, std::int64_t, DigestHash> numbers_of_plans_;
  std::unordered_multimap<std::string, PlanRecord> known_plans_;  // by question
  std::unordered_map<std::int64_t, AccountName> accounts_;
  std::set<std::pair<RecordKind, std::int64_t>> verified_;
  std::int64_t version_ = -1;  // PRAGMA data_version
};

}  // namespace epsilog::ledger
