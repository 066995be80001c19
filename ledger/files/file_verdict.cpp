#include "file_verdict.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

namespace epsilog::ledger {
namespace {

constexpr std::array kOfTheMachine = {ENFILE, EMFILE, ENOMEM};
constexpr std::array kNoRoom = {ENOSPC, EDQUOT, EFBIG};
constexpr std::array kNotAllowed = {EROFS, EACCES, EPERM};
constexpr std::array kNotThere = {ENOENT, ENOTDIR, EISDIR, ELOOP, ENAMETOOLONG, EINVAL, ENOSYS, EOPNOTSUPP};
constexpr std::array kBroken = {EIO};

enum Row : std::size_t { of_the_machine, no_room, not_allowed, not_there, broken };
constexpr std::size_t kRows = 5;

constexpr std::array<FileErrors, kRows> kListed = {
    {{kOfTheMachine}, {kNoRoom}, {kNotAllowed}, {kNotThere}, {kBroken}}};

constexpr FileVerdict kTransient = FileVerdict::transient;
constexpr FileVerdict kLasting = FileVerdict::lasting;
constexpr FileVerdict kPoison = FileVerdict::poison;

/// A failed sync leaves it unknown what the disk holds, whatever its error is.
constexpr std::array<std::array<FileVerdict, 4>, kRows> kOfLedger = {{
    // open, read, write, sync
    {kTransient, kTransient, kTransient, kPoison},
    {kTransient, kTransient, kTransient, kPoison},
    {kLasting, kLasting, kLasting, kPoison},
    {kTransient, kTransient, kPoison, kPoison},  // SQLite keeps ENOENT of files that need not be there
    {kTransient, kTransient, kPoison, kPoison},
}};

Row row_of(int error) {
  for (std::size_t row = 0; row < kRows; ++row) {
    const std::span<const int> errors = kListed.at(row).errors;
    if (std::find(errors.begin(), errors.end(), error) != errors.end()) return static_cast<Row>(row);
  }
  return broken;
}

}  // namespace

FileVerdict file_verdict(FileCall call, FileRole file, int error) {
  const Row row = row_of(error);
  const FileVerdict of_ledger = kOfLedger.at(row).at(static_cast<std::size_t>(call));
  if (file == FileRole::ledger) return of_ledger;
  if (row == not_allowed || (row == not_there && call == FileCall::open)) return FileVerdict::lasting;
  return FileVerdict::transient;
}

std::span<const FileErrors> listed_file_errors() {
  return kListed;
}

}  // namespace epsilog::ledger
