// A page of decisions, written one by one into the body of the answer.
//
// A page ends where it has as many bytes or cells as a page may have: what a list costs does not grow with
// what others recorded. It has one decision at least that was looked at, so that every reader gets on.
#pragma once

#include <cstddef>
#include <string>

#include "answer_json.hpp"
#include "call.hpp"

namespace epsilog::serve {

/// So many bytes a page has, and one decision more at most.
inline constexpr std::size_t kPageBytes = std::size_t{1} << 20U;
/// So many cells and rows of batches the decisions have together that a page looks at, and one decision more
/// at most.
inline constexpr std::size_t kPageCells = 10'000;

/// Returns as how many cells it counts: its own, or its rows.
[[nodiscard]] std::size_t cell_count(const engine::Answer& answer);

class ListPage final {
 public:
  /// `name`: of the member that has the decisions.
  /// Requires  `call` outlives this.
  ListPage(const Call& call, const std::string& name, wire::AnswerKind kind);

  /// Writes what the caller sees of it; nothing where it is not there for them.
  /// Returns whether more may follow on this page.
  bool add(const engine::Answer& answer);
  /// The whole answer, with these members after the list.
  [[nodiscard]] Response finish(const wire::Json& members);

 private:
  const Call& call_;
  wire::AnswerKind kind_;
  std::string text_;
  bool first_ = true;
  std::size_t cells_ = 0;
};

}  // namespace epsilog::serve
