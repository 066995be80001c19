#include "epsilog/engine/ledger_report.hpp"

#include <algorithm>
#include <functional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "budget_notes.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/floating_point.hpp"
#include "epsilog/accounting/quantity.hpp"
#include "epsilog/engine/audit.hpp"
#include "epsilog/engine/engine.hpp"
#include "epsilog/engine/ledger_evidence.hpp"
#include "epsilog/engine/policy.hpp"
#include "epsilog/ledger/inspection.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "epsilog/ledger/ledger_time.hpp"
#include "scopes.hpp"

namespace epsilog::engine {
namespace {

/// Of the work's progress.
constexpr double kVerifyingShare = 0.6;
constexpr double kReadingShare = 0.15;

void report_progress(const Progress& progress, double fraction) {
  const accounting::DefaultFloatingPoint floating_point;
  progress(std::min(fraction, 1.0));
}

AuditReport verify_ledger(const std::string& ledger_path, const Progress& progress) {
  const auto share = [&progress](double fraction) { report_progress(progress, kVerifyingShare * fraction); };
  return audit_verify(ledger_path, progress ? Progress(share) : Progress());
}

/// Who cannot be read hides nobody else.
void read_part(LedgerReport& report, const char* part, const std::function<void()>& read) {
  try {
    read();
  } catch (const LedgerCorrupt& error) {
    report.unread.push_back({part, error.what()});
  }
}

DecisionSort sort_of(ledger::Outcome outcome) {
  if (outcome == ledger::Outcome::granted) return DecisionSort::released;
  return outcome == ledger::Outcome::refused ? DecisionSort::refused : DecisionSort::waiting;
}

/// A limit that is another one, or none any more, from a decision on.
struct LimitStep {
  std::int64_t after_decision = 0;
  std::int64_t account = 0;
  std::string at;
  std::optional<std::int64_t> limit;  ///< none: removed
};

/// In the order in which they happened between decisions.
std::vector<LimitStep> limit_steps(const LedgerReport& report) {
  std::vector<LimitStep> steps;
  for (const auto& [account, change] : report.limit_changes) {
    steps.push_back({change.after_decision, change.account, change.changed_at, change.new_limit});
  }
  for (const auto& [account, removal] : report.limit_removals) {
    steps.push_back({removal.after_decision, removal.account, removal.removed_at, std::nullopt});
  }
  std::stable_sort(steps.begin(), steps.end(), [](const LimitStep& one, const LimitStep& other) {
    return std::tie(one.after_decision, one.at) < std::tie(other.after_decision, other.at);
  });
  return steps;
}

/// What remained of every account, decision by decision. Balances are those that each decision left, so that
/// one which cannot be read leaves no error in those after it.
class Courses final {
 public:
  Courses(const std::vector<ledger::AccountState>& accounts, const LedgerReport& report)
      : span_(report.span), steps_(limit_steps(report)) {
    const std::size_t share = kPointsInAll / std::max<std::size_t>(accounts.size(), 1);
    const std::size_t most =
        std::clamp(share, kPointsOfBudgetLeast, kPointsOfBudget) / Course::kKeptOfPart * Course::kKeptOfPart;
    for (const ledger::AccountState& account : accounts) courses_.emplace(account.id, Course(span_, most));
    // What a limit was at first is told by its first change, by the first decision, or never changed.
    for (const auto& [account, change] : report.limit_changes) {
      begin(change.account, change.old_limit);
    }
  }

  void decision(const ledger::StoredDecision& stored) {
    step_to(stored.seq);
    if (ledger::is_time(stored.created_at)) now_ = ledger::parse_time(stored.created_at);
    for (const ledger::AccountState& after : stored.accounts) {
      if (!after.balance.valid()) continue;  // a fault that the audit names
      begin(after.id, after.balance.limit);
      const auto course = courses_.find(after.id);
      if (course == courses_.end()) continue;
      BurnPoint point = *course->second.last();
      point.after_decision = stored.seq;
      point.at = now_;
      point.limit = after.balance.limit;
      point.spent = after.balance.spent;
      point.reserved = after.balance.reserved;
      // Who is asked anew is asked because there is a limit.
      if (stored.draft.parent.empty() && charges(stored, after.id)) point.limited = true;
      course->second.add(point);
    }
  }

  /// The course of an account up to how it stands.
  [[nodiscard]] BurnDown finish(const ledger::AccountState& account, bool active, std::int64_t decisions) {
    step_to(decisions + 1);
    const bool sound = account.balance.valid();
    begin(account.id, sound ? account.balance.limit : 0);
    Course& course = courses_.at(account.id);
    if (!sound) return {account, active, course.points(), course.changes()};
    BurnPoint end = *course.last();
    end.after_decision = decisions;
    end.at = span_.until;
    end.limited = active;
    end.limit = account.balance.limit;
    end.spent = account.balance.spent;
    end.reserved = account.balance.reserved;
    course.add(end);
    return {account, active, course.points(), course.changes()};
  }

