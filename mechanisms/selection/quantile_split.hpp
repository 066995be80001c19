// Which selection is made when for several quantiles, and with which sensitivity.
// Proof    mechanisms/proofs/quantiles.md, section 5.
// Thread-safety: pure functions.
#pragma once

#include "epsilog/mechanisms/quantile_parameters.hpp"

namespace epsilog::mechanisms {

/// Checks the options and fills in everything that follows from them.
/// Throws  InvalidParameter naming the field.
[[nodiscard]] QuantileParameters split_quantiles(const QuantileOptions& options);

}  // namespace epsilog::mechanisms
