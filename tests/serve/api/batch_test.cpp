// Several requests in one body: as singly, or none of them.
#include "batch.hpp"

#include "epsilog/ledger/ledger_time.hpp"
#include "served_clinic.hpp"
#include "support/case_table.hpp"

using namespace epsilog;
using namespace epsilog::test;

namespace {

json one(const std::string& key, const std::string& epsilon = "0.01", const json& more = json::object()) {
  json object{{"dataset", "clinic"}, {"statistic", "count"}, {"epsilon", epsilon}, {"key", key}};
  object.update(more);
  return object;
}

Reply send(ServedClinic& clinic, std::uint32_t uid, const json& requests, const Sent& sent = {}) {
  return clinic.ask(uid, "POST", "/v1/releases", json{{"requests", requests}}.dump(), sent);
}

std::vector<int> statuses(const Reply& reply) {
  std::vector<int> found;
  for (const json& element : reply.body.at("decisions")) found.push_back(element.at("status"));
  return found;
}

std::int64_t decisions(ServedClinic& clinic) {
  return clinic.engine->newest_seq();
}

std::vector<std::string> alphas(const json& decision) {
  std::vector<std::string> found;
  for (const json& accuracy : decision.at("accuracy")) found.push_back(accuracy.at("alpha"));
  std::vector<std::string> of_intervals;
  for (const json& interval : decision.at("interval")) of_intervals.push_back(interval.at("alpha"));
  CHECK(of_intervals == found);
  return found;
}

}  // namespace

TEST_CASE("a batch has each decision in order, with the status and members that it would have alone",
          "[api][batch]") {
  ServedClinic clinic;
  REQUIRE(clinic.ask(kAlice, "POST", "/v1/releases", one("before").dump()).status == 201);
  const json requests = {one("granted"), one("over", "1000"), one("waits", "0.6"), one("before"),
                         one("before", "0.02")};
  const Reply reply = send(clinic, kAlice, requests);
  INFO(reply.response.body);
  REQUIRE(reply.status == 200);
  CHECK(reply.body.at("ledger_id") == clinic.engine->ledger_id());
  CHECK(statuses(reply) == std::vector<int>{201, 403, 202, 200, 409});
  const json& list = reply.body.at("decisions");
  CHECK(list[0].at("state") == "granted");
  CHECK_FALSE(list[0].at("value").is_null());
  CHECK(list[1].at("code") == "dataset_budget_exceeded");
  CHECK(list[1].at("type") == "/docs/refusals#dataset_budget_exceeded");
  CHECK(list[4].at("code") == "key_conflict");
  for (std::size_t i = 0; i < list.size(); ++i) {
    CAPTURE(i);
    check_members(list[i], R"({"principal": "alice", "via": "unix:1001"})");
    if (i == 4) continue;  // a conflict is recorded each time
    const Reply alone = clinic.ask(kAlice, "POST", "/v1/releases", requests[i].dump());
    CHECK(alone.body.at("decision_id") == list[i].at("decision_id"));
    CHECK(alone.body.at("value") == list[i].at("value"));
    CHECK((alone.status == list[i].at("status") || list[i].at("status") == 201));
    for (const auto& [name, value] : alone.body.items()) CHECK(list[i].contains(name));
  }
  CHECK(clinic.spent() == "0.02");
}

TEST_CASE("a batch that is sent again is free and gives the same answers", "[api][batch]") {
  ServedClinic clinic;
  const json requests = {one("a"), one("b", "0.02", {{"by", "ward"}})};
  const Reply first = send(clinic, kAlice, requests);
  REQUIRE(statuses(first) == std::vector<int>{201, 201});
  const Reply again = send(clinic, kAlice, requests);
  REQUIRE(statuses(again) == std::vector<int>{200, 200});
  for (std::size_t i = 0; i < 2; ++i) {
    for (const char* name : {"decision_id", "value", "cells"}) {
      CHECK(again.body.at("decisions")[i].at(name) == first.body.at("decisions")[i].at(name));
    }
  }
  CHECK(clinic.spent() == "0.03");
  CHECK(decisions(clinic) == 2);
  // Keys are of a principal here too.
  CHECK(statuses(send(clinic, kAdam, requests)) == std::vector<int>{201, 201});
}

