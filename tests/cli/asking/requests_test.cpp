// reserve, commit, cancel, token, pending, approve and reject through the command: what they print, and how
// they end.
#include "cli/workbench.hpp"

using namespace epsilog::test;

namespace {

/// The clinic, where alice asks and carol approves what costs more than 0.25.
std::string with_approvals() {
  return std::string(kClinicPolicy) +
         "    approvals: {required: 1, by: {roles: [custodian]}, above: {epsilon: 0.25}, expires: 72h}\n"
         "principals:\n"
         "  alice: {}\n"
         "  bob: {}\n"
         "  carol: {roles: [custodian]}\n";
}

class Requests {
 public:
  explicit Requests(const std::string& policy) { bench.init(policy); }

  [[nodiscard]] Result as(const std::string& who, std::vector<std::string> words,
                          const Streams& streams = {}) const {
    words.insert(words.end(), {"--as", who});
    return bench.with_ledger(std::move(words), streams);
  }
  /// With --json, which must be what it prints.
  [[nodiscard]] json told(const std::string& who, std::vector<std::string> words, int exit,
                          const Streams& streams = {}) const {
    words.emplace_back("--json");
    const Result result = as(who, std::move(words), streams);
    INFO(result.out << result.err);
    CHECK(result.exit == exit);
    return result.json();
  }
  [[nodiscard]] std::string id(const std::string& who, std::vector<std::string> words, int exit) const {
    return told(who, std::move(words), exit)["decision_id"];
  }
  /// "spent/reserved".
  [[nodiscard]] std::string balance() const {
    const json account = bench.with_ledger({"budget", "clinic", "--json"}).json()["accounts"][0];
    return account["spent"].get<std::string>() + "/" + account["reserved"].get<std::string>();
  }

  Workbench bench;
};

}  // namespace

TEST_CASE("reserve: prints id, deadline and plan, holds the cost, and commit releases it",
          "[cli][requests]") {
  const Requests requests(kClinicPolicy);
  const json plan =
      requests.bench.with_ledger({"plan", "clinic", "sum:cost", "--epsilon", "0.5", "--json"}).json();
  const json reserved = requests.told("alice", {"reserve", "clinic", "sum:cost", "--epsilon", "0.5"}, 0);
  check_members(reserved, R"({"decision": "granted", "state": "reserved", "value": null,
      "reservation": "plain", "data_token": null, "data_accessed_by": null})");
  CHECK(reserved["deadline"].get<std::string>() > reserved["created_at"].get<std::string>());
  CHECK(reserved["approvals"].is_null());
  for (const char* field : {"mechanism", "scale", "grid", "bound", "accuracy", "epsilon"}) {
    CAPTURE(field);
    CHECK(reserved[field] == plan[field]);
  }
  CHECK(reserved["accounts"][0]["reserved"] == "0.5");
  CHECK(requests.balance() == "0/0.5");
  const std::string id = reserved["decision_id"];
  const json granted = requests.told("alice", {"commit", id}, 0);
  check_members(granted, R"({"decision": "granted", "state": "granted", "data_token": null})");
  CHECK(granted["parent"] == id);
  const json access = requests.bench.with_ledger({"show", granted["data_accessed_by"], "--json"}).json();
  check_members(access, R"({"state": "data_accessed"})");
  CHECK(access["parent"] == id);
  CHECK(granted["value"].is_string());
  CHECK(requests.balance() == "0.5/0");
  const json again = requests.told("alice", {"commit", id}, 0);
  CHECK(again["replayed"] == true);
  CHECK(again["value"] == granted["value"]);
  CHECK(requests.bench.with_ledger({"show", id, "--quiet"}).out ==
        requests.bench.with_ledger({"show", granted["decision_id"], "--quiet"}).out);
  CHECK(requests.bench.with_ledger({"audit", "verify"}).exit == 0);
}

TEST_CASE("reserve: what does not fit ends with 4 and names the reserved part", "[cli][requests][negative]") {
  const Requests requests(kClinicPolicy);
  REQUIRE(requests.as("alice", {"reserve", "clinic", "count", "--epsilon", "0.75"}).exit == 0);
  const json refused = requests.told("alice", {"reserve", "clinic", "count", "--epsilon", "0.5"}, 4);
  CHECK(refused["decision"] == "refused");
  CHECK(refused["reasons"][0]["fits"] == "0.25");
  const Result told = requests.as("alice", {"release", "clinic", "count", "--epsilon", "0.5"});
  check_ended(told, 4, "reserved 0.75");
}

