// What becomes of a question: released, or one of the other ends and waits that a request can come to.
//
// An Outcome is exactly one of its alternatives, and only what was released has a value. It refers to the
// ledger it came from and keeps it open. Thread-safety: values; const ones may be read by all.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "epsilog/number.hpp"

namespace epsilog {

namespace detail {
struct Facts;  // internal to the library

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;
}  // namespace detail

/// Between which numbers an exact answer lies, except with probability alpha.
class Interval final {
 public:
  [[nodiscard]] const Number& low() const noexcept { return low_; }
  [[nodiscard]] const Number& high() const noexcept { return high_; }
  /// Returns whether it says no more than the policy does: all that the answer can be.
  [[nodiscard]] bool whole_range() const noexcept { return whole_range_; }
  /// Returns from which true size on an interval that is narrower than the whole range holds: so many rows or
  /// people, or the denominator of a ratio. 0: at every size. Nothing: at no size that the policy allows.
  [[nodiscard]] const std::optional<Number>& holds_from() const noexcept { return holds_from_; }

  /// Writes "[low, high]".
  friend std::ostream& operator<<(std::ostream& out, const Interval& interval);

 private:
  friend struct detail::Maker;
  Interval(Number low, Number high, bool whole_range, std::optional<Number> holds_from)
      : low_(std::move(low)),
        high_(std::move(high)),
        whole_range_(whole_range),
        holds_from_(std::move(holds_from)) {}
  Number low_;
  Number high_;
  bool whole_range_;
  std::optional<Number> holds_from_;
};

/// Why a request is refused; amounts are texts in the measure, "" where they do not apply.
struct RefusalReason {
  std::string code;  ///< "dataset_budget_exceeded", … (docs/refusals.md)
  std::string message;
  std::string scope;    ///< "": of the dataset as a whole
  std::string measure;  ///< of the budget that is too small, or ""
  std::string limit;
  std::string spent;
  std::string reserved;
  std::string asked;
  std::string fits;  ///< the most that would pass now
};

/// Who agreed to a request that waits, when, and why.
struct Vote {
  std::string by;
  std::string at;
  std::string why;  ///< "": no reason was given
};

/// What every outcome knows of its request.
class Recorded {
 public:
  // Moving is copying: what was moved from tells the same.
  Recorded(const Recorded&) = default;
  Recorded& operator=(const Recorded&) = default;
  ~Recorded() = default;
  /// Returns the id of the decision; ledgers, audits and approvals name it.
  [[nodiscard]] const std::string& id() const noexcept;
  /// Returns the key of the request, which was given or made: whoever asks the same with it again gets the
  /// answer on record, free.
  [[nodiscard]] const std::string& key() const noexcept;
  /// Returns whether it was on record already, so that this call recorded and charged nothing.
  [[nodiscard]] bool replayed() const noexcept;
  /// Returns when it was recorded, in ledger time.
  [[nodiscard]] const std::string& at() const noexcept;
  [[nodiscard]] const std::string& dataset() const noexcept;
  /// Returns "mean:age"; "" where who asked may not ask the dataset.
  [[nodiscard]] const std::string& statistic() const noexcept;
  /// Returns one plain sentence that says what became of the request.
  [[nodiscard]] std::string message() const;

 protected:
  friend struct detail::Maker;
  explicit Recorded(std::shared_ptr<const detail::Facts> facts) : facts_(std::move(facts)) {}
  [[nodiscard]] const detail::Facts& facts() const noexcept { return *facts_; }

 private:
  std::shared_ptr<const detail::Facts> facts_;
};

/// It was charged, and its answer is told.
class Released : public Recorded {
 public:
  using Recorded::Recorded;
  /// Returns what was charged for it, once, however often it is replayed.
  [[nodiscard]] Loss charged() const;
  /// Returns how far the value, or each of its cells, is from the exact answer at most, except with
  /// probability alpha. Nothing for quantiles, whose error is counted in ranks, and for answers made of
  /// several draws: their intervals tell it.
  /// Requires  0 < alpha < 1.
  /// Throws    InvalidParameter; LedgerBusy, LedgerIo, LedgerCorrupt, LedgerUnusable for another alpha than
  ///           1/20, for which the ledger is read.
  [[nodiscard]] std::optional<Number> accuracy(const Exact& alpha) const;
};

/// A single number was released.
class ReleasedValue final : public Released {
 public:
  using Released::Released;
  [[nodiscard]] Number value() const;
  /// Returns the interval of the exact answer, as the policy makes it of the rows.
  /// Requires  alpha as accuracy() does.
  /// Ensures   both ends are there; they are infinite where nothing bounds the answer.
  /// Throws    as accuracy().
  [[nodiscard]] Interval interval(const Exact& alpha) const;
};

/// One cell of a table.
struct Cell {
  /// A value of each column of `by`; nothing for one that is summed over. Of several quantiles, which.
  std::vector<std::optional<std::string>> keys;
  /// Nothing where it was asked not to be shown (suppress_below()).
  std::optional<Number> value;