TEST_CASE("a key twice in one batch is one decision, and with another question a conflict", "[api][batch]") {
  ServedClinic clinic;
  const Reply same = send(clinic, kAlice, {one("a"), one("a")});
  REQUIRE(statuses(same) == std::vector<int>{201, 200});
  CHECK(same.body.at("decisions")[0].at("value") == same.body.at("decisions")[1].at("value"));
  CHECK(same.body.at("decisions")[1].at("replayed") == true);
  CHECK(clinic.spent() == "0.01");
  const Reply other = send(clinic, kAlice, {one("b"), one("b", "0.02"), one("b")});
  CHECK(statuses(other) == std::vector<int>{201, 409, 200});
  CHECK(other.body.at("decisions")[1].at("value").is_null());
  CHECK(clinic.spent() == "0.02");
}

TEST_CASE("the same batch from many connections at once, beside its requests singly, is decided once",
          "[api][batch]") {
  ServedClinic clinic;
  const json requests = {one("a"), one("b", "0.02"), one("c", "0.03")};
  std::vector<std::map<std::string, std::string>> values(8);
  std::atomic<int> fresh = 0;
  const auto note = [&](std::size_t i, const json& decision) {
    fresh += decision.at("replayed") ? 0 : 1;
    values[i][decision.at("key")] = decision.at("value");
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < values.size(); ++i) {
    threads.emplace_back([&, i] {
      if (i % 2 == 0) {
        const Reply reply = send(clinic, kAlice, requests);
        for (const json& decision : reply.body.at("decisions")) note(i, decision);
        return;
      }
      for (const json& request : requests) {
        note(i, clinic.ask(kAlice, "POST", "/v1/releases", request.dump()).body);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(fresh == 3);
  for (const auto& found : values) CHECK(found == values.front());
  CHECK(values.front().size() == 3);
  CHECK(clinic.spent() == "0.06");
}

TEST_CASE("each of a batch is told the accuracies that it asked for", "[api][batch]") {
  ServedClinic clinic;
  const Reply reply =
      send(clinic, kAlice,
           {one("a"), one("b", "0.01", {{"alpha", {0.2, 0.05}}}), one("c", "0.01", {{"alpha", {0.1}}})});
  REQUIRE(reply.status == 200);
  CHECK(alphas(reply.body.at("decisions")[0]) == std::vector<std::string>{"0.05"});
  CHECK(alphas(reply.body.at("decisions")[1]) == std::vector<std::string>{"0.2", "0.05"});
  CHECK(alphas(reply.body.at("decisions")[2]) == std::vector<std::string>{"0.1"});
  json many = json::array();
  for (int i = 1; i <= 17; ++i)
    many.push_back(one("m" + std::to_string(i), "0.01", {{"alpha", {i / 100.0}}}));
  CHECK(send(clinic, kAlice, many).body.at("code") == "invalid_body");
}

TEST_CASE("what is wrong with one of a batch is said with its index, and nothing of it is decided",
          "[api][batch]") {
  ServedClinic clinic;
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/serve/api/wrong_elements.tsv")) {
    const json change = json::parse(row.at(0));
    json element = change.is_object() ? one("x", "0.1", change) : change;
    if (row.at(0) == "{\"key\":null}") element.erase("key");
    if (row.at(0) == "{\"key\":\"\"}") element["key"] = std::string(2000, 'x');
    const Reply reply = send(clinic, kAlice, {one("first"), one("second"), element, one("fourth")});
    CAPTURE(element.dump(), reply.response.body);
    CHECK(std::to_string(reply.status) == row.at(1));
    CHECK(reply.body.at("code") == row.at(2));
    CHECK(reply.body.at("detail").get<std::string>().starts_with("requests[2]: "));
  }
  CHECK(decisions(clinic) == 0);
  CHECK(clinic.spent() == "0");
}

TEST_CASE("a batch has from 1 to 500 requests, a key for each, and nothing beside them", "[api][batch]") {
  ServedClinic clinic;
  const auto code = [&](const std::string& text, const Sent& sent = {}) {
    return clinic.ask(kAlice, "POST", "/v1/releases", text, sent).body.value("code", "none");
  };
  CHECK(code(R"({"requests":[]})") == "invalid_body");
  CHECK(code(R"({"requests":{}})") == "invalid_body");
  CHECK(code(R"({"requests":"all"})") == "invalid_body");
  CHECK(code(json{{"requests", {one("a")}}, {"dataset", "clinic"}}.dump()) == "invalid_body");
  CHECK(code(json{{"requests", {one("a")}}}.dump(), {.headers = {{"idempotency-key", "a"}}}) ==
        "invalid_key");
  json many = json::array();
  for (std::size_t i = 0; i <= serve::kBatchRequestsMax; ++i)
    many.push_back(one(std::to_string(i), "0.0001"));
  CHECK(code(json{{"requests", many}}.dump()) == "invalid_body");
  CHECK(decisions(clinic) == 0);
  many.erase(many.begin());
  const Reply most = send(clinic, kAlice, many);
  CHECK(most.status == 200);
  CHECK(most.body.at("decisions").size() == serve::kBatchRequestsMax);
  CHECK(clinic.spent() == "0.05");
}

TEST_CASE("a body of several requests may have 1 MiB, one of one request 64 KiB as before", "[api][batch]") {
  ServedClinic clinic;
  // 100 KiB of blanks, which cost nothing but their length.
  const std::string blanks(100 * 1024, ' ');
  const std::string single = one("a").dump();
  const Reply refused = clinic.ask(kAlice, "POST", "/v1/releases", single + blanks);
  CHECK(refused.status == 413);
  CHECK(refused.body.at("detail") == "the body: at most 65536 bytes are taken here");
  CHECK(clinic.ask(kAlice, "POST", "/v1/releases", R"({"requests":[)" + single + blanks + "]}").status ==
        200);
  const Reply larger =
      clinic.ask(kAlice, "POST", "/v1/releases", "{}", {.declared = serve::kBatchBodyBytesMax + 1});
  CHECK(larger.status == 413);
  CHECK(clinic.ask(kAlice, "POST", "/v1/reservations", single + blanks).status == 413);
}

TEST_CASE("who keeps the machine, and who is nobody, can send no batch", "[api][batch]") {
  ServedClinic clinic;
  CHECK(send(clinic, kRoot, {one("a")}, {.curator_socket = true}).body.at("code") == "cannot_ask");
  CHECK(send(clinic, kNobody, {one("a")}).body.at("code") == "unknown_caller");
  CHECK(decisions(clinic) == 0);
}

TEST_CASE("a batch counts as so many requests a second, and is paid off afterwards", "[api][batch]") {
  serve::AdmissionLimits limits;
  limits.per_second = 1;
  limits.burst = 3;
  ServedClinic clinic(served_policy(), limits);
  json five = json::array();
  for (int i = 0; i < 5; ++i) five.push_back(one("k" + std::to_string(i)));
  CHECK(send(clinic, kAlice, five).status == 200);
  const Reply next = clinic.ask(kAlice, "GET", "/v1/me");
  CHECK(next.status == 429);
  CHECK(next.body.at("code") == "rate_limited");
  CHECK(clinic.ask(kAdam, "GET", "/v1/me").status == 200);
  // Whoever has asked something already has to wait for the rest.
  CHECK(send(clinic, kAdam, five).body.at("code") == "rate_limited");
  CHECK(decisions(clinic) == 5);
}

TEST_CASE("several requests at once hold no more new ones than their principal has refusals left",
          "[api][batch]") {
  ServedClinic clinic(served_policy(), ServedClinic::generous(), 5);
  json three = json::array();
  for (int i = 0; i < 3; ++i) three.push_back(one("r" + std::to_string(i), "1000"));
  CHECK(statuses(send(clinic, kAlice, three)) == std::vector<int>{403, 403, 403});
  CHECK(statuses(send(clinic, kAlice, three)) == std::vector<int>{403, 403, 403});  // retries
  json five = three;
  for (int i = 3; i < 5; ++i) five.push_back(one("r" + std::to_string(i), "1000"));
  const Reply more = send(clinic, kAlice, {one("b0"), one("b1"), one("b2")});
  CHECK(more.status == 429);
  CHECK(more.body.at("code") == "too_many_refusals");
  CHECK_FALSE(more.header("retry-after").empty());
  const std::vector<int> all_refused(5, 403);
  CHECK(statuses(send(clinic, kAlice, five)) == all_refused);
  CHECK(statuses(send(clinic, kAlice, five)) == all_refused);
  CHECK(send(clinic, kAlice, json::array({one("b0")})).body.at("code") == "too_many_refusals");
  CHECK(decisions(clinic) == 5);
}

TEST_CASE("of a batch too no value is told that is not known to be durable", "[api][batch]") {
  ServedClinic clinic;
  REQUIRE(send(clinic, kAlice, {one("a"), one("b")}).status == 200);
  clinic.folder.write("clinic.ledger.poisoned", "boot\nwhy\n");
  const Reply reply = send(clinic, kAlice, {one("a"), one("b")});
  INFO(reply.response.body);
  CHECK((reply.status == 503 || statuses(reply) == std::vector<int>{503, 503}));
  CHECK(reply.response.body.find("\"value\"") == std::string::npos);
}

TEST_CASE("rows are one decision with an answer each, which is planned, made once, held and seen by who may",
          "[api][batch][rows]") {
  ServedClinic clinic;
  const auto body = [](const json& rows, const std::string& key) {
    return json{{"dataset", "clinic"}, {"rows", rows}, {"key", key}}.dump();
  };
  const json rows = {{{"statistic", "count"}, {"epsilon", "0.01"}},
                     {{"statistic", "count"}, {"by", "ward"}, {"suppress_below", 2}, {"epsilon", 0.02}}};
  const Reply plan =
      clinic.ask(kAlice, "POST", "/v1/plans", json{{"dataset", "clinic"}, {"rows", rows}}.dump());
  INFO(plan.response.body);
  REQUIRE(plan.status == 200);
  CHECK(plan.body.at("rows").size() == 2);
  CHECK(plan.body.at("epsilon").at("charged") == "0.03");
  const Reply made = clinic.ask(kAlice, "POST", "/v1/releases", body(rows, "k"));
  INFO(made.response.body);
  REQUIRE(made.status == 201);
  CHECK(made.body.at("statistic") == "batch");
  CHECK(made.body.at("rows").at(0).at("value").is_string());
  CHECK(made.body.at("rows").at(1).at("cells").is_array());
  CHECK(decisions(clinic) == 1);
  const Reply again = clinic.ask(kAlice, "POST", "/v1/releases", body(rows, "k"));
  CHECK(again.status == 200);
  CHECK(again.body.at("rows") == made.body.at("rows"));
  CHECK(clinic.spent() == "0.03");
  const std::string path = "/v1/decisions/" + made.body.at("decision_id").get<std::string>();
  const Reply shown = clinic.ask(kAlice, "GET", path);
  CHECK(shown.body.at("rows").at(0).at("value") == made.body.at("rows").at(0).at("value"));
  CHECK(shown.body.at("rows").at(1).at("components").at(0).at("cells") ==
        made.body.at("rows").at(1).at("components").at(0).at("cells"));
  CHECK(clinic.ask(kAdam, "GET", path).status == 404);
  // Who may see that it was asked, and not what was answered.
  const Reply without = clinic.ask(kCarol, "GET", path);
  REQUIRE(without.status == 200);
  CHECK(without.body.at("rows").at(0).at("value").is_null());
  CHECK(without.body.at("rows").at(1).at("cells").at(0).at("value").is_null());
  CHECK(without.body.at("rows").at(1).at("components").at(0).at("cells").at(0).at("value").is_null());
  const Reply held = clinic.ask(kAlice, "POST", "/v1/reservations", body(rows, "held"));
  CHECK(held.status == 201);
  const Reply over = clinic.ask(
      kAlice, "POST", "/v1/releases",
      body({{{"statistic", "count"}, {"epsilon", "0.01"}}, {{"statistic", "sum:cost"}, {"epsilon", "1000"}}},
           "over"));
  CHECK(over.status == 403);
}

TEST_CASE("rows with a delta beside them are charged as one, and say by what", "[api][batch][rows]") {
  // No budget is pure: where one is, what asks for approval sees the sum.
  std::string policy = served_policy();
  for (const std::string epsilon : {"epsilon: 100}", "epsilon: 1}"})
    policy.replace(policy.find(epsilon), epsilon.size() - 1,
                   epsilon.substr(0, epsilon.size() - 1) + ", delta: 1e-3");
  ServedClinic clinic(policy);
  json rows = json::array();
  for (int i = 0; i < 60; ++i) rows.push_back({{"statistic", "count"}, {"epsilon", "0.01"}});
  json body{{"dataset", "clinic"}, {"rows", rows}, {"delta", "1e-6"}, {"key", "k"}};
  const Reply made = clinic.ask(kAlice, "POST", "/v1/releases", body.dump());
  INFO(made.response.body);
  // By the sum it would be 0.6, for which somebody would be asked.
  REQUIRE(made.status == 201);
  CHECK(made.body.at("composed").at("accountant") == "pld");
  CHECK(made.body.at("composed").at("sum").at("epsilon") == "0.6");
  CHECK(made.body.at("delta").at("charged") == "0.000001");
  for (const json& account : made.body.at("accounts")) {
    const bool of_delta = account.at("measure") == "delta";
    CHECK(account.at("spent") == (of_delta ? json("0.000001") : made.body.at("epsilon").at("charged")));
  }
  CHECK(clinic.ask(kAlice, "POST", "/v1/releases", body.dump()).status == 200);
  body["delta"] = 0.000002;
  CHECK(clinic.ask(kAlice, "POST", "/v1/releases", body.dump()).status == 409);
  body["key"] = "other";
  for (const json& wrong : {json("0"), json("1"), json("1e-19"), json("x"), json::array()}) {
    body["delta"] = wrong;
    const Reply refused = clinic.ask(kAlice, "POST", "/v1/releases", body.dump());
    CAPTURE(refused.response.body);
    CHECK(refused.status == 400);
    CHECK_THAT(refused.body.at("detail").get<std::string>(), says("delta"));
  }
  CHECK(decisions(clinic) == 2);
}

TEST_CASE("rows that are none are refused by place, and none is recorded", "[api][batch][rows][negative]") {
  ServedClinic clinic;
  const auto refuses = [&](const json& body, int status, const std::string& why) {
    const Reply reply = clinic.ask(kAlice, "POST", "/v1/releases", body.dump());
    CAPTURE(reply.response.body);
    CHECK(reply.status == status);
    CHECK_THAT(reply.body.at("detail").get<std::string>(), says(why));
  };
  const json fine{{"statistic", "count"}, {"epsilon", "0.01"}};
  const auto of = [](const json& rows, const json& more = json::object()) {
    json body{{"dataset", "clinic"}, {"key", "k"}, {"rows", rows}};
    body.update(more);
    return body;
  };
  refuses(of(json::array()), 400, "rows: from 1 to 1000");
  refuses(of({fine, 3}), 400, "rows[1]: an object is expected");
  refuses(of({fine, {{"statistic", "count"}}}), 400, "rows[1]: epsilon: is required");
  refuses(of({fine, {{"statistic", "counts"}, {"epsilon", "1"}}}), 400, "rows[1]: ");
  refuses(of({{{"statistic", "count"}, {"epsilon", "1"}, {"key", "k"}}}), 400, "rows[0]: ");
  refuses(of(json::array({fine}), {{"statistic", "count"}}), 400, "statistic");
  refuses(of({fine, {{"statistic", "value:score"}, {"epsilon", "0.01"}}}), 400, "row 2: 'value:score'");
  refuses(json{{"requests", json::array({of(json::array({fine}))})}}, 400,
          "requests[0]: rows: a batch is asked by itself");
  json long_row = fine;
  long_row["where"] = "ward = '" + std::string(70'000, 'A') + "'";
  json single = long_row;
  single.update({{"dataset", "clinic"}, {"key", "k"}});
  CHECK(clinic.ask(kAlice, "POST", "/v1/releases", single.dump()).status == 413);
  CHECK(decisions(clinic) == 0);
}
