// Approvals for what an asker loses within a time: held to a model that adds up what it was told itself.
#include <map>
#include <random>

#include "epsilog/engine/forecast.hpp"
#include "support/catch.hpp"
#include "waiting.hpp"

using namespace epsilog;
using namespace epsilog::test;
using namespace engine;

namespace {

constexpr std::int64_t kHour = 3600, kDay = 24 * kHour;  // reservations expire after an hour

std::string rules(const std::string& above) {
  return "{required: 1, by: {roles: [custodian]}, above: " + above + ", expires: 365d}";
}

/// One request. Epsilon in hundredths, time in seconds.
struct Loss {
  std::string asker;
  std::int64_t hundredths = 0;
  std::int64_t at = 0;  ///< when it was charged; of what is open, when it ends
  bool forfeits = false;
};

/// What is known of who lost what when, from the outcomes that calls told.
struct Model {
  std::int64_t limit = 50, days = 30, now = 0;
  std::vector<Loss> charged = {};
  std::map<std::string, Loss> held = {}, pending = {};

  [[nodiscard]] std::string above() const {
    return "{epsilon: " + std::to_string(limit) + "/100, within: " + std::to_string(days) + "d}";
  }
  [[nodiscard]] std::int64_t before(const std::string& asker) const {
    std::int64_t sum = 0;
    for (const Loss& one : charged)
      sum += one.asker == asker && one.at > now - days * kDay ? one.hundredths : 0;
    for (const auto& [id, one] : held)
      sum += one.asker == asker && (one.at > now || one.forfeits) ? one.hundredths : 0;
    return sum;
  }
  void charge(Loss one) {
    one.at = now;
    charged.push_back(std::move(one));
  }
  /// Whatever is overdue ends before something is written.
  void write() {
    std::erase_if(pending, [this](const auto& one) { return one.second.at <= now; });
    std::erase_if(held, [this](const auto& one) {
      if (one.second.at <= now && one.second.forfeits) charge(one.second);
      return one.second.at <= now;
    });
  }
};

class Walk {
 public:
  explicit Walk(unsigned seed) : random_(seed), waiting_(rules(model_.above()), "epsilon: 1000") {}

  void step() {
    const std::int64_t drawn = below(10);
    if (drawn > 4) return ask();
    if (drawn == 1) return with_open(model_.held, [this](auto&... one) { cancel(one...); });
    if (drawn == 2) return with_open(model_.pending, [this](auto&... one) { approve(one...); });
    if (drawn == 3 && below(2) == 0)
      return with_open(model_.pending, [this](auto&... one) { commit(one...); });
    if (drawn == 3) return with_open(model_.held, [this](auto&... one) { commit(one...); });
    if (drawn == 4 && below(3) == 0) return change();
    // To the second before, at and after the ends of windows and deadlines.
    const std::int64_t spans[] = {1, kHour, kDay, model_.days * kDay, model_.days * kDay / 2};
    const std::int64_t seconds = std::max<std::int64_t>(1, spans[below(5)] + below(3) - 1);
    waiting_.clock.pass_seconds(seconds);
    model_.now += seconds;
  }
  [[nodiscard]] std::string audit() const { return waiting_.audit(); }
  int waited = 0;

