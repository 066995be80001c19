// The target of a request: a path and parameters, decoded once.
//
// Source: RFC 9112, 3.2.1 (origin-form), RFC 3986, 2 and 3.3. Refused beyond what they refuse: whatever two
// readers could take for different paths. So nothing is normalised; a path that is not in normal form is no
// path.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "malformed.hpp"

namespace epsilog::serve {

struct RequestTarget {
  std::string path;
  std::vector<std::pair<std::string, std::string>> query;
};

/// Reads `text` into `target`; on a fault says which, and `target` holds anything.
/// Refused (400): another form than origin-form; a character that RFC 3986 has not there; a '%' without two
/// hexadecimal digits; an encoded '/', control character or byte sequence that is not UTF-8; a segment that
/// is ".", ".." or, but for the last, empty; a query that is not NAME=VALUE joined by '&', a name that is
/// empty or comes twice, a '+' in it (a blank to some, a plus to others), or more than `parameters_max`
/// parameters. Thread-safety: pure function.
[[nodiscard]] std::optional<MalformedRequest> read_target(std::string_view text, std::size_t parameters_max,
                                                          RequestTarget& target);

}  // namespace epsilog::serve
