// Names are those of accounting/proofs/consistent_totals.md.
#include "epsilog/accounting/table_fit.hpp"

#include <algorithm>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::accounting {
namespace {

using Margin = TableMargins::Margin;

Rational number(std::uint64_t count) {
  return Rational(Integer(static_cast<unsigned long>(count)));
}

bool keeps_all_of(const Margin& outer, const Margin& inner) {
  return std::includes(outer.kept.begin(), outer.kept.end(), inner.kept.begin(), inner.kept.end());
}

/// The sums over the columns that `inner` does not keep.
std::vector<Rational> summed(const TableMargins& margins, const Margin& outer, const Margin& inner,
                             const std::vector<Rational>& cells) {
  std::vector<Rational> sums(inner.cells);
  for (std::uint64_t cell = 0; cell < outer.cells; ++cell)
    sums[margins.within(outer, inner, cell)] += cells[cell];
  return sums;
}

const Margin& without(const TableMargins& margins, const Margin& margin, std::size_t column) {
  std::vector<std::size_t> kept = margin.kept;
  std::erase(kept, column);
  return *std::find_if(margins.all().begin(), margins.all().end(),
                       [&kept](const Margin& one) { return one.kept == kept; });
}

/// Takes from each cell the mean along every column: what is left has means of 0.
void centre(const TableMargins& margins, const Margin& margin, std::vector<Rational>& cells) {
  for (const std::size_t column : margin.kept) {
    const Margin& others = without(margins, margin, column);
    std::vector<Rational> means = summed(margins, margin, others, cells);
    for (Rational& mean : means) mean /= number(margins.size(column));
    for (std::uint64_t cell = 0; cell < margin.cells; ++cell)
      cells[cell] -= means[margins.within(margin, others, cell)];
  }
}

/// e_T: how cells depend on the columns of T together and on no fewer.
std::vector<Rational> effect(const TableMargins& margins, const Margin& of,
                             const std::vector<Rational>& weights,
                             const std::vector<std::vector<Rational>>& drawn) {
  std::vector<Rational> weighed(of.cells);
  Rational eigenvalue = 0;
  for (std::size_t i = 0; i < margins.all().size(); ++i) {
    const Margin& margin = margins.all()[i];
    if (!keeps_all_of(margin, of)) continue;
    eigenvalue += weights[i] * number(margins.summed_in(margin));
    const Rational weight_of_mean = weights[i] * number(of.cells) / number(margin.cells);
    const std::vector<Rational> sums = summed(margins, margin, of, drawn[i]);
    for (std::uint64_t cell = 0; cell < of.cells; ++cell) weighed[cell] += weight_of_mean * sums[cell];
  }
  for (Rational& cell : weighed) cell /= eigenvalue;
  centre(margins, of, weighed);
  return weighed;
}

void require_whole(const TableMargins& margins, std::span<const Rational> scales,
                   const std::vector<std::vector<Rational>>& drawn) {
  bool whole = scales.size() == margins.all().size() && drawn.size() == margins.all().size();
  for (std::size_t i = 0; whole && i < drawn.size(); ++i)
    whole = drawn[i].size() == margins.all()[i].cells && scales[i] > 0;
  if (!whole) throw InvalidParameter("table: it has not the values and scales of its margins");
}

}  // namespace

std::vector<Rational> fitted_table(const TableMargins& margins, std::span<const Rational> scales,
                                   const std::vector<std::vector<Rational>>& drawn) {
  require_whole(margins, scales, drawn);
  std::vector<Rational> weights;  // that of the table is 1: what they are multiplied by plays no part
  for (const Rational& scale : scales) {
    const Rational of_table = scales.front() / scale;
    weights.push_back(of_table * of_table);
  }
  std::vector<std::vector<Rational>> effects;
  for (const Margin& margin : margins.all()) effects.push_back(effect(margins, margin, weights, drawn));
  std::vector<Rational> fitted;
  fitted.reserve(margins.cells());
  for (const Margin& margin : margins.all()) {
    const Rational cells = number(margins.summed_in(margin));
    for (std::uint64_t cell = 0; cell < margin.cells; ++cell) {
      Rational sum = 0;
      for (std::size_t i = 0; i < effects.size(); ++i) {
        const Margin& inner = margins.all()[i];
        if (keeps_all_of(margin, inner)) sum += effects[i][margins.within(margin, inner, cell)];
      }
      fitted.push_back(cells * sum);
    }
  }
  return fitted;
}

}  // namespace epsilog::accounting
