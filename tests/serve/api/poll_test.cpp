// What ends while a long poll waits: it is decided again who asks and what they see before anything is told.
#include <sys/socket.h>

#include <condition_variable>
#include <mutex>

#include "descriptor.hpp"
#include "served_clinic.hpp"

using namespace epsilog;
using namespace epsilog::test;

namespace {

/// The policy of the clinic with some words in it changed.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = served_policy();
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

void put_in_place(ServedClinic& clinic, const std::string& policy) {
  engine::Engine beside = engine::Engine::open(clinic.ledger());
  static_cast<void>(beside.apply_policy(clinic.folder.write("next.yaml", policy), "carol", "a test"));
}

/// Asks in a thread of its own, and returns once it waits as a long poll.
class Poll final {
 public:
  Poll(ServedClinic& clinic, std::uint32_t uid, const std::string& target, const std::string& token = "") {
    Sent sent;
    if (!token.empty()) sent.headers = {{"authorization", "Bearer " + token}};
    thread_ = std::thread(
        [this, &clinic, uid, target, sent] { reply_ = clinic.ask(uid, "GET", target, "", sent); });
    while (clinic.admission->figures().long_polls == 0) std::this_thread::yield();
  }
  ~Poll() {
    if (thread_.joinable()) thread_.join();
  }
  const Reply& told() {
    thread_.join();
    return reply_;
  }

 private:
  std::thread thread_;
  Reply reply_;
};

/// What ends somebody's right to be told, and what a poll of theirs is answered then.
struct Ending {
  const char* what;
  std::uint32_t who;
  bool by_token;
  std::function<void(ServedClinic&, const std::string& credential)> end;
  int of_request;  ///< status of a poll of a request that they saw
  int of_events;   ///< and of one of events, which then shows nothing of others
  int of_verification;
  /// What is done before the poll, so that its own news do not answer it early.
  std::function<void(ServedClinic&)> prepare = {};
};

void revoke(ServedClinic& clinic, const std::string& credential) {
  ledger::Ledger ledger = ledger::Ledger::open(clinic.ledger(), {});
  static_cast<void>(engine::revoke_credential(ledger, credential, "carol", "a test"));
}

std::string credential_of(ServedClinic& clinic, const std::string& principal) {
  ledger::Snapshot view = ledger::Ledger::open_read_only(clinic.ledger()).snapshot();
  for (const engine::Credential& one : engine::CredentialBook::of(view).list()) {
    if (one.principal == principal) return one.id;
  }
  return "";
}

std::vector<Ending> endings() {
  const auto policy = [](const std::string& from, const std::string& to) {
    return [=](ServedClinic& clinic, const std::string&) { put_in_place(clinic, changed(from, to)); };
  };
  return {
      {"the token is revoked", kDora, true, revoke, 401, 401, 401},
      {"the credential of the uid is revoked", kDora, false,
       [](ServedClinic& clinic, const std::string&) { revoke(clinic, credential_of(clinic, "dora")); }, 401,
       401, 401},
      {"the uid becomes another auditor's", kDora, false,
       [](ServedClinic& clinic, const std::string&) {
         ledger::Ledger ledger = ledger::Ledger::open(clinic.ledger(), {});
         const std::string before = credential_of(clinic, "dora");
         static_cast<void>(engine::revoke_credential(ledger, before, "carol", "a test"));
         static_cast<void>(
             engine::add_uid(ledger, {.principal = "otto", .by = "carol", .why = "a test"}, kDora));
       },
       401, 401, 401,
       [](ServedClinic& clinic) {
         put_in_place(clinic,
                      changed("  otto: {duties: [operate]}\n", "  otto: {duties: [operate, audit]}\n"));
       }},
      {"the policy declares the principal no more", kDora, false, policy("  dora: {duties: [audit]}\n", ""),
       401, 401, 401},
      {"the duty is taken away", kDora, false, policy("dora: {duties: [audit]}", "dora: {}"), 404, 200, 403},
      {"the duty to curate is taken away", kCarol, false,
       policy("carol: {duties: [curate]}\n", "carol: {}\n  chris: {duties: [curate]}\n"), 404, 200, 0},
      {"the approver is named no more", kBob, false,
       policy("by: {principals: [bob]}", "by: {principals: [adam]}"), 404, 0, 0},
      {"the dataset asks for no more approvals", kBob, false,
       policy("    approvals: {required: 1, by: {principals: [bob]}, above: {epsilon: 1/2}}\n", ""), 404, 0,
       0},
  };
}

struct Token {
  std::string text;
  std::string id;
};

/// The token by which who waits is known; empty where they are known by their uid.
Token token_of(ServedClinic& clinic, const Ending& ending) {
  if (ending.prepare) ending.prepare(clinic);
  if (!ending.by_token) return {};
  ledger::Ledger ledger = ledger::Ledger::open(clinic.ledger(), {});
  const auto issued = engine::new_token(ledger, {.principal = "dora", .by = "carol", .why = "a test"});
  return {issued.token.text(), issued.credential.id};
}

}  // namespace

TEST_CASE("a long poll of a request tells nothing to those who have lost the right to it meanwhile",
          "[api][polls]") {
  for (const Ending& ending : endings()) {
    CAPTURE(ending.what);
    ServedClinic clinic;
    const std::string id = clinic.ask(kAlice, "POST", "/v1/releases", clinic.asks("0.6")).id();
    const Token token = token_of(clinic, ending);
    Poll poll(clinic, ending.who, "/v1/requests/" + id + "?wait=60", token.text);
    ending.end(clinic, token.id);
    REQUIRE(clinic.ask(kAlice, "POST", "/v1/requests/" + id + "/cancel").status == 200);
    const Reply& told = poll.told();
    INFO(told.response.body);
    CHECK(told.status == ending.of_request);
    CHECK(told.response.body.find(id) == std::string::npos);
  }
}

