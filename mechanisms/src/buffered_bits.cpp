#include <sodium.h>

#include "epsilog/mechanisms/bit_source.hpp"
#include "key_stream.hpp"

namespace epsilog::mechanisms {

BufferedBits::BufferedBits() {
  // Also seeds libsodium's own generator, which a thread's first refill asks.
  static_cast<void>(SystemBits());
}

void BufferedBits::fill(std::span<std::byte> bytes) {
  thread_local KeyStream stream;
  if (stream.ready()) {
    stream.fill(bytes);
  } else {
    randombytes_buf(bytes.data(), bytes.size());
  }
}

}  // namespace epsilog::mechanisms
