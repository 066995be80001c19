// One ledger, the steps that are taken on it at random, and the model beside it (random_walk_test.cpp).
#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <deque>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/audit.hpp"
#include "epsilog/engine/checked_policy.hpp"
#include "epsilog/engine/policy_review.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "random_walk_model.hpp"
#include "random_walk_random.hpp"
#include "support/replay_bits.hpp"
#include "support/temporary_folder.hpp"

namespace epsilog::test {

using engine::Answer;
using engine::Engine;
using engine::RequestState;
using engine::ReservationKind;

inline constexpr std::int64_t kWalkSecondMs = 1'000;
inline constexpr std::int64_t kWalkHour = 3'600 * kWalkSecondMs;
inline constexpr std::int64_t kWalkDay = 24 * kWalkHour;

inline constexpr const char* kWalkRows =
    "patient_id,age,ward,zone\n"
    "p1,34,A,1\n"
    "p1,34,B,2\n"
    "p2,71,A,1\n"
    "p3,,C,3\n"
    "p4,55,B,-\n"
    "p5,18,A,2\n";

using WalkCounts = std::map<std::string, std::int64_t>;

/// Kills its process at the first bit: what is recorded before is durable, and nothing is released.
class DeadlyBits final : public mechanisms::BitSource {
 public:
  void fill(std::span<std::byte>) override { raise(SIGKILL); }
};

/// One ledger in memory, and the model beside it.
class RandomWalk final {
 public:
  RandomWalk(std::uint64_t seed, WalkCounts& counts)
      : random_(seed), bits_(seed), counts_(counts), folder_(in_memory()) {
    folder_.write("visits.csv", kWalkRows);
    WalkPolicy first = random_.policy();
    while (!valid(first)) first = random_.policy();
    (void)Engine::init(folder_.write("policy.yaml", first.yaml()), ledger(), "curator");
    model_.versions.push_back(first);
    start_clock();
    reopen();
    check();
  }

  void step() {
    const std::int64_t kind = random_.between(1, 1000);
    if (kind <= 380) return ask(random_.request(model_.active()), chance_of_key());
    if (kind <= 460) return retry();
    if (kind <= 760) return act();
    if (kind <= 860) return apply();
    if (kind <= 940) return pass_time();
    if (kind <= 958) return step_clock();
    if (kind <= 978) return confirm();
    if (kind <= 984) return reopen();
    if (kind <= 990) return die();
    if (kind <= 993) return audit();
    look();
  }
  void audit() {
    did("audit");
    const auto report = engine::audit_verify(ledger());
    require(report.ok,
            "audit: " + (report.faults.empty() ? std::string("not ok")
                                               : report.faults[0].record + " " + report.faults[0].code + " " +
                                                     report.faults[0].message));
  }
  /// Every decision can be read, by whoever opens the ledger.
  void end() {
    look();
    Engine engine = Engine::open(ledger(), options());
    std::int64_t rows = 0;
    engine.history("", 0, [&](const Answer& answer) {
      ++rows;
      if (random_.chance(8)) (void)engine.show(answer.recorded.decision_id, {});
    });
    require(rows == last_seq_, "the history has other decisions than were recorded");
    engine.pending("", [](const Answer&) {});
    audit();
    for (const auto& [outcome, count] : model_.seen) counts_[outcome] += count;
  }
  [[nodiscard]] std::string trail() const {
    std::string text;
    for (const std::string& line : trail_) text += "  " + line + "\n";
    return text;
  }

 private:
  struct Bound {
    WalkRequest asked;
    std::string root;
    std::vector<Rational> values;
  };

