#include "epsilog/accounting/errors.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace epsilog {

namespace {
std::string with_nul_shown(const std::string& message) {
  std::string shown;
  for (const char c : message) {
    if (c == '\0') {
      shown += "\\x00";
    } else {
      shown += c;
    }
  }
  return shown;
}
}  // namespace

Error::Error(const std::string& message) : std::runtime_error(with_nul_shown(message)) {}

std::string PolicyFault::text() const {
  return file + ":" + std::to_string(line) + ":" + std::to_string(column) + ": " + message;
}

namespace {
std::string all_faults(const std::vector<PolicyFault>& faults) {
  std::string text;
  for (const PolicyFault& fault : faults) {
    if (!text.empty()) text += '\n';
    text += fault.text();
  }
  return text;
}
}  // namespace

PolicyError::PolicyError(std::vector<PolicyFault> faults)
    : Error(all_faults(faults)), faults_(std::move(faults)) {
  EPSILOG_INVARIANT(!faults_.empty());
}

namespace {
std::atomic<InvariantHook> invariant_hook = nullptr;
}  // namespace

InvariantHook set_invariant_hook(InvariantHook hook) noexcept {
  return invariant_hook.exchange(hook);
}

namespace accounting {
void fail_invariant(const char* condition, const char* file, int line) noexcept {
  thread_local bool reporting = false;
  std::fprintf(stderr, "epsilog: internal error: invariant does not hold: %s (%s:%d)\n", condition, file,
               line);
  const InvariantHook hook = invariant_hook.load();
  if (hook != nullptr && !reporting) {
    reporting = true;  // before the hook: it may break one itself
    hook({.condition = condition, .file = file, .line = line});
  }
  std::abort();
}
}  // namespace accounting

}  // namespace epsilog
