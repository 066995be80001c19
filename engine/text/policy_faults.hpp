// The faults found so far in one file that is read as strictly as a policy.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/mark.hpp"

namespace epsilog::engine {

/// What a file is, in the words of its faults.
struct DocumentKind {
  std::string_view name = "policy";
  std::string_view needed_keys = "version and datasets";
};

class Faults final {
 public:
  explicit Faults(std::string file, const DocumentKind& kind = {}) : file_(std::move(file)), kind_(kind) {}

  /// Returns "policy", or the name that the constructor was given.
  [[nodiscard]] std::string document() const { return std::string(kind_.name); }
  [[nodiscard]] std::string needed_keys() const { return std::string(kind_.needed_keys); }

  void add(const Mark& mark, std::string message) {
    faults_.push_back({file_, mark.line, mark.column, std::move(message)});
  }
  [[nodiscard]] bool none() const noexcept { return faults_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return faults_.size(); }

  void clear() noexcept { faults_.clear(); }

  /// " Did you mean 'neighbours'?" or "". After a hundred faults nothing is suggested any more: the
  /// search for the nearest name is quadratic, and nobody reads that far.
  [[nodiscard]] std::string suggestion(std::string_view wanted,
                                       const std::vector<std::string>& candidates) const;

  /// All of them, ordered by line and column.
  /// Requires  !none().
  [[nodiscard]] PolicyError error() const;

 private:
  std::string file_;
  DocumentKind kind_;
  std::vector<PolicyFault> faults_;
};

/// The text as a message may show it: quoted, control characters as '?', at most 60 code points.
/// Requires  valid UTF-8.
[[nodiscard]] std::string quoted_excerpt(std::string_view text);

/// "a, b, c"
[[nodiscard]] std::string comma_list(const std::vector<std::string>& words);

}  // namespace epsilog::engine
