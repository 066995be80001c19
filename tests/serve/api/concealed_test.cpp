// A dataset that the caller may not ask is answered as one that is not there, by every route that takes one.
#include "epsilog/ledger/ledger_time.hpp"
#include "served_clinic.hpp"
#include "support/case_table.hpp"

using namespace epsilog;
using namespace epsilog::test;

namespace {

/// The clinic and beside it `secret`, which alice may ask and nobody else.
std::string policy() {
  return served_policy() + served_text("concealed_dataset.yaml");
}

/// What a body asks beside its dataset and its key.
std::vector<std::string> questions() {
  std::vector<std::string> result;
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/serve/api/concealed_questions.tsv")) {
    result.push_back(row.at(0));
  }
  return result;
}

struct Way {
  const char* name;
  std::function<Reply(ServedClinic&, std::uint32_t who, const std::string& dataset,
                      const std::string& question)>
      ask;
};

std::vector<Way> asking_ways() {
  const auto post = [](const char* route, const std::string& more) {
    return [=](ServedClinic& clinic, std::uint32_t who, const std::string& dataset,
               const std::string& question) {
      return clinic.ask(who, "POST", route, R"({"dataset":")" + dataset + "\"," + question + more + "}");
    };
  };
  const auto among_others = [](const std::string& before) {
    return [=](ServedClinic& clinic, std::uint32_t who, const std::string& dataset,
               const std::string& question) {
      return clinic.ask(
          who, "POST", "/v1/releases",
          R"({"requests":[)" + before + R"({"dataset":")" + dataset + "\"," + question + R"(,"key":"k"}]})");
    };
  };
  return {{"POST /v1/plans", post("/v1/plans", "")},
          {"POST /v1/plans with a key", post("/v1/plans", R"(,"key":"k")")},
          {"POST /v1/forecasts", post("/v1/forecasts", "")},
          {"POST /v1/forecasts of a count", post("/v1/forecasts", R"(,"count":3)")},
          {"POST /v1/releases", post("/v1/releases", R"(,"key":"k")")},
          {"POST /v1/releases without a key", post("/v1/releases", "")},
          {"POST /v1/reservations", post("/v1/reservations", R"(,"key":"k")")},
          {"POST /v1/releases of several, the first", among_others("")},
          {"POST /v1/releases of several, the second",
           among_others(R"({"dataset":"clinic","statistic":"count","epsilon":"0.1","key":"fine"},)")}};
}

std::vector<Way> reading_ways() {
  const auto get = [](const std::string& route) {
    return [=](ServedClinic& clinic, std::uint32_t who, const std::string& dataset, const std::string&) {
      return clinic.ask(who, "GET", route + dataset);
    };
  };
  return {{"GET /v1/budgets", get("/v1/budgets?dataset=")},
          {"GET /v1/pending", get("/v1/pending?dataset=")},
          {"GET /v1/decisions", get("/v1/decisions?dataset=")}};
}

std::size_t refusals(ServedClinic& clinic, const std::string& who) {
  return clinic.refused.last_hour(who, ledger::wall_clock_ms());
}

/// The same words with the name of the one dataset in place of that of the other.
std::string with_name(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

void check_concealed(ServedClinic& clinic, const Way& way, const std::string& question) {
  CAPTURE(way.name, question);
  std::string words;
  for (const std::string& dataset : {std::string("nosuch"), std::string("secret")}) {
    const std::int64_t before = clinic.engine->newest_seq();
    const std::size_t refused = refusals(clinic, "adam");
    const std::size_t logged = clinic.log().size();
    const Reply reply = way.ask(clinic, kAdam, dataset, question);
    INFO(reply.response.body);
    CHECK(reply.status == 404);
    CHECK(reply.body.at("code") == "not_found");
    CHECK(clinic.engine->newest_seq() == before);
    CHECK(refusals(clinic, "adam") == refused + 1);
    REQUIRE(clinic.log().size() == logged + 1);
    CHECK(clinic.log().back().starts_with("'adam' (unix:1002)"));
    CHECK((clinic.log().back().find("secret") != std::string::npos) == (dataset == "secret"));
    if (words.empty()) {
      words = reply.response.body;
      CHECK(words.find("secret") == std::string::npos);
    } else {
      CHECK(reply.response.body == with_name(words, "nosuch", "secret"));
    }
  }
}

}  // namespace