 private:
  static bool charges(const ledger::StoredDecision& stored, std::int64_t account) {
    return std::any_of(stored.charges.begin(), stored.charges.end(),
                       [account](const ledger::Charge& charge) { return charge.account == account; });
  }

  /// From the beginning of the ledger on, whenever the account was opened.
  void begin(std::int64_t account, std::int64_t limit) {
    limit = std::clamp<std::int64_t>(limit, 0, accounting::kUnitsMax);
    const auto course = courses_.find(account);
    if (course == courses_.end() || course->second.last()) return;
    course->second.add({.at = span_.from, .limit = limit});
  }

  /// What happened to limits before that decision.
  void step_to(std::int64_t seq) {
    for (; next_ < steps_.size() && steps_[next_].after_decision < seq; ++next_) {
      const LimitStep& step = steps_[next_];
      const auto course = courses_.find(step.account);
      if (course == courses_.end()) continue;
      if (ledger::is_time(step.at)) now_ = ledger::parse_time(step.at);
      if (!course->second.last()) begin(step.account, step.limit.value_or(0));
      BurnPoint point = *course->second.last();
      point.after_decision = step.after_decision;
      point.at = now_;
      point.limited = step.limit.has_value();
      if (step.limit) point.limit = *step.limit;
      const accounting::Balance balance{point.limit, point.spent, point.reserved};
      if (balance.valid()) course->second.add(point);
    }
  }

  BurnSpan span_;
  std::int64_t now_ = span_.from;
  std::vector<LimitStep> steps_;
  std::size_t next_ = 0;
  std::unordered_map<std::int64_t, Course> courses_;  // by account
};

/// Reads one snapshot into the report.
class Reading final {
 public:
  Reading(LedgerReport& report, ledger::Snapshot& view, const ReportQuestion& question)
      : report_(report), view_(view), question_(question) {}

  void read(const Progress& progress) {
    part("ledger", [this] { facts(); });
    part("tree", [this] { tree(); });
    part("accounts", [this] { accounts_ = view_.accounts(question_.dataset); });
    part("policy", [this] { policy(); });
    part("changes", [this] { changes(); });
    part("budgets", [&] { decisions(progress); });
  }

 private:
  void part(const char* name, const std::function<void()>& read) { read_part(report_, name, read); }

  void facts() {
    const ledger::LedgerFacts facts = ledger::Inspection(view_).facts();
    report_.ledger_id = facts.ledger_id;
    report_.begun_at = facts.created_at;
    report_.last_at = facts.last_time;
    report_.recorded = facts.decisions.rows;
    report_.span.from = ledger::parse_time(facts.created_at);
    report_.span.until = std::max(report_.span.from, ledger::parse_time(facts.last_time));
  }

  void tree() {
    report_.tree = view_.tree();
    for (const Checkpoint& checkpoint : question_.checkpoints) require_contained(view_, checkpoint);
  }

  void policy() {
    view_.each_policy_version([this](const ledger::PolicyVersion& version) {
      report_.versions.push_back({version.version, version.sha256, version.applied_at, version.applied_by});
    });
    policy_ = Policy::parse_stored(view_.active_policy().yaml, "the active policy");
    if (accounts_.empty() && !question_.dataset.empty())
      static_cast<void>(policy_->dataset(question_.dataset));
    for (const Dataset& declared : policy_->datasets()) {
      if (!is_requested(declared.name)) continue;
      report_.units.push_back({declared.name, declared.unit.id,
                               static_cast<std::uint64_t>(declared.unit.max_rows),
                               declared.neighbours == Neighbours::replace_one});
      for (const std::string& note : budget_notes(declared)) {
        report_.notes.push_back(declared.name + ": " + note);
      }
    }
  }

  [[nodiscard]] bool is_requested(const std::string& dataset) const {
    return question_.dataset.empty() || dataset == question_.dataset;
  }

  [[nodiscard]] const ledger::AccountState* account(std::int64_t id) const {
    const auto found = std::find_if(accounts_.begin(), accounts_.end(),
                                    [id](const ledger::AccountState& one) { return one.id == id; });
    return found == accounts_.end() ? nullptr : &*found;
  }