  /// Returns "north, 2026"; "total" for a column that is summed over.
  [[nodiscard]] std::string name() const;
};

/// A table was released.
class ReleasedTable final : public Released {
 public:
  using Released::Released;
  /// Returns all cells, those of the last column changing fastest, then those of totals.
  [[nodiscard]] std::vector<Cell> cells() const;
  /// Returns an interval for each cell, in the order of cells(), also for one whose value is not shown: each
  /// holds by itself.
  /// Requires  alpha as accuracy() does.
  /// Throws    as accuracy().
  [[nodiscard]] std::vector<Interval> intervals(const Exact& alpha) const;
  /// Returns the same, so that all of them hold together.
  [[nodiscard]] std::vector<Interval> intervals_together(const Exact& alpha) const;
};

/// It is on record and not known to be durable yet: ask again with the same key, and it is told once it is.
class Withheld final : public Recorded {
 public:
  using Recorded::Recorded;
  /// Returns whether only the second copy of the ledger is missing.
  [[nodiscard]] bool replica_behind() const noexcept;
};

/// It may not be answered. Nothing was charged.
class Refused final : public Recorded {
 public:
  using Recorded::Recorded;
  /// Returns the first 16 reasons.
  /// Ensures   there is one.
  [[nodiscard]] std::vector<RefusalReason> reasons() const;
  /// Returns how many reasons there are.
  [[nodiscard]] std::size_t reasons_count() const noexcept;
};

/// It waits for approvals. Nothing is charged or reserved.
class Waiting final : public Recorded {
 public:
  using Recorded::Recorded;
  [[nodiscard]] const std::string& deadline() const noexcept;
  [[nodiscard]] std::size_t approvals_required() const noexcept;
  [[nodiscard]] std::vector<Vote> approvals() const;
  /// Returns what it would cost.
  [[nodiscard]] Loss cost() const;
};

/// What it costs is set aside until it is committed, cancelled or overdue.
class Reserved final : public Recorded {
 public:
  using Recorded::Recorded;
  [[nodiscard]] const std::string& deadline() const noexcept;
  /// Returns what is set aside.
  [[nodiscard]] Loss cost() const;
};

/// It was cancelled before anybody could see the data. Nothing was charged.
class Cancelled final : public Recorded {
 public:
  using Recorded::Recorded;
};

/// An approver said no. Nothing was charged.
class Rejected final : public Recorded {
 public:
  using Recorded::Recorded;
  /// Returns the reason that was given.
  [[nodiscard]] const std::string& why() const noexcept;
};

/// Its deadline passed before anybody could see the data. Nothing was charged.
class Expired final : public Recorded {
 public:
  using Recorded::Recorded;
};

/// It ended without an answer after the data may have been seen, and is charged in full.
class Forfeited final : public Recorded {
 public:
  using Recorded::Recorded;
  [[nodiscard]] Loss charged() const;
};

/// What became of a request: exactly one of the alternatives. `Answered` is what was released.
template <class Answered>
class [[nodiscard]] Outcome final {
 public:
  /// Each returns the alternative that it is, else nullptr. It lives as long as the outcome.
  [[nodiscard]] const Answered* released() const& noexcept { return std::get_if<Answered>(&one_); }
  [[nodiscard]] const Withheld* withheld() const& noexcept { return std::get_if<Withheld>(&one_); }
  [[nodiscard]] const Refused* refused() const& noexcept { return std::get_if<Refused>(&one_); }
  [[nodiscard]] const Waiting* waiting() const& noexcept { return std::get_if<Waiting>(&one_); }
  [[nodiscard]] const Reserved* reserved() const& noexcept { return std::get_if<Reserved>(&one_); }
  [[nodiscard]] const Cancelled* cancelled() const& noexcept { return std::get_if<Cancelled>(&one_); }
  [[nodiscard]] const Rejected* rejected() const& noexcept { return std::get_if<Rejected>(&one_); }
  [[nodiscard]] const Expired* expired() const& noexcept { return std::get_if<Expired>(&one_); }
  [[nodiscard]] const Forfeited* forfeited() const& noexcept { return std::get_if<Forfeited>(&one_); }
  // Of an outcome that nobody keeps, a pointer into it would dangle.
  void released() const&& = delete;
  void withheld() const&& = delete;
  void refused() const&& = delete;
  void waiting() const&& = delete;
  void reserved() const&& = delete;
  void cancelled() const&& = delete;
  void rejected() const&& = delete;
  void expired() const&& = delete;
  void forfeited() const&& = delete;

