// A ledger in a directory of its own, and the shortest way to record something in it.
#pragma once

#include <sys/stat.h>

#include "epsilog/accounting/charge_receipt.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/sealed_release.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "support/case_table.hpp"
#include "support/catch.hpp"

struct sqlite3;

namespace epsilog::mechanisms {

/// Stands in for the mechanisms, which these tests do not link: the layer above the ledger is the only
/// one that may seal, and friendship is by name.
class ReleaseSealer {
 public:
  static accounting::SealedRelease seal(accounting::ChargeReceipt receipt,
                                        const accounting::ApproximateLoss& loss,
                                        std::vector<accounting::Rational> values);
};

}  // namespace epsilog::mechanisms

namespace epsilog::ledger_tests {

using accounting::Epsilon;
using accounting::Rational;
using test::check_parts;
using test::message_thrown;
using test::read_file;
using test::says;

inline const Epsilon kTenth = Epsilon::parse_down("0.1");
inline const Epsilon kHundredth = Epsilon::parse_down("0.01");

class TemporaryDirectory final {
 public:
  TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory();
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// A policy version of those bytes, as the engine would make it.
[[nodiscard]] ledger::PolicyVersion policy(const std::string& yaml = "version: 1\n");
[[nodiscard]] ledger::AccountState account(const std::string& dataset, const std::string& measure,
                                           std::int64_t limit, const std::string& scope = "");

/// One dataset "clinic" with an epsilon account.
struct LedgerFixture {
  explicit LedgerFixture(const std::string& epsilon_budget = "1");
  [[nodiscard]] ledger::Ledger open(int wait_ms = 30'000) const;
  [[nodiscard]] ledger::Snapshot look() const;
  [[nodiscard]] std::string sibling(const std::string& suffix) const { return path + suffix; }

  TemporaryDirectory directory;
  std::string path;
  std::string id;
};

[[nodiscard]] ledger::DecisionDraft granted(const std::string& key = "");
[[nodiscard]] ledger::DecisionDraft refused(const std::string& key = "");
/// A draft that can be recorded: refused with a reason, reserved and pending due in the year 9999.
[[nodiscard]] ledger::DecisionDraft draft_of(ledger::Outcome outcome, const std::string& parent = "");
/// A scalar release of one component, charged at `epsilon`.
[[nodiscard]] ledger::ReleaseRecord record_of(Epsilon epsilon);
/// What account 1 of the fixture is charged.
[[nodiscard]] std::vector<ledger::Charge> charge_of(Epsilon epsilon, std::int64_t account = 1);

/// Records a draft by the call that is for its outcome, charging account 1, releasing 42; returns its id,
/// "" of a grant.
std::string record_outcome(ledger::Transaction& transaction, const ledger::DecisionDraft& draft,
                           Epsilon epsilon);
/// Records what `deed` does in a transaction of its own.
template <class Deed>
void commit_one(ledger::Ledger& ledger, Deed deed) {
  auto transaction = ledger.begin();
  deed(transaction);
  static_cast<void>(ledger.commit(std::move(transaction)));
}
/// charge, seal and attach within a transaction.
void record_release(ledger::Transaction& transaction, Epsilon epsilon, const Rational& value,
                    const std::string& key = "");
/// The same in a transaction of its own.
ledger::StoredDecision release(ledger::Ledger& ledger, Epsilon epsilon, const Rational& value,
                               const std::string& key = "");
/// The same with a ledger that is closed after it.
inline ledger::StoredDecision release(ledger::Ledger&& ledger, Epsilon epsilon, const Rational& value,
                                      const std::string& key = "") {
  return release(ledger, epsilon, value, key);
}
/// What a charge is drawn in one piece by.
[[nodiscard]] std::vector<accounting::SealedRelease> sealed(accounting::ChargeReceipt receipt,
                                                            const accounting::ApproximateLoss& loss,
                                                            std::vector<Rational> values);
/// As the engine decides: granted if it fits, else nothing. Replays a key.
bool release_if_it_fits(ledger::Ledger& ledger, Epsilon epsilon, const Rational& value,
                        const std::string& key = "");

/// Runs SQL with a connection that has none of our settings, as a careless or hostile owner would.
/// Returns "" or SQLite's message.
std::string run_sql(const std::string& path, const std::string& sql);
/// Runs SQL although triggers and CHECKs forbid it, and `indexes`, which are dropped for good; the triggers
/// are the same afterwards, for a writer refuses a schema that lacks one.
void tamper_with(const std::string& path, const std::string& sql,
                 const std::vector<std::string>& indexes = {});
/// Inserts a row by hand that is like one that is there, but for the columns named; of one named twice the
/// latter counts. Returns "" or SQLite's message.
std::string insert_row(const std::string& path, const std::string& table,
                       const std::vector<std::pair<std::string, std::string>>& columns,
                       const std::vector<std::pair<std::string, std::string>>& changes = {},
                       const std::string& like = "seq = 1");
/// The first column of the first row, as text.
[[nodiscard]] std::string query_sql(const std::string& path, const std::string& sql);

/// SQLite's plan for a query, one step a line.
[[nodiscard]] std::string explain_sql(const std::string& path, const std::string& sql);

/// Whether spent of every account is what its charges add up to, and within its budget.
[[nodiscard]] bool balances_fold(ledger::Snapshot& snapshot);
[[nodiscard]] inline bool balances_fold(ledger::Snapshot&& snapshot) {
  return balances_fold(snapshot);
}

/// Every line of a ledger, in order.
[[nodiscard]] std::vector<std::string> lines_of(ledger::Snapshot&& snapshot);
/// Hands out lines one after the other, as an import takes them. Requires that they live as long.
[[nodiscard]] std::function<std::optional<std::string>()> each_of(const std::vector<std::string>& lines);
/// What is found wrong with decisions: the messages of rows that cannot be read, the codes of other faults.
[[nodiscard]] std::vector<std::string> decision_faults(ledger::Snapshot&& snapshot);

/// Returns the message of the error that a call throws, "" where it throws none.
[[nodiscard]] std::string message_of(const std::function<void()>& call);
/// Returns what came of a call, in a word: "done", or the kind of error of a ledger that it throws.
[[nodiscard]] std::string outcome_of(const std::function<void()>& call, std::string* message = nullptr);
[[nodiscard]] bool has_part(const std::string& text, const std::string& part);
[[nodiscard]] std::set<std::string> names_in(const std::string& folder);
/// How many descriptors of this process are open on a file, which may be removed by now. Allocates nothing:
/// also for a child of a process with threads.
[[nodiscard]] std::size_t descriptors_of(const struct stat& file);
[[nodiscard]] std::size_t descriptors_of(const std::string& path);

/// Runs `body` in a forked child and returns its wait status. An exception or failure in the child
/// ends it with status 1.
int in_child(const std::function<void()>& body);

/// L.lock no longer remembers how many lines the ledger at `path` had: an old copy of it goes for whole.
inline void forget_end(const std::string& path) {
  constexpr std::uintmax_t kBeforeTheEnd = 1'024;  // ledger/tables/remembered_end.cpp
  const std::string lock = path + ".lock";
  if (std::filesystem::exists(lock) && std::filesystem::file_size(lock) > kBeforeTheEnd)
    std::filesystem::resize_file(lock, kBeforeTheEnd);
}

}  // namespace epsilog::ledger_tests
