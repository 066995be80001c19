// Verifications and reaccounts over the API: one at a time, beside requests, and over when they are to be.
#include "audit_jobs.hpp"

#include <future>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/reaccount.hpp"
#include "figures_json.hpp"
#include "reaccount_output.hpp"
#include "served_clinic.hpp"

using namespace epsilog;
using namespace epsilog::test;

namespace {

constexpr const char* kRoute = "/v1/verifications";

std::string begun(ServedClinic& clinic, const std::string& body = "") {
  const Reply reply = clinic.ask(kDora, "POST", kRoute, body);
  INFO(reply.response.body);
  REQUIRE(reply.status == 201);
  CHECK(reply.header("location") == kRoute + ("/" + reply.body.at("id").get<std::string>()));
  return reply.body.at("id");
}

json ended(ServedClinic& clinic, const std::string& id) {
  return clinic.ask(kDora, "GET", kRoute + ("/" + id) + "?wait=60").body;
}

/// A verification that goes on until it is let go or told to end.
struct Held {
  std::atomic<double> fraction = 0;
  std::atomic<bool> let_go = false;
  serve::AuditJobs::Verify verify = [this](const engine::Progress& progress, engine::StorageCheck) {
    while (!let_go) {
      progress(fraction);
      std::this_thread::yield();
    }
    engine::AuditReport report;
    report.ok = true;
    report.records = 7;
    return report;
  };
};

}  // namespace

TEST_CASE("a verification is begun, waited for, and says that the ledger is sound", "[api][audits]") {
  ServedClinic clinic;
  for (int i = 0; i < 3; ++i) {
    REQUIRE(clinic.ask(kAlice, "POST", "/v1/releases", clinic.asks("0.01")).status == 201);
  }
  const std::string id = begun(clinic, R"({"storage":"quick"})");
  const json found = ended(clinic, id);
  check_members(found, R"({"state": "done", "ok": true, "records": 3})");
  CHECK(found.at("faults").empty());
  check_members(found, R"({"faults_count": 0, "percent": 100, "storage": "quick", "by": "dora",
      "problem": null})");
  CHECK_FALSE(found.at("ended_at").is_null());
  CHECK(found.at("ledger_id") == clinic.engine->ledger_id());
}

TEST_CASE("one verification runs at a time, beside requests, and another is told which it is",
          "[api][audits]") {
  ServedClinic clinic;
  Held held;
  clinic.verify = held.verify;
  const std::string id = begun(clinic);
  const Reply second = clinic.ask(kDora, "POST", kRoute);
  CHECK(second.status == 409);
  CHECK(second.body.at("code") == "verification_running");
  CHECK(second.body.at("detail").get<std::string>().find(id) != std::string::npos);
  CHECK(clinic.ask(kRoot, "POST", kRoute, "", {.curator_socket = true}).status == 409);
  // Somebody asks meanwhile, and is answered.
  CHECK(clinic.ask(kAlice, "POST", "/v1/releases", clinic.asks("0.01")).status == 201);
  const auto standing = [&] { return clinic.ask(kDora, "GET", kRoute + ("/" + id)).body; };
  CHECK(standing().at("state") == "running");
  CHECK(standing().at("ended_at").is_null());
  held.fraction = 0.42;
  while (standing().at("percent") != 42) std::this_thread::yield();
  held.fraction = 0.1;  // it never runs back
  CHECK(standing().at("percent") == 42);
  auto waiting = std::async(std::launch::async, [&] { return ended(clinic, id); });
  while (clinic.admission->figures().long_polls == 0) std::this_thread::yield();
  held.let_go = true;
  const json found = waiting.get();
  check_members(found, R"({"state": "done", "records": 7})");
  CHECK(ended(clinic, begun(clinic)).at("state") == "done");
}

TEST_CASE("a verification that is cancelled ends at its next step, and another can be begun",
          "[api][audits]") {
  ServedClinic clinic;
  Held held;
  clinic.verify = held.verify;
  const std::string id = begun(clinic);
  const Reply cancelled = clinic.ask(kDora, "POST", kRoute + ("/" + id) + "/cancel");
  CHECK(cancelled.status == 200);
  const json found = ended(clinic, id);
  CHECK(found.at("state") == "cancelled");
  CHECK_FALSE(found.contains("ok"));
  // Once more changes nothing.
  CHECK(clinic.ask(kDora, "POST", kRoute + ("/" + id) + "/cancel").body.at("state") == "cancelled");
  held.let_go = true;
  const std::string next = begun(clinic);
  CHECK(ended(clinic, next).at("state") == "done");
  CHECK(clinic.ask(kDora, "POST", kRoute + ("/" + next) + "/cancel").body.at("state") == "done");
}