TEST_CASE("reserve: a key replays it", "[cli][requests]") {
  const Requests requests(kClinicPolicy);
  const std::vector<std::string> words = {"reserve", "clinic", "count", "--epsilon", "0.5", "--key", "k"};
  const json first = requests.told("alice", words, 0);
  const json again = requests.told("alice", words, 0);
  CHECK(again["replayed"] == true);
  CHECK(again["decision_id"] == first["decision_id"]);
  CHECK(requests.balance() == "0/0.5");
}

TEST_CASE("cancel: gives back what nobody can have seen and charges the rest", "[cli][requests]") {
  const Requests requests(kClinicPolicy);
  const std::string count = requests.id("alice", {"reserve", "clinic", "count", "--epsilon", "0.25"}, 0);
  const json cancelled = requests.told("alice", {"cancel", count}, 0);
  check_members(cancelled, R"({"decision": "refused", "state": "cancelled"})");
  CHECK(cancelled["ended_by"].is_string());
  CHECK(cancelled["epsilon"]["charged"] == "0");
  const std::string value = requests.id("alice", {"reserve", "clinic", "value:auc", "--epsilon", "0.25"}, 0);
  const Result forfeited = requests.as("alice", {"cancel", value});
  CHECK(forfeited.exit == 0);
  CHECK(contains(forfeited.out, "charged in full"));
  CHECK(requests.balance() == "0.25/0");
  const json shown = requests.bench.with_ledger({"show", value, "--json"}).json();
  CHECK(shown["state"] == "forfeited");
  CHECK(shown["epsilon"]["charged"] == "0.25");
  // Who commits now is told what became of it.
  CHECK(requests.told("alice", {"commit", value, "--value", "0.5"}, 4)["state"] == "forfeited");
  CHECK(contains(requests.as("alice", {"commit", count}).err, "cancelled; nothing was charged"));
}

TEST_CASE("token: a value is committed only after the data were handed out against it", "[cli][requests]") {
  const Requests requests(kClinicPolicy);
  const std::vector<std::string> reserve = {"reserve",   "clinic", "value:auc",
                                            "--epsilon", "0.25",   "--data-token"};
  const std::string id = requests.id("alice", reserve, 0);
  const Result early = requests.as("alice", {"commit", id, "--value", "0.5"});
  check_ended(early, 2, "token");
  const Result token = requests.as("alice", {"token", id, "--quiet"});
  CHECK(token.exit == 0);
  CHECK(token.out.size() == 65);
  CHECK(requests.as("alice", {"token", id, "--quiet"}).out == token.out);
  CHECK(requests.told("alice", {"token", id}, 0)["data_token"].get<std::string>() + "\n" == token.out);
  Streams input;
  input.input = "0.5\n";
  const json granted = requests.told("alice", {"commit", id, "--value", "-"}, 0, input);
  CHECK(granted["decision"] == "granted");
  // Another one is given back as long as nothing was handed out, and charged afterwards.
  const std::string second = requests.id("alice", reserve, 0);
  CHECK(requests.told("alice", {"cancel", second}, 0)["state"] == "cancelled");
  const std::string third = requests.id("alice", reserve, 0);
  REQUIRE(requests.as("alice", {"token", third}).exit == 0);
  CHECK(requests.told("alice", {"cancel", third}, 0)["state"] == "forfeited");
  CHECK(requests.told("alice", {"token", second}, 4)["state"] == "cancelled");
  CHECK(requests.balance() == "0.5/0");
  CHECK(requests.as("alice", {"reserve", "clinic", "count", "--epsilon", "0.1", "--data-token"}).exit == 2);
}

