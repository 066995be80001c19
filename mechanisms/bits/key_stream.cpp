#include "key_stream.hpp"

#include <sodium.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "system_entropy.hpp"

namespace epsilog::mechanisms {
namespace {

constexpr std::size_t kPageBytes = 8192;  // two of the system's, or a part of a larger one
/// A multiple of the 512 bytes that the vectorised ChaCha20 makes at a time: a remainder costs it far more.
constexpr std::size_t kStreamBytes = 7680;
constexpr std::size_t kHeaderBytes = 24;

}  // namespace

/// All zero when the kernel has just made it, or emptied it after a fork: then it is not seeded.
struct KeyStream::Page {
  std::uint64_t seeded;
  std::uint64_t since_seed;  ///< bytes of stream made from this seed
  std::uint64_t next;        ///< first byte of `stream` not handed out
  unsigned char key[crypto_stream_chacha20_KEYBYTES];
  unsigned char stream[kStreamBytes];
  unsigned char unused[kPageBytes - kHeaderBytes - crypto_stream_chacha20_KEYBYTES - kStreamBytes];
};

KeyStream::KeyStream() noexcept {
  static_assert(sizeof(Page) == kPageBytes);
#ifdef MADV_WIPEONFORK
  void* memory = mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  if (madvise(memory, kPageBytes, MADV_WIPEONFORK) != 0) {
    munmap(memory, kPageBytes);
    return;
  }
  // Both are precautions: a system that refuses them still draws well.
  static_cast<void>(madvise(memory, kPageBytes, MADV_DONTDUMP));
  static_cast<void>(mlock(memory, kPageBytes));
  page_ = ::new (memory) Page{};
#endif
}

KeyStream::~KeyStream() {
  if (page_ == nullptr) return;
  sodium_memzero(page_, kPageBytes);
  munmap(page_, kPageBytes);
}

std::span<const std::byte> KeyStream::page() const noexcept {
  return std::as_bytes(std::span(page_, 1));
}

void KeyStream::seed() {
  page_->seeded = 0;  // and stays so when there is no randomness now: the next fill asks again
  fill_from_system(std::as_writable_bytes(std::span(page_->key)));
  page_->since_seed = 0;
  page_->next = sizeof page_->stream;
  page_->seeded = 1;
}

void KeyStream::refill() {
  if (page_->since_seed >= kReseedBytes) seed();
  constexpr unsigned char kNonce[crypto_stream_chacha20_NONCEBYTES] = {};
  // The key is used for this one stream, whose first bytes become the next key.
  crypto_stream_chacha20(page_->stream, sizeof page_->stream, kNonce, page_->key);
  std::memcpy(page_->key, page_->stream, sizeof page_->key);
  sodium_memzero(page_->stream, sizeof page_->key);
  page_->next = sizeof page_->key;
  page_->since_seed += sizeof page_->stream;
}

void KeyStream::fill(std::span<std::byte> bytes) {
  if (page_->seeded == 0) seed();
  while (!bytes.empty()) {
    if (page_->next == sizeof page_->stream) refill();
    const std::size_t now = std::min<std::size_t>(bytes.size(), sizeof page_->stream - page_->next);
    unsigned char* from = page_->stream + page_->next;
    std::memcpy(bytes.data(), from, now);
    sodium_memzero(from, now);
    page_->next += now;
    bytes = bytes.subspan(now);
  }
}

}  // namespace epsilog::mechanisms
