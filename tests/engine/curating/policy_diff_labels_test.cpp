// What a change of a derived column means, and what of it is refused once charged.
#include "epsilog/engine/policy_diff.hpp"

#include "access.hpp"
#include "checked_rows.hpp"
#include "epsilog/engine/checked_policy.hpp"
#include "policy_text.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;

namespace {

using Texts = std::vector<std::string>;

const std::string kColumns =
    "age: {type: int, bounds: [0, 110]}, size: {type: int, bounds: [0, 250]}, seen: {type: date},"
    " dx: {type: string}";

/// "DIRECTION PLACE: BEFORE -> AFTER" of each difference, "!" where it is refused once charged.
Texts differences(const std::string& before, const std::string& after) {
  const auto policy = [](const std::string& column) {
    PolicyText text;
    text.columns = "{" + kColumns + (column.empty() ? "" : ", d: " + column) + "}";
    return checked_policy(text.yaml(), "p.yaml");
  };
  Texts texts;
  for (const PolicyChange& change : diff(policy(before), policy(after))) {
    texts.push_back((change.refused_once_charged ? "! " : "") + std::string(name(change.direction)) + " " +
                    change.path_text() + ": " + change.before + " -> " + change.after);
  }
  return texts;
}

}  // namespace

TEST_CASE("policy diff: a derived column that comes, goes or has other labels is said as its table says",
          "[engine][diff][derived]") {
  check_rows(EPSILOG_SOURCE_DIR "/tests/engine/curating/policy_diff_labels.tsv", "differ",
             [](const CaseRow& row) { return joined(differences(row[1], row.at(2))); });
}

TEST_CASE("policy diff: under allow and forbid a column stands for those derived from it",
          "[engine][diff][derived]") {
  const auto said = [](const std::string& before, const std::string& after) {
    const auto policy = [](const std::string& rules) {
      PolicyText text;
      text.columns = "{" + kColumns + ", band: {from: age, bins: [0, 18]}, old: {from: age, map: {99: old}}}";
      text.more = rules;
      return checked_policy(text.yaml(), "p.yaml");
    };
    Texts texts;
    for (const PolicyChange& change : diff(policy(before), policy(after))) {
      texts.push_back(std::string(name(change.direction)) + " " + change.before + " -> " + change.after);
    }
    return texts;
  };
  for (const std::string list : {"by", "where", "columns"}) {
    CAPTURE(list);
    const auto allowed = [&](const std::string& before, const std::string& after) {
      return said("allow: {" + list + ": [" + before + "]}", "allow: {" + list + ": [" + after + "]}");
    };
    CHECK(allowed("age", "age, band") == Texts{"neutral  -> band"});
    CHECK(allowed("band, age", "age") == Texts{"neutral band -> "});
    CHECK(allowed("age", "band") == Texts{"tighter age -> ", "neutral  -> band"});
    CHECK(allowed("band", "age") == Texts{"neutral band -> ", "looser  -> age"});
    CHECK(allowed("band", "band, old") == Texts{"looser  -> old"});
    CHECK(allowed("band, old", "old") == Texts{"tighter band -> "});
    CHECK(allowed("age, band", "band, age") == Texts{"neutral [age, band] -> [band, age]"});
    const auto rule = [&](const std::string& columns) { return "{" + list + ": [" + columns + "]}"; };
    const auto forbidden = [&](const std::string& before, const std::string& after) {
      return said("forbid: [" + before + "]", "forbid: [" + after + "]");
    };
    CHECK(forbidden(rule("age"), rule("age, band")) ==
          Texts{"neutral " + rule("age") + " -> " + rule("age, band")});
    CHECK(forbidden(rule("age"), rule("band")) == Texts{"looser " + rule("age") + " -> " + rule("band")});
    CHECK(forbidden(rule("band"), rule("age")) == Texts{"tighter " + rule("band") + " -> " + rule("age")});
    CHECK(forbidden(rule("age") + ", " + rule("old"), rule("age")) ==
          Texts{"neutral " + rule("old") + " -> "});
    CHECK(forbidden(rule("band"), rule("band") + ", " + rule("old")) == Texts{"tighter  -> " + rule("old")});
    CHECK(forbidden(rule("band"), rule("old")) ==
          Texts{"looser " + rule("band") + " -> ", "tighter  -> " + rule("old")});
  }
}

