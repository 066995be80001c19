// Whether the first line of a CSV file names its columns, or is a record like those below it.
//
// A record taken for names would be published with the policy. So a first line that looks like a record, or
// like no line of the table at all, is refused; nothing here quotes a word of it. Thread-safety: pure
// functions.
#pragma once

#include <optional>
#include <string>

#include "csv_profile.hpp"

namespace epsilog::engine {

/// Says why the lines below the first one are not cut as it is, whatever their cells say.
[[nodiscard]] std::optional<std::string> why_other_shape(const CsvProfile& glance);

/// Says why the first line does not look like names, in words that quote nothing of the file; nothing where
/// it does, or where it cannot be told.
[[nodiscard]] std::optional<std::string> why_no_names(const CsvProfile& glance);

/// Whether some column tells names from cells: its cells read as numbers, dates, or true and false, and its
/// name does not.
/// Requires  !why_no_names(glance).
[[nodiscard]] bool distinguishes_names(const CsvProfile& glance);

}  // namespace epsilog::engine
