// What holds of a request if it holds of each question that it asks.
// Thread-safety: pure functions.
#pragma once

#include <string>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/request.hpp"

namespace epsilog::engine {

/// "'count'", "a batch": what messages call it.
[[nodiscard]] inline std::string request_label(const Request& request) {
  return request.rows.empty() ? "'" + request.question.statistic.text() + "'" : "a batch";
}

/// "row 3: ", as people count.
[[nodiscard]] inline std::string row_text(std::size_t row) {
  return "row " + std::to_string(row + 1) + ": ";
}

/// `work(request)` of a request; of a batch, in order, that of each row as a request of its own, whose faults
/// say which row they are of.
template <class Work>
void each_question(const Request& request, const Work& work) {
  if (request.rows.empty()) return work(request);
  for (std::size_t row = 0; row < request.rows.size(); ++row) {
    try {
      work(request_of_row(request, row));
    } catch (const InvalidParameter& fault) {
      throw InvalidParameter(row_text(row) + fault.what());
    } catch (const NotFound& fault) {
      throw NotFound(row_text(row) + fault.what());
    } catch (const Underivable& fault) {
      throw Underivable(row_text(row) + fault.what());
    }
  }
}

}  // namespace epsilog::engine
