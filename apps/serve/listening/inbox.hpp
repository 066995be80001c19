// What a connection has received and nobody has read yet.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "descriptor.hpp"

namespace epsilog::serve {

/// Between a socket and its readers: what follows the end of one request belongs to the next.
class Inbox final {
 public:
  explicit Inbox(int socket) : socket_(socket) {}

  [[nodiscard]] std::string_view view() const { return {bytes_.data() + begin_, end_ - begin_}; }
  [[nodiscard]] bool empty() const { return begin_ == end_; }
  /// Requires  count ≤ view().size().
  void drop(std::size_t count) { begin_ += count; }

  /// As receive().
  /// Requires  empty().
  IoOutcome fill(Deadline due, const Bell& stop) {
    begin_ = end_ = 0;
    return receive(socket_, bytes_, end_, due, stop);
  }

 private:
  int socket_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::array<char, 16384> bytes_;
};

}  // namespace epsilog::serve