TEST_CASE("token: show knows it, a history does not tell it, and a ledger of lines has its hash",
          "[cli][requests]") {
  const Requests requests(kClinicPolicy);
  const std::string id =
      requests.id("alice", {"reserve", "clinic", "value:auc", "--epsilon", "0.25", "--data-token"}, 0);
  const json issued = requests.told("alice", {"token", id}, 0);
  const std::string token = issued["data_token"];
  const std::string hash = issued["data_token_sha256"];
  const auto told = [&](std::vector<std::string> words, const std::string& ledger = "L") {
    words.insert(words.end(), {"--ledger", requests.bench.path(ledger)});
    const Result result = requests.bench.run(words);
    INFO(result.err);
    REQUIRE(result.exit == 0);
    return result.out;
  };
  CHECK(contains(told({"show", id}), token));
  CHECK(json::parse(told({"show", id, "--json"}))["data_token"] == token);
  const json by_token = json::parse(told({"show", token, "--json"}));
  CHECK(by_token["state"] == "data_accessed");
  CHECK(by_token["parent"] == id);
  CHECK(by_token["durable"] == true);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"history"}, {"history", "--json"}, {"audit", "export"}, {"pending"}}) {
    CHECK_FALSE(contains(told(words), token));
  }
  CHECK(contains(told({"history", "--json"}), hash));
  std::string other = token;
  other.back() = other.back() == '0' ? '1' : '0';
  CHECK(requests.bench.with_ledger({"show", other}).exit == 3);

  requests.bench.write("lines", told({"audit", "export"}));
  REQUIRE(requests.bench
              .run({"audit", "import", requests.bench.path("lines"), "--ledger", requests.bench.path("copy")})
              .exit == 0);
  const json without = json::parse(told({"show", id, "--json"}, "copy"));
  CHECK(without["data_token"].is_null());
  CHECK(without["data_token_sha256"] == hash);
  const std::string text = told({"show", id}, "copy");
  CHECK(contains(text, "not in this ledger"));
  CHECK_FALSE(contains(text, "epsilog token"));
  CHECK(json::parse(told({"show", token, "--json"}, "copy"))["parent"] == id);
  CHECK(requests.bench.run({"token", id, "--as", "alice", "--ledger", requests.bench.path("copy")}).exit ==
        3);
}

TEST_CASE("approval: release waits with exit code 5, and commit releases it once it is approved",
          "[cli][requests]") {
  const Requests requests(with_approvals());
  const std::vector<std::string> release = {"release", "clinic", "count", "--epsilon", "0.5", "--key", "k"};
  CHECK(requests.told("alice", {"plan", "clinic", "count", "--epsilon", "0.5"}, 5)["decision"] == "pending");
  CHECK(requests.told("alice", {"plan", "clinic", "count", "--epsilon", "0.25"}, 0)["decision"] == "granted");
  const json pending = requests.told("alice", release, 5);
  check_members(pending, R"({"decision": "pending", "state": "pending", "value": null})");
  CHECK(pending["epsilon"]["charged"] == "0");
  CHECK(pending["approvals"]["required"] == 1);
  CHECK(pending["approvals"]["given"].empty());
  CHECK(requests.balance() == "0/0");
  const std::string id = pending["decision_id"];
  const Result list = requests.bench.with_ledger({"pending", "clinic", "--json"});
  CHECK(lines(list.out) == 1);
  const json listed = json::parse(list.out);
  CHECK(listed["decision_id"] == id);
  CHECK(listed["epsilon"]["charged"] == "0.5");
  CHECK(listed["deadline"] == pending["deadline"]);
  CHECK(contains(requests.bench.with_ledger({"pending"}).out, "approved 0 of 1"));
  CHECK(requests.told("alice", {"commit", id}, 5)["state"] == "pending");

  const json approved = requests.told("carol", {"approve", id}, 0);
  CHECK(approved["state"] == "reserved");
  CHECK(approved["approvals"]["given"][0]["by"] == "carol");
  CHECK(requests.balance() == "0/0.5");
  const json asked_again = requests.told("alice", release, 5);
  check_members(asked_again, R"({"decision": "pending", "state": "reserved"})");
  const json granted = requests.told("alice", {"commit", id}, 0);
  CHECK(granted["decision"] == "granted");
  CHECK(requests.told("alice", release, 0)["value"] == granted["value"]);
  CHECK(requests.balance() == "0.5/0");
  CHECK(requests.bench.with_ledger({"pending", "--json"}).out.empty());
  CHECK(requests.bench.with_ledger({"audit", "verify"}).exit == 0);
  CHECK(lines(decisions_of(requests.bench.with_ledger({"history", "--json"}).out)) == 5);
}

