// Why lines of a CSV file have other fields than its first line: the cause and what to do, in words that
// quote nothing of the file. Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "csv_cut.hpp"

namespace epsilog::engine {

/// Says how the lines below the first one differ from it.
/// Requires  most of them do.
[[nodiscard]] std::string why_misfit(const CsvCut& cut);

/// Whether nearly all lines fall into the words of the first line, and most of these words are numbers or
/// dates: then blanks part what are columns.
[[nodiscard]] bool is_blank_separated(const BlankCut& cut);
/// Whether nearly all lines fall into as many words as the first line, whatever these are.
[[nodiscard]] bool may_be_blank_separated(const BlankCut& cut);
inline constexpr std::string_view kBlanksPart =
    "its fields are parted by blanks, which are no delimiter: save it with a comma, semicolon or tab between "
    "them";

}  // namespace epsilog::engine
