// Which questions may be asked and which never: `purposes`, `allow`, `forbid`.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "policy_decoder.hpp"
#include "policy_words.hpp"

namespace epsilog::engine {

using yaml::Node;

namespace {

constexpr std::string_view kDefault = "default";  // of `allow`: default_statistics()

/// What a list of `allow` means that names `default`: each statistic once.
std::vector<StatisticKind> with_default(const Node& node, const std::string& what,
                                        const std::vector<std::string>& names, Faults& faults) {
  std::vector<StatisticKind> kinds;
  for (const std::string& name : names) {
    if (name == kDefault) {
      kinds.insert(kinds.end(), default_statistics().begin(), default_statistics().end());
      continue;
    }
    const StatisticKind kind = kStatisticWords.find(name).value();
    if (!permits(default_statistics(), kind)) {
      kinds.push_back(kind);
      continue;
    }
    const auto item =
        std::find_if(node.items.begin(), node.items.end(), [&](const Node& one) { return one.text == name; });
    faults.add(item->mark,
               what + ": default has " + quoted_excerpt(name) + " already; leave one of the two out");
  }
  return kinds;
}

enum class DefaultWord { is_known, is_refused };

std::vector<StatisticKind> decode_statistics(const Node& node, const std::string& what, DefaultWord word,
                                             Faults& faults) {
  std::vector<StatisticKind> kinds;
  const std::vector<std::string> names = names_of(node, what, faults, [&](const Node& item) {
    if (item.text == kDefault) {
      if (word == DefaultWord::is_known) return true;
      faults.add(item.mark, what + ": default is a word of allow.statistics alone; list what is forbidden");
      return false;
    }
    if (item.text == "histogram") {
      faults.add(item.mark,
                 what + ": a histogram is a count by a column; list count here and the column under by");
      return false;
    }
    if (item.text == "median" || item.text == "quantiles") {
      faults.add(item.mark, what + ": " + quoted_excerpt(item.text) +
                                " is a way to ask for a quantile; list quantile here");
      return false;
    }
    return choice_of(item, keys::statistics, what, faults).has_value();
  });
  if (std::find(names.begin(), names.end(), kDefault) != names.end()) {
    return with_default(node, what, names, faults);
  }
  for (const std::string& name : names) kinds.push_back(kStatisticWords.find(name).value());
  return kinds;
}

/// The columns of a dataset by name; made once, as there may be many rules.
class DeclaredColumns final {
 public:
  explicit DeclaredColumns(const Dataset& dataset) {
    for (const Column& column : dataset.columns) {
      columns_.emplace(column.name, &column);
      names_.push_back(column.name);
      if (column.derived) with_labels_.insert(column.derived->from);
    }
  }

  /// nullptr after a fault.
  const Column* expect(const Node& item, const std::string& what, Faults& faults) const {
    const auto found = columns_.find(item.text);
    if (found != columns_.end()) return found->second;
    faults.add(item.mark, what + ": " + quoted_excerpt(item.text) + " is not a declared column." +
                              faults.suggestion(item.text, names_));
    return nullptr;
  }
  /// Whether it can be grouped by: the column, or one that is derived from it.
  bool has_groups(const Column& column) const {
    return !column.values.empty() || with_labels_.contains(column.name);
  }

 private:
  std::unordered_map<std::string_view, const Column*> columns_;
  std::vector<std::string> names_;
  std::unordered_set<std::string_view> with_labels_;
};

/// The lists of a map whose items must be declared elsewhere in the policy.
class DeclaredLists final {
 public:
  DeclaredLists(const Fields& fields, const DeclaredColumns& columns, const Dataset& dataset,
                const Askers& askers, Faults& faults)
      : fields_(fields), columns_(columns), dataset_(dataset), askers_(askers), faults_(faults) {}

  std::optional<std::vector<StatisticKind>> statistics(DefaultWord word) const {
    const Node* list = fields_["statistics"];
    if (list == nullptr) return std::nullopt;
    return decode_statistics(*list, fields_.path("statistics"), word, faults_);
  }

  std::optional<std::vector<std::string>> columns(std::string_view key) const {
    const std::string what = fields_.path(key);
    return names(key, [&](const Node& item) { return columns_.expect(item, what, faults_) != nullptr; });
  }

  std::optional<std::vector<std::string>> columns_to_group_by(std::string_view key) const {
    const std::string what = fields_.path(key);
    return names(key, [&](const Node& item) {
      const Column* column = columns_.expect(item, what, faults_);
      if (column == nullptr) return false;
      if (columns_.has_groups(*column)) return true;
      faults_.add(item.mark,
                  what + ": the column " + quoted_excerpt(item.text) +
                      " declares no values; groups must be public, so declare values or remove it here");
      return false;
    });
  }

  std::optional<std::vector<std::string>> principals(std::string_view key) const {
    const Node* list = fields_[key];
    if (list == nullptr) return std::nullopt;
    return principals_of(*list, fields_.path(key), askers_, faults_);
  }

  std::optional<std::vector<std::string>> roles(std::string_view key) const {
    const Node* list = fields_[key];
    if (list == nullptr) return std::nullopt;
    return roles_of(*list, fields_.path(key), askers_, faults_);
  }

