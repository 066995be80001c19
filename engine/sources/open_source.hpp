// The source of a dataset, whatever it is kept in.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "epsilog/engine/policy.hpp"
#include "row_source.hpp"

namespace epsilog::engine {

/// The columns a source must have, as the policy names them: the unit id, then the declared ones that are not
/// derived.
[[nodiscard]] std::vector<std::string> required_columns(const Dataset& dataset);

/// Opens the dataset's source and checks its shape: every declared column and the unit id are there,
/// each once.
///
/// Requires  dataset.has_source(); `wanted` names declared columns or the unit id.
/// Throws    SourceError naming the file and the column; SourceIo.
[[nodiscard]] std::unique_ptr<RowSource> open_source(const Dataset& dataset,
                                                     const std::vector<std::string>& wanted,
                                                     const std::string& base_dir);

}  // namespace epsilog::engine
