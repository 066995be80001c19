#include "row_units.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::engine {
namespace {

constexpr std::size_t kFirstSlots = 16;

/// Differs from run to run, so that nobody can choose ids that make probing slow. No result depends
/// on it.
std::uint64_t hash_seed() {
  static const std::uint64_t kSeed = [] {
    try {
      std::random_device device;
      return (std::uint64_t{device()} << 32) | device();
    } catch (const std::exception&) {
      throw EntropyUnavailable("the operating system gave no randomness");
    }
  }();
  return kSeed;
}

/// The finalizer of splitmix64 (Steele, Lea, Flood 2014).
std::uint64_t mix_bits(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBU;
  return value ^ (value >> 31);
}

std::uint64_t hash_of(std::string_view id, std::uint64_t seed) {
  std::uint64_t hash = mix_bits(seed + id.size());
  while (!id.empty()) {
    const std::size_t size = id.size() < sizeof hash ? id.size() : sizeof hash;
    std::uint64_t word = 0;
    std::memcpy(&word, id.data(), size);
    hash = mix_bits(hash ^ word) + seed;
    id.remove_prefix(size);
  }
  return mix_bits(hash);
}

/// Zeros up to that size at least. Units come one by one, and are made room for many at a time.
template <class Number>
void make_room(std::vector<Number>& numbers, std::size_t size) {
  if (size > numbers.size()) numbers.resize(std::max(size, 2 * numbers.size()));
}

}  // namespace

UnitTable::UnitTable() : UnitTable(hash_of) {}

UnitTable::UnitTable(Hash hash) : hash_(hash), seed_(hash_seed()), slots_(kFirstSlots) {}

std::uint64_t UnitTable::number_of(std::string_view id) {
  EPSILOG_INVARIANT(id.size() <= std::numeric_limits<std::uint32_t>::max());
  if (4 * (entries_.size() + 1) > 3 * slots_.size()) grow();
  const std::uint64_t hash = hash_(id, seed_);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t slot = hash & mask;; slot = (slot + 1) & mask) {
    const std::uint64_t found = slots_[slot];
    if (found == 0) {
      EPSILOG_INVARIANT(entries_.size() + 1 < kNumbers);
      Entry& entry = entries_.emplace_back(id);
      if (id.size() > Entry::kWithin) {
        const char* const kept = keep(id);
        std::memcpy(entry.text, &kept, sizeof kept);
      }
      slots_[slot] = tag_of(hash) | entries_.size();
      return entries_.size() - 1;
    }
    if (tag_of(found) != tag_of(hash)) continue;
    const std::uint64_t number = (found & (kNumbers - 1)) - 1;
    if (entries_[number].is(id)) return number;
  }
}

const char* UnitTable::keep(std::string_view id) {
  if (id.size() > room_size_) {
    chunk_size_ = std::min(2 * chunk_size_, kChunkSizeMax);
    room_size_ = std::max(id.size(), chunk_size_);
    chunks_.push_back(std::make_unique_for_overwrite<char[]>(room_size_));
    room_ = chunks_.back().get();
  }
  char* const kept = room_;
  if (!id.empty()) std::memcpy(kept, id.data(), id.size());
  room_ += id.size();
  room_size_ -= id.size();
  return kept;
}

void UnitTable::grow() {
  slots_.assign(2 * slots_.size(), 0);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const std::uint64_t hash = hash_(entries_[i].id(), seed_);
    std::size_t slot = hash & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = tag_of(hash) | (i + 1);
  }
}

NumberSet::NumberSet() : seed_(hash_seed()), slots_(kFirstSlots) {}

bool NumberSet::insert(std::uint64_t number) {
  if (4 * (size_ + 1) > 3 * slots_.size()) grow();
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t slot = mix_bits(number ^ seed_) & mask;; slot = (slot + 1) & mask) {
    if (slots_[slot] == number + 1) return false;
    if (slots_[slot] == 0) {
      slots_[slot] = number + 1;
      ++size_;
      return true;
    }
  }
}

void NumberSet::grow() {
  std::vector<std::uint64_t> old(2 * slots_.size());
  old.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const std::uint64_t kept : old) {
    if (kept == 0) continue;
    std::size_t slot = mix_bits((kept - 1) ^ seed_) & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = kept;
  }
}

bool SeenPairs::insert(std::uint64_t number, std::size_t part) {
  if (bytes_ > kBytesMax) return pairs_.insert(number * parts_ + part);
  make_room(bits_, (number + 1) * bytes_);
  std::uint8_t& bits = bits_[number * bytes_ + part / kBits];
  const auto bit = static_cast<std::uint8_t>(1U << (part % kBits));
  const bool is_new = (bits & bit) == 0;
  bits = static_cast<std::uint8_t>(bits | bit);
  return is_new;
}

template <class Count>
ContributionBound::Admission ContributionBound::admit_counting(std::vector<Count>& kept, std::uint64_t unit) {
  make_room(kept, unit + 1);
  Count& rows = kept[unit];
  const bool admitted = rows < max_rows_;
  const bool first = admitted && rows == 0;
  if (admitted) ++rows;
  return {admitted, first, unit};
}

ContributionBound::Admission ContributionBound::admit(std::uint64_t unit) {
  return max_rows_ <= std::numeric_limits<std::uint8_t>::max() ? admit_counting(few_, unit)
                                                               : admit_counting(many_, unit);
}

}  // namespace epsilog::engine