 private:
  std::int64_t below(std::int64_t end) {
    return std::uniform_int_distribution<std::int64_t>(0, end - 1)(random_);
  }
  /// Does something about one that is drawn, unless it is overdue.
  template <class Act>
  void with_open(std::map<std::string, Loss>& map, const Act& act) {
    if (map.empty()) return;
    const auto one = std::next(map.begin(), below(static_cast<std::int64_t>(map.size())));
    if (one->second.at <= model_.now) return;
    const auto [id, loss] = *one;
    CAPTURE(loss.asker, loss.hundredths, model_.before(loss.asker), model_.above(), model_.now);
    act(map, id, loss);
    model_.write();
  }
  void ask() {
    Loss loss{below(3) == 0 ? "bob" : "alice", 1 + below(25), 0, below(2) == 0};
    const bool hold = below(2) == 0;
    const std::int64_t before = model_.before(loss.asker);
    const bool waits = before + loss.hundredths > model_.limit;
    Request asked =
        request(loss.forfeits ? "value:score" : "count", std::to_string(loss.hundredths) + "/100");
    asked.principal = loss.asker;
    CAPTURE(loss.asker, loss.hundredths, before, model_.above(), model_.now);
    const Answer plan = waiting_.engine.plan(asked, {});
    REQUIRE(text(plan.recorded.state) == (waits ? "pending" : "granted"));
    REQUIRE(plan.planned.lost_within.at(0).above == waits);
    REQUIRE(accounting::parse_rational(plan.planned.lost_within[0].before, "before") ==
            Rational(before) / 100);
    REQUIRE(waiting_.engine.forecast(asked, {}).each.recorded.state == plan.recorded.state);
    if (hold) asked.reservation = ReservationKind::reserved;
    if (!hold && loss.forfeits) asked.supplied = "3";
    const Answer answer = hold ? waiting_.engine.reserve(asked, {}) : release(waiting_.engine, asked);
    model_.write();
    REQUIRE(text(answer.recorded.state) == (waits ? "pending" : hold ? "reserved" : "granted"));
    REQUIRE(answer.planned.approvals_required == (waits ? 1 : 0));
    waited += waits ? 1 : 0;
    loss.at = model_.now + (waits ? 365 * kDay : kHour);
    if (waits || hold) {
      (waits ? model_.pending : model_.held)[answer.recorded.decision_id] = loss;
    } else {
      model_.charge(loss);
    }
  }
  void cancel(std::map<std::string, Loss>& held, const std::string& id, const Loss& loss) {
    (void)waiting_.engine.cancel(id, loss.asker);
    if (loss.forfeits) model_.charge(loss);
    held.erase(id);
  }
  void approve(std::map<std::string, Loss>& pending, const std::string& id, const Loss& loss) {
    const Answer answer = waiting_.engine.approve(id, "carol");
    REQUIRE(text(answer.recorded.state) == "reserved");
    model_.held[answer.recorded.decision_id] = {loss.asker, loss.hundredths, model_.now + kHour,
                                                loss.forfeits};
    pending.erase(id);
  }
  /// What waits is decided by who asked once it would not have to wait; what is reserved is answered.
  void commit(std::map<std::string, Loss>& open, const std::string& id, const Loss& loss) {
    const bool waits = &open == &model_.pending && model_.before(loss.asker) + loss.hundredths > model_.limit;
    const auto value = loss.forfeits ? std::optional<std::string>("3") : std::nullopt;
    REQUIRE(text(waiting_.commit(id, value, loss.asker).recorded.state) == (waits ? "pending" : "granted"));
    if (waits) return;
    model_.charge(loss);
    open.erase(id);
  }
  /// Charges under older versions count all the same.
  void change() {
    const std::string before = model_.above();
    model_.limit = 30 + 10 * below(5);
    model_.days = 1 + 29 * below(2);
    if (model_.above() == before) return;
    const std::string next = clinic_policy("epsilon: 1000", waiting_rules(rules(model_.above())));
    waiting_.clinic.folder.write("next.yaml", next);
    waiting_.engine.apply_policy(waiting_.clinic.folder.path("next.yaml"), "curator", "another rule");
    model_.write();
  }

  std::mt19937_64 random_;
  Model model_ = {};
  WaitingClinic waiting_;
};

}  // namespace

TEST_CASE("approval within: what waits is what a model says that adds up charges and reservations itself",
          "[engine][approvals][within][property]") {
  int waited = 0;
  for (unsigned seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    Walk walk(seed);
    for (int i = 0; i < 120; ++i) walk.step();
    CHECK(walk.audit().empty());
    waited += walk.waited;
  }
  CHECK(waited > 60);
}

TEST_CASE(
    "approval within: requests of one call or of a sequence count one after the other, a batch as its sum",
    "[engine][approvals][within]") {
  WaitingClinic waiting(rules("{epsilon: 0.5, within: 30d}"));
  const std::vector<Request> many = {request("count", "0.3"), request("sum:cost", "0.3"),
                                     request("units", "0.2")};
  std::string states;
  PlanSequence sequence = waiting.engine.plan_sequence();
  for (const Request& one : many) states += text(sequence.next(one, {}).recorded.state) + " ";
  for (const Answer& answer : release_many(waiting.engine, many)) states += text(answer.recorded.state) + " ";
  CHECK(states == "granted pending granted granted pending granted ");
  Request batch;
  batch.dataset = "clinic";
  batch.principal = "bob";
  for (const char* statistic : {"count", "units"})
    batch.rows.push_back({.question = request(statistic, "1").question, .epsilon = Rational(26, 100)});
  CHECK(text(release(waiting.engine, batch).recorded.state) == "pending");
  CHECK(waiting.audit().empty());
}

TEST_CASE("approval within: each measure that accounts count is summed, over periods and beside blocks",
          "[engine][approvals][within]") {
  for (const auto& [above, budget, more] : std::vector<std::array<std::string, 3>>{
           {"{rho: 0.01, within: 2d}", "measure: zcdp, rho: 1", ""},
           {"{orders: {8: 0.08}, within: 2d}", "measure: rdp, orders: {2: 1, 8: 4}", ""},
           {"{delta: 5e-7, within: 2d}", "epsilon: 3, delta: 1e-5",
            "    release: {default: {mechanism: discrete_gaussian}}\n"},
           {"{epsilon: 0.25, within: 2d}", "epsilon: 1, renew: day",
            "    lifetime: {measure: zcdp, rho: 5}\n"},
           {"{epsilon: 0.25, within: 2d}", "epsilon: 1",
            "    blocks: {by: ward}\n    lifetime: {epsilon: 3}\n"}}) {
    CAPTURE(above);
    WaitingClinic waiting(rules(above) + "\n" + more, budget);
    Request asked = request("count", "0.1");
    if (above.find("delta") != std::string::npos) asked.delta = Rational(1, 5'000'000);
    std::string states;
    for (int i = 0; i < 5; ++i) {
      if (i == 4) waiting.clock.pass_seconds(2 * kDay);
      states += text(release(waiting.engine, asked).recorded.state) + " ";
      waiting.clock.pass_seconds(12 * kHour);
    }
    CHECK(states == "granted granted pending pending granted ");
    CHECK(waiting.audit().empty());
  }
}
