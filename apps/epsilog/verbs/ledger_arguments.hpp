// What the verbs on a ledger take, and what each of it means. All is checked before a ledger is opened.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "console.hpp"
#include "epsilog/engine/engine.hpp"
#include "verb.hpp"

namespace epsilog::command {

struct LedgerArguments {
  std::optional<std::string> ledger;
  std::optional<std::string> wait;
  std::optional<std::string> principal;
};

/// Of verbs that take the policy file as a word, or as --policy.
struct PolicyFileArguments : LedgerArguments {
  std::optional<std::string> policy;
  std::optional<std::string> policy_file;
};

template <class Arguments>
[[nodiscard]] Positional<Arguments> any_dataset() {
  return {"DATASET", &Arguments::dataset, false, "only this dataset (default: all)"};
}

/// Who acts on which ledger, and how long to wait for other writers. `says`: of --as.
template <class Arguments>
[[nodiscard]] std::vector<Option<Arguments>> acting_options(std::string_view says = {}) {
  return {{"--as", &Arguments::principal, false, says},
          {"--ledger", &Arguments::ledger},
          {"--wait", &Arguments::wait}};
}

/// Of a verb that records what somebody says, and why.
template <class Arguments>
[[nodiscard]] std::vector<Option<Arguments>> saying_options(
    std::string_view why = "the reason, kept with it") {
  return joined<Arguments>(
      {{"--why", &Arguments::why, true, why}},
      acting_options<Arguments>("who says so (default: the name of the operating system's user)"));
}

/// The path of --ledger, else of EPSILOG_LEDGER.
/// Throws  UsageError when neither names one.
[[nodiscard]] std::string ledger_path(const LedgerArguments& arguments);
/// Prints a warning of the ledger on standard error.
void warn_of_ledger(const std::string& message);

/// With signals held back from each COMMIT on, and warnings on standard error.
/// Throws  UsageError unless --wait is a number of seconds from 0 to 86400.
[[nodiscard]] engine::EngineOptions engine_options(const LedgerArguments& arguments, const Console& console);

/// --as, else the name of the operating system's user (its number when it has no name).
/// Throws  UsageError for an empty, overlong or unprintable name.
[[nodiscard]] std::string principal_argument(const LedgerArguments& arguments);

/// --why, "" without.
/// Throws  UsageError for an empty, overlong or unprintable text.
[[nodiscard]] std::string why_argument(const std::optional<std::string>& text);

/// Throws  UsageError when there is none or two.
[[nodiscard]] std::string policy_path(const PolicyFileArguments& arguments);

}  // namespace epsilog::command
