// Random pairs of policies that differ in one key or a few (policy_diff_behaviour_test.cpp).
#pragma once

#include <map>
#include <random>
#include <string>
#include <vector>

#include "support/case_table.hpp"

namespace epsilog::test {

/// A policy as the text of each of its parts, so that a change is another text for one of them. "" leaves the
/// part out.
class PolicyParts final {
 public:
  /// Writes one part at random. Few of the texts go with each other: whoever draws asks the parser.
  void draw(const std::string& part, std::mt19937_64& random) {
    const std::vector<std::string>& texts = choices().at(part);
    text_[part] = texts[random() % texts.size()];
    if (part == "limits" || part == "forbid") text_[part] = list_of(part, random);
  }
  /// Every part, most of those that are optional left out.
  [[nodiscard]] static PolicyParts drawn(std::mt19937_64& random) {
    PolicyParts parts;
    for (const auto& [part, texts] : choices()) {
      parts.text_[part] = texts.front();
      if (random() % 3 == 0) parts.draw(part, random);
    }
    if (random() % 4 == 0) {
      parts.text_["lifetime"] = "{epsilon: 3}";
      parts.draw("blocks", random);
    }
    // Under these measures Gaussian noise is what most would ask for.
    const bool curved = parts.text_["budget"].starts_with("measure");
    if (curved && random() % 2 == 0) parts.text_["release"] = "{default: {mechanism: discrete_gaussian}}";
    return parts;
  }
  void change(std::mt19937_64& random) {
    auto part = std::next(choices().begin(), static_cast<std::ptrdiff_t>(random() % choices().size()));
    static const std::vector<std::string> kOften = {"blocks", "wards",   "rows",    "mean_split",
                                                    "limits", "labels",  "allow",   "forbid",
                                                    "cost",   "missing", "release", "limits"};
    if (random() % 3 == 0) part = choices().find(kOften[random() % kOften.size()]);
    const std::string before = text_[part->first];
    for (int attempt = 0; attempt < 20 && text_[part->first] == before; ++attempt) draw(part->first, random);
  }

  [[nodiscard]] std::string yaml() const {
    const auto of = [this](const char* part) -> const std::string& { return text_.at(part); };
    std::string text = "version: 1\n";
    if (!of("people").empty()) text += "principals: {" + of("people") + of("bob") + "}\n";
    text += "datasets:\n  clinic:\n";
    const auto add = [&](const std::string& key, const std::string& value) {
      if (!value.empty()) text += "    " + key + ": " + value + "\n";
    };
    const bool exact = of("rows").find("exact") != std::string::npos;
    add("source", "{csv: visits.csv}");
    add("unit", of("unit"));
    add("rows", of("rows"));
    add("neighbours", exact ? "replace-one" : of("neighbours"));
    add("budget", "{" + of("budget") + of("renew") + "}");
    add("lifetime", of("lifetime"));
    add("blocks", of("blocks"));
    add("columns", "{day: {type: date}, age: {type: int, bounds: " + of("age") + of("missing") +
                       "}, cost: {type: decimal, scale: " + of("scale") + ", bounds: " + of("cost") +
                       of("step") + ", missing: 1}, ward: {type: string" + of("wards") +
                       "}, dose: {type: double" + of("dose") + "}" + of("column") + of("labels") + "}");
    add("queries", of("queries"));
    add("limits", of("limits"));
    add("per_release", of("per_release"));
    add("purposes", of("purposes"));
    add("allow", of("allow"));
    add("forbid", of("forbid"));
    add("approvals", of("approvals"));
    add("reservations", of("reservations"));
    add("release", of("release"));
    add("mean_split", of("mean_split"));
    return text;
  }

 private:
  /// Of each part what it is written as; the first is what most policies have.
  static const std::map<std::string, std::vector<std::string>>& choices() {
    static const std::map<std::string, std::vector<std::string>> kChoices = [] {
      std::map<std::string, std::vector<std::string>> choices;
      for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/engine/curating/policy_parts.tsv")) {
        choices[row.at(0)].assign(row.begin() + 1, row.end());
      }
      return choices;
    }();
    return kChoices;
  }

  /// One to three of the entries, none twice.
  static std::string list_of(const std::string& part, std::mt19937_64& random) {
    const std::vector<std::string>& texts = choices().at(part);
    std::map<std::size_t, std::string> chosen;  // in the order of the table or against it
    const bool reversed = random() % 2 == 0;
    for (std::uint64_t count = random() % 4; count > 0; --count) {
      const std::size_t i = 1 + random() % (texts.size() - 1);
      chosen[reversed ? texts.size() - i : i] = texts[i];
    }
    std::string list;
    for (const auto& [place, text] : chosen) list += (list.empty() ? "" : ", ") + text;
    return list.empty() ? "" : "[" + list + "]";
  }

  std::map<std::string, std::string> text_;
};

}  // namespace epsilog::test
