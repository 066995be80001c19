// Whether the log is what the rows say: each line made again, each leaf, each node, nothing left out.
//
// It goes through the log as decisions are visited by seq, so that their rows are read once.
// Thread-safety: as the connection.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "decision_rows.hpp"
#include "epsilog/ledger/inspection.hpp"
#include "merkle_tree.hpp"
#include "records.hpp"

namespace epsilog::ledger {

class LogCheck final {
 public:
  /// Up to that end. `between_steps` is called where nothing is in use, now and then: what is left to read
  /// may be read by another transaction.
  /// Requires  all of them outlive this.
  LogCheck(Connection& connection, const HistoryEnd& end,
           const std::function<void(const StoredFault&)>& fault, const std::function<void()>& between_steps);

  /// The decision that follows. Those that cannot be read are left out: their lines are passed by.
  /// Ensures  it is what it was; no copy is made of it.
  void decision(DecisionRow& recorded);
  /// What comes after the last decision, and the whole.
  void finish();
  /// No statement of it is in use then, until it goes on.
  void pause();

 private:
  static constexpr std::size_t kKinds = std::variant_size_v<Record>;

  /// Of the log, as the statement stands on it.
  struct Row {
    std::int64_t index = 0;
    std::int64_t kind = 0;
    std::int64_t row = 0;
    Blind blind = {};
    Hash leaf = {};
  };
  [[nodiscard]] bool next();
  void expect_next();
  void check_position();
  [[nodiscard]] Line line_of(Record record) const;
  void check_line(const Line& line);
  void check_other();
  void follow(const Record& record);
  void follow_seal(const SealEvent* seal);
  void check_limit(const Record& record);
  void check_fresh_plan(const Record& record, const std::string& time);
  void check_digest(const PlanRecord& plan);
  void check_node(unsigned level, std::uint64_t number, const Hash& hash);
  void check_counts();
  void fault(const std::string& record, const char* code, std::string message);
  [[nodiscard]] std::string line_name() const;

  void count_lines();
  void count_nodes();

  Connection& connection_;
  const HistoryEnd& end_;
  const std::function<void(const StoredFault&)>& fault_;
  const std::function<void()>& between_steps_;
  SQLite::Statement statement_;
  std::optional<Query> rows_;  // none: paused
  std::int64_t from_ = INT64_MIN;
  Row row_;
  bool there_ = false;  // row_ is to be looked at
  bool over_ = false;   // and no row follows
  std::int64_t expected_ = 0;
  std::array<std::int64_t, kKinds> last_row_{};
  std::array<std::int64_t, kKinds> count_{};
  std::string last_time_ = {};  // of the lines so far
  bool sealed_ = false;         // by the line before
  /// The newest plan, whose decision is to stand in the line after it.
  struct FreshPlan {
    std::int64_t line = 0;
    std::int64_t number = 0;
    std::string time;
  };
  std::optional<FreshPlan> fresh_plan_{};
  std::int64_t applied_policy_ = 0;  // whose accounts and limits follow now; 0: none
  Frontier tree_;
  std::int64_t nodes_ = 0;
};

}  // namespace epsilog::ledger
