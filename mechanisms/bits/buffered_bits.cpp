#include <sodium.h>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/mechanisms/bit_source.hpp"
#include "key_stream.hpp"
#include "system_entropy.hpp"

namespace epsilog::mechanisms {

BufferedBits::BufferedBits() {
  SystemBits();  // libsodium would end the process where there is no randomness
  if (sodium_init() < 0) throw EntropyUnavailable("libsodium could not be initialised");
}

void BufferedBits::fill(std::span<std::byte> bytes) {
  thread_local KeyStream stream;
  if (stream.ready()) {
    stream.fill(bytes);
  } else {
    fill_from_system(bytes);
  }
}

}  // namespace epsilog::mechanisms
