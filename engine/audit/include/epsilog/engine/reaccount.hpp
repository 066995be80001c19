// What the releases on record cost together under each accountant, beside what they were charged.
//
// Validity  Retrospective. advanced, optimal, rdp and pld hold only where the mechanisms, their parameters
//           and their number were fixed before the first answer; no limit can be kept by them, and no
//           balance follows from them. Nothing is written to the ledger.
// Proof     accounting/proofs/composition.md, sections 9 and 10, and privacy_loss_distribution.md.
// Rounds    Up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "epsilog/accounting/accountant.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/exact.hpp"
#include "epsilog/engine/engine_options.hpp"
#include "epsilog/engine/progress.hpp"

namespace epsilog::engine {

/// What is to be printed with every figure of a reaccount.
inline constexpr std::string_view kReaccountLabel =
    "retrospective, valid only for parameters fixed in advance";

struct ReaccountQuestion {
  std::string dataset;                              ///< "" = all
  std::vector<accounting::Accountant> accountants;  ///< in the order of the answer, distinct
  /// The delta, in [0, 1), at which an epsilon is asked. Absent, as epsilon is: the delta that the dataset's
  /// active policy declares, else 10^-6.
  std::optional<accounting::Exact> delta;
  /// >= 0: asks for a delta instead. Not together with `delta`.
  std::optional<accounting::Exact> epsilon;
  /// Also each account's scope by itself: the releases that were charged to it.
  bool scopes = false;
  /// So many different laws are composed at most, for the work goes with them; 0: however many there are.
  std::size_t laws_max = 0;
};

/// More different laws are on record than were to be composed.
class TooManyLaws final : public Error {
 public:
  using Error::Error;
  [[nodiscard]] std::string_view code() const noexcept override { return "too_many_laws"; }
};

/// A dataset, or one scope of its accounts.
struct Reaccount {
  struct Figure {
    accounting::Accountant accountant;
    std::optional<accounting::Rational> bound;  ///< nullopt: it has nothing to say (accountant.hpp)
  };

  std::string dataset;
  std::string scope;                            ///< "": all releases of the dataset
  std::optional<accounting::Rational> delta;    ///< at which epsilons are given; or
  std::optional<accounting::Rational> epsilon;  ///< at which deltas are
  std::int64_t releases = 0;                    ///< decisions with a release
  /// Components of these, each a mechanism. A batch counts, in a block that not every row of it need cover,
  /// as any mechanism that keeps what was charged there, and not by its draws, where that has an epsilon or a
  /// rho.
  std::int64_t draws = 0;
  std::int64_t laws = 0;  ///< different ones
  /// Forfeited reservations whose charge no accountant can express, for want of an epsilon or a rho; then no
  /// figure has a bound. All others count as any mechanism that keeps what was charged.
  std::int64_t inexpressible = 0;
  /// Decisions that cannot be read: what they cost is not known, so that there is no figure at all.
  std::int64_t unreadable = 0;
  /// What the charges promise by their own filters, in the same terms. nullopt when they say nothing there.
  std::optional<accounting::Rational> charged;
  std::vector<Figure> figures;
};

/// By (dataset, scope); a dataset without releases is there too. Memory grows with the number of different
/// laws, not of releases. A decision that cannot be read is told to `options.unreadable` and takes the
/// figures of its dataset, of all datasets where not even that can be read.
/// Requires  question.epsilon or question.delta absent.
/// Throws    NotFound for an unknown dataset; InvalidParameter; TooManyLaws; LedgerUnusable, LedgerBusy,
///           LedgerCorrupt, LedgerIo.
[[nodiscard]] std::vector<Reaccount> reaccount(const std::string& ledger_path,
                                               const ReaccountQuestion& question,
                                               const Progress& progress = {},
                                               const EngineOptions& options = {});

}  // namespace epsilog::engine
