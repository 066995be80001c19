// How an account went down, as a picture: for a page, and for a terminal. Every coordinate is an integer
// computed from grid units and milliseconds; no figure becomes a double.
#pragma once

#include <string>

#include "console.hpp"
#include "epsilog/engine/burn_down.hpp"

namespace epsilog::command {

/// An inline SVG of what remained, what of the rest was reserved, and the limit, with a title in words.
[[nodiscard]] std::string burn_down_svg(const engine::BurnDown& budget, const engine::BurnSpan& span);

/// What remained at the end of each of `width` equal parts of the span, of the largest limit there was, in
/// eighths rounded up (without UTF-8: in ninths, as digits); `-` where there was no limit.
[[nodiscard]] std::string burn_down_line(const engine::BurnDown& budget, const engine::BurnSpan& span,
                                         unsigned width, const Style& style);

}  // namespace epsilog::command
