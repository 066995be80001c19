// Forecasts: how many more releases a request has room for, what more of them could each cost, and what a
// wanted accuracy costs.
//
// All from public facts, the policy and the balances; nothing is spent or recorded. A forecast holds as long
// as nobody else is charged, in the present period of a budget that renews. How each figure is found and
// certified: docs/planning.md.
// Thread-safety: values.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "epsilog/engine/answer.hpp"
#include "epsilog/engine/request.hpp"

namespace epsilog::engine {

/// How one account limits the releases of a request.
struct AccountForecast {
  ledger::AccountState account;  ///< as it stands; id 0: the first charge opens it
  accounting::Integer asked;     ///< grid units of its measure that one release debits; may be too many
  std::optional<std::int64_t> releases;  ///< floor(remaining / asked); nothing where nothing is asked
  bool binds = false;                    ///< no other account has room for fewer
};

struct Forecast {
  Rational epsilon;  ///< of each release, on the grid where it was sought; where rho is asked, what it
                     ///< implies; 0 where who asks may not ask the dataset
  Answer each;       ///< what plan says of one such release now
  /// So many more of exactly this request are granted, one after the other, and one more is refused.
  std::int64_t releases = 0;
  /// In the order in which refusals list them; empty where the asker is told nothing of balances.
  std::vector<AccountForecast> accounts;
  /// A rule stands against the request that no balance overcomes: the reasons of `each` other than limits,
  /// per_release among them.
  bool never = false;
};

/// A batch whose rows are as accurate as wanted, or as their epsilons together allow. For who may not ask the
/// dataset nothing is sought: each row has epsilon 1, and release() refuses the batch.
struct AccurateBatch {
  Request batch;        ///< each row with its least epsilon
  Rational factor = 1;  ///< by which all wanted accuracies were multiplied: a multiple of 1/1000
};

/// Whether such a reason is that a balance does not suffice.
[[nodiscard]] bool is_balance_refusal(RefusalCode code);

/// Requests planned in order, each against the balances as they would stand had those before it been
/// released. Records nothing, and keeps one view of the ledger as long as it lives.
/// Thread-safety: one owner.
class PlanSequence final {
 public:
  PlanSequence(PlanSequence&&) noexcept;
  ~PlanSequence();

  /// As Engine::plan, with the accounts as they would stand afterwards. A key is bound by the first request
  /// of the sequence that bears it, as a release binds it: the same again is a replay and costs nothing.
  /// Throws  as Engine::plan; the sequence goes on as if nothing had been asked.
  [[nodiscard]] Answer next(const Request& request, const Alphas& alphas);

  /// Every account that was touched, as it would stand, ordered by name.
  [[nodiscard]] std::vector<ledger::AccountState> accounts() const;

 private:
  friend class Asking;
  struct State;
  explicit PlanSequence(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace epsilog::engine