  /// Calls the function that takes the alternative that it is, and returns what it returns. A call that has
  /// no function for one of the alternatives does not compile.
  template <class... Functions>
  decltype(auto) visit(Functions&&... functions) const {
    using All = detail::Overloaded<std::decay_t<Functions>...>;
    static_assert(std::is_invocable_v<const All&, const Answered&> &&
                      std::is_invocable_v<const All&, const Withheld&> &&
                      std::is_invocable_v<const All&, const Refused&> &&
                      std::is_invocable_v<const All&, const Waiting&> &&
                      std::is_invocable_v<const All&, const Reserved&> &&
                      std::is_invocable_v<const All&, const Cancelled&> &&
                      std::is_invocable_v<const All&, const Rejected&> &&
                      std::is_invocable_v<const All&, const Expired&> &&
                      std::is_invocable_v<const All&, const Forfeited&>,
                  "visit: a function for each alternative of the outcome is needed");
    const All all{std::forward<Functions>(functions)...};
    return std::visit(all, one_);
  }

  /// As of Recorded: each alternative has them.
  [[nodiscard]] std::string message() const { return recorded().message(); }
  [[nodiscard]] const std::string& id() const& noexcept { return recorded().id(); }
  [[nodiscard]] const std::string& key() const& noexcept { return recorded().key(); }
  [[nodiscard]] std::string id() const&& { return recorded().id(); }
  [[nodiscard]] std::string key() const&& { return recorded().key(); }
  [[nodiscard]] bool replayed() const noexcept { return recorded().replayed(); }

 private:
  friend struct detail::Maker;
  using One =
      std::variant<Answered, Withheld, Refused, Waiting, Reserved, Cancelled, Rejected, Expired, Forfeited>;
  explicit Outcome(One one) : one_(std::move(one)) {}
  [[nodiscard]] const Recorded& recorded() const noexcept {
    return std::visit([](const Recorded& one) -> const Recorded& { return one; }, one_);
  }
  One one_;
};

using ValueOutcome = Outcome<ReleasedValue>;
using TableOutcome = Outcome<ReleasedTable>;
/// How a request of either shape stands; show() and show_table() have the values of what was released.
using RequestOutcome = Outcome<Released>;

/// How a question would be answered now, and what it would cost. Nothing is recorded.
class [[nodiscard]] Plan final {
 public:
  enum class Outlook { released, waiting, refused };
  Plan(const Plan&) = default;
  Plan& operator=(const Plan&) = default;
  ~Plan() = default;
  /// Returns what would become of the question if it were asked now.
  [[nodiscard]] Outlook outlook() const noexcept;
  [[nodiscard]] Loss cost() const;
  /// Returns why it would be refused; none where it would not.
  [[nodiscard]] std::vector<RefusalReason> reasons() const;
  /// As Released::accuracy().
  [[nodiscard]] std::optional<Number> accuracy(const Exact& alpha) const;
  /// Returns the budgets that it would touch, as they stand.
  [[nodiscard]] std::vector<AccountBalance> budgets() const;
  /// Returns one plain sentence.
  [[nodiscard]] std::string message() const;

 private:
  friend struct detail::Maker;
  explicit Plan(std::shared_ptr<const detail::Facts> facts) : facts_(std::move(facts)) {}
  std::shared_ptr<const detail::Facts> facts_;
};

}  // namespace epsilog
