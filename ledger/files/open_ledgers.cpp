#include "epsilog/ledger/open_ledgers.hpp"

#include <algorithm>
#include <mutex>

#include "ledger_registration.hpp"

namespace epsilog::ledger {
namespace {

struct OpenLedgers {
  std::mutex mutex;
  std::list<LedgerFiles> files;  // one entry for each LedgerRegistration
};

/// Never destroyed: a ledger may be closed by another static object.
OpenLedgers& open_ledgers() {
  static auto& ledgers = *new OpenLedgers;
  return ledgers;
}

bool is_named(const struct stat& file, const std::string& path) {
  struct stat named {};
  return ::stat(path.c_str(), &named) == 0 && named.st_dev == file.st_dev && named.st_ino == file.st_ino;
}

bool is_one_of(const struct stat& file, const LedgerFiles& files) {
  return is_named(file, files.database) || is_named(file, files.wal()) || is_named(file, files.shm()) ||
         is_named(file, files.queue()) || is_named(file, files.lock()) ||
         is_named(file, files.poison_marker());
}

}  // namespace

bool is_file_of_open_ledger(const struct stat& file) {
  OpenLedgers& ledgers = open_ledgers();
  const std::lock_guard guard(ledgers.mutex);
  // Six names to look at for each ledger, however often it is open.
  for (auto at = ledgers.files.begin(); at != ledgers.files.end(); ++at) {
    const auto same = [&at](const LedgerFiles& other) { return other.database == at->database; };
    if (std::any_of(ledgers.files.begin(), at, same)) continue;
    if (is_one_of(file, *at)) return true;
  }
  return false;
}

LedgerRegistration::LedgerRegistration(const LedgerFiles& files) {
  OpenLedgers& ledgers = open_ledgers();
  const std::lock_guard guard(ledgers.mutex);
  entry_ = ledgers.files.insert(ledgers.files.end(), files);
}

LedgerRegistration::~LedgerRegistration() {
  OpenLedgers& ledgers = open_ledgers();
  const std::lock_guard guard(ledgers.mutex);
  ledgers.files.erase(entry_);
}

bool is_file_of_open_ledger(const std::string& path) {
  struct stat file {};
  return ::stat(path.c_str(), &file) == 0 && is_file_of_open_ledger(file);
}

bool is_name_of_ledger(const std::string& path, const std::string& ledger) {
  return is_ledger_file_name(locate(ledger), path);
}

}  // namespace epsilog::ledger
