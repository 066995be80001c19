// From the text of a condition to its comparisons and how they are joined; the grammar stands in
// predicate.hpp. Thread-safety: pure functions.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "epsilog/engine/predicate.hpp"

namespace epsilog::engine {

struct ReadPredicate {
  std::vector<Comparison> comparisons;
  Condition condition;
  std::string new_request_fault;  ///< of a number or a name in it; not of its length
};

/// Throws  InvalidParameter, as Predicate::parse().
[[nodiscard]] ReadPredicate read_predicate(std::string_view text);

/// One part itself; of several, those that are joined in the same way are taken apart.
[[nodiscard]] Condition join_conditions(Condition::Kind kind, std::vector<Condition> parts);

struct OperatorSpelling {
  std::string_view text;
  Comparison::Operator op;
};
/// Two-character operators first, so that "<=" is not read as "<".
inline constexpr std::array<OperatorSpelling, 6> kOperatorSpellings = {
    {{"!=", Comparison::Operator::not_equal},
     {"<=", Comparison::Operator::less_equal},
     {">=", Comparison::Operator::greater_equal},
     {"=", Comparison::Operator::equal},
     {"<", Comparison::Operator::less},
     {">", Comparison::Operator::greater}}};

[[nodiscard]] bool starts_bare_name(char c);
[[nodiscard]] bool continues_bare_name(char c);

}  // namespace epsilog::engine
