// Where random bytes come from. Random bytes are never stored: with the released value they would
// give the true answer away.
#pragma once

#include <cstddef>
#include <span>

namespace epsilog::mechanisms {

class BitSource {
 public:
  virtual ~BitSource() = default;
  /// Ensures   every byte of `bytes` is independent and uniform.
  /// Throws    EntropyUnavailable; nothing of `bytes` may then be used.
  virtual void fill(std::span<std::byte> bytes) = 0;
};

/// The operating system's generator, asked for every byte (getentropy). Thread-safe; safe after fork.
class SystemBits final : public BitSource {
 public:
  /// Throws  EntropyUnavailable, as fill(), if there is none now.
  SystemBits();
  void fill(std::span<std::byte> bytes) override;
};

/// The same generator's bytes, stretched and kept ready: one call to the operating system serves many
/// draws. Each thread holds a page with a ChaCha20 key and some of its key stream; refilling replaces
/// the key by part of its own stream, so that what was handed out cannot be recomputed from memory
/// (Bernstein, "Fast-key-erasure random-number generators", 2017), and every mebibyte the key comes
/// from the operating system again. Bytes handed out are overwritten in the page at once.
///
/// Thread-safe. Safe after fork, vfork and clone: the kernel empties the page in a child
/// (MADV_WIPEONFORK), and an empty page is seeded anew; where it cannot promise that, nothing is kept
/// and every call goes to the operating system. The page is left out of core dumps and, as far as the
/// system permits, of swap.
class BufferedBits final : public BitSource {
 public:
  /// Throws  EntropyUnavailable if there is none now, or libsodium cannot be initialised.
  BufferedBits();
  void fill(std::span<std::byte> bytes) override;
};

}  // namespace epsilog::mechanisms
