// Which unit a row belongs to, and how many of its rows were kept.
//
// Units are told apart by the exact bytes of their ids, never by a hash alone: two people who
// shared one would be bounded, and counted, as one.
// Thread-safety: one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace epsilog::engine {

/// Numbers distinct ids 0, 1, 2, … in the order of their first appearance.
class UnitTable final {
 public:
  /// Of an id, given a number that differs from run to run.
  using Hash = std::uint64_t (*)(std::string_view id, std::uint64_t seed);

  UnitTable();
  /// Ids are told apart whatever the hash; how soon they are found depends on it.
  explicit UnitTable(Hash hash);
  /// The number of the id, new or known.
  [[nodiscard]] std::uint64_t number_of(std::string_view id);
  [[nodiscard]] std::uint64_t size() const noexcept { return entries_.size(); }

 private:
  /// An id that fits stands in its entry: to look for it elsewhere is most of what a row costs that is of
  /// one of many units.
  struct Entry {
    static constexpr std::size_t kWithin = 12;

    explicit Entry(std::string_view id) : size(static_cast<std::uint32_t>(id.size())) {
      std::memcpy(text, id.data(), id.size() <= kWithin ? id.size() : 0);
    }
    [[nodiscard]] std::string_view id() const {
      if (size <= kWithin) return {text, size};
      const char* kept = nullptr;
      std::memcpy(&kept, text, sizeof kept);
      return {kept, size};
    }
    [[nodiscard]] bool is(std::string_view id_) const {
      return size == id_.size() && (size == 0 || std::memcmp(id().data(), id_.data(), size) == 0);
    }

    std::uint32_t size;
    char text[kWithin] = {};  ///< the id, or where it is kept
  };
  static constexpr std::size_t kChunkSizeMax = std::size_t{1} << 20;
  /// A slot is a number + 1 in its lower bits, and above them bits of the hash that are no part of its place:
  /// an entry of another id is seldom looked at.
  static constexpr unsigned kNumberBits = 40;
  static constexpr std::uint64_t kNumbers = std::uint64_t{1} << kNumberBits;

  [[nodiscard]] static std::uint64_t tag_of(std::uint64_t hash) noexcept { return hash & ~(kNumbers - 1); }
  [[nodiscard]] const char* keep(std::string_view id);
  void grow();

  Hash hash_;
  std::uint64_t seed_;
  std::vector<Entry> entries_;
  std::vector<std::uint64_t> slots_;  ///< 0: empty; linear probing, at most 3/4 full
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
/// and leave nothing out, so that few parts are some bytes for each number, which are found at once.
class SeenPairs final {
 public:
  explicit SeenPairs(std::size_t parts) : parts_(parts), bytes_((parts + kBits - 1) / kBits) {}
  /// Whether the pair was not there before.
  /// Requires  part < the number of parts.
  bool insert(std::uint64_t number, std::size_t part);

 private:
  static constexpr std::size_t kBits = 8;
  static constexpr std::size_t kBytesMax = 8;

  std::size_t parts_;
  std::size_t bytes_;               ///< of each number
  std::vector<std::uint8_t> bits_;  ///< by number, a bit for each part
  NumberSet pairs_;                 ///< where that would be too many
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
