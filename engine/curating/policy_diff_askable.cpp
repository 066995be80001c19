// What may be asked, and in which form, where several keys decide it together.
//
// Whether a question can be asked follows from its columns' type, bounds, step, scale, values and stand-in
// for missing cells, and from how it is released; in which form a loss may be stated, and which delta is
// capped, follows from which budgets count delta. Judged one by one, most of these keys open or close
// nothing. So the questions and forms are found before and after, by the functions that plan and decide, and
// what came or went without a line of its own is reported.
#include <algorithm>
#include <map>
#include <set>

#include "access.hpp"
#include "component_mechanism.hpp"
#include "condition.hpp"
#include "epsilog/accounting/errors.hpp"
#include "loss_caps.hpp"
#include "policy_changes.hpp"
#include "released_question.hpp"
#include "scopes.hpp"
#include "yaml_writer.hpp"

namespace epsilog::engine {
namespace {

using Texts = std::vector<std::string>;

bool can_be_asked(const Dataset& dataset, const Question& question) {
  // A dataset by itself may lack what a policy sees to.
  if (dataset.blocks && dataset.column(dataset.blocks->by) == nullptr) return false;
  try {
    (void)released_derivation(dataset, question);
    require_satisfiable(dataset, question);
    return true;
  } catch (const NotFound&) {
  } catch (const Underivable&) {
  } catch (const InvalidParameter&) {
  }
  return false;
}

/// As a condition takes it, whatever the name is: a word of conditions, or with a blank.
std::string column_in_quotes(const std::string& column) {
  std::string quoted = "\"";
  for (const char c : column) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string question_text(const Question& question) {
  std::string text = question.statistic.text();
  if (question.statistic.quantiles.size() > 1) {
    text = "quantiles:" + question.statistic.subject + " of " +
           std::to_string(question.statistic.quantiles.size()) + " at once";
  }
  if (!question.by.empty()) text += " by " + by_text(question.by);
  if (question.where) text += " where " + question.where->text();
  return text + (question.totals ? " with totals" : "");
}

/// Whether the two say the same of which questions the column is good for.
bool serves_the_same(const Column* before, const Column* after) {
  if (before == nullptr || after == nullptr) return before == after;
  const auto bounds = [](const Column& column) {
    return column.bounds ? std::pair(column.bounds->lower, column.bounds->upper)
                         : std::pair<Rational, Rational>();
  };
  return before->type == after->type && before->scale == after->scale && before->values == after->values &&
         before->step == after->step && before->missing == after->missing &&
         before->bounds.has_value() == after->bounds.has_value() && bounds(*before) == bounds(*after);
}

/// Those who ask, and what for: everybody that either policy declares, and somebody that no list names.
struct Asker {
  std::string principal;
  std::string purpose;
};
std::vector<Asker> askers_of(const Policy& policy, const Dataset& dataset) {
  Texts principals = {""};
  if (policy.principals()) principals = names_of(*policy.principals());
  for (const Limit& limit : dataset.limits) {
    const bool one = limit.subject == Limit::Subject::principal && !limit.name.empty();
    if (one && !contains(principals, limit.name)) principals.push_back(limit.name);
  }
  std::vector<Asker> askers;
  for (const std::string& principal : principals) {
    for (const std::string& purpose : dataset.purposes.value_or(Texts{""}))
      askers.push_back({principal, purpose});
  }
  return askers;
}

bool may_ask_this(const Policy& policy, const Dataset& dataset, const Asker& asker,
                  const Question& question) {
  Request request;
  request.dataset = dataset.name;
  request.principal = asker.principal;
  request.purpose = asker.purpose;
  request.question = question;
  return access_reasons(policy, dataset, request).empty();
}

/// `policy` nullptr: whoever may ask, some statistics are asked only where they are named.
bool anybody_may_ask(const Policy* policy, const Dataset& dataset, const Question& question) {
  if (policy == nullptr) {
    return permits(dataset.allow.statistics, required_permission(question, dataset.rows.exact));
  }
  const std::vector<Asker> askers = askers_of(*policy, dataset);
  return std::any_of(askers.begin(), askers.end(),
                     [&](const Asker& asker) { return may_ask_this(*policy, dataset, asker, question); });
}

/// What the lines about single keys already say.
class ReportedChanges final {
 public:
  ReportedChanges(std::span<const PolicyChange> changes, std::size_t depth)
      : changes_(changes), depth_(depth) {}

  /// Whether a line about one of those keys, below the dataset, goes in that direction.
  [[nodiscard]] bool of(const std::string& key, Direction direction) const {
    return any([&](const PolicyChange& change) {
      return change.path[depth_] == key && has_direction(change, direction);
    });
  }
  [[nodiscard]] bool of_column(const std::string& column, Direction direction) const {
    return any([&](const PolicyChange& change) {
      return change.path[depth_] == "columns" && change.path.size() > depth_ + 1 &&
             change.path[depth_ + 1] == column && has_direction(change, direction);
    });
  }

 private:
  template <class Holds>
  [[nodiscard]] bool any(const Holds& holds) const {
    return std::any_of(changes_.begin(), changes_.end(), [&](const PolicyChange& change) {
      return change.path.size() > depth_ && holds(change);
    });
  }
  static bool has_direction(const PolicyChange& change, Direction direction) {
    return change.direction == direction || change.direction == Direction::incomparable;
  }

  std::span<const PolicyChange> changes_;
  std::size_t depth_;
};

/// Questions that can be asked on one side only, and that no line of a key explains.
class Questions final {
 public:
  Questions(const PolicyDatasets& sides, const ReportedChanges& said) : sides_(sides), reported_(said) {
    for (const Dataset* dataset : {&sides.before, &sides.after}) {
      for (const Column& column : dataset->columns) {
        if (!contains(columns_, column.name)) columns_.push_back(column.name);
      }
    }
    for (const std::string& column : columns_) {
      const Column* before = sides.before.column(column);
      const Column* after = sides.after.column(column);
      if (!serves_the_same(before, after)) changed_.insert(column);
      const auto groups = [](const Column* one) { return one != nullptr && !one->values.empty(); };
      if (groups(before) || groups(after)) groupable_.push_back(column);
    }
  }

  void compare() {
    compare_columns();
    compare_conditions();
    compare_tables();
    compare_quantiles();
    compare_release();
  }
  [[nodiscard]] const Texts& opened_questions() const { return opened_; }
  [[nodiscard]] const Texts& closed_questions() const { return closed_; }

 private:
  static Question of(StatisticKind kind, const std::string& subject, Texts by = {}) {
    Question question;
    question.statistic.kind = kind;
    question.statistic.subject = subject;
    question.by = std::move(by);
    return question;
  }
  [[nodiscard]] bool is_changed(const Texts& columns) const {
    return std::any_of(columns.begin(), columns.end(),
                       [this](const std::string& one) { return changed_.contains(one); });
  }

  void compare_columns() {
    for (const std::string& column : columns_) {
      for (const StatisticKind kind : {StatisticKind::sum, StatisticKind::mean, StatisticKind::variance}) {
        if (changed_.contains(column)) judge(of(kind, column));
      }
      for (const std::string& divisor : columns_) {
        if (divisor == column || !is_changed({column, divisor})) continue;
        Question ratio = of(StatisticKind::ratio, column);
        ratio.statistic.divisor = divisor;
        judge(ratio);
      }
    }
  }
  /// A stand-in leaves no cell missing, no cell has more digits than its column's scale, and where values are
  /// declared no other text can be compared with.
  void compare_conditions() {
    for (const std::string& column : columns_) {
      if (!changed_.contains(column)) continue;
      judge(of(StatisticKind::count_of, column));
      judge(parse_question("count", std::nullopt, column_in_quotes(column) + " is missing"));
      judge(parse_question("count", std::nullopt, column_in_quotes(column) + " = 'a text that is not declared'"));
      const Column* before = sides_.before.column(column);
      const Column* after = sides_.after.column(column);
      if (before == nullptr || after == nullptr || before->scale == after->scale) continue;
      const Rational finest =
          accounting::power_of_ten(-static_cast<long>(std::max(before->scale, after->scale)));
      judge(parse_question("count", std::nullopt, column_in_quotes(column) + " = " + accounting::text(finest)));
    }
  }
  /// Calls `visit` with every set of so many columns to group by, or fewer but one at least.
  template <class Visit>
  void each_table(std::size_t most, const Visit& visit) const {
    for (std::size_t i = 0; i < groupable_.size(); ++i) {
      visit(Texts{groupable_[i]});
      for (std::size_t j = i + 1; most > 1 && j < groupable_.size(); ++j) {
        visit(Texts{groupable_[i], groupable_[j]});
        for (std::size_t k = j + 1; most > 2 && k < groupable_.size(); ++k) {
          visit(Texts{groupable_[i], groupable_[j], groupable_[k]});
        }
      }
    }
  }
  void compare_tables() {
    if (changed_.empty()) return;
    each_table(kGroupedByMax, [this](const Texts& by) {
      if (is_changed(by)) judge(of(StatisticKind::count, "", by));
    });
  }
  /// How many quantiles are asked at once matters by the levels of their split.
  void compare_quantiles() {
    for (const std::string& column : columns_) {
      const auto judge_by = [&](const Texts& by) {
        if (!changed_.contains(column) && !is_changed(by)) return;
        for (std::size_t several = 1; several <= kQuantilesAskedMax; several *= 2) {
          Question question = of(StatisticKind::quantile, column, by);
          for (std::size_t i = 1; i <= several; ++i) {
            Rational quantile(static_cast<unsigned long>(i), static_cast<unsigned long>(several + 1));
            quantile.canonicalize();
            question.statistic.quantiles.push_back(std::move(quantile));
          }
          judge(question);
        }
      };
      judge_by({});
      each_table(2, judge_by);
    }
  }
  /// A declared `bound` closes tables whose cells are added up.
  void compare_release() {
    std::vector<Question> questions = {of(StatisticKind::count, ""), of(StatisticKind::units, "")};
    for (const std::string& column : columns_) {
      for (const StatisticKind kind :
           {StatisticKind::sum, StatisticKind::count_of, StatisticKind::distinct}) {
        questions.push_back(of(kind, column));
      }
    }
    for (Question& question : questions) {
      const std::string key = release_key(question.statistic);
      if (sides_.before.settings(key).bound.has_value() == sides_.after.settings(key).bound.has_value())
        continue;
      bool judged = false;
      each_table(2, [&](const Texts& by) {
        if (judged || !can_be_asked(sides_.before, of(StatisticKind::count, "", by))) return;
        question.by = by;
        question.totals = by.size() == 1 ? std::optional(Rational(1, 2)) : std::nullopt;
        judged = judge(question) || judged;
      });
    }
  }

  /// Whether it can be asked on one side only.
  bool judge(const Question& question) {
    const bool could = can_be_asked(sides_.before, question);
    const bool can = can_be_asked(sides_.after, question);
    if (could == can) return false;
    const Direction direction = can ? Direction::looser : Direction::tighter;
    if (is_explained(question, direction)) return true;
    const bool by_anybody = anybody_may_ask(can ? sides_.policy_after : sides_.policy_before,
                                            can ? sides_.after : sides_.before, question);
    if (by_anybody) (can ? opened_ : closed_).push_back(question_text(question));
    return true;
  }
  [[nodiscard]] bool is_explained(const Question& question, Direction direction) const {
    if (reported_.of("source", direction) || reported_.of("rows", direction)) return true;
    Texts columns = aggregated_columns(question.statistic);
    columns.insert(columns.end(), question.by.begin(), question.by.end());
    if (question.where) {
      for (const Comparison& one : question.where->comparisons()) columns.push_back(one.column);
    }
    return std::any_of(columns.begin(), columns.end(),
                       [&](const std::string& column) { return reported_.of_column(column, direction); });
  }

  const PolicyDatasets& sides_;
  const ReportedChanges& reported_;
  Texts columns_;
  Texts groupable_;
  std::set<std::string> changed_;
  Texts opened_;
  Texts closed_;
};

/// The first few, and how many more there are.
std::string few(const Texts& texts) {
  constexpr std::size_t kTold = 5;
  if (texts.empty()) return "";
  const Texts told(texts.begin(), texts.begin() + static_cast<std::ptrdiff_t>(std::min(texts.size(), kTold)));
  const std::string more =
      texts.size() > kTold ? " and " + std::to_string(texts.size() - kTold) + " more" : "";
  return yaml::sequence(told) + more;
}

void report_both(const DiffPath& place, const Texts& closed, const Texts& opened, std::string_view can,
                 std::string_view cannot, std::string_view either) {
  if (closed.empty() && opened.empty()) return;
  if (closed.empty()) return place.report(Direction::looser, "", few(opened), can);
  if (opened.empty()) return place.report(Direction::tighter, few(closed), "", cannot);
  place.report(Direction::incomparable, few(closed), few(opened), either);
}

/// In which form an asker may state what a request is to lose.
struct Forms {
  bool in_rho = false;                   ///< of Gaussian noise
  bool batch_with_delta = false;         ///< charged and capped as one
  bool delta = false;                    ///< whether anything that it asks has one
  std::ptrdiff_t delta_accounts = 0;     ///< budgets that count it
  std::optional<Delta> most_delta = {};  ///< of one release; nothing: its accounts alone bound it
};

bool is_more(const std::optional<Delta>& most, const std::optional<Delta>& than) {
  return than && (!most || *most > *than);
}

class AskerForms final {
 public:
  AskerForms(const Policy& policy, const Dataset& dataset) : policy_(policy), dataset_(dataset) {
    for (const StatisticKind kind : {StatisticKind::count, StatisticKind::units}) add(kind, "");
    for (const Column& column : dataset.columns) {
      for (const StatisticKind kind :
           {StatisticKind::sum, StatisticKind::mean, StatisticKind::variance, StatisticKind::count_of,
            StatisticKind::distinct, StatisticKind::quantile}) {
        add(kind, column.name);
      }
    }
    for (const NamedQuery& query : dataset.queries) add(StatisticKind::value, query.name);
  }

  [[nodiscard]] Forms of(const Asker& asker) const {
    const std::vector<const Budget*> budgets = budgets_of(policy_, dataset_, asker.principal, asker.purpose);
    const auto any = [&](Measure measure) {
      return std::any_of(budgets.begin(), budgets.end(),
                         [&](const Budget* budget) { return budget->measure == measure; });
    };
    const bool counted = counts_delta(dataset_);
    const bool gaussian = !any(Measure::pure) && may_ask_any(asker, [this](const Statistic& statistic) {
      return statistic.kind != StatisticKind::quantile &&
             needs_delta(dataset_.settings(release_key(statistic)).mechanism);
    });
    Forms forms;
    forms.in_rho = gaussian && !counted;
    forms.batch_with_delta = counted && may_ask_any(asker, [](const Statistic& statistic) {
                               return statistic.kind != StatisticKind::value;
                             });
    forms.delta = gaussian || forms.batch_with_delta;
    forms.delta_accounts = std::count_if(budgets.begin(), budgets.end(), [](const Budget* budget) {
      return budget->measure == Measure::approximate;
    });
    forms.most_delta = cap_of_one_release(dataset_, any(Measure::approximate)).delta;
    return forms;
  }
  [[nodiscard]] bool may_ask(const Asker& asker) const {
    return may_ask_any(asker, [](const Statistic&) { return true; });
  }

 private:
  void add(StatisticKind kind, const std::string& subject) {
    Question question;
    question.statistic.kind = kind;
    question.statistic.subject = subject;
    if (kind == StatisticKind::quantile) question.statistic.quantiles = {Rational(1, 2)};
    if (can_be_asked(dataset_, question)) questions_.push_back(std::move(question));
  }
  template <class Holds>
  [[nodiscard]] bool may_ask_any(const Asker& asker, const Holds& holds) const {
    return std::any_of(questions_.begin(), questions_.end(), [&](const Question& question) {
      return holds(question.statistic) && may_ask_this(policy_, dataset_, asker, question);
    });
  }

  const Policy& policy_;
  const Dataset& dataset_;
  std::vector<Question> questions_;
};

/// Who has a form on one side only, by form.
struct FormChanges {
  std::map<std::string_view, Texts> gained;
  std::map<std::string_view, Texts> lost;
};

void note(FormChanges& changes, std::string_view form, bool had, bool has, const std::string& who) {
  if (had == has) return;
  Texts& list = (has ? changes.gained : changes.lost)[form];
  if (!contains(list, who)) list.push_back(who);
}

Texts with_names(const std::map<std::string_view, Texts>& forms) {
  Texts texts;
  for (const auto& [form, names] : forms) {
    for (const std::string& name : names)
      texts.push_back((name.empty() ? "anybody" : name) + ": " + std::string(form));
  }
  return texts;
}

/// Whether anything that decides the forms may differ: else nothing is computed.
bool may_differ_in_forms(const Dataset& before, const Dataset& after, const ReportedChanges& said) {
  const auto told = [&](const char* key) {
    return said.of(key, Direction::looser) || said.of(key, Direction::tighter);
  };
  return counts_delta(before) != counts_delta(after) || told("limits") || told("lifetime") ||
         told("budget") || told("per_release");
}

void compare_forms(const DiffPath& place, const PolicyDatasets& sides, const ReportedChanges& said) {
  if (!may_differ_in_forms(sides.before, sides.after, said)) return;
  const AskerForms before(*sides.policy_before, sides.before);
  const AskerForms after(*sides.policy_after, sides.after);
  FormChanges changes;
  std::vector<Asker> askers = askers_of(*sides.policy_before, sides.before);
  for (Asker& asker : askers_of(*sides.policy_after, sides.after)) askers.push_back(std::move(asker));
  for (const Asker& asker : askers) {
    // Who asks on one side only has a line for that.
    if (!before.may_ask(asker) || !after.may_ask(asker)) continue;
    const Forms had = before.of(asker);
    const Forms has = after.of(asker);
    note(changes, "a loss in rho", had.in_rho, has.in_rho, asker.principal);
    if (had.delta && has.delta) {
      note(changes, "a larger delta of one release", is_more(had.most_delta, has.most_delta),
           is_more(has.most_delta, had.most_delta), asker.principal);
    }
    if (had.batch_with_delta && has.batch_with_delta) {
      note(changes, "a batch whose delta fewer budgets count", had.delta_accounts < has.delta_accounts,
           has.delta_accounts < had.delta_accounts, asker.principal);
    }
    note(changes, "a batch with a delta", had.batch_with_delta, has.batch_with_delta, asker.principal);
  }
  const auto said_of = [&](Direction direction) {
    return said.of("limits", direction) || said.of("lifetime", direction) || said.of("budget", direction) ||
           said.of("per_release", direction);
  };
  if (said_of(Direction::looser)) changes.gained.clear();
  if (said_of(Direction::tighter)) changes.lost.clear();
  report_both(place, with_names(changes.lost), with_names(changes.gained),
              "the budgets together let a loss be stated so", "the budgets together let no loss be stated so",
              "the budgets together let other losses be stated");
}

}  // namespace

bool quantiles_are_asked(const PolicyDatasets& sides) {
  const auto asked = [](const Policy* policy, const Dataset& dataset) {
    return std::any_of(dataset.columns.begin(), dataset.columns.end(), [&](const Column& column) {
      Question question;
      question.statistic.kind = StatisticKind::quantile;
      question.statistic.subject = column.name;
      question.statistic.quantiles = {Rational(1, 2)};
      return can_be_asked(dataset, question) && anybody_may_ask(policy, dataset, question);
    });
  };
  return asked(sides.policy_before, sides.before) && asked(sides.policy_after, sides.after);
}

void compare_askable(const DiffPath& dataset, const PolicyDatasets& sides,
                     std::span<const PolicyChange> keys) {
  const ReportedChanges said(keys, dataset.depth());
  Questions questions(sides, said);
  questions.compare();
  report_both(dataset.at("columns"), questions.closed_questions(), questions.opened_questions(),
              "what columns declare together lets these be asked",
              "what columns declare together lets these be asked no more",
              "what columns declare together lets other questions be asked");
  if (sides.policy_before != nullptr) compare_forms(dataset.at("limits"), sides, said);
}

}  // namespace epsilog::engine
