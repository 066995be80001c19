// A YAML document as a small tree with places, read more strictly than YAML asks for.
//
// What a policy says must be what a reader sees. Everything by which YAML can say something else is
// a fault: duplicate keys (parsers differ on which one wins), anchors, aliases and merge keys, tags,
// several documents, values that are null, scalars over several lines, and characters that do not
// show. Scalars stay text: whether `0.10` or `yes` is a number or a bool is for the decoder to say.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "epsilog/engine/mark.hpp"
#include "policy_faults.hpp"

namespace epsilog::engine::yaml {

inline constexpr std::size_t kBytesMax = std::size_t{256} * 1024;
inline constexpr std::size_t kNodesMax = 50'000;
inline constexpr std::size_t kDepthMax = 32;

struct Entry;

struct Node {
  /// `refused`: a fault was already reported for it, nothing more is to be said.
  enum class Kind { scalar, sequence, map, refused };
  Kind kind = Kind::refused;
  Mark mark;
  std::string text;            ///< of a scalar
  bool quoted = false;         ///< of a scalar
  std::vector<Node> items;     ///< of a sequence
  std::vector<Entry> entries;  ///< of a map, in the order written, keys distinct

  /// The value under `key` of a map; nullptr when there is none.
  [[nodiscard]] const Node* find(std::string_view key) const;
};

struct Entry {
  std::string key;
  Mark mark;  ///< of the key
  Node value;
};

/// The place of the innermost part of the path that is written; items of a sequence are "[0]".
[[nodiscard]] Mark mark_of(const Node& root, const std::vector<std::string>& path);

/// Reads the one document in `text`.
///
/// Ensures   faults that leave the tree readable are added to `faults`, and what they concern is
///           left out or `refused`.
/// Throws    PolicyError with one fault, the first after which nothing can be read.
[[nodiscard]] Node read(std::string_view text, Faults& faults);

}  // namespace epsilog::engine::yaml
