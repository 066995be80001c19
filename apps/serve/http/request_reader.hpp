// Reads requests of HTTP/1.1 from bytes as they come. Nothing is ambiguous: what is taken is taken in one way
// only, and everything that some other reader could take otherwise is refused, although RFC 9112 would allow
// to mend it.
//
// A head is lines of printable ASCII and blanks, each ended by CR LF, the last one empty:
//
//   METHOD blank TARGET blank HTTP/1.1        a token of at most 16 bytes; request_target.hpp
//   NAME: VALUE                               a token; what is left without the blanks around it
//
// Refused (docs/daemon.md, "What a request must look like"): an empty line before it; any other byte, so bare
// CR or LF, NUL, tabs, anything above 126; lines that begin with a blank (folded headers), have one before
// ':' or no ':'; any name twice, in whatever case; and what request_target.hpp and apply_headers() refuse.
// A body is as long as Content-Length says, and the next head follows it.
//
// Sources: RFC 9112, 2.2, 3, 5, 6; RFC 9110, 5, 15.5.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "malformed.hpp"
#include "message.hpp"

namespace epsilog::serve {

struct HeadLimits {
  std::size_t head_bytes = 16384;   ///< with its last empty line; else 431
  std::size_t target_bytes = 8000;  ///< else 414
  std::size_t headers = 64;         ///< else 431
  std::size_t parameters = 32;      ///< of the query; else 400
};

/// Reads one request; the next one needs a reader of its own, which begins where this one ended. What is
/// refused is refused at the first byte that shows it, so the outcome, and how many bytes it took, do not
/// depend on how the bytes were cut into pieces.
/// Thread-safety  none of its own. Memory: at most some times `head_bytes`.
class RequestReader final {
 public:
  enum class State : std::uint8_t {
    idle,       ///< no byte of a request is there
    head,       ///< some are
    body,       ///< the head is whole; `body_left()` > 0
    complete,   ///< the request is
    malformed,  ///< for ever
  };

  explicit RequestReader(const HeadLimits& limits = {}) : limits_(limits) {}

  /// Reads until the head is whole or refused, or `bytes` are used up.
  /// Returns   how many it took: all, or up to the last byte of the head.
  /// Requires  state idle or head.
  std::size_t read_head(std::string_view bytes);

  /// Requires  state body or complete.
  [[nodiscard]] const RequestHead& head() const;
  /// Requires  state malformed.
  [[nodiscard]] const MalformedRequest& fault() const;
  [[nodiscard]] State state() const noexcept { return state_; }

  /// Bytes of the body that were not taken yet.
  [[nodiscard]] std::uint64_t body_left() const noexcept { return body_left_; }
  /// So many bytes of the body were taken; with the last one the request is complete.
  /// Requires  bytes ≤ body_left().
  void consume_body(std::uint64_t bytes);

 private:
  void take(char c);
  void take_first_line(char c);
  void end_line();
  std::optional<MalformedRequest> read_request_line();
  std::optional<MalformedRequest> read_header();
  void end_head();
  void refuse(const MalformedRequest& fault);

  HeadLimits limits_;
  State state_ = State::idle;
  RequestHead head_;
  MalformedRequest fault_;
  std::string line_;            ///< the one that is being read
  bool after_cr_ = false;       ///< whether its CR was read
  bool first_line_ = true;      ///< whether it is the request line
  std::size_t head_bytes_ = 0;  ///< that were read
  std::size_t method_bytes_ = 0;
  std::size_t target_bytes_ = 0;
  int blanks_ = 0;  ///< in the request line
  std::uint64_t body_left_ = 0;
};

}  // namespace epsilog::serve
