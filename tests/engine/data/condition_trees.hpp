// Conditions as trees of what was typed, what they say of each row of a small domain by a truth table of
// three values, and random ones.
//
// A comparison with a missing cell is neither true nor false, `not` leaves that as it is, `and` and `or` are
// as Kleene has them, and a row is kept if the whole is true. The engine moves `not` inward, numbers cells
// and jumps between tests; nothing of that is here.
#pragma once

#include "epsilog/engine/date.hpp"
#include "rows_memory.hpp"
#include "support/catch.hpp"

namespace epsilog::test {

/// What a cell is compared by: a number, or a text's place among the texts; nothing if it is missing.
using Reading = std::optional<int>;

struct ToyColumn {
  std::string name;
  std::vector<std::pair<std::string, Reading>> cells;  ///< as the source writes them
  std::vector<std::pair<std::string, int>> constants;  ///< as a condition writes them
  bool ordered;
};

inline int day(const std::string& text) {
  std::int64_t days = 0;
  REQUIRE(engine::parse_date(text, days));
  return static_cast<int>(days);
}

/// `a` has no stand-in, `m` has 1; `x` is no number; NA is listed under null.
inline const std::vector<ToyColumn>& toy_columns() {
  static const std::vector<ToyColumn> columns = {
      {"a",
       {{"", {}}, {"x", {}}, {"-1", -1}, {"0", 0}, {"1", 1}, {"2", 2}, {"3", 3}},
       {{"0", 0}, {"1", 1}, {"2", 2}},
       true},
      {"m",
       {{"", 1}, {"-1", -1}, {"0", 0}, {"01", 1}, {"2", 2}, {"3", 3}},
       {{"0", 0}, {"1", 1}, {"2", 2}},
       true},
      {"w", {{"", {}}, {"NA", {}}, {"A", 0}, {"B", 1}, {"Z", 2}}, {{"'A'", 0}, {"'B'", 1}}, false},
      {"d",
       {{"", {}},
        {"2024-01-30", day("2024-01-30")},
        {"2024-01-31", day("2024-01-31")},
        {"2024-02-01", day("2024-02-01")},
        {"2024-02-15", day("2024-02-15")},
        {"2024-03-01", day("2024-03-01")},
        {"2024-04-02", day("2024-04-02")}},
       {{"2024-01-31", day("2024-01-31")},
        {"2024-02-01", day("2024-02-01")},
        {"2024-03-01", day("2024-03-01")}},
       true}};
  return columns;
}

/// As it was typed.
struct Tree {
  enum class Kind { leaf, negation, all, any };
  Kind kind = Kind::leaf;
  std::vector<Tree> parts;
  std::size_t column = 0;
  std::string op;
  std::vector<int> constants;
  std::string text;
};

using Reader = std::function<Reading(std::size_t column)>;

/// True, false or neither.
inline std::optional<bool> truth(const Tree& tree, const Reader& read) {
  if (tree.kind == Tree::Kind::negation) {
    const auto inner = truth(tree.parts[0], read);
    return inner ? std::optional(!*inner) : std::nullopt;
  }
  if (tree.kind != Tree::Kind::leaf) {
    const bool decides = tree.kind == Tree::Kind::any;  // one such part is enough
    bool unknown = false;
    for (const Tree& part : tree.parts) {
      const auto inner = truth(part, read);
      if (inner && *inner == decides) return decides;
      unknown = unknown || !inner;
    }
    return unknown ? std::nullopt : std::optional(!decides);
  }
  const Reading cell = read(tree.column);
  if (tree.op == "is missing") return !cell.has_value();
  if (tree.op == "is not missing") return cell.has_value();
  if (!cell) return std::nullopt;
  const auto& c = tree.constants;
  const bool listed = std::find(c.begin(), c.end(), *cell) != c.end();
  if (tree.op == "=" || tree.op == "in") return listed;
  if (tree.op == "!=" || tree.op == "not in") return !listed;
  if (tree.op == "<") return *cell < c[0];
  if (tree.op == "<=") return *cell <= c[0];
  if (tree.op == ">") return *cell > c[0];
  if (tree.op == ">=") return *cell >= c[0];
  const bool within = c[0] <= *cell && *cell <= c[1];
  return tree.op == "between" ? within : !within;
}

class Typist {
 public:
  explicit Typist(unsigned seed) : random_(seed) {}

  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }

  Tree leaf() {
    Tree tree;
    tree.column = below(static_cast<unsigned>(toy_columns().size()));
    const ToyColumn& column = toy_columns()[tree.column];
    static const std::vector<std::string> kForms = {"is missing", "is not missing", "=", "!=", "in", "not in",
                                                    "between",    "not between",    "<", "<=", ">",  ">="};
    tree.op = kForms[below(column.ordered ? 12 : 6)];
    tree.text = column.name + " " + tree.op;
    const auto constant = [&] {
      const auto& [text, value] = column.constants[below(static_cast<unsigned>(column.constants.size()))];
      tree.constants.push_back(value);
      return text;
    };
    if (tree.op == "in" || tree.op == "not in") {
      tree.text += " (" + constant();
      for (unsigned more = below(3); more > 0; --more) tree.text += ", " + constant();
      tree.text += ")";
    } else if (tree.op == "between" || tree.op == "not between") {
      tree.text += " " + constant();
      tree.text += " and " + constant();
    } else if (!tree.op.starts_with("is")) {
      tree.text += " " + constant();
    }
    return tree;
  }

  /// Parentheses wherever they may stand, and nowhere else where the order of binding says it.
  Tree tree(unsigned depth) {
    if (depth == 0 || below(4) == 0) return leaf();
    Tree result;
    if (below(4) == 0) {
      result.kind = Tree::Kind::negation;
      result.parts.push_back(tree(depth - 1));
      const Tree& inner = result.parts[0];
      const bool enclosed = inner.kind == Tree::Kind::all || inner.kind == Tree::Kind::any || below(2) == 0;
      result.text = enclosed ? "not (" + inner.text + ")" : "not " + inner.text;
      return result;
    }
    result.kind = below(2) == 0 ? Tree::Kind::all : Tree::Kind::any;
    for (unsigned parts = 2 + below(2); parts > 0; --parts) {
      result.parts.push_back(tree(depth - 1));
      const Tree& inner = result.parts.back();
      const bool enclosed =
          (result.kind == Tree::Kind::all && inner.kind == Tree::Kind::any) || below(4) == 0;
      if (!result.text.empty()) result.text += result.kind == Tree::Kind::all ? " and " : " or ";
      result.text += enclosed ? "(" + inner.text + ")" : inner.text;
    }
    return result;
  }

  /// An `or` of `and`s of comparisons.
  Tree flat() {
    Tree result;
    result.kind = Tree::Kind::any;
    for (unsigned parts = 1 + below(3); parts > 0; --parts) {
      Tree all;
      all.kind = Tree::Kind::all;
      for (unsigned leaves = 1 + below(5); leaves > 0; --leaves) {
        Tree one = leaf();
        if (one.op == "not between") one = leaf();  // an `or` it would be
        if (one.op == "not between") continue;
        all.text += (all.text.empty() ? "" : " and ") + one.text;
        all.parts.push_back(std::move(one));
      }
      if (all.parts.empty()) continue;
      result.text += (result.text.empty() ? "" : " or ") + all.text;
      result.parts.push_back(std::move(all));
    }
    return result.parts.empty() ? flat() : result;
  }

 private:
  std::mt19937 random_;
};

inline engine::Dataset toy_dataset() {
  engine::Dataset dataset;
  dataset.name = "toy";
  dataset.csv.emplace();
  dataset.csv->path = "toy.csv";
  dataset.csv->null = {"NA"};
  dataset.rows = {100'000, false};
  engine::Column m = number_column("m", engine::ColumnType::integer, 0, 2);
  m.missing = 1;
  m.values = {"2", "1"};
  dataset.columns = {number_column("a", engine::ColumnType::integer, 0, 2), m,
                     value_column("w", engine::ColumnType::string, {}),
                     value_column("d", engine::ColumnType::date, {})};
  return dataset;
}

struct ToyRow {
  std::vector<std::size_t> at;  ///< which of its column's cells each is

  [[nodiscard]] const std::string& text(std::size_t column) const {
    return toy_columns()[column].cells[at[column]].first;
  }
  [[nodiscard]] Reading reading(std::size_t column) const {
    return toy_columns()[column].cells[at[column]].second;
  }
};

inline const std::vector<ToyRow>& toy_rows() {
  static const std::vector<ToyRow> rows = [] {
    std::vector<ToyRow> result{{}};
    for (const ToyColumn& column : toy_columns()) {
      std::vector<ToyRow> longer;
      for (const ToyRow& row : result) {
        for (std::size_t i = 0; i < column.cells.size(); ++i) {
          longer.push_back(row);
          longer.back().at.push_back(i);
        }
      }
      result = std::move(longer);
    }
    return result;
  }();
  return rows;
}

inline bool is_kept(const Tree& tree, const ToyRow& row) {
  return truth(tree, [&](std::size_t column) { return row.reading(column); }) == std::optional(true);
}

inline std::vector<std::string> names_of_columns() {
  std::vector<std::string> names;
  for (const ToyColumn& column : toy_columns()) names.push_back(column.name);
  return names;
}

/// As the source hands it over.
inline std::vector<engine::RawCell> cells_of(const ToyRow& row) {
  std::vector<engine::RawCell> cells;
  for (std::size_t i = 0; i < row.at.size(); ++i) {
    const std::string& text = row.text(i);
    cells.push_back({text, text.empty() || text == "NA"});
  }
  return cells;
}

}  // namespace epsilog::test
