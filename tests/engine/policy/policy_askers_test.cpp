// Who may ask for what, within which limits and with whose consent, as a policy writes it.
#include "epsilog/engine/checked_policy.hpp"
#include "policy_keys.hpp"
#include "policy_text.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;

using Texts = std::vector<std::string>;

namespace {

constexpr const char* kPrincipals =
    "{alice: {roles: [research, custodian], purposes: [planning]}, bob: {roles: [research]}, carol: {}}";

PolicyText with(const std::string& more) {
  PolicyText text;
  text.principals = kPrincipals;
  text.more = "purposes: [planning, quality]\n    " + more;
  return text;
}

}  // namespace

TEST_CASE("principals: absent means everybody, declared means these", "[engine][policy][askers][exact]") {
  CHECK_FALSE(checked_policy(PolicyText{}.yaml(), "p.yaml").principals().has_value());
  const Policy policy = checked_policy(with("mean_split: 1/3").yaml(), "p.yaml");
  CHECK(policy.dataset("clinic").purposes == Texts{"planning", "quality"});
  REQUIRE(policy.principals().has_value());
  REQUIRE(policy.principals()->size() == 3);
  const Principal& alice = *policy.principal("alice");
  CHECK(alice.name == "alice");
  CHECK(alice.roles == Texts{"research", "custodian"});
  CHECK(alice.purposes == Texts{"planning"});
  CHECK(alice.mark.line == 2);
  CHECK(alice.mark.column == 14);
  CHECK(policy.principal("bob")->roles == Texts{"research"});
  CHECK_FALSE(policy.principal("bob")->purposes.has_value());
  CHECK(policy.principal("carol")->roles.empty());
  CHECK(policy.principal("dave") == nullptr);
}

TEST_CASE("principals: a name is whatever an operating system calls its users",
          "[engine][policy][askers][exact]") {
  PolicyText text;
  text.principals =
      "{'CLINIC\\jürgen': {}, \"o'neil@example.org\": {}, 1001: {}, " + std::string(256, 'a') + ": {}}";
  const Policy policy = checked_policy(text.yaml(), "p.yaml");
  CHECK(policy.principal("CLINIC\\jürgen") != nullptr);
  CHECK(policy.principal("o'neil@example.org") != nullptr);
  CHECK(policy.principal("1001") != nullptr);
  CHECK(policy.principal(std::string(256, 'a')) != nullptr);
}

TEST_CASE("limits, rules and approvals know where they stand", "[engine][policy][askers][exact]") {
  const auto place = [](const Mark& mark) {
    return std::to_string(mark.line) + ":" + std::to_string(mark.column);
  };
  const Dataset clinic = with(
                             "limits:\n"
                             "      - {each: principal, epsilon: 1}\n"
                             "    forbid:\n"
                             "      - {columns: [age]}\n"
                             "    approvals: {required: 1, by: {roles: [custodian]}}")
                             .dataset();
  CHECK(place(clinic.limits.at(0).mark) == "13:9");
  CHECK(place(clinic.forbid.at(0).mark) == "15:9");
  CHECK(place(clinic.approvals->mark) == "16:5");
}

TEST_CASE("approvals: who is named and has a role as well counts once",
          "[engine][policy][askers][negative]") {
  CHECK(faults_of(with("approvals: {required: 2, by: {principals: [alice], roles: [custodian]}}")) ==
        Texts{"12:27: approvals.required: 2 must agree, and only 1 of the declared principals may; lower it, "
              "or name more under by"});
  CHECK(faults_of(with("approvals: {required: 2, by: {roles: [research, custodian]}}")).empty());
}

