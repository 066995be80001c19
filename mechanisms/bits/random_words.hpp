// Uniform words from a bit source, read in blocks of a fixed size: one fill serves several draws, and
// no fill's size depends on a value.
//
// Layout   A word of w bits takes ceil(w / 8) bytes, least significant first; bits beyond w are
//          dropped. So the same bytes give the same words on every machine.
// Wiped    What was read is overwritten when the reader goes, used or not.
// Thread-safety: one owner.
#pragma once

#include <sodium.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/mechanisms/bit_source.hpp"

namespace epsilog::mechanisms {

/// Bits of a word in a release. Tests shrink it until every choice of words can be enumerated.
inline constexpr unsigned kWordBits = 64;

class RandomWords final {
 public:
  /// Most bytes read at once.
  static constexpr std::size_t kBlockBytesMax = 512;

  /// Reads `block_words` words at a time, or as many as fit kBlockBytesMax.
  /// Requires  block_words >= 1, 2 <= bits <= 64, `source` outlives the reader.
  RandomWords(BitSource& source, std::size_t block_words, unsigned bits = kWordBits)
      : source_(source),
        bits_(bits),
        word_bytes_((bits + 7) / 8),
        block_bytes_(std::min(block_words, kBlockBytesMax / word_bytes_) * word_bytes_),
        next_(block_bytes_) {
    EPSILOG_INVARIANT(block_words >= 1 && bits >= 2 && bits <= kWordBits);
  }
  ~RandomWords() { sodium_memzero(block_.data(), block_bytes_); }
  RandomWords(const RandomWords&) = delete;
  RandomWords& operator=(const RandomWords&) = delete;

  [[nodiscard]] unsigned bits() const noexcept { return bits_; }

  /// A fresh word, uniform over 0 .. 2^bits() - 1.
  /// Throws  EntropyUnavailable.
  [[nodiscard]] std::uint64_t next() {
    if (next_ == block_bytes_) refill();
    std::uint64_t word = 0;
    if (std::endian::native == std::endian::little && word_bytes_ == sizeof word) {
      std::memcpy(&word, &block_[next_], sizeof word);
    } else {
      for (std::size_t i = 0; i < word_bytes_; ++i)
        word |= std::to_integer<std::uint64_t>(block_[next_ + i]) << (8 * i);
    }
    next_ += word_bytes_;
    return word & (~std::uint64_t{0} >> (kWordBits - bits_));
  }

 private:
  void refill() {
    source_.fill(std::span(block_).first(block_bytes_));
    next_ = 0;
  }

  BitSource& source_;
  unsigned bits_;
  std::size_t word_bytes_;
  std::size_t block_bytes_;
  std::size_t next_;
  std::array<std::byte, kBlockBytesMax> block_;
};

}  // namespace epsilog::mechanisms
