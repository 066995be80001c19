// Asking: what a question would cost, how many more fit, and a release.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "epsilog/accounting/exact.hpp"
#include "epsilog/engine/answer.hpp"
#include "epsilog/engine/progress.hpp"
#include "epsilog/engine/request.hpp"
#include "epsilog/engine/state_handle.hpp"
#include "epsilog/engine/submission_outcome.hpp"
#include "epsilog/mechanisms/bit_source.hpp"

namespace epsilog::engine {

struct AccurateBatch;        // forecast.hpp
struct Forecast;             // forecast.hpp
struct MechanismComparison;  // comparison.hpp
class PlanSequence;          // forecast.hpp

/// Plans and answers questions. What holds of each call stands in engine.hpp.
class Asking {
 public:
  /// Spends nothing, records nothing. With `assumed_count`, of a mean over a private number of rows or of a
  /// proportion, also how accurate the answer of so many rows, or of each cell of so many, would be.
  /// Throws  NotFound, Underivable, InvalidParameter; reading.
  [[nodiscard]] Answer plan(const Request& request, const Alphas& alphas,
                            std::optional<std::int64_t> assumed_count = std::nullopt) const;
  /// The same of a batch. For each row whose accuracy follows from a number of rows, and which has one among
  /// `assumed_counts`, also how accurate it would be; a count says nothing of other rows. `assumed_counts`:
  /// none, or one place for each row.
  /// Throws  as plan(), naming the row.
  [[nodiscard]] Answer plan_batch(const Request& batch, const Alphas& alphas,
                                  std::span<const std::optional<std::int64_t>> assumed_counts) const;
  /// The same of every mechanism and arithmetic that could release it, each as if the policy named it. Where
  /// one loses epsilon only, request.delta plays no part. Spends nothing, records nothing.
  /// Throws  as plan(), but what one mechanism cannot do is said of it.
  [[nodiscard]] MechanismComparison compare(const Request& request, const Alphas& alphas) const;
  /// How many more releases of exactly this request fit now. Spends nothing, records nothing, as all
  /// forecasts.
  /// Throws  as plan().
  [[nodiscard]] Forecast forecast(const Request& request, const Alphas& alphas,
                                  std::optional<std::int64_t> assumed_count = std::nullopt) const;
  /// The same of the request at the largest epsilon at which `count` of them fit into every account, however
  /// it counts: one grid step more, and fewer fit. What request.epsilon holds plays no part.
  /// Ensures   nothing if not even the least epsilon fits so often.
  /// Throws    as plan(); InvalidParameter unless count >= 1.
  [[nodiscard]] std::optional<Forecast> forecast_of_count(
      const Request& request, std::int64_t count, const Alphas& alphas,
      std::optional<std::int64_t> assumed_count = std::nullopt) const;
  /// The same of the request at the least epsilon whose answer, or each of its cells, is accurate enough: one
  /// grid step less, and it is not. What request.epsilon holds plays no part.
  /// Ensures   nothing if no epsilon is large enough.
  /// Throws    as plan(); Underivable for a statistic made of several releases, unless a count is assumed and
  ///           its accuracy follows from that; InvalidParameter unless wanted.a > 0 and 0 < wanted.alpha < 1.
  [[nodiscard]] std::optional<Forecast> forecast_of_accuracy(
      const Request& request, const Accuracy& wanted, const Alphas& alphas,
      std::optional<std::int64_t> assumed_count = std::nullopt) const;
  /// The batch with the least epsilon of each row at which its answer, or each of its cells, is farther than
  /// wanted[row] from the exact one with probability at most alpha, as forecast_of_accuracy(). With a total,
  /// of the least factor on a grid of 1/1000 by which all of `wanted` are multiplied so that the epsilons add
  /// to no more than that: with one step less they do. Of a batch with a delta, so that its charge has no
  /// larger epsilon. What its rows hold of epsilon plays no part. `assumed_counts`: none, or one for each
  /// row, which a row needs whose accuracy follows from it and which says nothing of others. Spends nothing,
  /// records nothing, and balances play no part.
  /// Throws  as forecast_of_accuracy(), naming the row; Underivable where no epsilon is large enough, or no
  ///         factor up to 10^6; InvalidParameter unless there is one of `wanted` for each row, and total > 0;
  ///         LedgerBusy if a policy is applied meanwhile.
  [[nodiscard]] AccurateBatch accurate_batch(
      Request batch, std::span<const accounting::Exact> wanted, const accounting::Exact& alpha,
      const std::optional<accounting::Exact>& total,
      std::span<const std::optional<std::int64_t>> assumed_counts = {}) const;
  /// Throws  reading.
  [[nodiscard]] PlanSequence plan_sequence() const;
  /// The id of the answer that this principal was given last to exactly this request, "" if none is among the
  /// last ledger::kSameRequestWindow decisions: showing it again is free.
  /// Throws  InvalidParameter for names that are not UTF-8; reading.
  [[nodiscard]] std::string same_question(const Request& request) const;
  /// Steps 0 to 3 of the release path. A refusal is an Answer with granted == false, and so is a request
  /// that waits for approvals.
  /// Throws  NotFound, Underivable, InvalidParameter (a request that is held is reserved, among others);
  ///         SourceError, SourceIo, EntropyUnavailable: nothing is charged then; writing.
  [[nodiscard]] Answer release(const Request& request, mechanisms::BitSource& bits, const Alphas& alphas,
                               const Progress& progress = {});
  /// All in one transaction, decided in order. Progress is over all sources that are read, each an equal
  /// part.
  /// Throws  as release(), for the first request that cannot be decided: then none is.
  [[nodiscard]] std::vector<Answer> release_many(std::span<const Request> requests,
                                                 mechanisms::BitSource& bits, const Alphas& alphas,
                                                 const Progress& progress = {});

  /// release() or reserve(), whichever the request asks for, without waiting until it is durable: what waits
  /// at the same time is recorded together, with what other threads ask. The source is read, and the first
  /// bits, before it returns.
  /// Requires  `bits` may be used from another thread until `on_done` is called, and outlives that. `on_done`
  ///           is short, does not throw, and does not destroy the engine.
  /// Ensures   `on_done` is called once, by a thread of the engine, perhaps before this returns and perhaps
  ///           at the same time as another; the engine is not destroyed before. Nothing if this throws.
  /// Throws    as release(), what is wrong with request, source or bits.
  void submit(const Request& request, mechanisms::BitSource& bits, const Alphas& alphas,
              const OnDone& on_done);

 protected:
  explicit Asking(StateHandle state) : state_(std::move(state)) {}

 private:
  StateHandle state_;
};

}  // namespace epsilog::engine
