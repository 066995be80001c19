#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/mechanisms/bit_source.hpp"
#include "system_entropy.hpp"

namespace epsilog::mechanisms {
namespace {

/// What getentropy gives at a time, all of it or nothing.
constexpr std::size_t kOnceMax = 256;

}  // namespace

void fill_from_system(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const std::size_t now = std::min(bytes.size(), kOnceMax);
    if (getentropy(bytes.data(), now) != 0) {
      throw EntropyUnavailable("the operating system gave no randomness: " +
                               std::generic_category().message(errno));
    }
    bytes = bytes.subspan(now);
  }
}

SystemBits::SystemBits() {
  std::byte first{};  // so that a lack of randomness is found before anything is opened
  fill_from_system({&first, 1});
}

void SystemBits::fill(std::span<std::byte> bytes) {
  fill_from_system(bytes);
}

}  // namespace epsilog::mechanisms
