// Quantiles of rows that were rounded to public candidates, as a release: one candidate is selected for each
// quantile, by permute-and-flip or the exponential mechanism.
//
// Source   Utility and mechanism: Smith, "Privacy-preserving statistical estimation with optimal convergence
//          rates", STOC 2011; McKenna, Sheldon, "Permute-and-Flip", NeurIPS 2020, arXiv 2010.12603. Several
//          quantiles: Kaplan, Schnapp, Stemmer, "Differentially Private Approximate Quantiles", ICML
//          2022, arXiv 2110.05429. Bounded range: Durfee, Rogers, NeurIPS 2019, arXiv 1905.04273; Dong,
//          Durfee, Rogers, "Optimal Differential Privacy Composition for Exponential Mechanisms", ICML
//          2020, arXiv 1909.13830; Cesar, Rogers, "Bounding, Concentrating, and Truncating", ALT 2021,
//          arXiv 2004.07223.
// Proof    mechanisms/proofs/quantiles.md.
// Measure  Pure differential privacy; the exponential mechanism also zCDP and Renyi divergences. For the
//          unit whose rows `change` and `rows_per_unit` bound.
// Release  Of the candidate c that is taken for the quantile Q of n rows, dist(Q n, [#<c, #<=c]) is the rank
//          error. Several quantiles are selected from the middle one outwards; rows up to and including
//          the one selected are those of the quantiles below it, the others those of the quantiles above.
// Rounds   Nothing in the law and the loss; rank accuracy up.
// Timing   See mechanisms/selection/selection_sampler.hpp: the number of random words read depends on the data
//          with a probability below 2^-37 a selection; the time taken grows with the number of different
//          values among the rows.
// Thread-safety: a constructed mechanism is immutable; release() may run concurrently if the bit
//          sources may.
#pragma once

#include <span>
#include <vector>

#include "epsilog/accounting/charge_receipt.hpp"
#include "epsilog/accounting/concentrated_loss.hpp"
#include "epsilog/accounting/sealed_release.hpp"
#include "epsilog/mechanisms/bit_source.hpp"
#include "epsilog/mechanisms/invented_answer.hpp"
#include "epsilog/mechanisms/quantile_parameters.hpp"

namespace epsilog::mechanisms {

/// A bound of the rank error: `error + ties t`, t the most rows of the cell that were rounded to one
/// candidate.
struct RankAccuracy {
  Rational error;
  Rational ties;  ///< 0 where no rows were divided before: for one quantile and for the middle one of several
};

/// Of which rank accuracies are told: 2^-1024.
[[nodiscard]] Rational least_rank_alpha();

class QuantileMechanism final {
 public:
  using Options = QuantileOptions;
  using Parameters = QuantileParameters;

  /// Throws  InvalidParameter naming the field, before any bit is drawn.
  explicit QuantileMechanism(const Options& options);

  [[nodiscard]] const Parameters& parameters() const noexcept { return parameters_; }

  /// What a release costs in zCDP and in Renyi divergence: pure, exponential bounded. Exact.
  [[nodiscard]] accounting::LossFacts loss_facts() const;

  /// Selects each quantile in each cell; the charge covers them all together.
  ///
  /// Requires  receipt.live(), receipt.amount() == parameters().charged; as many cells as parameters().cells
  ///           says. Of a cell, any number of entries in any order: rows of the same candidate add up,
  ///           candidates beyond the last count as the last.
  /// Ensures   exactly the proved distribution. For each cell in turn the value of one candidate for each
  ///           quantile in ascending order; they do not descend.
  /// Throws    InvalidParameter (receipt, number of cells), EntropyUnavailable. The charge is then not
  ///           refunded here. Random bits held here are overwritten before it returns or throws.
  [[nodiscard]] accounting::SealedRelease release(std::span<const std::vector<CandidateRows>> cells,
                                                  accounting::ChargeReceipt receipt, BitSource& bits) const;

  /// Likewise of rows that nobody has, without a charge: for dummy runs.
  /// Throws    InvalidParameter (number of cells), EntropyUnavailable.
  [[nodiscard]] std::vector<Rational> draw_invented(std::span<const InventedCounts> cells,
                                                    BitSource& bits) const;

  /// So many random bytes a release is all but sure not to exceed: see Timing.
  [[nodiscard]] std::size_t bytes_drawn() const;

  /// An a such that the rank error of this quantile in a cell is at most a with probability at least
  /// 1 - alpha, whatever the data: known before anything is spent. Of a single median a.error is the least
  /// such number, as long as a cell may hold any number of rows. For several quantiles, alpha is shared
  /// equally by the selections on the way to this one.
  /// Requires  quantile < the number of quantiles asked for; least_rank_alpha() <= alpha < 1.
  /// Throws    InvalidParameter.
  [[nodiscard]] RankAccuracy rank_accuracy_up(std::size_t quantile, const Rational& alpha) const;
  /// Returns [quantile] the same of each, for little more than the work of one.
  /// Requires  least_rank_alpha() <= alpha < 1.
  /// Throws    InvalidParameter.
  [[nodiscard]] std::vector<RankAccuracy> rank_accuracies_up(const Rational& alpha) const;

 private:
  [[nodiscard]] std::vector<Rational> draw_values(std::span<const std::vector<CandidateRows>> cells,
                                                  BitSource& bits) const;

  Parameters parameters_;
};

}  // namespace epsilog::mechanisms