TEST_CASE("durations: seconds, minutes, hours and days from one minute to a year",
          "[engine][policy][askers][exact]") {
  CHECK(PolicyText{}.dataset().reservation_seconds == 24 * 3600);
  for (const char* text : {"59s", "366d", "31536001s", "999999999d"}) {
    CHECK(faults_of(with("reservations: {expires: " + std::string(text) + "}")) ==
          Texts{"12:29: reservations.expires: '" + std::string(text) + "' is not from 1m to 365d"});
  }
  for (const char* text : {"72", "h", "1.5h", "-1h", "01h", "1 h", "1w", "1H", "1000000000s", "0m"}) {
    CHECK(faults_of(with("reservations: {expires: " + std::string(text) + "}")) ==
          Texts{"12:29: reservations.expires: '" + std::string(text) +
                "' is not a duration: write a whole number and s, m, h or d, as in 90m, 72h or 7d"});
  }
}

TEST_CASE(
    "keys: a slip in any key of principals, limits, blocks, rules and consent is named with the nearest",
    "[engine][policy][askers][negative]") {
  struct Place {
    const KeyTable& table;
    std::string path;
    std::string before, after;  ///< around the map, under principals or further keys of the dataset
    bool on_top = false;
  };
  const Place places[] = {
      {keys::principal, "principals.alice", "{alice: ", "}", true},
      {keys::lifetime, "lifetime", "lifetime: ", ""},
      {keys::blocks, "blocks", "blocks: ", ""},
      {keys::limit, "limits", "limits: [", "]"},
      {keys::forbid, "forbid", "forbid: [", "]"},
      {keys::approvals, "approvals", "approvals: ", ""},
      {keys::approvers, "approvals.by", "approvals: {required: 1, by: ", "}"},
      {keys::above, "approvals.above", "approvals: {required: 1, by: {principals: [bob]}, above: ", "}"},
      {keys::reservations, "reservations", "reservations: ", ""},
  };
  for (const Place& place : places) {
    for (const Key& key : place.table.keys) {
      const std::string slip = std::string(1, key.name[0]) + std::string(key.name);
      PolicyText text;
      text.principals = place.on_top ? place.before + "{" + slip + ": 1}" + place.after : "{bob: {}}";
      if (!place.on_top) text.more = place.before + "{" + slip + ": 1}" + place.after;
      std::string expected = "unknown key '" + slip + "' in " + place.path + "; allowed: ";
      for (const std::string& name : place.table.names()) {
        expected += name + (name == place.table.names().back() ? "." : ", ");
      }
      expected += " Did you mean '" + std::string(key.name) + "'?";
      CAPTURE(slip);
      const Texts faults = faults_of(text);
      const auto same = [&](const std::string& fault) { return fault.ends_with(": " + expected); };
      CHECK(std::count_if(faults.begin(), faults.end(), same) == 1);
    }
  }
}

TEST_CASE("keys: where principals or purposes cannot be read, nothing is said to be undeclared",
          "[engine][policy][askers][negative]") {
  PolicyText text;
  text.principals = "{alice: {roles: [1st]}, bob: {}}";
  text.more =
      "allow: {principals: [carol], roles: [research]}\n"
      "    approvals: {required: 5, by: {roles: [custodian]}}\n"
      "    limits: [{role: research, epsilon: 1}, {each: role, epsilon: 1}]\n"
      "    forbid: [{roles: [research]}]";
  CHECK(faults_of(text) == Texts{"2:30: role name '1st': use letters, digits and _, not starting with a "
                                 "digit, at most 64 characters"});
  text.principals = "";
  text.more =
      "purposes: planning\n"
      "    limits: [{purpose: planning, epsilon: 1}]\n"
      "    forbid: [{purposes: [planning]}]";
  CHECK(faults_of(text) == Texts{"10:15: purposes: expected a list of names, found 'planning'"});
}

TEST_CASE("principals: a purpose of one dataset is enough", "[engine][policy][askers]") {
  PolicyText text;
  text.principals = "{alice: {purposes: [planning, quality]}}";
  text.more = "purposes: [planning]";
  CHECK(faults_of(text).size() == 1);
  const std::string one = text.yaml();
  std::string second = one.substr(one.find("  clinic:"));
  second.replace(second.find("clinic"), 6, "archive");
  second.replace(second.find("[planning]"), 10, "[quality]");
  CHECK(faults_of(one + second).empty());
}
