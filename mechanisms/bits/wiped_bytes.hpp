// Random bits that do not outlive their use: with the released value they would give the true
// answer away. What this library holds itself is overwritten (MpfrNumber does the same); scratch
// memory inside MPFR and GMP is not.
#pragma once

#include <sodium.h>

#include <cstddef>
#include <span>
#include <vector>

#include "epsilog/accounting/rational.hpp"

namespace epsilog::mechanisms {

/// A buffer overwritten when it goes out of scope, on every path.
class WipedBytes final {
 public:
  explicit WipedBytes(std::size_t size) : bytes_(size) {}
  ~WipedBytes() { sodium_memzero(bytes_.data(), bytes_.size()); }
  WipedBytes(const WipedBytes&) = delete;
  WipedBytes& operator=(const WipedBytes&) = delete;

  [[nodiscard]] std::span<std::byte> all() noexcept { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

/// A non-negative integer overwritten when it goes out of scope.
class WipedInteger final {
 public:
  WipedInteger() = default;
  ~WipedInteger() {
    const std::size_t limbs = mpz_size(value_.get_mpz_t());
    if (limbs != 0)
      sodium_memzero(mpz_limbs_modify(value_.get_mpz_t(), static_cast<mp_size_t>(limbs)),
                     limbs * sizeof(mp_limb_t));
  }
  WipedInteger(const WipedInteger&) = delete;
  WipedInteger& operator=(const WipedInteger&) = delete;

  [[nodiscard]] mpz_ptr get() noexcept { return value_.get_mpz_t(); }
  [[nodiscard]] mpz_srcptr get() const noexcept { return value_.get_mpz_t(); }

 private:
  accounting::Integer value_;
};

}  // namespace epsilog::mechanisms
