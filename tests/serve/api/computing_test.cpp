// What changes nothing costs its principal processor time, is bounded beforehand, and ends when nobody waits.
#include "processor_time.hpp"
#include "served_clinic.hpp"
#include "support/sanitized_time.hpp"

using namespace epsilog;
using namespace epsilog::test;

namespace {

std::string rows_of(int rows, const std::string& statistic) {
  json list = json::array();
  for (int i = 0; i < rows; ++i)
    list.push_back({{"statistic", statistic}, {"epsilon", "0.000" + std::to_string(1000 + i)}});
  return list.dump();
}

/// What the words of the table stand for.
std::string filled(std::string text) {
  std::string quantiles = "quantiles:age:0.01";
  for (int i = 2; i < 100; ++i) quantiles += (i < 10 ? ",0.0" : ",0.") + std::to_string(i);
  std::string alphas = "[0.11";
  for (int i = 12; i < 27; ++i) alphas += ",0." + std::to_string(i);
  const auto put = [&](std::size_t at, std::size_t size, const std::string& what) {
    text.replace(at, size, what);
  };
  if (const std::size_t at = text.find("QUANTILES"); at != std::string::npos) put(at, 9, quantiles);
  if (const std::size_t at = text.find("ALPHAS"); at != std::string::npos) put(at, 6, alphas + "]");
  if (const std::size_t at = text.find("ROWS("); at != std::string::npos) {
    const std::size_t comma = text.find(',', at), end = text.find(')', at);
    put(at, end + 1 - at, rows_of(std::stoi(text.substr(at + 5)), text.substr(comma + 1, end - comma - 1)));
  }
  return text;
}

/// A body whose sender is gone, or whose server stops, once it was read.
class LeftBody final : public serve::Body {
 public:
  LeftBody(const std::string& text, bool gone) : text_(text), gone_(gone) {}
  std::size_t read(std::span<char> into) override { return text_.read(into); }
  bool wait_for_first_byte() override { return text_.wait_for_first_byte(); }
  [[nodiscard]] bool gone() const override { return gone_; }
  [[nodiscard]] bool stopping() const override { return !gone_; }

 private:
  TextBody text_;
  bool gone_;
};

/// A body whose sender goes away once 300 ms of processor time were used for it.
class WatchedBody final : public serve::Body {
 public:
  explicit WatchedBody(const std::string& text) : text_(text) {}
  std::size_t read(std::span<char> into) override { return text_.read(into); }
  bool wait_for_first_byte() override { return text_.wait_for_first_byte(); }
  [[nodiscard]] bool gone() const override {
    const auto since = used_.lap();
    longest_ = std::max(longest_, since);
    all_ += since;
    return all_ > std::chrono::milliseconds(300);
  }
  /// The longest that was computed without asking whether the sender is there.
  [[nodiscard]] serve::ProcessorTime::Time longest() const { return std::max(longest_, used_.lap()); }

 private:
  TextBody text_;
  mutable serve::ThreadTime used_;
  mutable serve::ProcessorTime::Time longest_{}, all_{};
};

struct Computed {
  std::string what, method, path, body;
  std::uint32_t uid = 0;

  [[nodiscard]] Reply of(ServedClinic& clinic) const { return clinic.ask(uid, method, path, body); }
  /// Answered where nobody waits.
  [[nodiscard]] Reply left(ServedClinic& clinic, bool gone) const {
    LeftBody unheard(body, gone);
    return answered(clinic, unheard);
  }
  [[nodiscard]] Reply answered(ServedClinic& clinic, serve::Body& unheard) const {
    serve::RequestHead head;
    head.method = method;
    head.path = path;
    head.headers = {{"host", "localhost"}, {"content-type", "application/json"}};
    if (!body.empty()) head.content_length = body.size();
    Reply reply;
    reply.response = clinic.api->answer(head, {uid, false}, unheard);
    reply.status = reply.response.status;
    reply.body = json::parse(reply.response.body, nullptr, false);
    return reply;
  }
};

std::vector<Computed> calls(const std::string& kind) {
  std::vector<Computed> found;
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/serve/api/computing_calls.tsv")) {
    if (row.at(0) != kind) continue;
    const std::string& route = row.at(2);
    const std::size_t blank = route.find(' ');
    found.push_back({row.at(2) + " " + row.at(3), route.substr(0, blank), route.substr(blank + 1),
                     filled(row.at(3)), row.at(1) == "audit" ? kDora : kAlice});
  }
  return found;
}

std::string batch(int number) {
  return R"({"dataset":"clinic","key":"b)" + std::to_string(number) + R"(","rows":)" + rows_of(200, "count") +
         "}";
}

/// A policy that allows them all.
std::string allowing() {
  std::string policy = served_policy();
  return policy.insert(policy.find("    approvals:"), "    allow: {statistics: [count, mean, quantile]}\n");
}

void record_batches(ServedClinic& clinic) {
  for (int i = 0; i < 4; ++i) REQUIRE(clinic.ask(kAlice, "POST", "/v1/releases", batch(i)).status == 201);
}

}  // namespace

TEST_CASE("computing: no more than 100 ms are computed without a look whether somebody waits",
          "[api][computing]") {
  ServedClinic clinic(allowing());
  record_batches(clinic);
  for (const Computed& call : calls("long")) {
    CAPTURE(call.what);
    WatchedBody watched(call.body);
    static_cast<void>(call.answered(clinic, watched));
    CHECK(watched.longest() < std::chrono::milliseconds(100) * kSanitizedTimes);
  }
}

