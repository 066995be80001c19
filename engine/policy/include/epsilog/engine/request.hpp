// What is asked of an engine.
//
// Thread-safety: values; const ones may be read by all.
#pragma once

#include <concepts>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "epsilog/accounting/exact.hpp"
#include "epsilog/engine/statistic.hpp"

namespace epsilog::engine {

/// How a request wants what it debits to become spent.
enum class ReservationKind {
  none,                    ///< at once, with the release
  reserved,                ///< at its commit
  reserved_against_token,  ///< likewise, and whoever guards the data hands them out only against a token
                           ///< that the ledger issued; for values computed elsewhere
};

/// So many questions can be asked in one batch, and their answers have at most so many cells together.
inline constexpr std::size_t kBatchRowsMax = 1'000;
inline constexpr std::uint64_t kBatchCellsMax = 100'000;

/// One of the questions of a batch, and what it may cost: as of a Request.
struct RequestRow {
  Question question;
  accounting::Exact epsilon;
  std::optional<accounting::Exact> delta = {};
  std::optional<accounting::Exact> rho = {};
};

/// A question with what it may cost and who asks; or several that are asked together, and decided as one.
struct Request {
  std::string dataset;
  Question question;
  accounting::Exact epsilon;                    ///< as asked, > 0; 0 where `rho` is asked
  std::optional<accounting::Exact> delta = {};  ///< as asked, in (0, 1); for the Gaussian mechanisms only
  std::optional<accounting::Exact> rho =
      {};                               ///< in place of both: a Gaussian mechanism of that zCDP loss, > 0
  std::string principal;                ///< not empty
  std::string via = "claimed";          ///< how the principal is known, as of an Asker (actor.hpp)
  std::string purpose = {};             ///< "" = none stated
  std::string key;                      ///< idempotency key; "" = none
  std::optional<std::string> supplied;  ///< text of --value, for value:NAME only
  ReservationKind reservation = ReservationKind::none;  ///< other than none for reserve() only
  /// In what its numbers were typed longer than is taken from whoever asks, "" in nothing. Then it is
  /// answered only if its key is bound to it already.
  std::string too_long = {};
  /// Of a batch, at most kBatchRowsMax; `question`, `epsilon`, `rho` and `supplied` then say nothing, and
  /// `delta` that all rows are charged as one where epsilon and delta are counted: (epsilon, delta), with the
  /// least epsilon that is certified. The rows' own deltas add to no more than that.
  std::vector<RequestRow> rows = {};
  /// Of whom the policy does not let ask this dataset: nothing else is known of the request than who asked
  /// what dataset, and how they are known. What an engine reads back or answers, and never what it is given.
  bool unread = false;
};

/// A row of a batch as a request of its own, by the same asker for the same purpose, without key.
/// Requires  row < request.rows.size().
[[nodiscard]] Request request_of_row(const Request& request, std::size_t row);

/// How far a release is from the clamped answer, except with probability alpha. Rounded up.
struct Accuracy {
  accounting::Exact alpha;
  accounting::Exact a;  ///< in the unit of the answer; of a quantile, in ranks
  /// Of quantiles that were selected after others: the bound is a, and so many times the most rows that are
  /// nearest to one of the values.
  accounting::Exact ties = {};
};

/// The probabilities at which the accuracy of a release is to be told; "{}" for none.
class Alphas final {
 public:
  Alphas() = default;
  /// Throws  InvalidParameter unless each lies strictly between 0 and 1: before anything is charged.
  Alphas(std::initializer_list<accounting::Exact> values) {
    for (const accounting::Exact& value : values) add(value);
  }
  /// Of any range of exact numbers: std::vector<Rational>, std::array<Rational, 2>, …
  template <class Range>
  requires(!std::same_as<Range, Alphas> && requires(const Range& values) {
    { *std::begin(values) } -> std::convertible_to<accounting::Exact>;
    { std::begin(values) != std::end(values) } -> std::convertible_to<bool>;
  }) Alphas(const Range& values) {  // NOLINT(google-explicit-constructor)
    for (const auto& value : values) add(value);
  }

  /// The smallest probability at which every mechanism can tell its accuracy, 2^-16384.
  [[nodiscard]] static Rational least();

  operator std::span<const Rational>() const noexcept {
    return values_;
  }  // NOLINT(google-explicit-constructor)

 private:
  void add(const accounting::Exact& value);
  std::vector<Rational> values_;
};

}  // namespace epsilog::engine
