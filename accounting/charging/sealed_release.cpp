#include "epsilog/accounting/sealed_release.hpp"

#include <algorithm>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::accounting {
namespace {

std::size_t components_of(PostProcessing::Kind kind) {
  switch (kind) {
    case PostProcessing::Kind::none:
    case PostProcessing::Kind::rounded:
    case PostProcessing::Kind::proportion:
      return 1;
    case PostProcessing::Kind::mean_about:
    case PostProcessing::Kind::ratio:
      return 2;
    case PostProcessing::Kind::variance_about:
      return 3;
    case PostProcessing::Kind::totals:
    case PostProcessing::Kind::whole_totals:
    case PostProcessing::Kind::consistent_totals:
      break;
  }
  throw InvalidParameter("post-processing: a table with totals follows from the record of its release");
}

Rational ratio(const Rational& sum, const Rational& count) {
  return sum / std::max(count, Rational(1));
}

/// Of sums, of which only noise takes the second below 0: what the quotients tend to as it goes to 0.
Rational ratio_of_sums(const Rational& above, const Rational& below, const PostProcessing& recipe) {
  if (below > 0) return above / below;
  return above > 0 ? recipe.upper : above < 0 ? recipe.lower : Rational(0);
}

Rational nearest_whole(const Rational& value) {
  return floor(value + Rational(1, 2));
}

Rational clamped(const Rational& value, const PostProcessing& recipe) {
  return std::clamp(value, recipe.lower, recipe.upper);
}

}  // namespace

std::string_view name(PostProcessing::Kind kind) {
  switch (kind) {
    case PostProcessing::Kind::none:
      return "none";
    case PostProcessing::Kind::mean_about:
      return "mean_about";
    case PostProcessing::Kind::variance_about:
      return "variance_about";
    case PostProcessing::Kind::rounded:
      return "rounded";
    case PostProcessing::Kind::proportion:
      return "proportion";
    case PostProcessing::Kind::ratio:
      return "ratio";
    case PostProcessing::Kind::totals:
      return "totals";
    case PostProcessing::Kind::whole_totals:
      return "whole_totals";
    case PostProcessing::Kind::consistent_totals:
      return "consistent_totals";
  }
  EPSILOG_INVARIANT(false);
}

bool has_centre(PostProcessing::Kind kind) {
  return kind == PostProcessing::Kind::mean_about || kind == PostProcessing::Kind::variance_about;
}

bool has_range(PostProcessing::Kind kind) {
  return kind != PostProcessing::Kind::none && !has_totals(kind);
}

bool has_totals(PostProcessing::Kind kind) {
  return kind == PostProcessing::Kind::totals || kind == PostProcessing::Kind::whole_totals ||
         kind == PostProcessing::Kind::consistent_totals;
}

bool is_quotient(PostProcessing::Kind kind) {
  return kind == PostProcessing::Kind::mean_about || kind == PostProcessing::Kind::variance_about ||
         kind == PostProcessing::Kind::proportion || kind == PostProcessing::Kind::ratio;
}

std::size_t values_of_a_cell(PostProcessing::Kind kind) {
  return kind == PostProcessing::Kind::proportion ? 2 : 1;
}

std::vector<Rational> post_process(const PostProcessing& recipe,
                                   const std::vector<std::vector<Rational>>& components) {
  if (components.size() != components_of(recipe.kind)) {
    throw InvalidParameter("post-processing: wrong number of components");
  }
  for (const auto& component : components) {
    if (component.size() != components.front().size()) {
      throw InvalidParameter("post-processing: components differ in length");
    }
  }
  if (recipe.kind == PostProcessing::Kind::none) return components.front();
  if (recipe.lower > recipe.upper) throw InvalidParameter("post-processing: the range is empty");

  const std::size_t of_a_cell = values_of_a_cell(recipe.kind);
  if (components.front().size() % of_a_cell != 0) {
    throw InvalidParameter("post-processing: a cell has not all of its values");
  }
  std::vector<Rational> answer;
  for (std::size_t cell = 0; cell < components.front().size() / of_a_cell; ++cell) {
    if (recipe.kind == PostProcessing::Kind::proportion) {
      const Rational& with = components[0][2 * cell];
      answer.push_back(clamped(ratio(with, with + components[0][2 * cell + 1]), recipe));
    } else if (recipe.kind == PostProcessing::Kind::rounded) {
      answer.push_back(clamped(nearest_whole(components[0][cell]), recipe));
    } else if (recipe.kind == PostProcessing::Kind::ratio) {
      answer.push_back(clamped(ratio_of_sums(components[0][cell], components[1][cell], recipe), recipe));
    } else if (recipe.kind == PostProcessing::Kind::mean_about) {
      answer.push_back(clamped(recipe.centre + ratio(components[0][cell], components[1][cell]), recipe));
    } else {
      const Rational mean = ratio(components[1][cell], components[2][cell]);
      answer.push_back(clamped(ratio(components[0][cell], components[2][cell]) - mean * mean, recipe));
    }
  }
  return answer;
}

}  // namespace epsilog::accounting
