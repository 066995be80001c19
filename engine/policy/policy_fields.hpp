// Typed access to the nodes of a policy: every mismatch becomes one fault at its place.
//
// `what` in these functions is the path inside the dataset that messages show, "budget.epsilon".
// A function that returns nothing has reported why, or the node was refused before.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "epsilog/accounting/quantity.hpp"
#include "epsilog/engine/policy.hpp"
#include "policy_faults.hpp"
#include "policy_keys.hpp"
#include "yaml_tree.hpp"

namespace epsilog::engine {

/// A map whose keys were checked against a table.
class Fields final {
 public:
  /// Reports a node that is no map, unknown keys, and required keys that are missing. `owner` is
  /// where a missing key is reported.
  Fields(const yaml::Node& node, const KeyTable& table, std::string path, const Mark& owner, Faults& faults);

  /// nullptr when absent or refused.
  [[nodiscard]] const yaml::Node* operator[](std::string_view key) const;
  /// Whether the key was written, readable or not.
  [[nodiscard]] bool has(std::string_view key) const { return node_.find(key) != nullptr; }
  /// The place of a key that was written; the owner's otherwise.
  [[nodiscard]] Mark mark_of(std::string_view key) const;
  /// "budget.epsilon"; the map itself for "".
  [[nodiscard]] std::string path(std::string_view key) const;
  /// Where the map is reported when something is missing from it.
  [[nodiscard]] const Mark& owner() const noexcept { return owner_; }
  /// Whether the key was not written, not even with a slip that was reported.
  [[nodiscard]] bool lacks(std::string_view key) const;

 private:
  const yaml::Node& node_;
  std::string path_;
  Mark owner_;
  std::vector<std::string> misspelled_;
};

/// Reports and returns false unless the node is of that kind; silent for a refused one.
[[nodiscard]] bool expect(const yaml::Node& node, yaml::Node::Kind kind, std::string_view what,
                          std::string_view expected, Faults& faults);

/// Any text without control characters, at most 1024 bytes; not empty unless `may_be_empty`.
[[nodiscard]] std::optional<std::string> text_of(const yaml::Node& node, std::string_view what,
                                                 Faults& faults, bool may_be_empty = false);
/// true or false, not quoted.
[[nodiscard]] std::optional<bool> truth_of(const yaml::Node& node, std::string_view what, Faults& faults);
/// Digits, 1..10^12.
[[nodiscard]] std::optional<std::uint64_t> count_of(const yaml::Node& node, std::string_view what,
                                                    Faults& faults);
/// An exact number; the grammar of parse_rational without leading zeros.
[[nodiscard]] std::optional<Rational> number_of(const yaml::Node& node, std::string_view what,
                                                Faults& faults);
[[nodiscard]] std::optional<Rational> positive_of(const yaml::Node& node, std::string_view what,
                                                  Faults& faults);
/// A number strictly between 0 and 1.
[[nodiscard]] std::optional<Rational> probability_of(const yaml::Node& node, std::string_view what,
                                                     Faults& faults);
/// A positive amount, rounded down onto its grid; one that rounds to zero is a fault.
template <class Quantity>
[[nodiscard]] std::optional<Quantity> amount_of(const yaml::Node& node, std::string_view what,
                                                Faults& faults);
extern template std::optional<Epsilon> amount_of<Epsilon>(const yaml::Node&, std::string_view, Faults&);
extern template std::optional<Delta> amount_of<Delta>(const yaml::Node&, std::string_view, Faults&);
extern template std::optional<Rho> amount_of<Rho>(const yaml::Node&, std::string_view, Faults&);
/// Seconds, from 60 to 365 days: digits and one of s, m, h, d.
[[nodiscard]] std::optional<std::int64_t> duration_of(const yaml::Node& node, std::string_view what,
                                                      Faults& faults);
/// [LOWER, UPPER] with LOWER < UPPER.
[[nodiscard]] std::optional<Bounds> bounds_of(const yaml::Node& node, std::string_view what, Faults& faults);
/// The index of the word in the vocabulary.
[[nodiscard]] std::optional<std::size_t> choice_of(const yaml::Node& node, const Vocabulary& vocabulary,
                                                   std::string_view what, Faults& faults);
/// What the word stands for.
template <class Enum>
[[nodiscard]] std::optional<Enum> word_of(const yaml::Node& node, const VocabularyOf<Enum>& vocabulary,
                                          std::string_view what, Faults& faults) {
  const auto choice = choice_of(node, vocabulary, what, faults);
  if (!choice) return std::nullopt;
  return static_cast<Enum>(*choice);
}

/// The distinct scalars of a list, each accepted by `accept`, which reports what it does not accept.
[[nodiscard]] std::vector<std::string> names_of(const yaml::Node& node, std::string_view what, Faults& faults,
                                                const std::function<bool(const yaml::Node&)>& accept);

/// Whether `name` can be written on a command line and in a predicate: [A-Za-z_][A-Za-z0-9_]*, at
/// most 64 characters. `kind` says of what it is the name.
[[nodiscard]] bool expect_name(std::string_view name, const Mark& mark, std::string_view kind,
                               Faults& faults);

}  // namespace epsilog::engine
