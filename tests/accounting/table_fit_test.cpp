// Tables with totals: which cells a margin sums, and the table that fits noisy cells and totals best against
// a general solver of the normal equations.
#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/table_fit.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace accounting;

namespace {

using Drawn = std::vector<std::vector<Rational>>;

Drawn margins_of(const TableMargins& margins, const std::vector<Rational>& cells) {
  Drawn all;
  for (const TableMargins::Margin& margin : margins.all()) {
    std::vector<Rational>& sums = all.emplace_back(margin.cells);
    for (std::size_t cell = 0; cell < cells.size(); ++cell)
      sums[margins.within(margins.table(), margin, cell)] += cells[cell];
  }
  return all;
}

std::vector<Rational> joined(const Drawn& drawn) {
  std::vector<Rational> all;
  for (const auto& cells : drawn) all.insert(all.end(), cells.begin(), cells.end());
  return all;
}

/// Gauss's elimination over the rationals of a system with one solution.
std::vector<Rational> solution(Drawn matrix, std::vector<Rational> right) {
  const std::size_t n = right.size();
  for (std::size_t column = 0; column < n; ++column) {
    std::size_t pivot = column;
    while (matrix[pivot][column] == 0) ++pivot;
    std::swap(matrix[pivot], matrix[column]);
    std::swap(right[pivot], right[column]);
    for (std::size_t row = 0; row < n; ++row) {
      if (row == column || matrix[row][column] == 0) continue;
      const Rational factor = matrix[row][column] / matrix[column][column];
      for (std::size_t k = column; k < n; ++k) matrix[row][k] -= factor * matrix[column][k];
      right[row] -= factor * right[column];
    }
  }
  for (std::size_t row = 0; row < n; ++row) right[row] /= matrix[row][row];
  return right;
}

/// A^T W A x = A^T W y, A having a row for each cell of each margin.
std::vector<Rational> by_normal_equations(const TableMargins& margins, const std::vector<Rational>& scales,
                                          const Drawn& drawn) {
  const std::size_t n = margins.table().cells;
  Drawn matrix(n, std::vector<Rational>(n));
  std::vector<Rational> right(n);
  for (std::size_t i = 0; i < margins.all().size(); ++i) {
    const Rational weight = 1 / (scales[i] * scales[i]);
    for (std::size_t a = 0; a < n; ++a) {
      const auto in = margins.within(margins.table(), margins.all()[i], a);
      right[a] += weight * drawn[i][in];
      for (std::size_t b = 0; b < n; ++b) {
        if (margins.within(margins.table(), margins.all()[i], b) == in) matrix[a][b] += weight;
      }
    }
  }
  return solution(std::move(matrix), std::move(right));
}

struct Numbers {
  std::mt19937_64 random;
  Rational number(long from, long to) {
    Rational value(from + static_cast<long>(random() % static_cast<std::uint64_t>(to - from + 1)),
                   1 + random() % 7);
    value.canonicalize();
    return value;
  }
};

}  // namespace

TEST_CASE("margins: the table first, then those that keep more columns, the last being the grand total",
          "[accounting][totals]") {
  const TableMargins margins({2, 3, 4});
  std::vector<std::vector<std::size_t>> kept;
  std::vector<std::uint64_t> cells, firsts;
  for (const auto& margin : margins.all()) {
    kept.push_back(margin.kept);
    cells.push_back(margin.cells);
    firsts.push_back(margin.first);
  }
  CHECK(kept == std::vector<std::vector<std::size_t>>{{0, 1, 2}, {0, 1}, {0, 2}, {1, 2}, {0}, {1}, {2}, {}});
  CHECK(cells == std::vector<std::uint64_t>{24, 6, 8, 12, 2, 3, 4, 1});
  CHECK(firsts == std::vector<std::uint64_t>{0, 24, 30, 38, 50, 52, 55, 59});
  CHECK(margins.cells() == 60);
  CHECK(margins.summed_in(margins.all()[2]) == 3);
  // Cell (1, 2, 3) is the last of each.
  for (const auto& margin : margins.all())
    CHECK(margins.within(margins.table(), margin, 23) == margin.cells - 1);
  // Cell (1, 0, 2) of the table is (1, 2) by the outer columns, and that is 2 by the last.
  CHECK(margins.within(margins.table(), margins.all()[2], 14) == 6);
  CHECK(margins.within(margins.all()[2], margins.all()[6], 6) == 2);
  CHECK(TableMargins({5}).all().size() == 2);
}

TEST_CASE("fit: a table is the least squares of cells and totals, as the normal equations have it",
          "[accounting][totals][exact]") {
  Numbers numbers{std::mt19937_64(20241125)};
  const std::vector<std::vector<std::uint64_t>> shapes = {{1},    {4},       {1, 1},    {2, 2},    {3, 2},
                                                          {1, 5}, {2, 2, 2}, {3, 1, 2}, {2, 3, 2}, {1, 1, 1}};
  for (const auto& shape : shapes) {
    const TableMargins margins(shape);
    for (int i = 0; i < 20; ++i) {
      std::vector<Rational> scales;
      Drawn drawn;
      for (const auto& margin : margins.all()) {
        scales.push_back(numbers.number(1, 40));
        std::vector<Rational>& cells = drawn.emplace_back();
        for (std::uint64_t cell = 0; cell < margin.cells; ++cell) cells.push_back(numbers.number(-300, 300));
      }
      const std::vector<Rational> cells = by_normal_equations(margins, scales, drawn);
      const std::vector<Rational> expected = joined(margins_of(margins, cells));
      REQUIRE(fitted_table(margins, scales, drawn) == expected);
    }
  }
}

TEST_CASE("fit: what adds up already stays, and of one cell the total counts by the inverse of its variance",
          "[accounting][totals][exact]") {
  const TableMargins margins({2, 3});
  const Drawn exact = margins_of(margins, {1, 0, Rational(7, 2), -4, 5, 1000});
  CHECK(fitted_table(margins, std::vector<Rational>{1, 2, Rational(1, 3), 9}, exact) == joined(exact));
  // (10/1 + 16/4) / (1/1 + 1/4).
  CHECK(fitted_table(TableMargins({1}), std::vector<Rational>{1, 2}, {{10}, {16}}) ==
        std::vector<Rational>{Rational(56, 5), Rational(56, 5)});
  // The total of two is 3 too much, and all three vary alike: a third of it goes to each.
  CHECK(fitted_table(TableMargins({2}), std::vector<Rational>{1, 1}, {{4, 2}, {9}}) ==
        std::vector<Rational>{5, 3, 8});
}

TEST_CASE("fit: what has not the values or scales of a table is refused", "[accounting][totals][negative]") {
  const TableMargins margins({2});
  const std::vector<Rational> one{1, 1};
  CHECK_THROWS_AS(fitted_table(margins, std::vector<Rational>{1}, {{1, 2}, {3}}), InvalidParameter);
  CHECK_THROWS_AS(fitted_table(margins, std::vector<Rational>{1, 0}, {{1, 2}, {3}}), InvalidParameter);
  CHECK_THROWS_AS(fitted_table(margins, std::vector<Rational>{-1, 1}, {{1, 2}, {3}}), InvalidParameter);
  CHECK_THROWS_AS(fitted_table(margins, one, {{1, 2}}), InvalidParameter);
  CHECK_THROWS_AS(fitted_table(margins, one, {{1, 2, 3}, {3}}), InvalidParameter);
  CHECK_THROWS_AS(fitted_table(margins, one, {{1, 2}, {}}), InvalidParameter);
}
