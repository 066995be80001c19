// What `allow` and `forbid` say of a column and of those that are derived from it.
#include "access.hpp"

#include "epsilog/engine/checked_policy.hpp"
#include "policy_text.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using epsilog::test::PolicyText;

namespace {

using Texts = std::vector<std::string>;

/// The codes of what stands against the question; `rules` are keys of the dataset.
Texts refused(const std::string& rules, const std::string& by, const std::string& where) {
  PolicyText text;
  text.columns =
      "{age: {type: int, bounds: [0, 110], values: [1, 2]}, height: {type: int, bounds: [0, 250]},"
      " band: {from: age, bins: [0, 18, 65]}, old: {from: age, map: {99: old}, other: young},"
      " tall: {from: height, bins: [0, 180, 250]}}";
  text.more = rules;
  const Policy policy = checked_policy(text.yaml(), "p.yaml");
  Request request;
  request.dataset = "clinic";
  request.principal = "alice";
  request.question = parse_question("mean:height", by.empty() ? std::nullopt : std::optional(by),
                                    where.empty() ? std::nullopt : std::optional(where));
  Texts codes;
  for (const Reason& reason : access_reasons(policy, policy.dataset("clinic"), request)) {
    codes.emplace_back(name(reason.code));
  }
  return codes;
}

const Texts kForbidden = {"forbidden"};
const Texts kNotAllowed = {"column_not_allowed"};

}  // namespace

TEST_CASE("derived access: forbid of a column covers all that are derived from it, and not the reverse",
          "[engine][derived][access]") {
  const std::string by_age = "forbid: [{by: [age]}]";
  CHECK(refused(by_age, "age", "") == kForbidden);
  CHECK(refused(by_age, "band", "") == kForbidden);
  CHECK(refused(by_age, "old", "") == kForbidden);
  CHECK(refused(by_age, "tall", "").empty());
  CHECK(refused(by_age, "", "band = '[0,18)'").empty());  // another list
  const std::string by_band = "forbid: [{by: [band]}]";
  CHECK(refused(by_band, "band", "") == kForbidden);
  CHECK(refused(by_band, "age", "").empty());
  CHECK(refused(by_band, "old", "").empty());
  const std::string where_age = "forbid: [{where: [age]}]";
  CHECK(refused(where_age, "", "age > 3") == kForbidden);
  CHECK(refused(where_age, "", "height > 3 or not (band = '[0,18)' and height < 200)") == kForbidden);
  CHECK(refused(where_age, "", "old is missing") == kForbidden);
  CHECK(refused(where_age, "band", "height > 3").empty());
  CHECK(refused("forbid: [{where: [band]}]", "", "age > 3").empty());
  // Every list of a rule has to apply.
  const std::string together = "forbid: [{by: [height], where: [age]}]";
  CHECK(refused(together, "tall", "band = '[0,18)'") == kForbidden);
  CHECK(refused(together, "tall", "height > 3").empty());
  CHECK(refused(together, "band", "band = '[0,18)'").empty());
}

TEST_CASE(
    "derived access: allow of a column allows those that are derived from it in the same list, and not the "
    "reverse",
    "[engine][derived][access]") {
  const std::string by_age = "allow: {by: [age]}";
  CHECK(refused(by_age, "age", "").empty());
  CHECK(refused(by_age, "band", "").empty());
  CHECK(refused(by_age, "tall", "") == kNotAllowed);
  CHECK(refused(by_age, "band", "band = '[0,18)'").empty());  // no list of where
  const std::string by_band = "allow: {by: [band], where: [band]}";
  CHECK(refused(by_band, "band", "band = '[0,18)'").empty());
  CHECK(refused(by_band, "age", "") == kNotAllowed);
  CHECK(refused(by_band, "old", "") == kNotAllowed);
  CHECK(refused(by_band, "", "age > 3") == kNotAllowed);
  CHECK(refused(by_band, "old", "old = 'old' and age = 3") ==
        Texts{"column_not_allowed", "column_not_allowed", "column_not_allowed"});
  const std::string nothing_by = "allow: {by: [], where: [age]}";
  CHECK(refused(nothing_by, "band", "") == kNotAllowed);
  CHECK(refused(nothing_by, "", "band = '[0,18)' and old = 'old'").empty());
  // A column without values may be listed for those derived from it; itself it has no groups.
  CHECK(refused("allow: {by: [height]}", "tall", "").empty());
}

TEST_CASE("derived access: what is forbidden of a column is not allowed by allowing what is derived from it",
          "[engine][derived][access]") {
  CHECK(refused("allow: {by: [band]}\n    forbid: [{by: [age]}]", "band", "") == kForbidden);
}
