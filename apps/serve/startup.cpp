#include "startup.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include "epsilog/engine/policy.hpp"

namespace epsilog::serve {
namespace {

constexpr const char* kServed = "another daemon serves this ledger";

std::string lock_of(const std::string& ledger) {
  return ledger + ".serve";
}

[[noreturn]] void cannot_write(const std::string& path, int error) {
  throw LedgerUnusable(path + " cannot be written by this user (" + std::to_string(::geteuid()) +
                       "): " + std::generic_category().message(error));
}

bool may_write(const std::string& path) {
  return ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0;
}

}  // namespace

OnlyDaemon::OnlyDaemon(const std::string& ledger) {
  const std::string path = lock_of(ledger);
  lock_ = Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock_.valid()) cannot_write(path, errno);
  // A check of the configuration holds it for a moment.
  const Deadline due = deadline_after(std::chrono::milliseconds(200));
  while (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (std::chrono::steady_clock::now() >= due) throw LedgerBusy(kServed);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

void check_not_served(const std::string& ledger) {
  const Descriptor lock(::open(lock_of(ledger).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (lock.valid() && ::flock(lock.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    throw LedgerBusy(kServed);
  }
}

void check_ledger_writable(const std::string& ledger) {
  if (!may_write(ledger) && errno == ENOENT) return;  // opening it says so
  for (const char* suffix : {"", "-wal", "-shm", ".lock", ".queue", ".serve"}) {
    const std::string path = ledger + suffix;
    if (!may_write(path) && errno != ENOENT) cannot_write(path, errno);
  }
  const std::filesystem::path folder = std::filesystem::path(ledger).parent_path();
  if (!may_write(folder.string())) {
    throw LedgerUnusable("no file can be made beside " + ledger + " by this user (" +
                         std::to_string(::geteuid()) + "): " + std::generic_category().message(errno));
  }
}

void check_policy(const engine::Engine& engine) {
  if (!engine.active_policy().principals()) {
    throw PolicyError({{"policy version " + std::to_string(engine.active_policy_version().version), 1, 1,
                        "principals: a daemon serves nobody under a policy that does not say who may ask"}});
  }
  std::vector<PolicyFault> faults = engine.folder_faults();
  if (!faults.empty()) throw PolicyError(std::move(faults));
}

std::vector<std::string> paths_of(const Configuration& configuration) {
  std::vector<std::string> paths = {configuration.ledger, configuration.socket, configuration.curator_socket};
  for (const auto* folders : {&configuration.folders.sources, &configuration.folders.replicas,
                              &configuration.folders.checkpoints}) {
    paths.insert(paths.end(), folders->begin(), folders->end());
  }
  return paths;
}

}  // namespace epsilog::serve
