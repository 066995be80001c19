#include "epsilog/engine/exact_answer.hpp"

#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/floating_point.hpp"
#include "row_answer.hpp"

namespace epsilog::engine {

ExactAnswer compute_exact_answer(const Dataset& dataset, const Question& question,
                                 const Derivation& derivation, const std::string& base_dir,
                                 const Progress& progress) {
  if (question.statistic.kind == StatisticKind::value) {
    throw InvalidParameter("value:" + question.statistic.subject +
                           " is computed elsewhere, not from a source");
  }
  if (!dataset.has_source()) throw InvalidParameter("dataset '" + dataset.name + "' declares no source");
  const accounting::DefaultFloatingPoint floating_point;  // cells are doubles, here and inside SQLite
  const auto rows = open_source(dataset, wanted_columns(dataset, question), base_dir);
  return answer_rows(*rows, dataset, question, derivation, progress);
}

DataReport check_data(const Dataset& dataset, const std::string& base_dir, const Progress& progress) {
  if (!dataset.has_source()) throw InvalidParameter("dataset '" + dataset.name + "' declares no source");
  const accounting::DefaultFloatingPoint floating_point;
  const auto rows = open_source(dataset, required_columns(dataset), base_dir);
  return report_rows(*rows, dataset, progress);
}

}  // namespace epsilog::engine
