// Which unit a row belongs to, and how many of its rows were kept.
//
// Units are told apart by the exact bytes of their ids, never by a hash alone: two people who
// shared one would be bounded, and counted, as one.
// Thread-safety: one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace epsilog::engine {

/// Numbers distinct ids 0, 1, 2, … in the order of their first appearance.
class UnitTable final {
 public:
  UnitTable();
  /// The number of the id, new or known.
  [[nodiscard]] std::uint64_t number_of(std::string_view id);
  [[nodiscard]] std::uint64_t size() const noexcept { return entries_.size(); }

 private:
  struct Entry {
    const char* id;
    std::uint32_t size;
    std::uint32_t hash;
  };
  static constexpr std::size_t kChunkSizeMax = std::size_t{1} << 20;

  [[nodiscard]] const char* keep(std::string_view id);
  void grow();

  std::uint64_t seed_;
  std::vector<Entry> entries_;
  std::vector<std::uint64_t> slots_;  ///< entry + 1, or 0; linear probing, at most 3/4 full
  std::vector<std::unique_ptr<char[]>> chunks_;
  std::size_t chunk_size_ = 512;
  char* room_ = nullptr;
  std::size_t room_size_ = 0;
};

/// A set of numbers below 2^64 - 1.
class NumberSet final {
 public:
  NumberSet();
  /// Whether the number was not there before.
  bool insert(std::uint64_t number);

 private:
  void grow();

  std::uint64_t seed_;
  std::size_t size_ = 0;
  std::vector<std::uint64_t> slots_;  ///< number + 1, or 0
};

/// Pairs of a number and one of so many parts, as of a unit and a cell. Numbers of units and cells begin at 0
/// and leave nothing out, so that few parts are a word for each number, which is found at once.
class SeenPairs final {
 public:
  explicit SeenPairs(std::size_t parts) : parts_(parts) {}
  /// Whether the pair was not there before.
  /// Requires  part < the number of parts.
  bool insert(std::uint64_t number, std::size_t part);

 private:
  static constexpr std::size_t kBits = 64;

  std::size_t parts_;
  std::vector<std::uint64_t> words_;  ///< by number, a bit for each part
  NumberSet pairs_;                   ///< where there are more parts than bits
};

/// The unit of one row, which is numbered when the first question that is about the row asks for it.
class UnitOfRow final {
 public:
  /// Requires  what is referred to outlives this.
  UnitOfRow(UnitTable& units, std::string_view id) : units_(units), id_(id) {}
  [[nodiscard]] std::uint64_t number() {
    if (number_ == kNone) number_ = units_.number_of(id_);
    return number_;
  }

 private:
  static constexpr std::uint64_t kNone = UINT64_MAX;

  UnitTable& units_;
  std::string_view id_;
  std::uint64_t number_ = kNone;
};

/// Keeps the first `max_rows` rows of each unit, in the order of the source.
class ContributionBound final {
 public:
  explicit ContributionBound(std::uint64_t max_rows) : max_rows_(max_rows) {}

  struct Admission {
    bool kept;
    bool first;          ///< the unit's first kept row
    std::uint64_t unit;  ///< its number
  };
  [[nodiscard]] Admission admit(std::uint64_t unit);

 private:
  template <class Count>
  [[nodiscard]] Admission admit_counting(std::vector<Count>& kept, std::uint64_t unit);

  std::uint64_t max_rows_;
  /// By unit, 0 of those beyond it. A byte is enough for most policies, and a batch has one for every unit
  /// and row.
  std::vector<std::uint8_t> few_;
  std::vector<std::uint64_t> many_;  ///< where max_rows is above 255
};

}  // namespace epsilog::engine