  [[nodiscard]] std::string ledger() const { return folder_.path("L"); }
  [[nodiscard]] engine::EngineOptions options() const {
    engine::EngineOptions options;
    options.unreadable = [](const engine::UnreadableDecision& one) {
      throw Violated("unreadable: " + one.message);
    };
    options.clock = [this] { return reading(); };
    return options;
  }
  [[nodiscard]] ledger::ClockReading reading() const {
    return {.wall_ms = model_.clock.wall, .boot_ms = model_.clock.boot, .boot_id = boot_id_};
  }
  void did(const std::string& what) {
    trail_.push_back(what);
    if (trail_.size() > 16) trail_.pop_front();
  }
  void count(const std::string& what) { ++counts_[what]; }
  static bool valid(const WalkPolicy& policy) {
    try {
      (void)engine::checked_policy(policy.yaml(), "p.yaml");
      return true;
    } catch (const PolicyError&) {
      return false;
    }
  }
  /// From the time of the machine, at which the ledger was made, to a time of the seed.
  void start_clock() {
    const ledger::ClockReading made = ledger::system_clock_reading();
    boot_id_ = made.boot_id;
    const std::int64_t start = instant_ms("2040-01-01T00:00:00.000Z") +
                               random_.between(0, 400 * 24) * kWalkHour +
                               random_.between(0, 3'599) * kWalkSecondMs;
    model_.clock.wall = start;
    model_.clock.boot = made.boot_ms + start - made.wall_ms;
    model_.clock.offset = made.wall_ms - made.boot_ms;
    model_.clock.last = made.wall_ms;
  }
  void reopen() {
    did("reopen");
    engine_.reset();
    engine_.emplace(Engine::open(ledger(), options()));
    reader_.emplace(ledger::Ledger::open_read_only(ledger(), ledger_options()));
  }
  [[nodiscard]] ledger::Options ledger_options() const {
    ledger::Options options;
    options.clock = [this] { return reading(); };
    return options;
  }

  /// Holds what was recorded since against the model; how many decisions that were.
  std::int64_t follow(const WalkCall& call) {
    auto view = reader_->snapshot();
    const std::vector<ledger::AccountState> stored = view.accounts("clinic");
    const auto named = [&](std::int64_t id) {
      for (const ledger::AccountState& one : stored)
        if (one.id == id) return std::pair(one.scope, one.measure);
      throw Violated("a charge of no account");
    };
    const std::int64_t fresh = view.decision_count() - last_seq_;
    if (fresh == 0) return 0;
    view.each_decision("", fresh, [&](const ledger::StoredDecision& decision) {
      require(decision.seq == ++last_seq_, "a gap in the history");
      model_.follow(decision, call, named);
      newest_ = decision.id;
      if (decision.draft.parent.empty()) root_ = decision.id;
      if (decision.draft.outcome == ledger::Outcome::granted) remember_values(decision);
    });
    return fresh;
  }
  /// The same, and compares every balance.
  std::int64_t check(const WalkCall& call = {}) {
    const std::int64_t fresh = follow(call);
    model_.compare(reader_->snapshot().accounts("clinic"));
    return fresh;
  }
  void remember_values(const ledger::StoredDecision& decision) {
    require(!decision.values.empty(), "granted without values");
    const std::string& about = decision.draft.parent.empty() ? decision.id : decision.draft.parent;
    const auto waiting = model_.waiting_of.find(about);
    for (auto& [key, bound] : keys_) {
      const auto root = model_.waiting_of.find(bound.root);
      const bool same =
          bound.root == about || (waiting != model_.waiting_of.end() && root != model_.waiting_of.end() &&
                                  root->second == waiting->second);
      if (same) bound.values = decision.values;
    }
  }

  // ---- requests

  std::string chance_of_key() {
    return random_.chance(2) ? "k" + std::to_string(random_.between(0, 150)) : std::string();
  }
  Answer put(Engine& engine, const engine::Request& request, mechanisms::BitSource& bits) const {
    return request.reservation == ReservationKind::none ? engine.release(request, bits, {})
                                                        : engine.reserve(request, {});
  }
  void ask(WalkRequest asked, const std::string& key) {
    asked.request.key = key;
    const std::pair bound(asked.request.principal, key);
    const auto earlier = key.empty() ? keys_.end() : keys_.find(bound);
    if (earlier != keys_.end() && earlier->second.asked.text() == asked.text()) return answer_again(asked);
    did("ask " + asked.request.principal + " " + asked.text().substr(0, 90) + " key " + key);
    try {
      const Answer answer = put(*engine_, asked.request, bits_);
      require(check({.asked = asked}) > 0, "answered and not recorded");
      count("asked");
      if (asked.may_be_too_long) count("long conditions");
      if (!answer.recorded.granted && asked.request.epsilon >= 68) count("too large and refused");
      if (earlier != keys_.end()) {
        require(answer.recorded.state == RequestState::refused, "a key with two answers");
      } else if (!key.empty() && !engine::is_unread(answer)) {
        keys_[bound] = {asked, root_, answer.released.values};
      }
      if (model_.waiting_of.contains(root_)) recent_.push_back(root_);
    } catch (const InvalidParameter& error) {
      require_allowed_error(asked, error.what());
    } catch (const Underivable& error) {
      require_allowed_error(asked, error.what());
    }
  }
  void require_allowed_error(const WalkRequest& asked, const std::string& error) {
    require(model_.may_be_error(asked), "an error instead of an answer: " + error);
    require(check() == 0, "an error, and something was recorded");
    count("errors of the request");
  }
  void answer_again(const WalkRequest& asked) {
    const std::pair bound(asked.request.principal, asked.request.key);
    did("retry " + asked.request.principal + " " + asked.request.key);
    const Answer answer = put(*engine_, asked.request, bits_);
    (void)check();  // at most what was overdue
    const Bound& first = keys_.at(bound);
    require(answer.recorded.replayed, "a retry was no replay");
    require(answer.released.values == first.values, "one key, two answers");
    count("retries");
  }
  void retry() {
    if (keys_.empty()) return;
    auto which = keys_.begin();
    std::advance(which, random_.between(0, static_cast<std::int64_t>(keys_.size()) - 1));
    answer_again(which->second.asked);
  }

  // ---- what waits

  void act() {
    if (recent_.empty()) return;
    const auto back = static_cast<std::size_t>(random_.between(1, random_.chance(5) ? 40 : 6));
    std::string id = recent_[recent_.size() - std::min(recent_.size(), back)];
    const auto voted_on = std::find_if(recent_.rbegin(), recent_.rend(), [this](const std::string& one) {
      return model_.waiting[model_.waiting_of.at(one)].state == WalkPending::State::pending;
    });
    if (random_.chance(3) && voted_on != recent_.rend()) id = *voted_on;
    const std::size_t which = model_.waiting_of.at(id);
    const WalkRequest asked = model_.waiting[which].asked;
    const std::string actor = random_.chance(6) ? random_.anybody() : asked.request.principal;
    std::string other = random_.any(std::vector<std::string>{"alice", "carol", "dave", "eve", "bob"});
    for (const char* entitled : {"carol", "dave", "eve"})
      if (random_.chance(3) && model_.active().may_approve(entitled, asked.request.principal))
        other = entitled;
    const bool pending = model_.waiting[which].state == WalkPending::State::pending;
    const std::int64_t vote = random_.chance(3) ? 8 : 6;
    const std::int64_t verb = pending && random_.chance(2) ? vote : random_.between(0, 8);
    const std::string names[] = {"commit", "commit",  "commit",  "token", "token",
                                 "cancel", "approve", "approve", "reject"};
    const std::string who = verb >= 6 ? other : actor;
    did(names[verb] + " by " + who + ": " + asked.text().substr(0, 90));
    const bool approver = model_.active().may_approve(who, asked.request.principal);
    const bool permitted = verb >= 6 ? approver : who == asked.request.principal || (verb == 5 && approver);
    try {
      Answer answer;
      if (verb <= 2) answer = engine_->commit(id, who, value_for(asked), bits_, {});
      if (verb == 3 || verb == 4) answer = engine_->issue_token(id, who);
      if (verb == 5) answer = engine_->cancel(id, who);
      if (verb == 6 || verb == 7) answer = engine_->approve(id, who);
      if (verb == 8) answer = engine_->reject(id, who, random_.chance(2) ? "no" : "");
      require(permitted, who + " may not " + names[verb]);
      (void)check({.actor = who});
      count(names[verb]);
      require_consistent(answer, model_.waiting[which], who == asked.request.principal);
    } catch (const engine::NotPermitted&) {
      require(!permitted, who + " may " + names[verb] + ", and was not permitted to");
      require(check() == 0, "not permitted, and something was recorded");
      count("not permitted");
    } catch (const InvalidParameter& error) {
      const WalkPending& one = model_.waiting[which];
      const bool no_token = asked.request.reservation != ReservationKind::reserved_against_token;
      const bool excused =
          verb <= 2   ? asked.request.reservation == ReservationKind::reserved_against_token && !one.token
          : verb <= 4 ? no_token
                      : verb == 8 && one.votes.contains(who);
      require(excused, "an error instead of an answer: " + std::string(error.what()));
      (void)check({.actor = who});  // what was overdue, or decided on the way
      count("errors of an act");
    }
  }
  std::optional<std::string> value_for(const WalkRequest& asked) {
    if (!asked.of_value()) return std::nullopt;
    return random_.any(std::vector<std::string>{"3", "nan", "7.5"});
  }
  /// Of a value only who asked is told here: nobody has the duty to audit.
  static void require_consistent(const Answer& answer, const WalkPending& one, bool to_asker) {
    using State = WalkPending::State;
    const bool open =
        answer.recorded.state == RequestState::pending || answer.recorded.state == RequestState::reserved;
    require(open == (one.state != State::over), "the answer says otherwise than the record");
    require((answer.recorded.granted && to_asker) == !answer.released.values.empty(),
            "values without a grant or to another, or the reverse");
  }

  // ---- policies

  std::set<std::pair<std::string, std::string>> declared(const WalkPolicy& policy) {
    std::set<std::pair<std::string, std::string>> result;
    for (const ledger::AccountState& one : reader_->snapshot().accounts("clinic"))
      if (policy.limit_of(one.scope, one.measure, model_.clock.calendar()))
        result.emplace(one.scope, one.measure);
    return result;
  }
  void apply() {
    const WalkPolicy next = random_.changed(model_.active(), model_.charged());
    if (!valid(next)) return count("invalid policies");
    const bool may = model_.may_apply(next);
    did(std::string("apply, which it ") + (may ? "may" : "may not"));
    const std::string path = folder_.write("policy.yaml", next.yaml());
    if (random_.chance(4)) require(engine_->review(path).refused.empty() == may, "diff judges otherwise");
    try {
      const auto before = declared(model_.active());
      const auto report = engine_->apply_policy(path, "curator", "test");
      require(may, "applied what may not be");
      follow_applied(next, report, before);
      count("versions applied");
    } catch (const PolicyError& error) {
      require(!may, std::string("a version was refused: ") + error.what());
      require(check() == 0, "a refused version, and something was recorded");
      count("versions refused");
    }
  }
  void follow_applied(const WalkPolicy& next, const engine::ApplyReport& report,
                      const std::set<std::pair<std::string, std::string>>& before) {
    std::set<std::pair<std::string, std::string>> gone;
    for (const auto& account : before)
      if (!next.limit_of(account.first, account.second, model_.clock.calendar())) gone.insert(account);
    // Of a renewing budget each period that was opened goes, or stays as it was.
    const auto of_period = [](const auto& account) { return account.first.starts_with("period:"); };
    std::erase_if(gone, of_period);
    (void)follow({});  // what was overdue ended under the version before
    model_.clock.record();
    model_.versions.push_back(next);
    (void)check();
    std::map<std::int64_t, std::pair<std::string, std::string>> names;
    for (const ledger::AccountState& one : reader_->snapshot().accounts("clinic"))
      names[one.id] = {one.scope, one.measure};
    std::set<std::pair<std::string, std::string>> removed;
    for (const ledger::LimitRemoval& one : report.limit_removals) removed.insert(names.at(one.account));
    std::erase_if(removed, of_period);
    require(removed == gone, "other limits were removed than the policy left out");
    for (const ledger::LimitChange& one : report.limit_changes)
      require(!gone.contains(names.at(one.account)), "a limit that was removed was changed");
  }
  // ---- time

  /// Something that is always recorded, so that the ledger has seen the clocks.
  void stamp() {
    WalkRequest asked;
    asked.request.dataset = "clinic";
    asked.request.question = engine::parse_question("value:score", std::nullopt, std::nullopt);
    asked.request.epsilon = 1;
    asked.request.principal = "mallory";
    asked.request.supplied = "1";
    (void)engine_->release(asked.request, bits_, {});
    require(check({.asked = asked}) > 0, "a refusal was not recorded");
  }
  void pass_time() {
    std::int64_t ms = random_.between(0, 2 * kWalkHour);
    if (random_.chance(4)) ms = random_.between(0, 3 * kWalkDay);
    if (random_.chance(8))
      ms = kWalkDay - model_.clock.now() % kWalkDay - random_.between(0, 1);  // the last of a day
    if (random_.chance(30)) ms = random_.between(0, 400) * kWalkDay;
    did("time passes: " + std::to_string(ms / kWalkSecondMs) + " s");
    model_.clock.wall += ms;
    model_.clock.boot += ms;
    count("time passed");
  }
  void step_clock() {
    stamp();
    const bool forwards = random_.chance(2);
    const std::int64_t ms =
        forwards ? random_.between(1, 72) * kWalkHour : -random_.between(1, 48) * kWalkHour / 4;
    did("the clock is set by " + std::to_string(ms / kWalkSecondMs) + " s");
    model_.clock.wall += ms;
    count(forwards ? "jumps" : "clocks put back");
    stamp();
  }
  void confirm() {
    // Set back, it was the jump that was wrong.
    if (!model_.clock.is_held() || model_.clock.wall < model_.clock.last) return;
    did("confirm");
    auto opened = ledger::Ledger::open(ledger(), ledger_options());
    auto transaction = opened.begin();
    transaction.confirm_clock("curator");
    (void)opened.commit(std::move(transaction));
    model_.clock.confirm();
    (void)check();
    count("confirmed");
  }

  // ---- processes that die, and what is only looked at

  void die() {
    WalkCall call;
    std::string about;
    const bool commits = !recent_.empty() && random_.chance(2);
    if (commits) {
      about = recent_.back();
      call.actor = model_.waiting[model_.waiting_of.at(about)].asked.request.principal;
    } else {
      call.asked = random_.request(model_.active());
    }
    const bool at_a_bit = random_.chance(2);
    did(std::string("a process dies ") + (at_a_bit ? "drawing" : "anywhere") +
        (commits ? " in a commit" : " asking"));
    const std::optional<std::string> value =
        commits ? value_for(model_.waiting[model_.waiting_of.at(about)].asked) : std::nullopt;
    const pid_t child = fork();
    if (child == 0) {
      try {
        Engine engine = Engine::open(ledger(), options());
        DeadlyBits deadly;
        mechanisms::BitSource& bits = at_a_bit ? static_cast<mechanisms::BitSource&>(deadly) : bits_;
        if (commits) {
          (void)engine.commit(about, call.actor, value, bits, {});
        } else {
          (void)put(engine, call.asked->request, bits);
        }
      } catch (const std::exception&) {
      }
      _exit(0);
    }
    if (!at_a_bit) {
      ::usleep(static_cast<useconds_t>(random_.between(0, 4'000)));
      kill(child, SIGKILL);
    }
    int status = 0;
    waitpid(child, &status, 0);
    count(WIFSIGNALED(status) ? "killed" : "ended before they were killed");
    (void)check(call);
    if (!commits && model_.waiting_of.contains(root_)) recent_.push_back(root_);
  }
  void look() {
    did("look");
    for (const engine::BudgetAccount& one : engine_->budget("")) {
      const bool wanted =
          model_.active().limit_of(one.scope, one.measure, model_.clock.calendar()).has_value();
      require(one.active == wanted || one.scope.starts_with("period:"),
              "account '" + one.scope + "' " + one.measure +
                  (wanted ? " is inactive" : " limits nothing and is active"));
    }
    engine_->history("", 20, [](const Answer&) {});
    engine_->pending("", [](const Answer&) {});
    if (!newest_.empty()) (void)engine_->show(newest_, {});
    require(check() == 0, "looked, and something was recorded");
  }

  WalkRandom random_;
  SeededBits bits_;
  WalkCounts& counts_;
  TemporaryFolder folder_;
  std::string boot_id_;
  WalkModel model_;
  std::optional<Engine> engine_;
  std::optional<ledger::Ledger> reader_;
  std::int64_t last_seq_ = 0;
  std::string newest_;
  std::string root_;
  std::vector<std::string> recent_;  // ids of requests that wait or waited
  std::map<std::pair<std::string, std::string>, Bound> keys_;
  std::deque<std::string> trail_;
};

}  // namespace epsilog::test
