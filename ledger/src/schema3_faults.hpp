// The parts of schema3::faults().
#pragma once

#include <string>
#include <vector>

#include "connection.hpp"
#include "epsilog/ledger/inspection.hpp"

namespace epsilog::ledger::schema3 {

[[nodiscard]] std::vector<std::string> storage_faults(Connection& connection);
[[nodiscard]] std::vector<std::string> reference_faults(Connection& connection);
[[nodiscard]] std::vector<OrderFault> order_faults(Connection& connection);
[[nodiscard]] std::vector<OrderFault> completeness_faults(Connection& connection);
[[nodiscard]] std::vector<OrderFault> lifecycle_faults(Connection& connection);

}  // namespace epsilog::ledger::schema3
