// One header for most programs: open a ledger, ask, and look at the outcome.
//
//   epsilog::Ledger ledger = epsilog::open("hospital.epsilog");
//   auto outcome = ledger.ask("hospital", "mean:age").epsilon("1/5").as("alice").key("monday").release();
//   if (const auto* r = outcome.released()) std::cout << r->value() << " in " << r->interval("0.05") << '\n';
//   else std::cerr << outcome.message() << '\n';
//
// Every exception derives from epsilog::Error and has a code(), except std::bad_alloc and what comes
// out of a function that you hand in. Below, *reading* throws LedgerUnusable, LedgerBusy, LedgerIo and
// LedgerCorrupt, and *writing* the same; docs/library.md says what is on record after each. The expert layer
// is engine::Engine (epsilog/engine/engine.hpp).
//
// Thread-safety: a Ledger may be used by any number of threads at once. Questions are values.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/number.hpp"
#include "epsilog/outcome.hpp"

namespace epsilog {

namespace engine {
class Engine;
}
namespace detail {
struct Session;        // internal to the library
struct QuestionParts;  // internal to the library

/// What questions of both shapes have in common. Each call returns a new question and leaves this one as it
/// was; one that the caller did not name a key for has a new key, so that a question object that is asked
/// twice is a retry and never charged twice.
template <class Question>
class QuestionBuilder {
 public:
  // Moving is copying: what was moved from asks the same.
  QuestionBuilder(const QuestionBuilder&) = default;
  QuestionBuilder& operator=(const QuestionBuilder&) = default;
  ~QuestionBuilder() = default;
  /// Asks only of rows for which the condition holds.
  [[nodiscard]] Question where(const std::string& condition) const;
  /// Offers a loss. Either epsilon, with or without delta, or rho is needed.
  [[nodiscard]] Question epsilon(const Exact& epsilon) const;
  [[nodiscard]] Question delta(const Exact& delta) const;
  [[nodiscard]] Question rho(const Exact& rho) const;
  /// Says who asks: a principal, as the policy calls them. It is needed.
  [[nodiscard]] Question as(const std::string& principal) const;
  /// Says what for.
  [[nodiscard]] Question purpose(const std::string& purpose) const;
  /// Names the request: whoever asks the same again with this key gets the answer on record, free. Without
  /// it, one is made.
  /// Throws  InvalidParameter for "".
  [[nodiscard]] Question key(const std::string& key) const;
  /// Returns the key that was named or made: keep it before you ask, and you can ask again after any failure.
  [[nodiscard]] const std::string& key() const noexcept;
  /// Hands in the answer of `value:NAME`, which was computed elsewhere.
  [[nodiscard]] Question supplied(const Exact& value) const;

  /// Says how the question would be answered now and what it would cost; spends and records nothing.
  /// Throws  NotFound, Underivable, InvalidParameter; reading.
  [[nodiscard]] Plan plan() const;

 protected:
  explicit QuestionBuilder(std::shared_ptr<const QuestionParts> parts) : parts_(std::move(parts)) {}
  std::shared_ptr<const QuestionParts> parts_;
  friend struct Maker;
};
}  // namespace detail

/// A question whose answers are a table.
class TableQuestion final : public detail::QuestionBuilder<TableQuestion> {
 public:
  /// Does not show cells that count less than that, as released.
  [[nodiscard]] TableQuestion suppress_below(const Exact& least) const;
  /// Releases the totals over the columns too; `share` is what they have of the loss.
  [[nodiscard]] TableQuestion totals(const Exact& share) const;

  /// Charges the budget and draws the answer, durably, before it returns it.
  /// Throws  NotFound, Underivable, InvalidParameter, SourceError, engine::SourceIo, EntropyUnavailable:
  ///         nothing is charged then; writing.
  [[nodiscard]] TableOutcome release() const;
  /// Sets the loss aside until its commit, waits for approvals, or is refused.
  /// Throws  NotFound, Underivable, InvalidParameter; writing.
  [[nodiscard]] TableOutcome reserve() const;

 private:
  friend struct detail::Maker;
  template <class>
  friend class detail::QuestionBuilder;
  using QuestionBuilder::QuestionBuilder;
};

/// A question whose answer is a single number.
class ValueQuestion final : public detail::QuestionBuilder<ValueQuestion> {
 public:
  /// Asks by the values of one to three columns: the answer is a table.
  template <std::convertible_to<std::string>... Columns>
  [[nodiscard]] TableQuestion by(const Columns&... columns) const {
    static_assert(sizeof...(Columns) > 0, "by: a column is needed");
    return by_columns({std::string(columns)...});
  }
  [[nodiscard]] TableQuestion by_columns(std::vector<std::string> columns) const;

  /// As of TableQuestion.
  [[nodiscard]] ValueOutcome release() const;
  [[nodiscard]] ValueOutcome reserve() const;

