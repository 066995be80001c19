// Who may not ask a dataset learns nothing of it from what is wrong with a question, and nothing of it is
// kept.
#include <algorithm>
#include <functional>
#include <future>

#include "canonical_request.hpp"
#include "clinic.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/comparison.hpp"
#include "epsilog/engine/dummy_release.hpp"
#include "epsilog/engine/forecast.hpp"
#include "epsilog/engine/submission_outcome.hpp"
#include "epsilog/ledger/digest.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::test;
using namespace engine;

namespace {

constexpr const char* kEve = "'eve' is not among those who may ask 'clinic'";

std::string policy_for(const std::string& askers) {
  return clinic_policy("epsilon: 9", "    allow: {principals: [" + askers + "], columns: [cost]}\n") +
         "principals: {alice: {}, eve: {}}\n";
}

class GuardedClinic {
 public:
  GuardedClinic() {
    folder.write("visits.csv", kVisits);
    folder.write("policy.yaml", policy_for("alice"));
    static_cast<void>(Engine::init(folder.path("policy.yaml"), ledger(), "curator"));
  }
  [[nodiscard]] std::string ledger() const { return folder.path("clinic.ledger"); }
  void allow(const std::string& askers) {
    folder.write("policy.yaml", policy_for(askers));
    Engine engine = Engine::open(ledger());
    static_cast<void>(engine.apply_policy(folder.path("policy.yaml"), "curator", "test"));
  }

