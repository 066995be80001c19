// A CSV file as a row source.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "epsilog/engine/policy.hpp"
#include "row_source.hpp"

namespace epsilog::engine {

/// Opens the file and reads its header, whose names `required` and `wanted` are.
///
/// Requires  every wanted column is among the required ones.
/// Throws    SourceError naming the file: absent, unreadable, not a regular file, without a readable
///           header, a file of an open ledger, a required column absent or twice in it. Nothing after the
///           header is a reason. SourceIo.
[[nodiscard]] std::unique_ptr<RowSource> open_csv_source(const std::string& path, const CsvSource& dialect,
                                                         const std::vector<std::string>& required,
                                                         const std::vector<std::string>& wanted);

}  // namespace epsilog::engine
