#include "row_reading.hpp"

#include "row_rules.hpp"

namespace epsilog::engine {

std::size_t RowReading::number_of(const std::string& column) {
  for (std::size_t i = 0; i < read_.size(); ++i) {
    if (read_[i].name == column) return i;
  }
  const Column& declared = *dataset_.column(column);
  read_.push_back({column, column_index(columns_, dataset_.read_from(column)),
                   ColumnReader::of(dataset_, declared), DeclaredValues(declared)});
  return read_.size() - 1;
}

}  // namespace epsilog::engine