 private:
  friend struct detail::Maker;
  template <class>
  friend class detail::QuestionBuilder;
  using QuestionBuilder::QuestionBuilder;
};

/// A decision of the history, in short. show() and show_table() tell more.
struct HistoryEntry {
  std::string id;
  std::string at;
  std::string principal;
  std::string dataset;
  std::string statistic;
  std::string key;
  std::string state;  ///< "granted", "refused", "reserved", …
};

/// A page of the history, oldest first.
struct History {
  std::vector<HistoryEntry> entries;
  std::string cursor;  ///< where the next page begins
  bool more = false;   ///< whether a decision follows by now
};

/// A ledger that is open. A copy is the same one; it is closed with the last copy, question and outcome.
class Ledger final {
 public:
  Ledger(const Ledger&) = default;
  Ledger& operator=(const Ledger&) = default;
  ~Ledger() = default;
  /// Begins a question whose answer is a single number: count, units, mean:COLUMN, median:COLUMN, …
  /// Throws  InvalidParameter for what is no statistic, or has several answers.
  [[nodiscard]] ValueQuestion ask(const std::string& dataset, const std::string& statistic) const;
  /// Begins a question whose answer is a table by itself: histogram:COLUMN, quantiles:COLUMN:0.25,0.75.
  /// Throws  InvalidParameter for what is no statistic, or has one answer.
  [[nodiscard]] TableQuestion ask_table(const std::string& dataset, const std::string& statistic) const;

  /// Draws and charges what was reserved for a single number; `supplied` only of `value:NAME`.
  /// Throws  NotFound, engine::NotPermitted, InvalidParameter (also for a table); as release(); writing.
  [[nodiscard]] ValueOutcome commit(const std::string& id, const std::string& by,
                                    const std::optional<Exact>& supplied = std::nullopt) const;
  /// Draws and charges what was reserved for a table.
  /// Throws  likewise, InvalidParameter for a single number.
  [[nodiscard]] TableOutcome commit_table(const std::string& id, const std::string& by) const;
  /// Ends what waits: given back when nobody can have seen the data, else charged in full.
  /// Throws  NotFound, engine::NotPermitted, InvalidParameter; writing. So do approve() and reject().
  RequestOutcome cancel(const std::string& id, const std::string& by) const;
  /// Records an approval; the last one that is needed decides the request again.
  RequestOutcome approve(const std::string& id, const std::string& by, const std::string& why = {}) const;
  RequestOutcome reject(const std::string& id, const std::string& by, const std::string& why) const;

  /// Tells again what became of a request for a single number: free, and for whoever may read the ledger.
  /// Throws  NotFound, InvalidParameter (also for a table, or several questions asked as one); reading.
  [[nodiscard]] ValueOutcome show(const std::string& id) const;
  /// Tells the same of a table.
  /// Throws  likewise, InvalidParameter for a single number.
  [[nodiscard]] TableOutcome show_table(const std::string& id) const;
  /// Tells how a request of either shape stands.
  /// Throws  NotFound; reading.
  [[nodiscard]] RequestOutcome status(const std::string& id) const;
  /// Tells what is reserved or waits for approvals, oldest first; `dataset` "": of all.
  /// Throws  NotFound; reading.
  [[nodiscard]] std::vector<RequestOutcome> pending(const std::string& dataset = {}) const;
  /// Tells the budgets of a dataset, "": of all.
  /// Throws  NotFound; reading.
  [[nodiscard]] std::vector<AccountBalance> budget(const std::string& dataset = {}) const;
  /// Tells at most `limit` decisions after a cursor, "": from the first on; `dataset` "": of all.
  /// Throws  NotFound, InvalidParameter; reading.
  [[nodiscard]] History history(const std::string& dataset = {}, const std::string& after = {},
                                std::int64_t limit = 100) const;

  /// Returns the engine beneath, for what this header has not. It lives as long as the ledger is open.
  [[nodiscard]] engine::Engine& expert() const noexcept;

 private:
  friend struct detail::Maker;
  explicit Ledger(std::shared_ptr<detail::Session> session) : session_(std::move(session)) {}
  std::shared_ptr<detail::Session> session_;
};

/// How a ledger is opened.
struct OpenOptions {
  /// How long a call waits for another writer, in milliseconds; then it throws LedgerBusy. 0: it does not wait.
  std::int64_t wait_ms = 30'000;
  /// Stops every such wait: a call that waits, or would have to, throws a LedgerBusy whose code() is
  /// "wait_stopped". A call that need not wait goes on as ever.
  std::stop_token stop = {};
};
/// Opens a ledger. Nothing is recorded before the first question that is asked.
/// Throws  reading; EntropyUnavailable; InvalidParameter for a wait below 0.
[[nodiscard]] Ledger open(const std::string& path, const OpenOptions& options = {});
/// Puts this interface over an engine, which was opened as the expert layer lets you.
/// Throws  EntropyUnavailable.
[[nodiscard]] Ledger over(engine::Engine engine);

/// A policy in a file. Relative paths in it start at its folder.
struct PolicyFile {
  std::string path;
};
/// A policy as text. Relative paths in it start at `folder`, "": the working directory.
struct PolicyText {
  std::string yaml;
  std::string folder = {};
};
/// Creates a ledger and opens it; `by` is the curator's name, as the ledger shall have it.
/// Throws  PolicyError with every fault; LedgerUnusable if something is at that path already; SourceError;
///         InvalidParameter for `by`; writing.
[[nodiscard]] Ledger create(const std::string& path, const PolicyFile& policy, const std::string& by,
                            const OpenOptions& options = {});
[[nodiscard]] Ledger create(const std::string& path, const PolicyText& policy, const std::string& by,
                            const OpenOptions& options = {});

}  // namespace epsilog
