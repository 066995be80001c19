// The mechanism that draws one component: snapping, discrete noise on a grid, or the selection of quantiles.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "epsilog/accounting/concentrated_loss.hpp"
#include "epsilog/engine/derivation.hpp"
#include "epsilog/engine/exact_answer.hpp"
#include "epsilog/ledger/record.hpp"
#include "epsilog/mechanisms/answer_interval.hpp"
#include "epsilog/mechanisms/discrete_mechanism.hpp"
#include "epsilog/mechanisms/quantile_mechanism.hpp"
#include "epsilog/mechanisms/snapping_mechanism.hpp"

namespace epsilog::engine {

/// What calibrates a component's mechanism besides the component.
struct MechanismRequest {
  accounting::ApproximateLoss loss;
  /// Of a Gaussian mechanism: what it is calibrated to, where that is not `loss`, which follows from it.
  std::optional<Rational> rho = std::nullopt;
  const ReleaseSettings& settings;
  /// Whether the declared `bound` and `grid` apply: they are in units of the answer and say nothing about
  /// the parts of a quotient.
  bool in_units_of_the_answer = true;
  /// Of quantiles alone.
  SelectionChoice selection = SelectionChoice::permute_and_flip;
  /// For snapping: what its published loss is told that answers are multiples of.
  std::optional<Rational> published_step;
};

/// The whole numbers that a mechanism can release.
struct WholeRange {
  accounting::Integer least;
  accounting::Integer most;
};

/// Thread-safety: immutable; release() may run concurrently if the bit sources may.
class ComponentMechanism final {
 public:
  /// Throws  InvalidParameter when the component cannot be released so.
  ComponentMechanism(const Component& component, const MechanismRequest& request);

  [[nodiscard]] accounting::ApproximateLoss charged() const;
  /// Proved losses, at most what is charged.
  [[nodiscard]] Rational adjusted() const;
  [[nodiscard]] Rational adjusted_delta() const;
  /// What it loses, for measures other than the one it was calibrated in.
  [[nodiscard]] accounting::LossFacts loss_facts() const;
  /// By the published formula; nothing for mechanisms whose loss is exact.
  [[nodiscard]] std::optional<Rational> published() const;
  /// Which rule of `precision: auto` decided; "" where there is no precision.
  [[nodiscard]] std::string precision_reason() const;
  /// Of a mechanism that snaps to a grid below 1; nothing of another, and where it can release none.
  [[nodiscard]] std::optional<WholeRange> whole_range() const;
  /// Of quantiles, which have no accuracy_up() in their own unit; else nullptr.
  [[nodiscard]] const mechanisms::QuantileMechanism* quantiles() const;
  /// So many random bytes a release of so many values is all but sure not to exceed.
  [[nodiscard]] std::size_t bytes_drawn(std::size_t values) const;
  /// As the mechanism's own accuracy_up().
  /// Requires  no quantiles.
  [[nodiscard]] Rational accuracy_up(const Rational& alpha) const;
  /// As the mechanism's own intervals(), of what is shown of a release; nothing of what adds no noise.
  [[nodiscard]] std::optional<mechanisms::AnswerIntervals> intervals(const Rational& alpha,
                                                                     mechanisms::Shown shown) const;
  /// As the mechanism's own noise(); nothing of what adds none.
  [[nodiscard]] std::optional<mechanisms::AnswerNoise> noise() const;
  /// Whether a release of this mechanism may be `value`.
  [[nodiscard]] bool can_release(const Rational& value) const;
  [[nodiscard]] ledger::ComponentRecord record(const Component& component) const;

  /// As the mechanism's own release(), of the component with that index.
  [[nodiscard]] accounting::SealedRelease release(const ExactAnswer& answer, std::size_t component,
                                                  accounting::ChargeReceipt receipt,
                                                  mechanisms::BitSource& bits) const;
  /// As the mechanism's own draw_invented(): of the counts where it selects quantiles, else of the answers.
  [[nodiscard]] std::vector<Rational> draw_invented(std::span<const mechanisms::InventedAnswer> answers,
                                                    std::span<const mechanisms::InventedCounts> counts,
                                                    mechanisms::BitSource& bits) const;

 private:
  std::variant<mechanisms::SnappingMechanism, mechanisms::DiscreteMechanism, mechanisms::QuantileMechanism>
      mechanism_;
};

/// Whether releasing so loses (epsilon, delta).
[[nodiscard]] bool needs_delta(MechanismChoice mechanism);

}  // namespace epsilog::engine
