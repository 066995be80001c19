// One thread's stretch of a ChaCha20 key stream, in a page that no child process inherits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace epsilog::mechanisms {

class KeyStream final {
 public:
  /// Maps the page. Without one that the kernel empties in child processes, ready() is false.
  KeyStream() noexcept;
  /// Overwrites and unmaps the page.
  ~KeyStream();
  KeyStream(const KeyStream&) = delete;
  KeyStream& operator=(const KeyStream&) = delete;

  [[nodiscard]] bool ready() const noexcept { return page_ != nullptr; }

  /// Requires  ready(), sodium_init() succeeded.
  /// Ensures   bytes that are in the page no more and that nothing in it leads back to.
  /// Throws    EntropyUnavailable when the operating system gives no key.
  void fill(std::span<std::byte> bytes);

  /// The whole page, for a test that looks for what must not be there.
  [[nodiscard]] std::span<const std::byte> page() const noexcept;

  /// Bytes handed out between two keys from the operating system.
  static constexpr std::size_t kReseedBytes = std::size_t{1} << 20;

 private:
  struct Page;

  void seed();
  void refill();

  Page* page_ = nullptr;
};

}  // namespace epsilog::mechanisms
