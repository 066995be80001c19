#include "epsilog/engine/exact_answer.hpp"

#include <new>
#include <stdexcept>
#include <utility>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/floating_point.hpp"
#include "epsilog/engine/source_io.hpp"
#include "open_source.hpp"
#include "row_answer.hpp"

namespace epsilog::engine {
namespace {

/// How much memory a source takes depends on its cells, so that too little is told like any other failure
/// to read it.
template <class Work>
auto reading(const Work& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    throw SourceIo(SourceIo::Cause::unreadable);
  } catch (const std::length_error&) {
    throw SourceIo(SourceIo::Cause::unreadable);
  }
}

}  // namespace

ExactAnswer compute_exact_answer(const Dataset& dataset, const Question& question,
                                 const Derivation& derivation, const std::string& base_dir,
                                 const Progress& progress) {
  const DerivedQuestion one{question, derivation};
  return std::move(compute_exact_answers(dataset, {&one, 1}, base_dir, progress).front());
}

std::vector<ExactAnswer> compute_exact_answers(const Dataset& dataset,
                                               std::span<const DerivedQuestion> questions,
                                               const std::string& base_dir, const Progress& progress) {
  for (const DerivedQuestion& asked : questions) {
    if (asked.question.statistic.kind != StatisticKind::value) continue;
    throw InvalidParameter("value:" + asked.question.statistic.subject +
                           " is computed elsewhere, not from a source");
  }
  if (!dataset.has_source()) throw InvalidParameter("dataset '" + dataset.name + "' declares no source");
  const accounting::DefaultFloatingPoint floating_point;  // cells are doubles, here and inside SQLite
  return reading([&] {
    const auto rows = open_source(dataset, wanted_columns(dataset, questions), base_dir);
    return answer_rows(*rows, dataset, questions, progress);
  });
}

DataReport check_data(const Dataset& dataset, const std::string& base_dir, const Progress& progress) {
  if (!dataset.has_source()) throw InvalidParameter("dataset '" + dataset.name + "' declares no source");
  const accounting::DefaultFloatingPoint floating_point;
  return reading([&] {
    const auto rows = open_source(dataset, required_columns(dataset), base_dir);
    return report_rows(*rows, dataset, progress);
  });
}

}  // namespace epsilog::engine