TEST_CASE("reasons: those of an approval and of a policy version are kept and shown", "[cli][requests]") {
  const Requests requests(with_approvals());
  const std::string id = requests.id("alice", {"release", "clinic", "count", "--epsilon", "0.5"}, 5);
  const json approved = requests.told("carol", {"approve", id, "--why", "agreed with the board"}, 0);
  CHECK(approved["approvals"]["given"][0]["why"] == "agreed with the board");
  CHECK(requests.bench.with_ledger({"show", id, "--json"}).json()["approvals"]["given"][0]["why"] ==
        "agreed with the board");
  CHECK(contains(requests.bench.with_ledger({"show", id}).out, "carol (agreed with the board)"));
  bool told = false;
  std::istringstream history(decisions_of(requests.bench.with_ledger({"history", "--json"}).out));
  for (std::string line; std::getline(history, line);) {
    const json decision = json::parse(line);
    if (decision["state"] != "approved") continue;
    CHECK(decision["why"] == "agreed with the board");
    told = true;
  }
  CHECK(told);
  const auto shown = [&] {
    return requests.bench.with_ledger({"policy", "show", "--json"}).json().at("why");
  };
  CHECK(shown().is_null());
  requests.bench.write("next.yaml", with_approvals() + "# reviewed\n");
  REQUIRE(requests.bench.with_ledger({"policy", "apply", "next.yaml", "--why", "a yearly review"}).exit == 0);
  CHECK(shown() == "a yearly review");
  CHECK(requests.bench.with_ledger({"audit", "verify"}).exit == 0);
}

TEST_CASE("approval: the value of a named query is given to the commit", "[cli][requests]") {
  const Requests requests(with_approvals());
  const std::string id =
      requests.id("alice", {"release", "clinic", "value:auc", "--epsilon", "0.5", "--value", "0.75"}, 5);
  REQUIRE(requests.as("carol", {"approve", id}).exit == 0);
  CHECK(requests.as("alice", {"commit", id}).exit == 2);
  CHECK(requests.told("alice", {"commit", id, "--value", "abc"}, 0)["decision"] == "granted");
  CHECK(requests.told("alice", {"commit", id, "--value", "0.75"}, 0)["replayed"] == true);
}

TEST_CASE("reject: ends it with a reason, and the key tells so", "[cli][requests]") {
  const Requests requests(with_approvals());
  const std::vector<std::string> release = {"release", "clinic", "count", "--epsilon", "0.5", "--key", "k"};
  const std::string id = requests.id("alice", release, 5);
  const json rejected = requests.told("carol", {"reject", id, "--why", "ask for less"}, 0);
  check_members(rejected, R"({"state": "rejected", "why": "ask for less"})");
  const json told = requests.told("alice", release, 4);
  check_members(told, R"({"decision": "refused", "state": "rejected"})");
  CHECK(requests.told("carol", {"approve", id}, 4)["state"] == "rejected");
  CHECK(requests.told("alice", {"cancel", id}, 0)["state"] == "rejected");
  CHECK(requests.balance() == "0/0");
}

TEST_CASE("requests: whoever may not is told so with exit code 3, and nothing is recorded",
          "[cli][requests][negative]") {
  const Requests requests(with_approvals());
  const std::string id = requests.id("alice", {"release", "clinic", "count", "--epsilon", "0.5"}, 5);
  const std::string before = dump(requests.bench.path("L"));
  for (const auto& [who, verb] :
       {std::pair("alice", "approve"), std::pair("bob", "approve"), std::pair("bob", "reject"),
        std::pair("bob", "cancel"), std::pair("carol", "commit"), std::pair("bob", "commit")}) {
    CAPTURE(who, verb);
    CHECK(requests.told(who, {verb, id}, 3)["error"]["code"] == "not_permitted");
  }
  CHECK(requests.told("alice", {"token", id}, 2)["error"]["code"] == "invalid_parameter");
  for (const char* verb : {"commit", "cancel", "token", "approve", "reject"}) {
    CAPTURE(verb);
    CHECK(requests.told("carol", {verb, "01HV5Y3K9QZ8T7W6R5N4M3J2XA"}, 3)["error"]["code"] == "not_found");
    CHECK(requests.as("carol", {verb}).exit == 2);
  }
  CHECK(requests.as("alice", {"commit", id, "--value"}).exit == 2);
  CHECK(requests.as("alice", {"reserve", "clinic", "count", "--epsilon", "0"}).exit == 2);
  CHECK(requests.as("alice", {"reserve", "clinic", "value:auc", "--epsilon", "0.1", "--value", "1"}).exit ==
        2);
  CHECK(requests.bench.with_ledger({"pending", "clinik"}).exit == 3);
  CHECK(dump(requests.bench.path("L")) == before);
}
