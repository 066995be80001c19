// Cells of any declared column, as its type says: those of a derived column are labels, read from the cells
// of the column that it is a function of.
//
// A cell whose value has no label is missing, and so is a cell that is missing and has no constant that
// stands in for it. The constant has the label that its value has. Thread-safety: immutable values.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "column_cell.hpp"
#include "epsilog/engine/policy.hpp"

namespace epsilog::engine {

/// Which label a cell of the column `from` has.
class CellLabels final {
 public:
  /// Requires  column.derived; `source` is the column that it names.
  CellLabels(const Column& column, const Column& source);

  /// The place of its label among the values of the derived column; nothing: it has none.
  [[nodiscard]] std::optional<std::size_t> find(const Cell& cell) const;
  [[nodiscard]] const std::vector<std::string>& labels() const noexcept { return labels_; }
  /// By place: whether some cell has the label. A bin between two neighbouring numbers has none.
  [[nodiscard]] std::vector<bool> reachable_labels() const;
  /// Whether some cell has no label.
  [[nodiscard]] bool has_unlabelled_cell() const;

 private:
  struct Mapped {
    DeclaredValues values;
    std::vector<std::size_t> label_indices;  ///< of their labels, in the order of the values
    std::optional<std::size_t> other;
  };
  using FixedEdges =
      std::vector<Int128>;  ///< of each label the first cell, then the first one behind the last
  using RealEdges = std::vector<double>;

  [[nodiscard]] std::optional<std::size_t> label_of_value(const Cell& cell) const;
  [[nodiscard]] std::optional<std::size_t> label_of_constant(const Rational& value,
                                                             const LabelRule& rule) const;

  ColumnType type_;  ///< of the source
  std::vector<std::string> labels_;
  std::variant<FixedEdges, RealEdges, Mapped> rule_;
  std::optional<std::size_t> stand_in_;  ///< of a missing cell
};

class ColumnReader final {
 public:
  /// Reads cells of dataset.read_from(column), which are written in `dialect`.
  ColumnReader(const Dataset& dataset, const Column& column, const CellDialect& dialect);
  /// The same in the dialect of the dataset's source.
  [[nodiscard]] static ColumnReader of(const Dataset& dataset, const Column& column);

  [[nodiscard]] Cell read(const RawCell& raw) const {
    Cell cell;
    read(raw, cell);
    return cell;
  }
  /// In its place: `cell` was never written, or by this.
  void read(const RawCell& raw, Cell& cell) const {
    if (labels_) return read_label(raw, cell);
    reader_.read(raw, cell);
  }
  /// Before it is given its label.
  [[nodiscard]] Cell read_source(const RawCell& raw) const { return reader_.read(raw); }

 private:
  void read_label(const RawCell& raw, Cell& cell) const;

  CellReader reader_;
  std::shared_ptr<const CellLabels> labels_;  ///< shared by copies, because cells point into them
};

}  // namespace epsilog::engine