TEST_CASE("computing: what changes nothing ends when its client goes away or the daemon ends",
          "[api][computing]") {
  ServedClinic clinic(allowing());
  record_batches(clinic);
  for (const Computed& call : calls("long")) {
    for (const bool gone : {true, false}) {
      CAPTURE(call.what, gone);
      const auto began = std::chrono::steady_clock::now();
      const Reply reply = call.left(clinic, gone);
      CHECK(reply.status == 503);
      CHECK(reply.body.value("code", "") == (gone ? "client_gone" : "stopping"));
      CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(1) * kSanitizedTimes);
    }
  }
  // What is recorded is finished, whoever has gone.
  CHECK(Computed{"", "POST", "/v1/releases", clinic.asks("0.01"), kAlice}.left(clinic, true).status == 201);
}

TEST_CASE("computing: a question that a rule refuses is refused before it is planned", "[api][computing]") {
  ServedClinic clinic;
  clinic.api->change(serve::CostLimits{.planning_steps = 1});  // nothing can be planned
  for (const Computed& call : calls("rule")) {
    CAPTURE(call.what);
    const Reply reply = call.of(clinic);
    CHECK(reply.status == 403);
    const bool purpose = call.body.find("purpose") != std::string::npos;
    CHECK(reply.body.at("code") == (purpose ? "purpose_not_allowed" : "statistic_not_allowed"));
    CHECK_FALSE(reply.body.at("reasons").empty());
  }
  // On record such a refusal has no figures, which are what costs.
  clinic.api->change(serve::CostLimits());
  const std::string body = filled(R"({"dataset":"clinic","statistic":"QUANTILES","epsilon":1,"key":"k"})");
  for (int again = 0; again < 2; ++again) {
    const Reply refused = clinic.ask(kAlice, "POST", "/v1/releases", body);
    CHECK(refused.status == 403);
    CHECK(refused.body.at("rank_accuracy").empty());
  }
}

TEST_CASE("computing: what would take more steps than the daemon takes at once is not begun",
          "[api][computing]") {
  ServedClinic clinic(allowing());
  record_batches(clinic);
  const std::int64_t before = clinic.engine->newest_seq();
  clinic.api->change(serve::CostLimits{.planning_steps = 500});
  for (const Computed& call : calls("steps")) {
    CAPTURE(call.what);
    const Reply reply = call.of(clinic);
    CHECK(reply.status == 400);
    CHECK(reply.body.at("code") == "request_too_costly");
    CHECK_THAT(reply.response.body, says("limits.planning_steps"));
  }
  CHECK(clinic.engine->newest_seq() == before);
  CHECK(clinic.ask(kAlice, "POST", "/v1/releases", batch(0)).status == 200);
  CHECK(clinic.ask(kAlice, "POST", "/v1/plans", clinic.asks("0.1")).status == 200);
}

TEST_CASE(
    "computing: a principal without processor time waits with what changes nothing and new questions alone",
    "[api][computing]") {
  ServedClinic clinic(allowing());
  record_batches(clinic);
  const std::string held = clinic.ask(kAlice, "POST", "/v1/reservations", clinic.asks("0.01")).id();
  clinic.api->change(
      serve::CostLimits{.processor = {std::chrono::milliseconds(1), std::chrono::milliseconds(30)}});
  for (int i = 0; i < 40; ++i)
    CHECK(clinic.ask(kAlice, "POST", "/v1/releases", clinic.asks("0.0001")).status == 201);
  std::vector<Computed> limited = calls("long");  // the second is broken off, if not the first
  limited.push_back({"a release", "POST", "/v1/releases", clinic.asks("0.0001")});
  limited.push_back({"a reservation", "POST", "/v1/reservations", clinic.asks("0.0001")});
  limited.push_back({"what waits", "GET", "/v1/pending", ""});
  static_cast<void>(limited.front().of(clinic));
  for (Computed& call : limited) {
    CAPTURE(call.what);
    if (call.path == "/v1/reaccounts") continue;
    call.uid = kAlice;
    const Reply reply = call.of(clinic);
    if (&call == &limited.front() && reply.status == 200) continue;
    CHECK(reply.status == 429);
    CHECK(reply.body.at("code") == "too_much_processor_time");
    CHECK_FALSE(reply.header("retry-after").empty());
  }
  CHECK(clinic.ask(kAdam, "GET", "/v1/pending").status == 200);
  CHECK(clinic.ask(kRoot, "GET", "/v1/pending", "", {.curator_socket = true}).status == 200);
  for (const char* read : {"/v1/budgets", "/v1/policy", "/v1/me"})
    CHECK(clinic.ask(kAlice, "GET", read).status == 200);
  CHECK(clinic.ask(kAlice, "POST", "/v1/releases", batch(0)).status == 200);
  CHECK(clinic.ask(kAlice, "GET", "/v1/requests/" + held).status == 200);
  CHECK(clinic.ask(kAlice, "POST", "/v1/requests/" + held + "/commit").status == 201);
  // Refusals are paid for too.
  Reply refused;
  do refused = clinic.ask(kAdam, "POST", "/v1/releases", clinic.asks("1000"));
  while (refused.status == 403);
  CHECK(refused.body.at("code") == "too_much_processor_time");
}
