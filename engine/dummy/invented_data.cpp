#include "invented_data.hpp"

#include "epsilog/accounting/floating_point.hpp"
#include "invented_rows.hpp"
#include "row_answer.hpp"

namespace epsilog::engine {

InventedData::Answers InventedData::answers(const Dataset& dataset, const Question& question,
                                            const Derivation& derivation) {
  Dataset declared = dataset;
  declared.csv.reset();  // its dialect goes too: cells are written as a policy writes them
  declared.sqlite.reset();
  const accounting::DefaultFloatingPoint floating_point;  // cells are doubles
  InventedRows rows(declared, wanted_columns(declared, question));
  declared.rows.count = invented_rows(dataset);
  const ExactAnswer exact = answer_rows(rows, declared, question, derivation, {});
  Answers result;
  for (const auto& cell : exact.counts) result.counts.push_back(mechanisms::InventedCounts(cell));
  for (const std::vector<Rational>& component : exact.values) {
    std::vector<mechanisms::InventedAnswer>& cells = result.values.emplace_back();
    cells.reserve(component.size());
    for (const Rational& value : component) cells.push_back(mechanisms::InventedAnswer(value));
  }
  return result;
}

}  // namespace epsilog::engine
