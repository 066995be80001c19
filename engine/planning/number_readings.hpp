// Numbers of a policy that are other numbers in the file that it describes. Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/policy.hpp"

namespace epsilog::engine {

/// Finds numbers beside a column or its release, such as 5.000, whose point parts thousands in the column's
/// file and digits in the policy: each is a fault that asks which is meant, and says how to write either.
/// Requires  `policy` is what `yaml` says.
[[nodiscard]] std::vector<PolicyFault> number_reading_faults(const Policy& policy, std::string_view yaml,
                                                             const std::string& file);

/// Finds such numbers where the file parts no thousands, of a column of whole numbers or of a file with a
/// decimal comma: they mean what they say, and may be meant otherwise.
[[nodiscard]] std::vector<PolicyFault> number_reading_warnings(const Policy& policy, std::string_view yaml,
                                                               const std::string& file);

}  // namespace epsilog::engine
