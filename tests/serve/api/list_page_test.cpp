// Pages of lists: bounded, one after the other without a gap, and without the rows of batches.
#include "list_page.hpp"

#include "epsilog/ledger/ledger_time.hpp"
#include "served_clinic.hpp"

using namespace epsilog;
using namespace epsilog::test;

namespace {

std::string batch(const std::string& key, int rows, const std::string& epsilon) {
  const json row{{"statistic", "count"}, {"epsilon", epsilon}};
  return json{
      {"dataset", "clinic"}, {"key", key}, {"rows", std::vector<json>(static_cast<std::size_t>(rows), row)}}
      .dump();
}

/// With so many wards that one table of them is longer than a page.
std::string many_wards() {
  std::string policy = served_policy(), wards = "[A, B, C";
  for (int i = 0; i < 2600; ++i) wards += ", w" + std::to_string(i);
  return policy.replace(policy.find("[A, B, C]"), 9, wards + "]");
}

/// All pages of a list, one after the other.
struct Walk {
  std::vector<std::int64_t> seqs;
  std::size_t pages = 0, batches = 0;

  Walk(ServedClinic& clinic, std::uint32_t uid, const std::string& list, const std::string& limit) {
    for (std::string next; pages < 100;) {
      std::string target = "/v1/" + list + "?" + limit;
      if (!next.empty())
        target += std::string(limit.empty() ? "" : "&") + (list == "decisions" ? "before=" : "after=") + next;
      if (target.ends_with('?')) target.pop_back();
      const Reply page = clinic.ask(uid, "GET", target);
      REQUIRE(page.status == 200);
      ++pages;
      std::size_t longest = 0;
      for (const json& one : page.body.at(list == "pending" ? "requests" : "decisions")) {
        seqs.push_back(one.at("seq"));
        longest = std::max(longest, one.dump().size());
        if (one.at("statistic") != "batch") continue;
        ++batches;
        REQUIRE_FALSE(one.contains("rows"));
        REQUIRE(one.at("components").empty());
        REQUIRE(one.at("rows_count") == 2);
      }
      REQUIRE(page.response.body.size() <= serve::kPageBytes + longest + 200);
      const json& at = page.body.at("next");
      if (!page.body.value("more", !at.is_null())) return;
      next = at.is_string() ? at.get<std::string>() : at.dump();
    }
  }
};

}  // namespace

TEST_CASE("lists: pages tell each decision once and in order, end where they are full, and leave out rows",
          "[api][lists]") {
  ServedClinic clinic(many_wards());
  std::map<std::uint32_t, std::size_t> decided, waiting;
  const auto post = [&](std::uint32_t uid, const std::string& route, const std::string& body) {
    const Reply reply = clinic.ask(uid, "POST", route, body);
    REQUIRE(reply.body.contains("decision_id"));
    const bool waits = reply.body.at("state") == "reserved" || reply.body.at("state") == "pending";
    for (const std::uint32_t who : {uid, std::uint32_t{kDora}}) ++decided[who], waiting[who] += waits ? 1 : 0;
  };
  const std::string by_ward = R"(,"by":"ward")";
  post(kAlice, "/v1/releases", clinic.asks("0.01"));
  post(kAdam, "/v1/releases", clinic.asks("0.01"));
  for (int i = 0; i < 2; ++i) post(kAlice, "/v1/releases", clinic.asks("0.01", "count", by_ward));
  post(kAdam, "/v1/releases", batch("granted", 2, "0.001"));
  post(kAlice, "/v1/releases", batch("refused", 2, "1000"));
  for (int i = 0; i < 2; ++i) post(kAlice, "/v1/reservations", clinic.asks("0.01", "count", by_ward));
  for (int i = 0; i < 3; ++i)
    post(kAlice, "/v1/reservations", batch("reserved" + std::to_string(i), 2, "0.001"));
  post(kAlice, "/v1/releases", clinic.asks("0.6"));
  for (const std::string list : {"decisions", "events", "pending"}) {
    for (const std::string limit : {"", "limit=1", "limit=3"}) {
      if (list == "pending" && !limit.empty()) continue;
      for (const std::uint32_t who : {kAlice, kAdam, kDora, kOtto}) {
        CAPTURE(list, limit, who);
        const Walk walk(clinic, who, list, limit);
        CHECK(walk.seqs.size() == (list == "pending" ? waiting : decided)[who]);
        const auto in_order = [&](auto a, auto b) { return list == "decisions" ? a > b : a < b; };
        CHECK(std::is_sorted(walk.seqs.begin(), walk.seqs.end(), in_order));
        CHECK(std::adjacent_find(walk.seqs.begin(), walk.seqs.end()) == walk.seqs.end());
        if (who != kDora) continue;
        CHECK(walk.batches == (list == "pending" ? 3 : 5));
        if (list != "pending") CHECK(walk.pages > 1);
      }
    }
  }
  // What a list leaves out is told of the request itself.
  const Reply whole = clinic.ask(kAdam, "POST", "/v1/releases", batch("granted", 2, "0.001"));
  CHECK(clinic.ask(kAdam, "GET", "/v1/decisions/" + whole.id()).body.at("rows").size() == 2);
  for (const char* wrong : {"decisions?limit=1001", "decisions?before=x", "pending?after=x"})
    CHECK(clinic.ask(kDora, "GET", std::string("/v1/") + wrong).status == 400);
}

TEST_CASE(
    "refusals of an hour are counted from the ledger, a batch as its rows and at most as a tenth of them",
    "[api][refusals]") {
  ServedClinic clinic(served_policy(), ServedClinic::generous(), 30);
  CHECK(clinic.ask(kAlice, "POST", "/v1/releases", batch("two", 2, "1000")).status == 403);
  CHECK(clinic.ask(kAlice, "POST", "/v1/releases", batch("many", 100, "1000")).status == 403);
  int refused = 0;
  Reply reply;
  while ((reply = clinic.ask(kAlice, "POST", "/v1/releases", clinic.asks("1000"))).status == 403) ++refused;
  CHECK(refused == 30 - 2 - 3);
  CHECK(reply.status == 429);
  CHECK(reply.body.at("code") == "too_many_refusals");
  CHECK_FALSE(reply.header("retry-after").empty());
  CHECK(clinic.ask(kAdam, "POST", "/v1/releases", clinic.asks("0.001")).status == 201);
  // With two left a batch that would count as three has to wait.
  clinic.api->change(32);
  CHECK(clinic.ask(kAlice, "POST", "/v1/releases", batch("three", 3, "1000")).status == 429);
  // A daemon that starts now finds the same on record.
  serve::RefusalCount fresh;
  const std::int64_t now = ledger::wall_clock_ms();
  ledger::Snapshot view = clinic.view->snapshot();
  fresh.catch_up(view, now);
  CHECK(fresh.last_hour("alice", now, 3) == 30);
  CHECK(fresh.last_hour("alice", now) == 127);
  CHECK(fresh.last_hour("alice", now + 3'600'000 + 60'000) == 0);
}
