// Bits that are there before they are drawn from, so that nobody waits under the turn for a generator.
//
// How many a draw takes is not known before it. A first supply is read ahead; a draw that needs more ends
// with OutOfBits, is undone, and begins again from the first bit once more were appended. It never begins with
// fresh ones: whether it needed more follows from what the bits were, and to choose by that when to throw
// bits away would make some values more likely than the mechanism does.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "epsilog/mechanisms/bit_source.hpp"

namespace epsilog::engine {

/// A draw needs more bits than are there. No error: it leaves no call of the engine.
struct OutOfBits {};

/// Thread-safety: one owner at a time; the source is called by supply() and supply_more() alone.
class SuppliedBits final : public mechanisms::BitSource {
 public:
  /// Requires  `source` outlives this; none if nothing is drawn.
  explicit SuppliedBits(mechanisms::BitSource* source) noexcept : source_(source) {}
  SuppliedBits(const SuppliedBits&) = delete;
  SuppliedBits& operator=(const SuppliedBits&) = delete;
  ~SuppliedBits() override { wipe(bytes_); }

  /// Has so many from the first on, or more.
  /// Throws  what the source throws: then it has what it had.
  void supply(std::size_t bytes);
  /// Has what the last draw lacked, and at least twice what there was.
  /// Throws  likewise.
  void supply_more();
  /// The next draw begins with the first bit.
  void rewind() noexcept { used_ = 0; }
  /// Throws  OutOfBits.
  void fill(std::span<std::byte> bytes) override;

 private:
  static void wipe(std::vector<std::byte>& bytes) noexcept;

  mechanisms::BitSource* source_;
  std::vector<std::byte> bytes_;
  std::size_t used_ = 0;
  std::size_t wanted_ = 0;  // by the last draw that there were too few for
};

}  // namespace epsilog::engine
