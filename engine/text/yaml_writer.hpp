// Writing what the strict reader (yaml_tree.hpp) reads back as the same text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace epsilog::engine::yaml {

/// A scalar on one line: plain where no YAML reader, of version 1.1 or 1.2, takes it for anything but this
/// text; in double quotes otherwise. Numbers, true and false are quoted too: what is not a text is written
/// by `number` or as it stands.
/// Requires  valid UTF-8.
[[nodiscard]] std::string scalar(std::string_view text);

/// "[a, b]", each by scalar().
[[nodiscard]] std::string sequence(const std::vector<std::string>& texts);

/// `text` cut into lines of at most `width` columns, each with `margin` and "# " in front.
/// Requires  `text` is one line of valid UTF-8; characters that do not show are replaced by '?'.
[[nodiscard]] std::string comment(std::string_view text, std::string_view margin, std::size_t width = 100);

}  // namespace epsilog::engine::yaml
