#include "epsilog/mechanisms/quantile_mechanism.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/stopping.hpp"
#include "guarded_bits.hpp"
#include "quantile_split.hpp"
#include "quantile_utility.hpp"
#include "rank_accuracy.hpp"
#include "release_sealer.hpp"
#include "selection_sampler.hpp"

namespace epsilog::mechanisms {
namespace {

/// Most words that are fetched at once.
constexpr std::size_t kWordsFetched = RandomWords::kBlockBytesMax / sizeof(std::uint64_t);

/// Exponent of a candidate an error of 1 away.
Rational rate_of_error(const QuantileParameters& p, const QuantileNode& node) {
  return p.level_epsilon / (2 * node.sensitivity);
}

/// The candidate of one node, beside those selected before.
std::uint64_t select(const QuantileParameters& p, const QuantileNode& node,
                     std::span<const CandidateRows> rows, const std::vector<std::uint64_t>& selected,
                     RandomWords& words) {
  const CandidateRange range = range_of(node, selected, p.candidates);
  const std::vector<DistanceRun> runs = distance_runs(rows, range, node.share);
  const Rational rate = rate_of_error(p, node) / node.share.get_den();
  return range.first + (p.selection == Selection::exponential ? exponential_selection(runs, rate, words)
                                                              : permute_and_flip(runs, rate, words));
}

/// Fills no larger than what one release is sure to read.
std::size_t words_at_once(const QuantileParameters& p) {
  return p.selection == Selection::exponential
             ? 2 * std::min<std::size_t>(p.cells, kWordsFetched) * p.nodes.size()
             : static_cast<std::size_t>(p.candidates) + 1;
}

}  // namespace

Rational least_rank_alpha() {
  return accounting::power_of_two(-1024);
}

QuantileMechanism::QuantileMechanism(const Options& options) : parameters_(split_quantiles(options)) {}

accounting::LossFacts QuantileMechanism::loss_facts() const {
  using Kind = accounting::LossFacts::Kind;
  return {parameters_.selection == Selection::exponential ? Kind::bounded : Kind::pure, parameters_.adjusted,
          parameters_.rho};
}

accounting::SealedRelease QuantileMechanism::release(std::span<const std::vector<CandidateRows>> cells,
                                                     accounting::ChargeReceipt receipt,
                                                     BitSource& bits) const {
  if (cells.size() != parameters_.cells)
    throw InvalidParameter("release: not as many cells as the charge is for");
  const std::int64_t decision = receipt.consume(parameters_.charged);
  return ReleaseSealer::seal(decision, parameters_.charged, draw_values(cells, bits));
}

std::vector<Rational> QuantileMechanism::draw_invented(std::span<const InventedCounts> cells,
                                                       BitSource& bits) const {
  if (cells.size() != parameters_.cells) throw InvalidParameter("dummy run: not as many cells as there are");
  std::vector<std::vector<CandidateRows>> rows;
  rows.reserve(cells.size());
  for (const InventedCounts& cell : cells) rows.push_back(cell.rows());
  return draw_values(rows, bits);
}

std::vector<Rational> QuantileMechanism::draw_values(std::span<const std::vector<CandidateRows>> cells,
                                                     BitSource& bits) const {
  const Parameters& p = parameters_;
  GuardedBits guarded(bits);
  RandomWords words(guarded, words_at_once(p));
  std::vector<Rational> values;
  values.reserve(cells.size() * p.nodes.size());
  std::vector<std::uint64_t> selected(p.nodes.size());
  for (const std::vector<CandidateRows>& cell : cells) {
    const std::vector<CandidateRows> rows = in_order(cell, p.candidates - 1);
    for (const QuantileNode& node : p.nodes) selected[node.quantile] = select(p, node, rows, selected, words);
    for (const std::uint64_t candidate : selected) values.push_back(p.values.at(candidate));
  }
  return values;
}

std::size_t QuantileMechanism::bytes_drawn() const {
  const Parameters& p = parameters_;
  // Two words that decide each selection, and of permute-and-flip one for each candidate that is left: those
  // of a level are left to one of its selections alone.
  const std::size_t coins =
      p.selection == Selection::exponential ? 0 : p.levels * static_cast<std::size_t>(p.candidates);
  const std::size_t words = static_cast<std::size_t>(p.cells) * (coins + 2 * p.nodes.size());
  return (words + kWordsFetched) * sizeof(std::uint64_t);
}

namespace {

void require_rank_alpha(const Rational& alpha) {
  if (alpha < least_rank_alpha() || alpha >= 1)
    throw InvalidParameter("alpha: must be at least 2^-1024 and below 1");
}

/// Rank errors of the quantiles of one release at one alpha. What is shared by several is computed once.
class RankAccuracies final {
 public:
  RankAccuracies(const QuantileParameters& p, const Rational& alpha)
      : p_(p), alpha_(alpha), node_of_(p.nodes.size()), levels_(p.levels) {
    for (const QuantileNode& node : p.nodes) node_of_[node.quantile] = &node;
  }

  [[nodiscard]] RankAccuracy of(std::size_t quantile) {
    const unsigned level = node_of_[quantile]->level;
    Level& shared = levels_.at(level);
    if (!shared.bound) {
      shared.bound.emplace(p_.selection, p_.candidates, Rational(alpha_ / (level + 1)));
      shared.known.resize(p_.nodes.size());
    }
    return at(shared, quantile);
  }

 private:
  /// Alpha is shared equally by the selections on the way to a quantile: as many as its level says.
  struct Level {
    std::optional<RankErrorBound> bound;
    std::vector<std::optional<RankAccuracy>> known;  ///< [quantile]
  };

  /// Bounds that bind this quantile were selected on the way to it, and theirs on the way to them.
  const RankAccuracy& at(Level& level, std::size_t quantile) {
    std::optional<RankAccuracy>& known = level.known[quantile];
    if (known) return *known;
    accounting::stop_if_requested();
    const QuantileNode& node = *node_of_[quantile];
    RankAccuracy sum{
        .error = level.bound->error_up(rate_of_error(p_, node), Rational(1) / node.share.get_den()),
        .ties = 0};
    const auto add = [&](const std::optional<std::size_t>& divided_at, const Rational& weight) {
      if (!divided_at) return;
      const RankAccuracy& before = at(level, *divided_at);
      sum.error += weight * before.error;
      sum.ties += weight * (before.ties + 1);
    };
    add(node.lower, 1 - node.share);
    add(node.upper, node.share);
    return known.emplace(std::move(sum));
  }

  const QuantileParameters& p_;
  const Rational& alpha_;
  std::vector<const QuantileNode*> node_of_;
  std::vector<Level> levels_;
};

}  // namespace

RankAccuracy QuantileMechanism::rank_accuracy_up(std::size_t quantile, const Rational& alpha) const {
  if (quantile >= parameters_.nodes.size()) throw InvalidParameter("quantile: there are fewer");
  require_rank_alpha(alpha);
  return RankAccuracies(parameters_, alpha).of(quantile);
}

std::vector<RankAccuracy> QuantileMechanism::rank_accuracies_up(const Rational& alpha) const {
  require_rank_alpha(alpha);
  RankAccuracies accuracies(parameters_, alpha);
  std::vector<RankAccuracy> result;
  result.reserve(parameters_.nodes.size());
  for (std::size_t i = 0; i < parameters_.nodes.size(); ++i) result.push_back(accuracies.of(i));
  return result;
}

}  // namespace epsilog::mechanisms
