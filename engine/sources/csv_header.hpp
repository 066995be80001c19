// Why the first line of a CSV file has not the names that a policy declares.
//
// Any verb may say it: a first line is public, as the names are. Nothing of it is quoted all the same, since
// it may be a person's record. Thread-safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace epsilog::engine {

/// Says which line of another program stands where the names of columns should; nothing where none does.
/// `first`: the first field, or the first line.
[[nodiscard]] std::optional<std::string> why_above_a_table(std::string_view first);

/// The words of a line that runs of blanks part, a quoted text being one; empty where a tab or a quote stands
/// elsewhere.
[[nodiscard]] std::vector<std::string> blank_separated_words(std::string_view line);

/// Whether blanks stand between a quote and a delimiter, or an end of the line: "a", "b".
[[nodiscard]] bool has_blanks_beside_quotes(std::string_view line, char delimiter);
inline constexpr std::string_view kBlanksBesideQuotes =
    "blanks stand between its delimiters and its quotes: write it without these blanks";
/// Whether a line has nothing but blanks, delimiters and quotes.
[[nodiscard]] bool is_blank_line(std::string_view line);
inline constexpr std::string_view kFirstLineIsEmpty = "its first line is empty";

/// Says why a column is not there, where the first line shows it. `columns`: all that have to be there;
/// `beginning`: the first bytes of the file.
[[nodiscard]] std::optional<std::string> why_absent(const std::string& column,
                                                    const std::vector<std::string>& columns,
                                                    std::string_view beginning, char delimiter);

}  // namespace epsilog::engine
