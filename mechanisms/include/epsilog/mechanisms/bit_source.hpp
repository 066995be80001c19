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

/// The operating system's generator through libsodium. Thread-safe; safe after fork. Once
/// initialised, libsodium ends the process rather than return bytes that are not random.
class SystemBits final : public BitSource {
 public:
  /// Throws  EntropyUnavailable if libsodium cannot be initialised.
  SystemBits();
  void fill(std::span<std::byte> bytes) override;
};

}  // namespace epsilog::mechanisms
