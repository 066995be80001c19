// A policy that somebody wrote and that no ledger has accepted yet.
//
// Thread-safety: pure functions; the second one reads a file.
#pragma once

#include <string>
#include <string_view>

#include "epsilog/engine/policy.hpp"

namespace epsilog::engine {

/// Policy::parse_stored(), and beyond it that no column is named like a later word of conditions
/// (is_later_condition_word()), that no number is written as the file writes another one
/// (`bounds: [0, 5.000]` beside `thousands: '.'`), and that whatever the policy declares can be released: each statistic whose
/// precision, bound or grid is declared is calibrated at the largest epsilon that may be asked, and the delta
/// of an approximate budget, because the smallest noise is what a bound is most easily too large for.
///
/// Requires  `file` is the name to show in faults.
/// Throws    PolicyError with every fault found, ordered by line and column; those of names are sought where
///           parse_stored() finds none, those of numbers where names have none, and those of calibration, one for each entry under `release`, only
///           where there is no other.
[[nodiscard]] Policy checked_policy(std::string_view yaml, const std::string& file);

/// Reads the file (at most 256 KiB) and checks it.
/// Throws    PolicyError; an unreadable file is a fault at 1:1.
[[nodiscard]] Policy checked_policy_file(const std::string& path);

}  // namespace epsilog::engine
