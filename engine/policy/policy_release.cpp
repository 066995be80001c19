#include <algorithm>
#include <unordered_set>

#include "policy_decoder.hpp"

namespace epsilog::engine {

using yaml::Node;

namespace {

/// Nothing where nobody is named, with a fault.
std::optional<std::vector<std::string>> decode_suppliers(const Node& node, const std::string& what,
                                                         const Askers& askers, Faults& faults) {
  if (node.kind == Node::Kind::sequence && node.items.empty()) {
    faults.add(node.mark, what + ": nobody could hand a value in; name somebody, or leave the key out");
    return std::nullopt;
  }
  return principals_of(node, what, askers, faults);
}

NamedQuery decode_query(const yaml::Entry& entry, const Askers& askers, Faults& faults) {
  NamedQuery query;
  query.name = entry.key;
  query.mark = entry.mark;
  const Fields fields(entry.value, keys::query, "queries." + entry.key, entry.mark, faults);
  if (const Node* sensitivity = fields["sensitivity"]) {
    query.sensitivity = positive_of(*sensitivity, fields.path("sensitivity"), faults).value_or(Rational(1));
  }
  if (const Node* suppliers = fields["supplied_by"]) {
    query.supplied_by = decode_suppliers(*suppliers, fields.path("supplied_by"), askers, faults);
  }
  const Node* written = fields["bounds"];
  const auto bounds = written != nullptr ? bounds_of(*written, fields.path("bounds"), faults) : std::nullopt;
  if (!bounds) return query;
  query.bounds = *bounds;
  query.undefined = (bounds->lower + bounds->upper) / 2;
  const Node* undefined = fields["undefined"];
  const auto stand_in =
      undefined != nullptr ? number_of(*undefined, fields.path("undefined"), faults) : std::nullopt;
  if (!stand_in) return query;
  if (*stand_in < bounds->lower || *stand_in > bounds->upper) {
    faults.add(undefined->mark, fields.path("undefined") + ": " + quoted_excerpt(undefined->text) +
                                    " is outside the bounds [" + accounting::text(bounds->lower) + ", " +
                                    accounting::text(bounds->upper) + "]");
  }
  query.undefined = *stand_in;
  return query;
}

/// Names that stand for something else wherever a query can be named. Of later statistics they are names in
/// what is stored; checked_policy() refuses them.
bool is_reserved(std::string_view name) {
  const auto& words = keys::statistics.words;
  return name == "default" || name == "histogram" ||
         (std::find(words.begin(), words.end(), name) != words.end() && !is_later_statistic(name));
}

/// A key that was written and belongs to some mechanisms only.
struct OwnedKey {
  std::string path;
  Mark mark;
};

/// What one entry under `release` says; the rest it inherits.
struct Overrides {
  std::optional<MechanismChoice> mechanism;
  bool mechanism_unreadable = false;            ///< then nobody can say whose the other keys are
  std::optional<std::optional<Rational>> grid;  ///< written; nothing inside: auto
  std::vector<OwnedKey> of_snapping;
  std::vector<OwnedKey> of_the_others;
  std::optional<ArithmeticChoice> arithmetic;
  std::optional<PrecisionChoice> precision;
  std::optional<Rational> bound;
  std::optional<Rational> binding_probability;
};

std::optional<PrecisionChoice> decode_precision(const Node& node, const std::string& what, Faults& faults) {
  constexpr unsigned kBinary64 = 53, kLeast = 118, kMost = 4096;
  if (!expect(node, Node::Kind::scalar, what, "auto, binary64 or a number of bits", faults))
    return std::nullopt;
  const std::string& text = node.text;
  if (text == "auto") return PrecisionChoice{0};
  if (text == "binary64") return PrecisionChoice{kBinary64};
  const bool digits = !text.empty() && text.size() <= 4 && text[0] != '0' &&
                      text.find_first_not_of("0123456789") == std::string::npos;
  const unsigned bits = digits ? static_cast<unsigned>(std::stoul(text)) : 0;
  if (bits >= kLeast && bits <= kMost) return PrecisionChoice{bits};
  const std::string hint =
      bits == kBinary64 ? " For 53 bits write binary64." : faults.suggestion(text, {"auto", "binary64"});
  faults.add(node.mark, what + ": " + quoted_excerpt(text) +
                            " is not auto, binary64 or a number of bits from 118 to 4096." + hint);
  return std::nullopt;
}

bool is_power_of_two(const Rational& value) {
  const auto single_bit = [](const accounting::Integer& whole) {
    return mpz_popcount(whole.get_mpz_t()) == 1;
  };
  return value > 0 && single_bit(value.get_num()) && single_bit(value.get_den());
}

/// Nothing: unreadable. Nothing inside: auto.
std::optional<std::optional<Rational>> decode_grid(const Node& node, const std::string& what,
                                                   Faults& faults) {
  if (!expect(node, Node::Kind::scalar, what, "auto or a power of two", faults)) return std::nullopt;
  if (node.text == "auto") return std::optional<Rational>();
  Faults not_a_number{""};  // one message for every way not to be a power of two
  const auto grid = positive_of(node, what, not_a_number);
  if (grid && is_power_of_two(*grid)) return grid;
  faults.add(node.mark, what + ": " + quoted_excerpt(node.text) +
                            " is neither auto nor a power of two such as 4, 1, 0.25 or 1/1024");
  return std::nullopt;
}

void decode_mechanism(const Fields& fields, Overrides& overrides, Faults& faults) {
  overrides.mechanism_unreadable = fields.has("mechanism");
  if (const Node* mechanism = fields["mechanism"]) {
    const auto choice = word_of(*mechanism, keys::mechanisms, fields.path("mechanism"), faults);
    if (!choice) return;
    overrides.mechanism = *choice;
    overrides.mechanism_unreadable = false;
  }
}

Overrides decode_overrides(const yaml::Entry& entry, Faults& faults) {
  const Fields fields(entry.value, keys::release, "release." + entry.key, entry.mark, faults);
  Overrides overrides;
  decode_mechanism(fields, overrides, faults);
  for (const char* key : {"arithmetic", "precision", "bound", "binding_probability"}) {
    if (fields.has(key)) overrides.of_snapping.push_back({fields.path(key), fields.mark_of(key)});
  }
  if (const Node* grid = fields["grid"]) {
    overrides.of_the_others.push_back({fields.path("grid"), fields.mark_of("grid")});
    overrides.grid = decode_grid(*grid, fields.path("grid"), faults);
  }
  if (const Node* arithmetic = fields["arithmetic"]) {
    const auto choice = word_of(*arithmetic, keys::arithmetics, fields.path("arithmetic"), faults);
    if (choice) overrides.arithmetic = *choice;
  }
  if (const Node* precision = fields["precision"]) {
    overrides.precision = decode_precision(*precision, fields.path("precision"), faults);
  }
  if (const Node* bound = fields["bound"])
    overrides.bound = positive_of(*bound, fields.path("bound"), faults);
  if (const Node* beta = fields["binding_probability"]) {
    overrides.binding_probability = probability_of(*beta, fields.path("binding_probability"), faults);
  }
  if (fields.has("bound") && fields.has("binding_probability")) {
    faults.add(fields.mark_of("binding_probability"),
               fields.path("binding_probability") +
                   ": it derives the bound, so it cannot stand beside bound; remove one");
  }
  return overrides;
}

void refuse_keys(const std::vector<OwnedKey>& written, const std::string& whose, MechanismChoice mechanism,
                 Faults& faults) {
  for (const OwnedKey& key : written) {
    faults.add(key.mark, key.path + ": only " + whose + " has it, and this entry is released by " +
                             std::string(name(mechanism)) + "; remove it");
  }
}

ReleaseSettings merge_discrete(ReleaseSettings settings, const Overrides& overrides, Faults& faults) {
  refuse_keys(overrides.of_snapping, "snapping", settings.mechanism, faults);
  ReleaseSettings merged;
  merged.mechanism = settings.mechanism;
  merged.mark = settings.mark;
  merged.grid = overrides.grid ? *overrides.grid : settings.grid;
  return merged;
}

ReleaseSettings merge(ReleaseSettings settings, const Overrides& overrides, const yaml::Entry& entry,
                      Faults& faults) {
  settings.mark = entry.mark;
  if (overrides.mechanism_unreadable) return settings;
  if (overrides.mechanism) settings.mechanism = *overrides.mechanism;
  if (settings.mechanism != MechanismChoice::snapping) return merge_discrete(settings, overrides, faults);
  refuse_keys(overrides.of_the_others, "a discrete mechanism or gaussian", settings.mechanism, faults);
  settings.grid.reset();
  if (overrides.arithmetic) settings.arithmetic = *overrides.arithmetic;
  if (settings.arithmetic == ArithmeticChoice::exact) {
    settings.precision = {};
    if (overrides.precision) {
      faults.add(entry.mark, "release." + entry.key +
                                 ": the exact arithmetic has no precision; remove precision or write "
                                 "arithmetic: mpfr");
    }
  } else if (overrides.precision) {
    settings.precision = *overrides.precision;
  }
  if (overrides.bound) {
    settings.bound = overrides.bound;
    settings.binding_probability.reset();
  }
  if (overrides.binding_probability) {
    settings.binding_probability = overrides.binding_probability;
    settings.bound.reset();
  }
  return settings;
}

SelectionChoice decode_selection(const yaml::Entry& entry, Faults& faults) {
  const Fields fields(entry.value, keys::quantile_release, "release.quantile", entry.mark, faults);
  const Node* mechanism = fields["mechanism"];
  if (mechanism == nullptr) return SelectionChoice::automatic;
  return word_of(*mechanism, keys::selections, fields.path("mechanism"), faults)
      .value_or(SelectionChoice::automatic);
}

void refuse_release_name(const yaml::Entry& entry, const std::vector<std::string>& names, Faults& faults) {
  std::string hint = faults.suggestion(entry.key, names);
  if (entry.key == "histogram") hint = " A histogram is a count: write count.";
  if (entry.key == "value") hint = " Name the query itself.";
  faults.add(entry.mark, "release: " + quoted_excerpt(entry.key) + " is none of " +
                             comma_list(keys::release_names.words) + " nor a declared query." + hint);
}

}  // namespace

std::vector<NamedQuery> decode_queries(const Node& node, const Askers& askers, Faults& faults) {
  std::vector<NamedQuery> queries;
  if (!expect(node, Node::Kind::map, "queries", "a map of queries by name", faults)) return queries;
  for (const yaml::Entry& entry : node.entries) {
    if (!expect_name(entry.key, entry.mark, "query", faults)) continue;
    if (is_reserved(entry.key)) {
      faults.add(entry.mark,
                 "query name " + quoted_excerpt(entry.key) + ": this name is reserved; choose another");
      continue;
    }
    queries.push_back(decode_query(entry, askers, faults));
  }
  return queries;
}

void decode_release(const Node* node, Dataset& dataset, Faults& faults) {
  ReleaseSettings& fallback = dataset.release["default"];
  fallback.mark = dataset.mark;
  if (node == nullptr ||
      !expect(*node, Node::Kind::map, "release", "a map by statistic, query or default", faults))
    return;
  for (const yaml::Entry& entry : node->entries) {
    if (entry.key == "default") fallback = merge(fallback, decode_overrides(entry, faults), entry, faults);
  }
  std::vector<std::string> names = keys::release_names.words;
  for (const NamedQuery& query : dataset.queries) names.push_back(query.name);
  const std::unordered_set<std::string_view> known(names.begin(), names.end());
  for (const yaml::Entry& entry : node->entries) {
    if (entry.key == "default") continue;
    if (entry.key == name(StatisticKind::quantile) && dataset.query(entry.key) == nullptr) {
      dataset.quantile_selection = decode_selection(entry, faults);
    } else if (known.contains(entry.key)) {
      dataset.release[entry.key] = merge(fallback, decode_overrides(entry, faults), entry, faults);
    } else {
      refuse_release_name(entry, names, faults);
    }
  }
}

}  // namespace epsilog::engine
