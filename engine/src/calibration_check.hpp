// Finds, before anybody spends, releases that a policy declares but no mechanism can make.
#pragma once

#include <string>
#include <vector>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/policy.hpp"

namespace epsilog::engine {

/// Calibrates each statistic whose precision, bound or grid is declared, at the largest epsilon that may
/// be asked, and the delta of an approximate budget: the smallest noise is what a bound is most easily too
/// large for.
///
/// Ensures   one fault for each release entry that cannot be calibrated, at its place in `file`.
[[nodiscard]] std::vector<PolicyFault> calibration_faults(const std::vector<Dataset>& datasets,
                                                          const std::string& file);

}  // namespace epsilog::engine
