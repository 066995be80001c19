// Budgets of some of the askers: `limits`.
#include <map>
#include <tuple>

#include "policy_decoder.hpp"
#include "policy_words.hpp"

namespace epsilog::engine {

using yaml::Node;

namespace {

/// Accounts of one kind are kept in the same terms: two limits of one would be two limits of one account,
/// or, of Renyi divergences, one limit written in two places.
std::string_view kind_of(Measure measure) {
  switch (measure) {
    case Measure::pure:
    case Measure::approximate:
      return "epsilon";
    case Measure::zcdp:
      return "rho";
    case Measure::rdp:
      return "Renyi divergences";
  }
  EPSILOG_INVARIANT(false);
}

/// The one key that says whose budget it is; "" after a fault.
std::string_view subject_key(const Fields& fields, Faults& faults) {
  std::string_view found;
  bool lacking = true;
  for (const std::string_view key : {"each", "principal", "role", "purpose"}) {
    lacking = lacking && fields.lacks(key);
    if (!fields.has(key)) continue;
    if (!found.empty()) {
      faults.add(fields.mark_of(key), fields.path(key) + ": a limit has one subject, and " +
                                          std::string(found) +
                                          " is written already; remove one, or write two limits");
      return "";
    }
    found = key;
  }
  if (lacking) {
    faults.add(fields.owner(),
               "limits: whose limit? Write each: principal, role or purpose, or one principal: NAME, role: "
               "NAME or purpose: NAME");
  }
  return found;
}

bool decode_each(const Node& node, const Dataset& dataset, const Askers& askers, Limit& limit,
                 Faults& faults) {
  const auto choice = word_of(node, keys::limit_subjects, "limits.each", faults);
  if (!choice) return false;
  limit.subject = *choice;
  if (limit.subject == Limit::Subject::role) {
    return expect_roles_possible(node.mark, "limits.each", askers, faults);
  }
  if (limit.subject == Limit::Subject::purpose) {
    return expect_purposes_declared(node.mark, "limits.each", dataset, faults);
  }
  return true;
}

bool decode_named(std::string_view key, const Node& node, const Dataset& dataset, const Askers& askers,
                  Limit& limit, Faults& faults) {
  const std::string what = "limits." + std::string(key);
  const auto name = text_of(node, what, faults);
  if (!name) return false;
  limit.name = *name;
  if (key == "principal") {
    limit.subject = Limit::Subject::principal;
    return expect_principal(*name, node.mark, what, askers, faults);
  }
  if (key == "role") {
    limit.subject = Limit::Subject::role;
    return expect_role(*name, node.mark, what, askers, faults);
  }
  limit.subject = Limit::Subject::purpose;
  return expect_purpose(*name, node.mark, what, dataset, faults);
}

std::optional<Limit> decode_limit(const Node& node, const Dataset& dataset, const Askers& askers,
                                  Faults& faults) {
  const Fields fields(node, keys::limit, "limits", node.mark, faults);
  if (node.kind != Node::Kind::map) return std::nullopt;
  const std::size_t faults_before = faults.size();
  Limit limit;
  limit.mark = node.mark;
  const std::string_view key = subject_key(fields, faults);
  const Node* subject = key.empty() ? nullptr : fields[key];
  bool readable = false;
  if (subject != nullptr) {
    readable = key == "each" ? decode_each(*subject, dataset, askers, limit, faults)
                             : decode_named(key, *subject, dataset, askers, limit, faults);
  }
  limit.budget = decode_amount(fields, faults);
  if (!readable || faults.size() != faults_before) return std::nullopt;
  return limit;
}

std::string subject_text(const Limit& limit) {
  const std::string word(kLimitSubjectWords.of(limit.subject));
  return limit.name.empty() ? "each " + word : word + " " + quoted_excerpt(limit.name);
}

}  // namespace

void decode_limits(const Node& node, const Askers& askers, Dataset& dataset, Faults& faults) {
  if (!expect(node, Node::Kind::sequence, "limits", "a list of limits, each a map", faults)) return;
  std::map<std::tuple<Limit::Subject, std::string, std::string_view>, int> lines;
  for (const Node& item : node.items) {
    std::optional<Limit> limit = decode_limit(item, dataset, askers, faults);
    if (!limit) continue;
    const std::string_view kind = kind_of(limit->budget.measure);
    const auto [earlier, fresh] =
        lines.emplace(std::tuple(limit->subject, limit->name, kind), item.mark.line);
    if (!fresh) {
      faults.add(item.mark, "limits: " + subject_text(*limit) + " has a limit of " + std::string(kind) +
                                " already, at line " + std::to_string(earlier->second) + "; make them one");
    }
    dataset.limits.push_back(*std::move(limit));
  }
}

}  // namespace epsilog::engine
