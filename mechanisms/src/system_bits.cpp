#include <sodium.h>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/mechanisms/bit_source.hpp"

namespace epsilog::mechanisms {

SystemBits::SystemBits() {
  if (sodium_init() < 0) {
    throw EntropyUnavailable("the operating system gave no randomness: libsodium could not be initialised");
  }
}

void SystemBits::fill(std::span<std::byte> bytes) {
  randombytes_buf(bytes.data(), bytes.size());
}

}  // namespace epsilog::mechanisms
