// Who may ask: `principals` at the top of a policy, and every place that names one of them.
#include <algorithm>

#include "policy_decoder.hpp"
#include "policy_words.hpp"

namespace epsilog::engine {

using yaml::Node;

namespace {

constexpr std::size_t kPrincipalNameMax = 256;

Principal decode_principal(const yaml::Entry& entry, Faults& faults) {
  Principal principal;
  principal.name = entry.key;
  principal.mark = entry.mark;
  const Fields fields(entry.value, keys::principal, "principals." + entry.key, entry.mark, faults);
  if (const Node* roles = fields["roles"]) {
    principal.roles = names_of(*roles, fields.path("roles"), faults, [&](const Node& item) {
      return expect_name(item.text, item.mark, "role", faults);
    });
  }
  if (const Node* purposes = fields["purposes"]) {
    principal.purposes = names_of(*purposes, fields.path("purposes"), faults, [&](const Node& item) {
      return expect_name(item.text, item.mark, "purpose", faults);
    });
  }
  if (const Node* duties = fields["duties"]) {
    const std::string what = fields.path("duties");
    for (const std::string& word : names_of(*duties, what, faults, [&](const Node& item) {
           return choice_of(item, keys::duties, what, faults).has_value();
         })) {
      principal.duties.push_back(kDutyWords.find(word).value());
    }
  }
  return principal;
}

bool expect_principals_declared(const Mark& mark, const std::string& what, const Askers& askers,
                                Faults& faults) {
  if (!askers.readable) return false;
  if (askers.principals) return true;
  faults.add(mark, what + ": the policy declares no principals; add principals: {NAME: {}} at its top");
  return false;
}

bool is_declared(const std::string& name, const Mark& mark, const std::string& what,
                 const DistinctNames& declared, std::string_view kind, Faults& faults) {
  if (declared.contains(name)) return true;
  faults.add(mark, what + ": " + quoted_excerpt(name) + " is " + std::string(kind) + "." +
                       faults.suggestion(name, declared.list()));
  return false;
}

constexpr std::string_view kNoPrincipal = "not a declared principal";
constexpr std::string_view kNoRole = "not a role of any declared principal";

}  // namespace

Askers decode_principals(const Node& node, const Mark& owner, Faults& faults) {
  Askers askers;
  const std::size_t faults_before = faults.size();
  if (expect(node, Node::Kind::map, "principals", "a map of principals by name, {alice: {}}", faults)) {
    if (node.entries.empty()) {
      faults.add(
          owner,
          "principals: nobody could ask; declare at least one, or leave the key out to admit everybody");
    }
    askers.principals.emplace();
    for (const yaml::Entry& entry : node.entries) {
      if (!expect_principal_name(entry.key, entry.mark, "", faults)) continue;
      askers.principals->push_back(decode_principal(entry, faults));
      askers.names.insert(entry.key);
      for (const std::string& role : askers.principals->back().roles) askers.roles.insert(role);
    }
  }
  askers.readable = faults.size() == faults_before;
  return askers;
}

void check_principal_purposes(const Node& principals, const std::vector<Dataset>& datasets, Faults& faults) {
  DistinctNames declared;
  for (const Dataset& dataset : datasets) {
    if (!dataset.purposes) continue;
    for (const std::string& purpose : *dataset.purposes) declared.insert(purpose);
  }
  for (const yaml::Entry& entry : principals.entries) {
    const Node* purposes = entry.value.find("purposes");
    if (purposes == nullptr) continue;
    for (const Node& item : purposes->items) {
      if (declared.contains(item.text)) continue;
      faults.add(item.mark, "principals." + entry.key + ".purposes: " + quoted_excerpt(item.text) +
                                " is not a purpose of any dataset; add it to the purposes of one." +
                                faults.suggestion(item.text, declared.list()));
    }
  }
}

bool expect_principal_name(const std::string& name, const Mark& mark, const std::string& what,
                           Faults& faults) {
  const bool printable = std::all_of(name.begin(), name.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte != 0x7F;
  });
  if (!name.empty() && name.size() <= kPrincipalNameMax && printable) return true;
  faults.add(mark, what + "principal name " + quoted_excerpt(name) +
                       ": use 1 to 256 bytes without control characters, as the name of an OS user has");
  return false;
}

bool expect_principal(const std::string& name, const Mark& mark, const std::string& what,
                      const Askers& askers, Faults& faults) {
  return expect_principals_declared(mark, what, askers, faults) &&
         is_declared(name, mark, what, askers.names, kNoPrincipal, faults);
}

bool expect_role(const std::string& name, const Mark& mark, const std::string& what, const Askers& askers,
                 Faults& faults) {
  return expect_principals_declared(mark, what, askers, faults) &&
         is_declared(name, mark, what, askers.roles, kNoRole, faults);
}

bool expect_roles_possible(const Mark& mark, const std::string& what, const Askers& askers, Faults& faults) {
  return expect_principals_declared(mark, what, askers, faults);
}

std::vector<std::string> principals_of(const Node& node, const std::string& what, const Askers& askers,
                                       Faults& faults) {
  if (!expect_principals_declared(node.mark, what, askers, faults)) return {};
  return names_of(node, what, faults, [&](const Node& item) {
    return is_declared(item.text, item.mark, what, askers.names, kNoPrincipal, faults);
  });
}

std::vector<std::string> roles_of(const Node& node, const std::string& what, const Askers& askers,
                                  Faults& faults) {
  if (!expect_principals_declared(node.mark, what, askers, faults)) return {};
  return names_of(node, what, faults, [&](const Node& item) {
    return is_declared(item.text, item.mark, what, askers.roles, kNoRole, faults);
  });
}

}  // namespace epsilog::engine
