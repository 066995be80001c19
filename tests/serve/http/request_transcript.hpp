// What the reader of requests makes of some bytes, and what must hold of that whatever the bytes are. Shared
// by the tests and by the fuzzer, so it throws rather than uses Catch2.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "request_reader.hpp"

namespace epsilog::test {

/// One request that was read, or the last one, that was not.
struct ReadRequest {
  serve::RequestReader::State state = serve::RequestReader::State::idle;
  serve::RequestHead head;       ///< in state body or complete
  serve::MalformedRequest fault;  ///< in state malformed
  std::size_t head_bytes = 0;    ///< that the reader took for the head
  std::uint64_t body_bytes = 0;  ///< that were there of its body

  friend bool operator==(const ReadRequest&, const ReadRequest&) = default;
};

/// The requests that follow each other in `bytes`, up to the first that is not whole. The last entry is of
/// what comes after the last whole one, be it nothing. The reader sees the bytes cut after each of `cuts`,
/// which ascend.
std::vector<ReadRequest> transcript(std::string_view bytes, const std::vector<std::size_t>& cuts = {},
                                    const serve::HeadLimits& limits = {});

/// A head that is read as this one.
/// Requires  a head that was read.
std::string written(const serve::RequestHead& head);

/// Throws  std::logic_error, saying what, unless of each request that was read from `bytes`:
///         the head ends with its first empty line, every byte before is printable, a blank or one of a CR
///         LF; no header is there twice, nor a parameter; the path is in normal form; the length is that of
///         Content-Length; reading what `written` writes gives it again; and unless every cut of `bytes`
///         gives the same.
void require_unambiguous(std::string_view bytes, const std::vector<std::size_t>& cuts,
                         const serve::HeadLimits& limits = {});

}  // namespace epsilog::test