  std::optional<std::vector<std::string>> purposes(std::string_view key) const {
    const Node* list = fields_[key];
    if (list == nullptr || !expect_purposes_declared(list->mark, fields_.path(key), dataset_, faults_)) {
      return std::nullopt;
    }
    return names(key, [&](const Node& item) {
      return expect_purpose(item.text, item.mark, fields_.path(key), dataset_, faults_);
    });
  }

  /// Whoever asks, declared or not: who is nobody else can be named all the same.
  std::optional<std::vector<std::string>> askers(std::string_view key) const {
    if (askers_.principals) return principals(key);
    return names(key, [&](const Node& item) {
      return expect_principal_name(item.text, item.mark, fields_.path(key) + ": ", faults_);
    });
  }

 private:
  std::optional<std::vector<std::string>> names(std::string_view key,
                                                const std::function<bool(const Node&)>& accept) const {
    const Node* list = fields_[key];
    if (list == nullptr) return std::nullopt;
    return names_of(*list, fields_.path(key), faults_, accept);
  }

  const Fields& fields_;
  const DeclaredColumns& columns_;
  const Dataset& dataset_;
  const Askers& askers_;
  Faults& faults_;
};

/// A list without items would make the rule apply to nothing, which is not what anybody writes it for.
void refuse_empty_lists(const Fields& fields, Faults& faults) {
  for (const Key& key : keys::forbid.keys) {
    const Node* list = fields[key.name];
    if (list == nullptr || list->kind != Node::Kind::sequence || !list->items.empty()) continue;
    faults.add(list->mark, fields.path(key.name) +
                               ": an empty list forbids nothing; list something, or leave the key out");
  }
}

Forbid decode_forbid_rule(const Node& node, const DeclaredColumns& columns, const Dataset& dataset,
                          const Askers& askers, Faults& faults) {
  Forbid rule;
  rule.mark = node.mark;
  const Fields fields(node, keys::forbid, "forbid", node.mark, faults);
  if (node.kind != Node::Kind::map) return rule;
  if (node.entries.empty()) {
    faults.add(node.mark,
               "forbid: a rule without a list would forbid everything; remove the dataset or give it no "
               "principals");
    return rule;
  }
  refuse_empty_lists(fields, faults);
  const DeclaredLists lists(fields, columns, dataset, askers, faults);
  rule.principals = lists.askers("principals");
  rule.roles = lists.roles("roles");
  rule.purposes = lists.purposes("purposes");
  rule.statistics = lists.statistics(DefaultWord::is_refused);
  rule.columns = lists.columns("columns");
  rule.by = lists.columns_to_group_by("by");
  rule.where = lists.columns("where");
  return rule;
}

}  // namespace

std::optional<std::vector<std::string>> decode_purposes(const Node& node, Faults& faults) {
  if (!expect(node, Node::Kind::sequence, "purposes", "a list of names", faults)) return std::nullopt;
  if (node.items.empty()) {
    faults.add(node.mark,
               "purposes: list at least one, or leave the key out; every request would have to state one");
    return std::nullopt;
  }
  return names_of(node, "purposes", faults,
                  [&](const Node& item) { return expect_name(item.text, item.mark, "purpose", faults); });
}

bool expect_purposes_declared(const Mark& mark, const std::string& what, const Dataset& dataset,
                              Faults& faults) {
  if (dataset.purposes) return true;
  faults.add(mark, what + ": dataset '" + dataset.name + "' declares no purposes; add purposes: [NAME]");
  return false;
}

bool expect_purpose(const std::string& name, const Mark& mark, const std::string& what,
                    const Dataset& dataset, Faults& faults) {
  if (!expect_purposes_declared(mark, what, dataset, faults)) return false;
  const std::vector<std::string>& declared = *dataset.purposes;
  if (std::find(declared.begin(), declared.end(), name) != declared.end()) return true;
  faults.add(mark, what + ": " + quoted_excerpt(name) + " is not a declared purpose of dataset '" +
                       dataset.name + "'." + faults.suggestion(name, declared));
  return false;
}

void decode_allow(const Node& node, const Mark& owner, const Askers& askers, Dataset& dataset,
                  Faults& faults) {
  const Fields fields(node, keys::allow, "allow", owner, faults);
  const DeclaredColumns columns(dataset);
  const DeclaredLists lists(fields, columns, dataset, askers, faults);
  if (auto listed = lists.statistics(DefaultWord::is_known)) dataset.allow.statistics = *std::move(listed);
  dataset.allow.columns = lists.columns("columns");
  dataset.allow.by = lists.columns_to_group_by("by");
  dataset.allow.where = lists.columns("where");
  dataset.allow.principals = lists.principals("principals");
  dataset.allow.roles = lists.roles("roles");
}

void decode_forbid(const Node& node, const Askers& askers, Dataset& dataset, Faults& faults) {
  if (!expect(node, Node::Kind::sequence, "forbid", "a list of rules, each a map", faults)) return;
  const DeclaredColumns columns(dataset);
  for (const Node& item : node.items) {
    dataset.forbid.push_back(decode_forbid_rule(item, columns, dataset, askers, faults));
  }
}

}  // namespace epsilog::engine