TEST_CASE("a long poll of events tells nothing that was recorded after the right to it ended",
          "[api][polls]") {
  for (const Ending& ending : endings()) {
    if (ending.of_events == 0) continue;
    CAPTURE(ending.what);
    ServedClinic clinic;
    const Token token = token_of(clinic, ending);
    Poll poll(clinic, ending.who, "/v1/events?wait=1", token.text);
    ending.end(clinic, token.id);
    const std::string id = clinic.ask(kAlice, "POST", "/v1/releases", clinic.asks("0.01")).id();
    const Reply& told = poll.told();
    INFO(told.response.body);
    CHECK(told.status == ending.of_events);
    CHECK(told.response.body.find(id) == std::string::npos);
    if (told.status == 200) CHECK(told.body.at("decisions").empty());
  }
}

TEST_CASE("a long poll of a verification ends for those who lost the duty to audit meanwhile",
          "[api][polls]") {
  for (const Ending& ending : endings()) {
    if (ending.of_verification == 0) continue;
    CAPTURE(ending.what);
    ServedClinic clinic;
    std::mutex mutex;
    std::condition_variable may_end;
    bool over = false;
    clinic.verify = [&](const engine::Progress&, engine::StorageCheck) {
      std::unique_lock lock(mutex);
      may_end.wait(lock, [&] { return over; });
      return engine::AuditReport{};
    };
    const Token token = token_of(clinic, ending);
    const std::string id = clinic.ask(kDora, "POST", "/v1/verifications").body.at("id");
    Poll poll(clinic, ending.who, "/v1/verifications/" + id + "?wait=60", token.text);
    ending.end(clinic, token.id);
    {
      const std::scoped_lock lock(mutex);
      over = true;
    }
    may_end.notify_all();
    const Reply& told = poll.told();
    CHECK(told.status == ending.of_verification);
    CHECK_FALSE(told.body.contains("state"));
  }
}

TEST_CASE("a long poll that the daemon ends tells nothing to those who have lost the right to it",
          "[api][polls]") {
  for (const Ending& ending : endings()) {
    CAPTURE(ending.what);
    ServedClinic clinic;
    const std::string id = clinic.ask(kAlice, "POST", "/v1/releases", clinic.asks("0.6")).id();
    const Token token = token_of(clinic, ending);
    Poll poll(clinic, ending.who, "/v1/requests/" + id + "?wait=60", token.text);
    ending.end(clinic, token.id);
    clinic.view->stop();
    const Reply& told = poll.told();
    CHECK(told.status == ending.of_request);
    CHECK(told.response.body.find(id) == std::string::npos);
  }
}

TEST_CASE(
    "a long poll that waits on tells as ever, also under another policy that changes nothing for who waits",
    "[api][polls]") {
  ServedClinic clinic;
  const std::string id = clinic.ask(kAlice, "POST", "/v1/releases", clinic.asks("0.6")).id();
  Poll events(clinic, kDora, "/v1/events?wait=60&after=1");
  put_in_place(clinic, served_policy() + "# another\n");
  REQUIRE(clinic.ask(kAlice, "POST", "/v1/requests/" + id + "/cancel").status == 200);
  const Reply& told = events.told();
  REQUIRE(told.status == 200);
  CHECK(told.body.at("decisions").size() == 1);
}

TEST_CASE("a request that waited for its place or its body is decided again before it is answered",
          "[api][polls]") {
  serve::AdmissionLimits limits = ServedClinic::generous();
  limits.running = 1;
  ServedClinic clinic(served_policy(), limits);
  const std::string id = clinic.ask(kAlice, "POST", "/v1/releases", clinic.asks("0.6")).id();
  Reply told;
  std::thread waits;
  {
    auto entered = clinic.admission->enter("another", false);
    auto& place = std::get<serve::Admission::Entry>(entered);
    REQUIRE_FALSE(place.wait_for_slot());
    waits = std::thread([&] { told = clinic.ask(kDora, "GET", "/v1/decisions"); });
    while (clinic.admission->figures().waiting == 0) std::this_thread::yield();
    revoke(clinic, credential_of(clinic, "dora"));
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
  }
  waits.join();
  CHECK(told.status == 401);
  CHECK(told.response.body.find(id) == std::string::npos);
}

TEST_CASE(
    "a long poll ends at once when its client closes, and not when its client only ends its own sending",
    "[api][polls]") {
  ServedClinic clinic;
  for (const bool closes : {true, false}) {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
    serve::Descriptor ours(ends[0]), theirs(ends[1]);
    const auto begun = std::chrono::steady_clock::now();
    Reply told;
    std::thread polls(
        [&] { told = clinic.ask(kDora, "GET", "/v1/events?wait=60", "", {.socket = ours.get()}); });
    while (clinic.admission->figures().long_polls == 0) std::this_thread::yield();
    if (closes) theirs.close();
    if (!closes) REQUIRE(::shutdown(theirs.get(), SHUT_WR) == 0);
    if (!closes) REQUIRE(clinic.ask(kAlice, "POST", "/v1/releases", clinic.asks("0.01")).status == 201);
    polls.join();
    CHECK(told.body.at("decisions").size() == (closes ? 0 : 1));
    CHECK(clinic.admission->figures().long_polls == 0);
    CHECK(std::chrono::steady_clock::now() < begun + std::chrono::seconds(30));
  }
}
