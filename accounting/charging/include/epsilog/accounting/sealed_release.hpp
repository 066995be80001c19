// A drawn value that nobody can look at yet.
//
// A mechanism returns it in exchange for a charge receipt; only the ledger opens it, and hands its
// content on after COMMIT returned (guarantee G1). Until then there is no accessor: a value whose
// charge is not durable cannot be printed, logged or compared by mistake.
// Thread-safety: one owner.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "epsilog/accounting/approximate_loss.hpp"
#include "epsilog/accounting/rational.hpp"

namespace epsilog::ledger {
class Transaction;
}
namespace epsilog::mechanisms {
class ReleaseSealer;
}

namespace epsilog::accounting {

class SealedRelease final {
 public:
  SealedRelease(SealedRelease&&) noexcept = default;
  SealedRelease& operator=(SealedRelease&&) noexcept = default;
  SealedRelease(const SealedRelease&) = delete;
  SealedRelease& operator=(const SealedRelease&) = delete;
  ~SealedRelease() = default;

  /// The decision whose charge paid for it.
  [[nodiscard]] std::int64_t decision() const noexcept { return decision_; }
  /// The loss that was paid.
  [[nodiscard]] const ApproximateLoss& charged() const noexcept { return charged_; }
  /// How many coordinates were drawn.
  [[nodiscard]] std::size_t size() const noexcept { return values_.size(); }

 private:
  friend class mechanisms::ReleaseSealer;  // writes the values
  friend class ledger::Transaction;        // stores them, and opens them after COMMIT
  SealedRelease(std::int64_t decision, const ApproximateLoss& charged, std::vector<Rational> values)
      : decision_(decision), charged_(charged), values_(std::move(values)) {}

  std::int64_t decision_;
  ApproximateLoss charged_;
  std::vector<Rational> values_;
};

/// How the released answer follows from the released components, cell by cell. Data rather than
/// code, so that an auditor can recompute it from the ledger and no callback sees a sealed value.
/// Post-processing costs nothing (Dwork, Roth, proposition 2.1).
struct PostProcessing {
  enum class Kind {
    none,            ///< the only component is the answer
    mean_about,      ///< clamp(centre + S / max(C, 1)); components S, C
    variance_about,  ///< clamp(Q / max(C,1) - (S / max(C,1))^2); components Q, S, C
    rounded,         ///< clamp(floor(C + 1/2)), the nearest whole number, ties up; component C
    proportion,      ///< clamp(A / max(A + B, 1)); one component, of each cell A and then B
    ratio,           ///< clamp(A / B); where B <= 0 the end to which A points, or 0; components A, B
    // Of a table whose components are its cells and then the cells of each margin (table_margins.hpp):
    totals,             ///< what was drawn, one component after the other
    whole_totals,       ///< likewise, where a grid is below 1 the nearest whole number of its range, ties up
    consistent_totals,  ///< the table that fits them best, and its margins (table_fit.hpp)
  };
  Kind kind = Kind::none;
  Rational centre = 0;  ///< what sums were taken about; 0 unless has_centre()
  Rational lower = 0;   ///< range the answer is clamped to; 0 unless has_range()
  Rational upper = 0;

  friend bool operator==(const PostProcessing&, const PostProcessing&) = default;
};
/// As it is recorded: "none", "mean_about", …
[[nodiscard]] std::string_view name(PostProcessing::Kind kind);
[[nodiscard]] bool has_centre(PostProcessing::Kind kind);
[[nodiscard]] bool has_range(PostProcessing::Kind kind);
/// Whether the answer is a table with its margins, each drawn by itself.
[[nodiscard]] bool has_totals(PostProcessing::Kind kind);
/// Whether the answer is made of drawn counts or sums by dividing.
[[nodiscard]] bool is_quotient(PostProcessing::Kind kind);
/// So many values of each component make one of the answer: two of a proportion, else one.
[[nodiscard]] std::size_t values_of_a_cell(PostProcessing::Kind kind);

/// Answer for each cell, of a recipe without totals: what these are made of says the record of a release.
/// Requires  one component for none, rounded and proportion, two for mean_about and ratio, three for
/// variance_about;
///           all of the same length, a multiple of values_of_a_cell(); for all but none, lower <= upper.
/// Throws    InvalidParameter.
[[nodiscard]] std::vector<Rational> post_process(const PostProcessing& recipe,
                                                 const std::vector<std::vector<Rational>>& components);

}  // namespace epsilog::accounting
