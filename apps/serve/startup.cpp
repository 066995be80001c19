#include "startup.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
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

bool owns(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && status.st_uid == ::geteuid();
}

/// What the process has open besides connections and requests: the ledger with its log, index and locks, the
/// replica, two sockets, bells, and the connections and files of one verification.
constexpr std::uint64_t kAlwaysOpen = 64;
/// What a request has open while it is answered: the database and its log, and the source that it reads.
constexpr std::uint64_t kOpenPerRequest = 3;
/// The curator's connections where there are too few descriptors for all of them.
constexpr std::uint64_t kCuratorsAtLeast = 8;

/// The descriptors of everything but the connections of those who ask. Each curator may have a request too.
std::uint64_t kept_open(std::uint64_t curators, std::uint64_t running) {
  return kAlwaysOpen + curators + kOpenPerRequest * (curators + running);
}

}  // namespace

ServeLock::ServeLock(const std::string& ledger) {
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
  for (const std::string suffix : {"", "-wal", "-shm", ".lock", ".queue", ".serve"}) {
    const std::string path = ledger + suffix;
    if (may_write(path) || errno == ENOENT) continue;
    const int error = errno;
    // A mode that keeps the owner out of a file beside the ledger is mended where the ledger is opened.
    const bool mended = !suffix.empty() && suffix != ".serve" && error == EACCES && owns(path);
    if (!mended) cannot_write(path, error);
  }
  const std::filesystem::path folder = std::filesystem::path(ledger).parent_path();
  if (!may_write(folder.string())) {
    throw LedgerUnusable("no file can be made beside " + ledger + " by this user (" +
                         std::to_string(::geteuid()) + "): " + std::generic_category().message(errno));
  }
}

std::uint64_t descriptors_allowed() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_max : 1024;
}

ConnectionLimits connection_limits(const WorkLimits& limits, std::uint64_t descriptors,
                                   const std::function<void(const std::string&)>& warn) {
  ConnectionLimits result;
  result.connections = limits.connections;
  result.per_uid = limits.connections_per_user;
  result.uid_arrivals_per_second = result.uid_arrivals_burst = 4 * limits.connections_per_user;
  const std::uint64_t wanted = limits.connections + kept_open(result.curator_connections, limits.running);
  if (descriptors >= wanted) return result;
  const std::uint64_t kept = kept_open(kCuratorsAtLeast, limits.running);
  const std::string allowed = "this process may have " + std::to_string(descriptors) + " files open";
  const std::string remedy = "raise RLIMIT_NOFILE (LimitNOFILE= of systemd, ulimit -n)";
  if (descriptors <= kept) {
    throw InvalidParameter(allowed + ", and `running: " + std::to_string(limits.running) +
                           "` needs more than " + std::to_string(kept) + ": " + remedy +
                           ", or lower `running`");
  }
  result.curator_connections = kCuratorsAtLeast;
  result.connections = std::min<std::uint64_t>(limits.connections, descriptors - kept);
  warn(allowed + ", which is too few for `connections: " + std::to_string(limits.connections) + "` (" +
       std::to_string(wanted) + "): there are places for " + std::to_string(result.connections) +
       " connections, and for " + std::to_string(kCuratorsAtLeast) + " of the curator; " + remedy);
  return result;
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