  void changes() {
    view_.each_limit_change([this](const ledger::LimitChange& change) {
      const ledger::AccountState* of = account(change.account);
      if (of != nullptr) report_.limit_changes.push_back({of->name(), change});
    });
    view_.each_limit_removal([this](const ledger::LimitRemoval& removal) {
      const ledger::AccountState* of = account(removal.account);
      if (of != nullptr) report_.limit_removals.push_back({of->name(), removal});
    });
    view_.each_relocation([this](const ledger::Relocation& relocation) {
      if (is_requested(relocation.dataset)) report_.relocations.push_back(relocation);
    });
    report_.events = ledger_events(view_, {.dataset = question_.dataset});
    view_.each_key_event([this](const ledger::KeyEvent& key) { report_.keys.push_back(key); });
    view_.each_clock_event([this](const ledger::ClockEvent& event) { report_.clock.push_back(event); });
  }

  void decisions(const Progress& progress) {
    Courses courses(accounts_, report_);
    const auto total = static_cast<double>(std::max<std::int64_t>(report_.recorded, 1));
    const ledger::RangeEnd end = view_.each_decision(
        {.dataset = question_.dataset},
        [&](const ledger::StoredDecision& stored) {
          ++report_.counts.at(static_cast<std::size_t>(sort_of(stored.draft.outcome)));
          report_.withheld += stored.release && !stored.durable ? 1 : 0;
          courses.decision(stored);
          if (++report_.decisions % 1024 != 0 || !progress) return;
          report_progress(progress,
                          kVerifyingShare + kReadingShare * static_cast<double>(report_.decisions) / total);
        },
        [this](const ledger::MalformedRecord&) { ++report_.decisions; });
    for (const ledger::AccountState& account : accounts_) {
      report_.budgets.push_back(courses.finish(account, is_active(account), end.last));
    }
  }

  [[nodiscard]] bool is_active(const ledger::AccountState& account) {
    if (!policy_) return true;
    if (!limits_) limits_.emplace(*policy_, view_.calendar_time());
    return limits_->of(account.name(), account.balance).has_value();
  }

  LedgerReport& report_;
  ledger::Snapshot& view_;
  const ReportQuestion& question_;
  std::vector<ledger::AccountState> accounts_;
  std::optional<Policy> policy_;
  std::optional<LimitsAfter> limits_;
};

void add_accountants(LedgerReport& report, const std::string& ledger_path, const EngineOptions& options,
                     const Progress& progress) {
  ReaccountQuestion question;
  question.dataset = report.dataset;
  question.accountants.assign(accounting::kAccountants.begin(), accounting::kAccountants.end());
  const auto share = [&progress](double fraction) {
    report_progress(progress,
                    kVerifyingShare + kReadingShare + (1 - kVerifyingShare - kReadingShare) * fraction);
  };
  EngineOptions quietly = options;
  quietly.unreadable = {};  // the report has named each
  report.accountants = reaccount(ledger_path, question, progress ? Progress(share) : Progress(), quietly);
}

}  // namespace

DecisionSort sort_of(const Answer& answer) {
  if (answer.recorded.state == RequestState::granted) return DecisionSort::released;
  return answer.recorded.state == RequestState::refused ? DecisionSort::refused : DecisionSort::waiting;
}

LedgerReport ledger_report(const std::string& ledger_path, const ReportQuestion& question,
                           const EngineOptions& options, const Progress& progress) {
  LedgerReport report;
  report.dataset = question.dataset;
  report.audit = verify_ledger(ledger_path, progress);
  read_part(report, "ledger", [&] {
    const ledger::Ledger ledger = ledger::Ledger::open_read_only(ledger_path, options.ledger_options());
    report.poisoned = ledger.poison_reason();
    ledger::Snapshot view = ledger.snapshot();
    Reading(report, view, question).read(progress);
  });
  read_part(report, "accountants", [&] { add_accountants(report, ledger_path, options, progress); });
  return report;
}

std::optional<UnreadPart> each_reported_decision(const std::string& ledger_path, const LedgerReport& report,
                                                 std::optional<DecisionSort> sort,
                                                 const EngineOptions& options,
                                                 accounting::CallbackRef<void(const Answer&)> visit,
                                                 const Alphas& alphas) {
  if (report.decisions == 0) return std::nullopt;
  try {
    const Engine engine = Engine::open(ledger_path, options);
    static_cast<void>(engine.history({.dataset = report.dataset, .limit = report.decisions, .alphas = alphas},
                                     [&](const Answer& answer) {
                                       if (!sort || sort_of(answer) == *sort) visit(answer);
                                       return true;
                                     }));
  } catch (const LedgerCorrupt& error) {
    return UnreadPart{"decisions", error.what()};
  }
  return std::nullopt;
}

}  // namespace epsilog::engine
