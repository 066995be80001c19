#include "readiness.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <exception>
#include <system_error>
#include <utility>

#include "descriptor.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/policy.hpp"
#include "failure.hpp"
#include "problem.hpp"

namespace epsilog::serve {
namespace {

/// Why the file cannot be read; "" if it can.
std::string fault_of_source(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) {
    return errno == ENOENT || errno == ENOTDIR
               ? "its source is missing"
               : "its source cannot be read: " + std::generic_category().message(errno);
  }
  if (!S_ISREG(found.st_mode)) return "its source is not a file";
  if (::faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) != 0) {
    return "its source cannot be read: " + std::generic_category().message(errno);
  }
  return "";
}

/// A release waits longer for other writers. A probe that waits holds up those who ask whether all is well.
constexpr std::int64_t kWaitForOthersMs = 500;
/// What a release may add to the ledger's log, with room to spare.
constexpr std::size_t kReleaseBytesMax = std::size_t{256} * 1024;

bool is_disk_full(int error) {
  return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

/// Writes to a file of the daemon's own beside the ledger, and empties it again.
/// Throws  LedgerBusy: there is no room.
void check_free_space(const std::string& ledger) {
  static constexpr std::array<char, kReleaseBytesMax> kNothing{};
  const std::string path = ledger + ".serve";
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  int error = file.valid() ? 0 : errno;
  std::size_t written = 0;
  while (file.valid() && error == 0 && written < kNothing.size()) {
    const ssize_t count = ::pwrite(file.get(), kNothing.data() + written, kNothing.size() - written,
                                   static_cast<off_t>(written));
    if (count > 0) written += static_cast<std::size_t>(count);
    if (count <= 0 && errno != EINTR) error = errno;
  }
  if (file.valid()) static_cast<void>(::ftruncate(file.get(), 0));
  if (is_disk_full(error)) {
    throw LedgerBusy("there is no room beside the ledger (" + std::generic_category().message(error) +
                     "): make room");
  }
}

}  // namespace

SourceAvailability source_availability(const engine::Engine& engine) {
  SourceAvailability found;
  const engine::Policy policy = engine.active_policy();
  for (const engine::Dataset& dataset : policy.datasets()) {
    std::string why = dataset.has_source() ? fault_of_source(engine.source_of(dataset.name)) : "";
    if (why.empty()) {
      found.any_readable = true;
    } else {
      found.missing.push_back({dataset.name, std::move(why)});
    }
  }
  return found;
}

Readiness::Readiness(const engine::Engine& engine, std::string ledger_path, std::chrono::milliseconds fresh,
                     std::function<void(const std::string&)> log, std::function<void()> files_replaced)
    : engine_(engine),
      ledger_path_(std::move(ledger_path)),
      fresh_(fresh),
      log_(std::move(log)),
      files_replaced_(std::move(files_replaced)) {}

std::shared_ptr<const Readiness::ReadinessReport> Readiness::current_report() {
  const std::scoped_lock lock(mutex_);
  if (last_report_ && Clock::now() - last_report_->at < fresh_) return last_report_;
  ReadinessReport found = check_now();
  found.at = Clock::now();
  log_change(found);
  if (found.code == "ledger_files_replaced" && files_replaced_) files_replaced_();
  last_report_ = std::make_shared<const ReadinessReport>(std::move(found));
  return last_report_;
}

void Readiness::note_answer_status(int status) {
  constexpr int kCreated = 201, kUnavailable = 503;
  const bool all_was_well = [&] {
    const std::scoped_lock lock(mutex_);
    return logged_.empty();
  }();
  if (status == kUnavailable || (status == kCreated && !all_was_well)) static_cast<void>(current_report());
}

Readiness::ReadinessReport Readiness::check_now() const {
  ReadinessReport found;
  try {
    engine_.check_recording(kWaitForOthersMs);
    check_free_space(ledger_path_);
    SourceAvailability sources = source_availability(engine_);
    found.missing = std::move(sources.missing);
    if (!sources.any_readable) throw SourceError("the source of no dataset can be read");
  } catch (const std::exception& error) {
    const command::Failure failure = command::describe(error);
    found.code = failure.code;
    found.detail = without_paths(failure.message);
  }
  return found;
}

void Readiness::log_change(const ReadinessReport& found) {
  std::string wrong;
  if (!found.ready()) wrong = "no release is recorded now: " + found.detail;
  for (const MissingSource& one : found.missing) {
    wrong += (wrong.empty() ? "" : "; ") + ("dataset '" + one.dataset + "': " + one.why);
  }
  if (wrong == logged_) return;
  logged_ = std::move(wrong);
  if (log_) log_(logged_.empty() ? "releases are recorded again, and every source can be read" : logged_);
}

}  // namespace epsilog::serve
