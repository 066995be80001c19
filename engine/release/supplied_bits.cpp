#include "supplied_bits.hpp"

#include <string.h>

#include <algorithm>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::engine {

void SuppliedBits::wipe(std::vector<std::byte>& bytes) noexcept {
  if (!bytes.empty()) ::explicit_bzero(bytes.data(), bytes.size());
}

void SuppliedBits::supply(std::size_t bytes) {
  if (source_ == nullptr || bytes <= bytes_.size()) return;
  std::vector<std::byte> more(bytes);  // of its own: growing would leave a copy behind
  std::copy(bytes_.begin(), bytes_.end(), more.begin());
  try {
    source_->fill(std::span(more).subspan(bytes_.size()));
  } catch (...) {
    wipe(more);
    throw;
  }
  bytes_.swap(more);
  wipe(more);
}

void SuppliedBits::supply_more() {
  supply(std::max(wanted_, 2 * bytes_.size()));
}

void SuppliedBits::fill(std::span<std::byte> bytes) {
  EPSILOG_INVARIANT(source_ != nullptr);
  if (bytes.size() > bytes_.size() - used_) {
    wanted_ = used_ + bytes.size();
    throw OutOfBits();
  }
  std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(used_), bytes.size(), bytes.begin());
  used_ += bytes.size();
}

}  // namespace epsilog::engine