namespace {

const Texts kGroups = {"age", "band", "old", "ward"};

/// A policy with that list of columns, and which of the questions by one column, with a condition on one, and
/// about the cells of one it admits.
struct Admitting {
  Policy policy;
  std::vector<bool> questions;
};

Admitting admitting(const std::string& rules) {
  PolicyText text;
  text.columns =
      "{age: {type: int, values: [1, 2]}, ward: {type: string, values: [A]}, band: {from: age, bins: [0, "
      "18]},"
      " old: {from: age, map: {99: old}}}";
  text.more = rules;
  Admitting result{checked_policy(text.yaml(), "p.yaml"), {}};
  for (const std::string& column : kGroups) {
    for (const Question& question : {parse_question("count", column, std::nullopt),
                                     parse_question("count", std::nullopt, column + " is not missing"),
                                     parse_question("count:" + column, std::nullopt, std::nullopt)}) {
      Request request;
      request.dataset = "clinic";
      request.principal = "alice";
      request.question = question;
      const Dataset& dataset = result.policy.dataset("clinic");
      result.questions.push_back(access_reasons(result.policy, dataset, request).empty());
    }
  }
  return result;
}

/// Every list of some of the columns, none included, and no list.
std::vector<Admitting> every(const std::string& before_list, const std::string& after_list, bool empty) {
  std::vector<Admitting> all{admitting("")};
  for (unsigned chosen = empty ? 0 : 1; chosen < 1U << kGroups.size(); ++chosen) {
    std::string columns;
    for (std::size_t i = 0; i < kGroups.size(); ++i) {
      if ((chosen >> i & 1U) != 0) columns += (columns.empty() ? "" : ", ") + kGroups[i];
    }
    all.push_back(admitting(before_list + columns + after_list));
  }
  return all;
}

}  // namespace

TEST_CASE("policy diff: a list of columns is called looser just where it admits more, and tighter where less",
          "[engine][diff][derived][exhaustive]") {
  for (const auto& lists :
       {every("allow: {by: [", "]}", true), every("allow: {where: [", "]}", true),
        every("forbid: [{by: [", "]}]", false), every("forbid: [{where: [", "]}]", false),
        every("allow: {statistics: [count, count_of], columns: [", "]}", true),
        every("allow: {statistics: [count, count_of]}\n    forbid: [{columns: [", "]}]", false)}) {
    CHECK(lists.size() >= 16);
    for (const Admitting& before : lists) {
      for (const Admitting& after : lists) {
        bool more = false, less = false;
        for (std::size_t i = 0; i < before.questions.size(); ++i) {
          more |= after.questions[i] && !before.questions[i];
          less |= before.questions[i] && !after.questions[i];
        }
        const auto changes = diff(before.policy, after.policy);
        const auto says = [&](Direction direction) {
          return std::any_of(changes.begin(), changes.end(),
                             [&](const PolicyChange& change) { return change.direction == direction; });
        };
        INFO(before.policy.yaml() << after.policy.yaml());
        // That a list appears or goes is told without looking into it.
        const bool both = before.policy.yaml().find("allow") == after.policy.yaml().find("allow");
        if (says(Direction::looser) != more && both) FAIL_CHECK("looser");
        if (says(Direction::tighter) != less && both) FAIL_CHECK("tighter");
        if (more && !says(Direction::looser)) FAIL_CHECK("not looser");
        if (less && !says(Direction::tighter)) FAIL_CHECK("not tighter");
      }
    }
  }
}
