// Every choice of random words that a draw can meet, walked as a tree: exact rational masses of its outputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "epsilog/accounting/rational.hpp"
#include "random_words.hpp"

namespace epsilog::test {

using accounting::Rational;

/// Hands out the words of one path through the tree, and says when the path ends too early.
class PathBits final : public mechanisms::BitSource {
 public:
  struct Ended {};
  explicit PathBits(const std::vector<std::uint8_t>& path) : path_(path) {}
  void fill(std::span<std::byte> bytes) override {
    for (std::byte& byte : bytes) {
      if (used_ == path_.size()) throw Ended{};
      byte = static_cast<std::byte>(path_[used_++]);
    }
  }

 private:
  const std::vector<std::uint8_t>& path_;
  std::size_t used_ = 0;
};

/// Mass of each output, and what no walked path has decided.
struct Masses {
  std::map<long, Rational> outputs;
  Rational rejected = 0;
  Rational undecided = 0;

  [[nodiscard]] Rational accepted() const {
    Rational sum = 0;
    for (const auto& [output, mass] : outputs) sum += mass;
    return sum;
  }
};

template <class Draw>
void walk_from(Masses& masses, std::vector<std::uint8_t>& path, unsigned word_bits, std::size_t depth,
               const Draw& draw) {
  PathBits bits(path);
  mechanisms::RandomWords words(bits, 1, word_bits);
  const Rational mass = accounting::power_of_two(-static_cast<long>(word_bits * path.size()));
  try {
    const std::optional<long> drawn = draw(words);
    (drawn ? masses.outputs[*drawn] : masses.rejected) += mass;
  } catch (const PathBits::Ended&) {
    if (path.size() == depth) {
      masses.undecided += mass;
      return;
    }
    for (unsigned word = 0; word < (1U << word_bits); ++word) {
      path.push_back(static_cast<std::uint8_t>(word));
      walk_from(masses, path, word_bits, depth, draw);
      path.pop_back();
    }
  }
}

/// `draw` takes RandomWords and returns an optional<long>, empty where it rejects.
/// Requires  word_bits <= 8.
template <class Draw>
void walk(Masses& masses, unsigned word_bits, std::size_t depth, const Draw& draw) {
  std::vector<std::uint8_t> path;
  walk_from(masses, path, word_bits, depth, draw);
}

}  // namespace epsilog::test