TEST_CASE(
    "a dataset that is not theirs is answered as one that is not there, whatever is asked of it by any route",
    "[api][concealed]") {
  ServedClinic clinic(policy(), ServedClinic::generous(), 100'000);
  for (const Way& way : asking_ways()) {
    for (const std::string& question : questions()) check_concealed(clinic, way, question);
  }
  for (const Way& way : reading_ways()) check_concealed(clinic, way, "");
}

TEST_CASE("a duty is no leave to ask", "[api][concealed]") {
  ServedClinic clinic(policy());
  const Way plans = asking_ways().front();
  for (const std::uint32_t who : {kCarol, kDora, kOtto}) {
    CHECK(plans.ask(clinic, who, "secret", questions().front()).status == 404);
  }
  CHECK(plans.ask(clinic, kAlice, "secret", questions().front()).status == 200);
  CHECK(clinic.ask(kDora, "GET", "/v1/budgets?dataset=secret").status == 200);
}

TEST_CASE("who asks for datasets that are not theirs is told to wait as after other refusals",
          "[api][concealed]") {
  ServedClinic clinic(policy(), ServedClinic::generous(), 3);
  for (const char* dataset : {"secret", "nosuch", "secret"}) {
    CHECK(clinic.ask(kAdam, "GET", std::string("/v1/budgets?dataset=") + dataset).status == 404);
  }
  for (const Way& way : asking_ways()) {
    CAPTURE(way.name);
    const Reply reply = way.ask(clinic, kAdam, "secret", questions().front());
    // A body that cannot be read is no question yet.
    const bool readable = std::string(way.name).find("without a key") == std::string::npos;
    CHECK(reply.body.at("code") == (readable ? "too_many_refusals" : "not_found"));
  }
  CHECK(asking_ways().front().ask(clinic, kAlice, "secret", questions().front()).status == 200);
  // Reading goes on, and fills neither the log nor the count.
  for (const Way& way : reading_ways()) CHECK(way.ask(clinic, kAdam, "secret", "").status == 404);
  CHECK(clinic.log().size() == 3);
  CHECK(refusals(clinic, "adam") == 3);
}

TEST_CASE("a retry is answered after the dataset was taken from the asker, and nothing else of it is",
          "[api][concealed]") {
  ServedClinic clinic(policy());
  const auto body = [](const std::string& epsilon) {
    return R"({"dataset":"secret","statistic":"count","key":"mine","epsilon":")" + epsilon + "\"}";
  };
  const Reply first = clinic.ask(kAlice, "POST", "/v1/releases", body("0.1"));
  REQUIRE(first.status == 201);
  std::string text = policy();
  const std::string own = "    allow: {principals: [alice]}\n";
  text.replace(text.find(own), own.size(), "    allow: {principals: [bob]}\n");
  clinic.folder.write("next.yaml", text);
  static_cast<void>(clinic.engine->apply_policy(clinic.folder.path("next.yaml"), "carol", "a test"));
  const std::int64_t before = clinic.engine->newest_seq();
  const Reply again = clinic.ask(kAlice, "POST", "/v1/releases", body("0.1"));
  CHECK(again.status == 200);
  CHECK(again.body.at("value") == first.body.at("value"));
  const auto several = [&](const std::string& more) {
    return clinic.ask(kAlice, "POST", "/v1/releases", R"({"requests":[)" + body("0.1") + more + "]}");
  };
  REQUIRE(several("").status == 200);
  CHECK(several("").body.at("decisions").at(0).at("value") == first.body.at("value"));
  const Reply both = several("," + body("0.2"));
  CHECK(both.status == 404);
  CHECK(both.body.at("detail").get<std::string>().starts_with("requests[1]: "));
  CHECK(clinic.ask(kAlice, "POST", "/v1/releases", body("0.2")).status == 404);
  CHECK(clinic.ask(kAlice, "POST", "/v1/plans", body("0.1")).status == 404);
  CHECK(clinic.engine->newest_seq() == before);
  CHECK(clinic.ask(kAlice, "GET", "/v1/requests/" + first.id()).status == 200);
}

TEST_CASE("a request that is not theirs is answered as one that is not there before its body is looked at",
          "[api][concealed]") {
  ServedClinic clinic(policy());
  const std::string others = clinic.ask(kAlice, "POST", "/v1/releases", clinic.asks("0.6")).id();
  const std::string none = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
  for (const char* verb : {"/commit", "/cancel", "/token", "/approve", "/reject"}) {
    for (const char* body : {"", "{}", "{", "7", R"({"value":1})", R"({"why":"no"})", R"({"why":7})"}) {
      for (const char* tag : {"", "\"x\""}) {
        CAPTURE(verb, body, tag);
        const std::int64_t before = clinic.engine->newest_seq();
        const Sent sent{.headers = {{"if-match", tag}}};
        const Reply of_others = clinic.ask(kAdam, "POST", "/v1/requests/" + others + verb, body, sent);
        const Reply of_none = clinic.ask(kAdam, "POST", "/v1/requests/" + none + verb, body, sent);
        CHECK(of_others.status == 404);
        CHECK(of_others.response.body == of_none.response.body);
        CHECK(clinic.engine->newest_seq() == before);
      }
    }
  }
}