TEST_CASE("the end of the daemon ends a verification and who waits for it, and begins no other",
          "[api][audits]") {
  ServedClinic clinic;
  Held held;
  clinic.verify = held.verify;
  const std::string id = begun(clinic);
  auto waiting = std::async(std::launch::async, [&] { return ended(clinic, id); });
  while (clinic.admission->figures().long_polls == 0) std::this_thread::yield();
  clinic.audits.stop();
  clinic.view->stop();
  CHECK(clinic.audits.wait_until_idle(std::chrono::steady_clock::now() + std::chrono::seconds(10)));
  static_cast<void>(waiting.get());
  CHECK(clinic.ask(kDora, "GET", kRoute + ("/" + id)).body.at("state") == "cancelled");
  const Reply refused = clinic.ask(kDora, "POST", kRoute);
  CHECK(refused.status == 503);
  CHECK(refused.body.at("code") == "stopping");
}

TEST_CASE("a verification that does not look up is not waited for for ever", "[api][audits]") {
  std::promise<void> go;
  const auto let = go.get_future().share();
  serve::AuditJobs audits([let](const engine::Progress&, engine::StorageCheck) {
    let.wait();
    return engine::AuditReport();
  });
  CHECK(audits.wait_until_idle({}));
  static_cast<void>(audits.start_verification("dora", engine::StorageCheck::full));
  audits.stop();
  CHECK_FALSE(audits.wait_until_idle(std::chrono::steady_clock::now() + std::chrono::milliseconds(1)));
  go.set_value();
  CHECK(audits.wait_until_idle(std::chrono::steady_clock::now() + std::chrono::seconds(10)));
}

TEST_CASE("what a callback of a verification throws ends it, whatever it is", "[api][audits]") {
  struct Told {};
  ServedClinic clinic;
  // Progress is told after 1,024 decisions.
  for (int part = 0; part < 3; ++part) {
    std::string requests;
    for (int i = 0; i < 350; ++i) requests += (i == 0 ? "" : ",") + clinic.asks("0.0001");
    REQUIRE(clinic.ask(kAlice, "POST", "/v1/releases", R"({"requests":[)" + requests + "]}").status == 200);
  }
  const auto tell = [](double) { throw Told(); };
  CHECK_THROWS_AS(engine::audit_verify(clinic.ledger(), tell, engine::StorageCheck::none), Told);
  engine::ReaccountQuestion question;
  question.accountants = {accounting::Accountant::pure};
  CHECK_THROWS_AS(engine::reaccount(clinic.ledger(), question, tell), Told);
}

TEST_CASE("faults are told without places of files and without words of a library", "[api][audits]") {
  ServedClinic clinic;
  clinic.verify = [](const engine::Progress&, engine::StorageCheck) {
    engine::AuditReport report;
    report.faults = {
        {"decision 01ARZ3NDEKTSV4RRFFQ69G5FAV", "charge_differs", "0.5 was charged, 0.4 follows"},
        {"location 1", "location_changed", "the source is '/srv/clinic/visits.csv'"},
        {"storage", "storage_damaged", "malformed database schema (sqlite_master)"},
        {"ledger", "ledger_corrupt", "/srv/clinic.ledger: file is not a database"},
        {"ledger", "poisoned", "write of /srv/clinic.ledger-wal failed; nobody can"}};
    for (int i = 0; i < 200; ++i)
      report.faults.push_back({"account " + std::to_string(i), "balance", "wrong"});
    return report;
  };
  const std::string id = begun(clinic);
  const json found = ended(clinic, id);
  check_members(found, R"({"state": "done", "ok": false, "faults_count": 205})");
  REQUIRE(found.at("faults").size() == 100);
  CHECK(found.at("faults")[0].at("message") == "0.5 was charged, 0.4 follows");
  CHECK(found.at("faults")[1].at("code") == "location_changed");
  for (const char* hidden : {"srv", "sqlite", "not a database"}) {
    CAPTURE(hidden);
    CHECK(found.dump().find(hidden) == std::string::npos);
  }
}

TEST_CASE("a verification that could not be done says why as any other answer does", "[api][audits]") {
  ServedClinic clinic;
  clinic.verify = [](const engine::Progress&, engine::StorageCheck) -> engine::AuditReport {
    throw LedgerIo("/srv/clinic.ledger: disk I/O error");
  };
  const std::string id = begun(clinic);
  const json found = ended(clinic, id);
  CHECK(found.at("state") == "failed");
  CHECK(found.at("problem").at("code") == "ledger_io");
  CHECK_FALSE(found.contains("ok"));
  CHECK(found.dump().find("srv") == std::string::npos);
}

