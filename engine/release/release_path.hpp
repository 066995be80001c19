// The arrows of the release path, each one function:
//
//   prepare_request     policy -> request -> plan -> decision   no lock, a read snapshot          (step 0)
//   add_exact_answers   the exact answer                        no lock, reads the source         (step 1)
//   record_request      charge -> release, sealed               in a group's transaction          (step 2, group.hpp)
//   commit_group        COMMIT -> the value                     one for the whole group           (step 3, group.hpp)
//
// decide_requests() goes along them, as often as the world changes meanwhile (decision_call.hpp). Where no source is read
// the transaction is the only look at the ledger, if it can be had soon: the request is prepared ahead by the
// newest policy that is known, and the transaction says whether that is active.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "decide.hpp"
#include "engine_state.hpp"
#include "epsilog/engine/exact_answer.hpp"
#include "epsilog/engine/policy.hpp"

namespace epsilog::engine {

/// A request on its way. What it holds of the true answer dies with it.
struct PreparedRequest {
  Request request;
  std::string canonical;  ///< canonical_request(request)
  std::string digest;
  std::shared_ptr<const AppliedPolicy> applied;
  const Dataset* dataset = nullptr;                  ///< inside `applied`
  std::shared_ptr<const Plan> plan;                  ///< none for a replay
  std::optional<ledger::StoredDecision> replay;      ///< the key's decision, when it asked the same
  ledger::Outcome expected_outcome =
      ledger::Outcome::refused;                      ///< by the snapshot; decided for good under the lock
  std::optional<std::string> location;               ///< of the source, where it was relocated
  std::vector<ExactAnswer> exact = {};               ///< of each part of the plan; empty while not computed
};

/// Throws  InvalidParameter, NotFound, Underivable: before anything is written.
/// `view` and the policy `active` in it are what the request is decided on so far; a batch shares them.
[[nodiscard]] PreparedRequest prepare_request(EngineState& state, ledger::Snapshot& view,
                                              std::shared_ptr<const AppliedPolicy> active,
                                              const Request& request);

/// The same without a look at the ledger, by the newest policy that is known, so that the transaction alone
/// finds key, policy and accounts. None where that does not do: the source is read for the answer, the
/// question was not planned before, or something is wrong with it, which prepare_request() says.
[[nodiscard]] std::optional<PreparedRequest> prepare_request_ahead(EngineState& state,
                                                                   const Request& request);

/// Computes the exact answer, unless the request is a replay or looks as if it were not granted at once.
/// Throws  SourceError, SourceIo.
void add_exact_answers(PreparedRequest& request, const std::optional<Folders>& folders,
                       const Progress& progress);

/// How many accounts the request may change the balance of, at most.
[[nodiscard]] std::size_t movements_up(const PreparedRequest& request);
/// Whether its answer comes from the rows of a source.
[[nodiscard]] bool reads_source(const PreparedRequest& request);

/// What became of one request inside a transaction.
struct RecordedRequest {
  enum class Kind { replay, written } kind;
  /// Of a replay, as the transaction found it; of both, as COMMIT left it, once it returned.
  std::optional<ledger::StoredDecision> decision;
};
/// Decides for good, charges and draws; nothing is visible before COMMIT.
/// Requires  bits, unless the request is a reservation; it was prepared under the active policy, and its
///           source is where it was.
/// Ensures   none when its refusal would now be granted: prepare again. Nothing was recorded then.
/// Throws    as ledger::Transaction, and what `bits` throws: what was recorded of it has to be undone then.
[[nodiscard]] std::optional<RecordedRequest> record_request(ledger::Transaction& transaction,
                                                            const PreparedRequest& prepared,
                                                            mechanisms::BitSource* bits);

// What the release path and the commit of a reservation share.

/// What the questions of a request are answered from: its parts and those of its plan, which outlive it.
[[nodiscard]] std::vector<DerivedQuestion> derived_questions(const Request& request, const Plan& plan);
/// compute_exact_answers() of them.
[[nodiscard]] std::vector<ExactAnswer> exact_answers(const Dataset& dataset, const Request& request,
                                                     const Plan& plan, const std::string& base_dir,
                                                     const Progress& progress);

/// plan + receipt -> release, still sealed.
/// Requires  the receipt covers plan.charged, or the draws of plan.composed; `exact` are the answers to the
/// parts of the plan.
void draw(ledger::Transaction& transaction, const Plan& plan, std::span<const ExactAnswer> exact,
          accounting::ChargeReceipt receipt, mechanisms::BitSource& bits);
/// More bytes than nearly every draw() takes.
[[nodiscard]] std::size_t bytes_drawn(const Plan& plan);
/// Accounts that no list of the policy names are made by the first request that is granted.
void open_missing(ledger::Transaction& transaction, std::vector<Debit>& debits);
/// The accounts a decision is stored with, of those that are there.
[[nodiscard]] std::vector<std::int64_t> touched_account_ids(const std::vector<Debit>& debits);

}  // namespace epsilog::engine
