// How a response is written. Nothing that is written can end a header, a head or a message early: every byte
// of a header is checked, and a length always stands before a body.
//
// There is no Date, although RFC 9110, 6.6.1, wants one of who has a clock: nothing here may be cached,
// answers carry the time of their decision, which is the ledger's, and no other time is shown beside it.
#pragma once

#include <string>
#include <string_view>

#include "message.hpp"

namespace epsilog::serve {

/// Sent before a body that the client waits to be asked for (RFC 9110, 10.1.1).
inline constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

/// The status line and the headers: Content-Length, Content-Type where there is a body, Cache-Control:
/// no-store, X-Content-Type-Options: nosniff, Connection: close where `response.close`, and those of the
/// response.
/// Requires       of the response's headers: names that are tokens in lower case, none twice and none of the
///                above nor Transfer-Encoding, Trailer, Upgrade or Keep-Alive; values of printable ASCII and
///                blanks.
/// Throws         InvalidParameter if that is not so, if the status is not 200–599, or if there is a body
///                without a type or under 204 or 304, which have none.
/// Thread-safety  pure function.
[[nodiscard]] std::string response_head(const Response& response);

/// Whether the body is sent after the head: not to HEAD (RFC 9110, 9.3.2), whose answer has the length alone.
[[nodiscard]] bool sends_body(const Response& response, std::string_view method);

}  // namespace epsilog::serve
