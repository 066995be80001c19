// What the headers of a request say about the request itself, once all of them are there.
//
// Sources: RFC 9112, 3.2 (Host), 6 (length of the body), 9.6 (Connection); RFC 9110, 10.1.1 (Expect).
#pragma once

#include <optional>

#include "malformed.hpp"
#include "message.hpp"

namespace epsilog::serve {

/// Sets `content_length` and `keep_alive` of a head whose other members are there. Refused, in this order: no
/// Host, or one that is no name or address with or without a port (400); Content-Length beside
/// Transfer-Encoding (400); Transfer-Encoding: chunked (411, RFC 9112, 6.3: a server may insist on a length),
/// or any other (501, RFC 9112, 6.1); a Content-Length that is no number of 1–18 digits without leading zeros
/// (400); an Expect that is not 100-continue (417); a Connection that is no list of tokens (400).
/// Requires       no name twice, so that a value is the only one.
/// Thread-safety  pure function.
[[nodiscard]] std::optional<MalformedRequest> apply_headers(RequestHead& head);

}  // namespace epsilog::serve