TEST_CASE("verifications are of auditors, and those that are long over are not there", "[api][audits]") {
  ServedClinic clinic;
  Held held;
  held.let_go = true;
  clinic.verify = held.verify;
  const std::string first = begun(clinic);
  REQUIRE(ended(clinic, first).at("state") == "done");
  const std::string none(32, '0');
  CHECK(clinic.ask(kDora, "GET", kRoute + ("/" + none)).status == 404);
  CHECK(clinic.ask(kDora, "POST", kRoute + ("/" + none) + "/cancel").status == 404);
  for (const std::uint32_t uid : {kAlice, kCarol, kOtto}) {
    CHECK(clinic.ask(uid, "GET", kRoute + ("/" + first)).body.at("code") == "duty_required");
    CHECK(clinic.ask(uid, "GET", kRoute + ("/" + none)).body.at("code") == "duty_required");
  }
  for (int i = 0; i < 16; ++i) static_cast<void>(ended(clinic, begun(clinic)));
  CHECK(clinic.ask(kDora, "GET", kRoute + ("/" + first)).status == 404);
  for (const char* body : {R"({"storage":"all"})", R"({"path":"/"})", R"({"storage":1})"}) {
    CHECK(clinic.ask(kDora, "POST", kRoute, body).body.at("code") == "invalid_body");
  }
}

TEST_CASE("a reaccount has the figures of the command", "[api][audits]") {
  ServedClinic clinic;
  for (int i = 0; i < 3; ++i) {
    REQUIRE(clinic.ask(kAdam, "POST", "/v1/releases", clinic.asks("0.01")).status == 201);
  }
  const auto asked = [&](const std::string& body, engine::ReaccountQuestion question) {
    const Reply reply = clinic.ask(kDora, "POST", "/v1/reaccounts", body);
    CAPTURE(body, reply.response.body);
    REQUIRE(reply.status == 200);
    CHECK(reply.body.at("label") == engine::kReaccountLabel);
    if (question.accountants.empty()) {
      question.accountants.assign(accounting::kAccountants.begin(), accounting::kAccountants.end());
    }
    json expected = json::array();
    for (const engine::Reaccount& one : engine::reaccount(clinic.ledger(), question)) {
      expected.push_back(json::parse(command::figures_json(command::reaccount_figures(one))));
    }
    CHECK(reply.body.at("datasets") == expected);
    return reply.body.at("datasets");
  };
  engine::ReaccountQuestion question;
  CHECK(asked("", question)[0].at("releases") == 3);
  question.dataset = "clinic";
  question.scopes = true;
  CHECK(asked(R"({"dataset":"clinic","scopes":true})", question).size() == 2);
  question = {};
  question.accountants = {accounting::Accountant::pld};
  question.delta = accounting::parse_rational("1e-9", "delta");
  CHECK(asked(R"({"accountant":"pld","delta":1e-9})", question)[0].at("delta") == "0.000000001");
  question = {};
  question.accountants = {accounting::Accountant::pure};
  question.epsilon = accounting::parse_rational("1/2", "epsilon");
  static_cast<void>(asked(R"({"accountant":"pure","epsilon":"1/2"})", question));
}

TEST_CASE("a reaccount of what cannot be asked is refused, and one is composed at a time", "[api][audits]") {
  ServedClinic clinic;
  const auto reply = [&](const std::string& body, std::uint32_t uid = kDora) {
    return clinic.ask(uid, "POST", "/v1/reaccounts", body);
  };
  CHECK(reply("", kCarol).body.at("code") == "duty_required");
  CHECK(reply(R"({"dataset":"hospital"})").status == 404);
  CHECK(reply(R"({"accountant":"magic"})").body.at("code") == "invalid_body");
  CHECK(reply(R"({"delta":0.1,"epsilon":1})").body.at("code") == "invalid_body");
  CHECK(reply(R"({"delta":1})").body.at("code") == "invalid_parameter");
  CHECK(reply(R"({"epsilon":-1})").body.at("code") == "invalid_parameter");
  CHECK(reply(R"({"ledger":"/srv"})").body.at("code") == "invalid_body");
  {
    const auto other = clinic.audits.try_lock_reaccount();
    CHECK(reply("").body.at("code") == "overloaded");
    CHECK_FALSE(reply("").header("retry-after").empty());
  }
  CHECK(reply("").status == 200);
  clinic.audits.stop();
  CHECK(reply("").body.at("code") == "stopping");
}