  TemporaryFolder folder;
};

Request eves(Request request) {
  request.principal = "eve";
  return request;
}

Request batch_with(const Question& last) {
  Request batch = request("count", "1");
  batch.rows = {{parse_question("count", std::nullopt, std::nullopt), Rational(1)}, {last, Rational(1)}};
  return batch;
}

/// Each is answered, refused or in error in a way of its own for who may ask.
std::vector<Request> questions() {
  Request purposed = request("count", "1");
  purposed.purpose = "gossip";
  Request with_rho = request("count", "1");
  with_rho.epsilon = 0;
  with_rho.rho = Rational(1);
  Request with_delta = request("count", "1");
  with_delta.delta = Rational(1, 1'000);
  Request too_long = request("count", "1");
  too_long.too_long = "its epsilon was typed too long";
  return {request("count", "1"),
          request("sum:cost", "1"),
          request("sum:age", "1"),
          request("sum:nothing", "1"),
          request("count", "1", "", "ward"),
          request("count", "1", "", "age"),
          request("count", "1", "", std::nullopt, "ward = 'Z'"),
          request("count", "1", "", std::nullopt, "nothing = 1"),
          request("count", "1", "", std::nullopt, "age > 30 and age < 20"),
          request("quantile:cost:0.5", "1"),
          request("count", "100"),
          purposed,
          with_rho,
          with_delta,
          too_long,
          batch_with(parse_question("sum:nothing", std::nullopt, std::nullopt)),
          batch_with(parse_question("count", "ward", std::nullopt))};
}

void require_says_nothing(const Answer& answer) {
  REQUIRE(reason_codes(answer) == std::vector{RefusalCode::principal_not_allowed});
  CHECK(answer.recorded.reasons.front().message == kEve);
  CHECK(answer.recorded.state == RequestState::refused);
  CHECK(answer.recorded.accounts.empty());
  CHECK(answer.asked.principal == "eve");
  CHECK(answer.asked.dataset == "clinic");
  CHECK(is_unread(answer));
  CHECK(answer.asked.key.empty());
  CHECK(answer.asked.purpose.empty());
  CHECK(answer.rows.empty());
  CHECK(answer.planned.record == ledger::ReleaseRecord());
  CHECK(answer.planned.accuracy.empty());
  CHECK(answer.planned.advice.empty());
  CHECK(answer.planned.notes.empty());
}

/// As a program would that keeps something else of who may not ask.
void record_refusal(const std::string& path, const std::string& who, const std::string& key,
                    const std::string& asked) {
  Reason reason;
  reason.code = RefusalCode::principal_not_allowed;
  reason.message = kEve;
  ledger::Ledger ledger = ledger::Ledger::open(path, {});
  ledger::Transaction transaction = ledger.begin();
  ledger::DecisionDraft draft;
  draft.principal = who;
  draft.key = key;
  draft.request = asked;
  draft.request_digest = ledger::sha256_hex(asked);
  draft.dataset = "clinic";
  draft.policy_version = transaction.active_policy_version();
  draft.outcome = ledger::Outcome::refused;
  draft.reasons = reasons_text(Decision({reason}, 1));
  draft.shown_account_ids.emplace();
  transaction.refuse(draft);
  static_cast<void>(ledger.commit(std::move(transaction)));
}

/// Every call of an engine that takes a request, by name.
std::vector<std::pair<std::string, std::function<Answer(Engine&, const Request&)>>> calls() {
  const Alphas alphas{Rational(1, 20)};
  const Rational wanted(50);
  return {
      {"plan", [=](Engine& engine, const Request& request) { return engine.plan(request, alphas); }},
      {"plan, with an assumed count",
       [=](Engine& engine, const Request& request) { return engine.plan(request, alphas, 100); }},
      {"plan of a batch, with assumed counts",
       [=](Engine& engine, const Request& request) {
         return engine.plan_batch(request, alphas, std::vector<std::optional<std::int64_t>>(7, 100));
       }},
      {"plan of a sequence",
       [=](Engine& engine, const Request& request) { return engine.plan_sequence().next(request, alphas); }},
      {"forecast",
       [=](Engine& engine, const Request& request) { return engine.forecast(request, alphas).each; }},
      {"forecast of a count",
       [=](Engine& engine, const Request& request) {
         return engine.forecast_of_count(request, 3, alphas).value().each;
       }},
      {"forecast of an accuracy",
       [=](Engine& engine, const Request& request) {
         return engine.forecast_of_accuracy(request, {Rational(1, 20), wanted}, alphas, 100).value().each;
       }},
      {"release",
       [=](Engine& engine, const Request& request) {
         mechanisms::SystemBits bits;
         return engine.release(request, bits, alphas);
       }},
      {"release of several",
       [=](Engine& engine, const Request& request) {
         mechanisms::SystemBits bits;
         return engine.release_many({&request, 1}, bits, alphas).front();
       }},
      {"submit",
       [=](Engine& engine, const Request& request) {
         mechanisms::SystemBits bits;
         std::promise<Answer> done;
         engine.submit(request, bits, alphas, [&](SubmissionOutcome result) {
           if (result.fault) {
             done.set_exception(result.fault);
           } else {
             done.set_value(*result.answer);
           }
         });
         return done.get_future().get();
       }},
      {"reserve",
       [=](Engine& engine, Request request) {
         request.reservation = ReservationKind::reserved;
         return engine.reserve(request, alphas);
       }},
      {"dummy release",
       [=](Engine& engine, const Request& request) {
         mechanisms::SystemBits bits;
         return dummy_release(engine.active_policy(), request, bits, alphas).would_be;
       }},
  };
}

}  // namespace

TEST_CASE("turned away: whatever is asked, every call says that its asker may not ask, and nothing else",
          "[engine][turned_away][access][negative]") {
  const GuardedClinic clinic;
  Engine engine = Engine::open(clinic.ledger());
  for (const auto& [name, call] : calls()) {
    for (const Request& asked : questions()) {
      CAPTURE(name, asked.question.statistic.text(), asked.rows.size());
      require_says_nothing(call(engine, eves(asked)));
    }
  }
  for (const Request& asked : questions()) {
    CHECK_THROWS_WITH(engine.compare(eves(asked), {}), kEve);
    if (asked.rows.empty()) continue;
    const std::vector<accounting::Exact> wanted(asked.rows.size(), Rational(50));
    const AccurateBatch found = engine.accurate_batch(eves(asked), wanted, Rational(1, 20), Rational(1));
    CHECK(found.factor == 1);
    for (const RequestRow& row : found.batch.rows) CHECK(row.epsilon == 1);
  }
}

TEST_CASE("turned away: of what was refused the ledger keeps who asked what dataset, and its audit is clean",
          "[engine][turned_away][access]") {
  const GuardedClinic clinic;
  Engine engine = Engine::open(clinic.ledger());
  std::size_t recorded = 0;
  for (const Request& asked : questions()) {
    Request keyed = eves(asked);
    keyed.key = "key-" + std::to_string(recorded++);
    const Answer refused = release(engine, keyed);
    require_says_nothing(engine.show(refused.recorded.decision_id, {}));
  }
  ledger::Snapshot view = ledger::Ledger::open_read_only(clinic.ledger()).snapshot();
  static_cast<void>(view.each_decision(
      {},
      [&](const ledger::StoredDecision& stored) {
        CHECK(stored.draft.request == R"({"dataset":"clinic"})");
        CHECK(stored.draft.key.empty());
        CHECK(stored.accounts.empty());
        --recorded;
      },
      [](const ledger::MalformedRecord& record) { FAIL(record.message); }));
  CHECK(recorded == 0);
  CHECK(audit_verify(clinic.ledger()).ok);
}

TEST_CASE("turned away: a key is not bound, and asks for the first time once its asker may ask",
          "[engine][turned_away][keys]") {
  GuardedClinic clinic;
  Engine engine = Engine::open(clinic.ledger());
  const Request asked = eves(request("count", "1", "k"));
  require_says_nothing(release(engine, asked));
  require_says_nothing(release(engine, asked));
  clinic.allow("alice, eve");
  const Answer granted = release(engine, asked);
  CHECK(granted.recorded.granted);
  CHECK_FALSE(granted.recorded.replayed);
  clinic.allow("alice");
  const Answer again = release(engine, asked);
  CHECK(again.recorded.replayed);
  CHECK(again.released.values == granted.released.values);
  require_says_nothing(release(engine, eves(request("sum:cost", "1", "k"))));
  CHECK(audit_verify(clinic.ledger()).ok);
}

TEST_CASE(
    "turned away: an audit finds a question that is kept of who may not ask, and one that is not of who may",
    "[engine][turned_away][audit][negative]") {
  const GuardedClinic clinic;
  const std::string unread = R"({"dataset":"clinic"})";
  record_refusal(clinic.ledger(), "eve", "", canonical_request(request("sum:cost", "1")));
  record_refusal(clinic.ledger(), "alice", "", unread);
  record_refusal(clinic.ledger(), "eve", "k", unread);
  std::vector<std::string> messages;
  for (const AuditFault& fault : audit_verify(clinic.ledger()).faults) messages.push_back(fault.message);
  for (const char* const expected : {"keeps the question of somebody who may not ask this dataset",
                                     "keeps no question, and its asker may ask this dataset",
                                     "is bound to a key, and its asker may not ask this dataset"}) {
    CAPTURE(expected);
    CHECK(std::find(messages.begin(), messages.end(), expected) != messages.end());
  }
}

TEST_CASE("turned away: what is forged to wait without a question is damage, and nobody can commit it",
          "[engine][turned_away][negative]") {
  const GuardedClinic clinic;
  std::string id;
  {
    ledger::Ledger ledger = ledger::Ledger::open(clinic.ledger(), {});
    ledger::Transaction transaction = ledger.begin();
    ledger::DecisionDraft draft;
    draft.principal = "alice";
    draft.request = R"({"dataset":"clinic"})";
    draft.request_digest = ledger::sha256_hex(draft.request);
    draft.dataset = "clinic";
    draft.policy_version = transaction.active_policy_version();
    draft.outcome = ledger::Outcome::pending;
    draft.reasons = "[]";
    draft.deadline = "9999-12-31T00:00:00.000Z";
    draft.shown_account_ids.emplace();
    transaction.record_without_movement(draft);
    id = ledger.commit(std::move(transaction)).back().id;
  }
  Engine engine = Engine::open(clinic.ledger());
  mechanisms::SystemBits bits;
  CHECK_THROWS_AS(engine.commit(id, {"alice"}, std::nullopt, bits, {}), LedgerCorrupt);
  CHECK_FALSE(audit_verify(clinic.ledger()).ok);
}

TEST_CASE("turned away: that a request is unread is not for who asks to say",
          "[engine][turned_away][negative]") {
  const GuardedClinic clinic;
  Engine engine = Engine::open(clinic.ledger());
  Request claimed = request("count", "1");
  claimed.unread = true;
  CHECK_THROWS_AS(release(engine, claimed), InvalidParameter);
  CHECK_THROWS_AS(engine.plan(claimed, {}), InvalidParameter);
  CHECK_THROWS_AS(engine.plan_sequence().next(claimed, {}), InvalidParameter);
  CHECK_THROWS_AS(engine.forecast(claimed, {}), InvalidParameter);
  CHECK(engine.newest_seq() == 0);
}
