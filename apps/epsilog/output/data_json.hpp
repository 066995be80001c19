// What is odd in the data, as JSON.
#pragma once

#include <string>
#include <vector>

#include "epsilog/engine/engine.hpp"

namespace epsilog::command {

struct DatasetReport {
  std::string dataset;
  std::string source;
  engine::DataReport data;
};
/// `without_source`: datasets whose values come from outside.
[[nodiscard]] std::string data_check_json(const std::vector<DatasetReport>& reports,
                                          const std::vector<std::string>& without_source);

}  // namespace epsilog::command
