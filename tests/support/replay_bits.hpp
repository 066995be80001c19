// Bit sources whose bytes a test knows.
#pragma once

#include <sodium.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "epsilog/mechanisms/bit_source.hpp"

namespace epsilog::test {

/// Hands out given bytes and remembers the size of every fill. Running out is a failed test.
class ReplayBits final : public mechanisms::BitSource {
 public:
  explicit ReplayBits(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}

  void fill(std::span<std::byte> bytes) override {
    if (bytes.size() > bytes_.size() - used_)
      throw std::logic_error("replay: more bytes were drawn than recorded");
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(used_), bytes.size(), bytes.begin());
    used_ += bytes.size();
    fills_.push_back(bytes.size());
  }

  [[nodiscard]] const std::vector<std::size_t>& fills() const { return fills_; }
  [[nodiscard]] bool exhausted() const { return used_ == bytes_.size(); }

 private:
  std::vector<std::byte> bytes_;
  std::size_t used_ = 0;
  std::vector<std::size_t> fills_;
};

/// A ChaCha20 key stream: statistically as good as the real source, the same on every run.
class SeededBits final : public mechanisms::BitSource {
 public:
  explicit SeededBits(std::uint64_t seed) {
    for (std::size_t i = 0; i < sizeof seed; ++i) key_[i] = static_cast<unsigned char>(seed >> (8 * i));
  }

  void fill(std::span<std::byte> bytes) override {
    for (std::byte& byte : bytes) {
      if (next_ == block_.size()) refill();
      byte = static_cast<std::byte>(block_[next_++]);
    }
    ++fills_;
    bytes_ += bytes.size();
  }

  [[nodiscard]] std::size_t fills() const { return fills_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  void refill() {
    std::array<unsigned char, crypto_stream_chacha20_NONCEBYTES> nonce{};
    for (std::size_t i = 0; i < nonce.size(); ++i) nonce[i] = static_cast<unsigned char>(counter_ >> (8 * i));
    ++counter_;
    crypto_stream_chacha20(block_.data(), block_.size(), nonce.data(), key_.data());
    next_ = 0;
  }

  std::array<unsigned char, crypto_stream_chacha20_KEYBYTES> key_{};
  std::array<unsigned char, 4096> block_{};
  std::size_t next_ = 4096;
  std::uint64_t counter_ = 0;
  std::size_t fills_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace epsilog::test
