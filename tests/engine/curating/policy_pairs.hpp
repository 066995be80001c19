// Random pairs of policies that differ in one key or a few (policy_diff_behaviour_test.cpp).
#pragma once

#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

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
    static const std::string kPeople = "alice: {roles: [research]}, carol: {roles: [custodian]}";
    static const std::string kDave = ", dave: {roles: [custodian, research]}";
    static const std::map<std::string, std::vector<std::string>> kChoices = {
        {"people", {kPeople + kDave, kPeople, ""}},
        {"bob",
         {", bob: {roles: [planning]}", ", bob: {}", ", bob: {roles: [research, planning]}",
          ", bob: {purposes: [staffing]}", ", bob: {roles: [custodian]}", ""}},
        {"unit", {"{id: patient, max_rows: 3}", "{id: patient, max_rows: 2}", "row"}},
        {"rows", {"{max: 1000}", "{max: 2000}", "{exact: 1000}", "{exact: 1200}"}},
        {"neighbours", {"add-remove", "replace-one"}},
        {"budget",
         {"epsilon: 1", "epsilon: 1.5", "epsilon: 1, delta: 1e-5", "epsilon: 1, delta: 1e-6",
          "measure: zcdp, rho: 1/10", "measure: zcdp, rho: 1/12", "measure: zcdp, rho: 1/10",
          "measure: rdp, orders: {2: 0.3, 8: 1}", "measure: rdp, orders: {2: 0.3}"}},
        {"renew",
         {"", ", renew: month", ", renew: quarter", ", renew: week",
          ", renew: month, accept_unbounded_lifetime: true"}},
        {"lifetime", {"", "{epsilon: 2}", "{epsilon: 3}", "{measure: zcdp, rho: 1/5}"}},
        {"blocks",
         {"", "{by: ward}", "{by: band}", "{by: band}", "{by: day, per: month, from: 2024-01, to: 2024-03}",
          "{by: day, per: month, from: 2024-02, to: 2024-03}",
          "{by: day, per: month, from: 2024-01, to: 2024-04}"}},
        {"age", {"[0, 110]", "[0, 120]"}},
        {"scale", {"2", "3", "0"}},
        {"missing", {", missing: 0", "", ", missing: 1"}},
        {"cost", {"[0, 500]", "[1, 500]", "[-5, 500]", "[0, 20000]"}},
        {"step", {"", ", step: 1", ", step: 5"}},
        {"dose", {"", ", bounds: [0, 8]", ", bounds: [1, 8]", ", bounds: [1, 8], step: 0.5"}},
        {"wards", {", values: [A, B, C]", ", values: [A, B]", ", values: [A, B, D]", ""}},
        {"column", {"", ", note: {type: bool}"}},
        {"labels",
         {"", ", band: {from: age, bins: [0, 40, 110]}", ", band: {from: age, bins: [0, 40, 80, 110]}",
          ", band: {from: cost, bins: [0, 40, 110]}", ", band: {from: age, map: {1: x, 2: y}, other: z}",
          ", band: {from: day, per: month, first: 2024-01, last: 2024-03}",
          ", band: {from: day, per: month, first: 2024-01, last: 2024-04}",
          ", band: {from: day, per: month, first: 2024-02, last: 2024-03}",
          ", band: {type: string, values: [A, B]}"}},
        {"queries",
         {"", "{auc: {bounds: [0, 1], sensitivity: 0.01}}", "{auc: {bounds: [0, 1], sensitivity: 0.02}}"}},
        {"limits",
         {"", "{each: principal, epsilon: 0.6}", "{each: principal, epsilon: 0.8}",
          "{each: role, epsilon: 1}", "{principal: bob, epsilon: 0.5}",
          "{principal: bob, epsilon: 0.6, delta: 1e-5}", "{principal: alice, measure: zcdp, rho: 1/20}",
          "{role: research, epsilon: 0.7}", "{role: research, measure: zcdp, rho: 1/15}",
          "{purpose: staffing, epsilon: 0.5}", "{each: principal, epsilon: 0.8, delta: 1e-5}",
          "{principal: alice, epsilon: 0.6, delta: 1e-5}",
          "{role: custodian, measure: rdp, orders: {4: 0.5}}",
          "{principal: carol, measure: zcdp, rho: 1/20}"}},
        {"per_release",
         {"", "{epsilon: 0.4}", "{epsilon: 0.3}", "{rho: 1/20}", "{rho: 1/60}", "{epsilon: 0.4, delta: 1e-5}",
          "{orders: {4: 0.04}}"}},
        {"purposes", {"", "[staffing]", "[staffing, quality]"}},
        {"allow",
         {"",
          "{statistics: [count, mean]}",
          "{statistics: [count, mean, units, sum]}",
          "{statistics: [count, sum, mean, ratio, quantile]}",
          "{statistics: [count, sum, variance, ratio, quantile]}",
          "{statistics: [quantile, ratio, count], roles: [research]}",
          "{columns: [age]}",
          "{statistics: [variance, ratio]}",
          "{statistics: [count, variance, private_variance, ratio]}",
          "{statistics: [quantile, distinct]}",
          "{statistics: [quantile, count_of, proportion, distinct]}",
          "{statistics: [count_of, proportion], columns: [age, ward]}",
          "{by: []}",
          "{where: [day]}",
          "{by: [band]}",
          "{by: [age]}",
          "{by: [age, band]}",
          "{where: [age]}",
          "{where: [band]}",
          "{by: [ward], where: [age, band]}",
          "{principals: [alice]}",
          "{roles: [research]}",
          "{principals: [bob], roles: [research]}"}},
        {"forbid",
         {"",
          "{principals: [alice]}",
          "{principals: [alice, bob]}",
          "{roles: [research]}",
          "{statistics: [mean]}",
          "{principals: [alice], statistics: [mean]}",
          "{statistics: [variance]}",
          "{statistics: [private_variance]}",
          "{columns: [cost], statistics: [ratio, private_variance]}",
          "{statistics: [count_of]}",
          "{statistics: [quantile, distinct], columns: [age]}",
          "{columns: [ward, band], statistics: [proportion, distinct]}",
          "{principals: [alice, bob], statistics: [mean, units]}",
          "{by: [ward]}",
          "{roles: [research], by: [ward]}",
          "{columns: [age]}",
          "{where: [day]}",
          "{purposes: [staffing]}",
          "{by: [band]}",
          "{by: [age]}",
          "{by: [band, age]}",
          "{where: [age]}",
          "{where: [band]}",
          "{by: [ward], where: [age]}",
          "{by: [ward], where: [band, age]}"}},
        {"approvals",
         {"", "{required: 1, by: {roles: [custodian]}}",
          "{required: 1, by: {roles: [custodian]}, expires: 1d}", "{required: 2, by: {roles: [custodian]}}",
          "{required: 1, by: {principals: [carol]}}",
          "{required: 1, by: {roles: [custodian]}, above: {epsilon: 0.2}}",
          "{required: 1, by: {roles: [custodian]}, above: {epsilon: 0.2, rho: 1/50}}",
          "{required: 1, by: {roles: [custodian]}, above: {rho: 1/100}}",
          "{required: 1, by: {roles: [custodian]}, above: {orders: {4: 0.03}}}"}},
        {"reservations", {"", "{expires: 2h}"}},
        {"release",
         {"", "{default: {mechanism: gaussian}}", "{default: {mechanism: discrete_laplace}}",
          "{default: {mechanism: discrete_gaussian}}", "{default: {mechanism: discrete_gaussian}}",
          "{default: {mechanism: discrete_gaussian, grid: 4}}", "{default: {bound: 5000}}",
          "{default: {binding_probability: 1e-3}}", "{count: {bound: 5000}}", "{sum: {bound: 9000000}}",
          "{count: {mechanism: discrete_gaussian}}", "{quantile: {mechanism: exponential}}",
          "{quantile: {mechanism: permute_and_flip}}", "{default: {precision: 256}}"}},
        {"mean_split", {"", "1/5", "2/3"}},
    };
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
