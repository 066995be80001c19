#include "ledger_arguments.hpp"

#include <pwd.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "checked_arguments.hpp"
#include "epsilog/engine/utf8.hpp"
#include "printable.hpp"
#include "usage_error.hpp"

namespace epsilog::command {

std::string ledger_path(const LedgerArguments& arguments) {
  if (arguments.ledger) {
    if (arguments.ledger->empty()) throw UsageError("--ledger: must not be empty");
    return *arguments.ledger;
  }
  const char* named = std::getenv("EPSILOG_LEDGER");
  if (named != nullptr && !engine::is_utf8(named)) throw UsageError("EPSILOG_LEDGER: is not UTF-8");
  if (named != nullptr && *named != '\0') return named;
  throw UsageError("no ledger named: give --ledger FILE or set EPSILOG_LEDGER");
}

void warn_of_ledger(const std::string& message) {
  std::fprintf(stderr, "epsilog: warning: %s\n", printable(message).c_str());
}

engine::EngineOptions engine_options(const LedgerArguments& arguments, const Console& console) {
  engine::EngineOptions options;
  options.before_commit = block_signals;
  options.warn = warn_of_ledger;
  if (!console.quiet()) {
    options.report_wait = [](const std::string& message) {
      std::fprintf(stderr, "epsilog: %s\n", printable(message).c_str());
    };
  }
  if (!arguments.wait) return options;
  const Rational seconds = number_argument(*arguments.wait, "--wait");
  if (seconds < 0 || seconds > 86'400) {
    throw UsageError("--wait: '" + *arguments.wait + "' must be a number of seconds from 0 to 86400");
  }
  options.wait_ms = accounting::floor(seconds * 1000).get_si();
  return options;
}

std::string principal_argument(const LedgerArguments& arguments) {
  if (arguments.principal) return name_argument(*arguments.principal, "--as");
  const uid_t user = geteuid();
  const passwd* entry = getpwuid(user);
  return entry != nullptr && *entry->pw_name != '\0' ? entry->pw_name : "uid:" + std::to_string(user);
}

std::string why_argument(const std::optional<std::string>& text) {
  return text ? name_argument(*text, "--why") : "";
}

std::string policy_path(const PolicyFileArguments& arguments) {
  if (arguments.policy && arguments.policy_file)
    throw UsageError("the policy is named twice: as a word and by --policy");
  const std::optional<std::string>& path = arguments.policy ? arguments.policy : arguments.policy_file;
  if (!path || path->empty()) throw UsageError("no policy named: give its file");
  return *path;
}

}  // namespace epsilog::command
