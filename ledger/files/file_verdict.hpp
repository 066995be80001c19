// What an error of the system at a file means for the ledger: the one table, which docs/recovery.md prints.
#pragma once

#include <span>

namespace epsilog::ledger {

enum class FileCall { open, read, write, sync };

/// Whose file it is. A scratch file is of a backup, a restore or a recovery, and nobody else knows it. A file
/// beside the ledger is a lock file, the marker or the directory.
enum class FileRole { ledger, beside };

enum class FileVerdict {
  transient,  ///< nothing was recorded; the same call may succeed later
  lasting,    ///< nothing was recorded; trying again does not help
  poison,     ///< what the disk holds is unknown
};

/// Total: an error that the table does not list counts as EIO at that call.
[[nodiscard]] FileVerdict file_verdict(FileCall call, FileRole file, int error);

/// The errors that are listed, one of each row of the table, each with those that are judged like it.
struct FileErrors {
  std::span<const int> errors;
};
[[nodiscard]] std::span<const FileErrors> listed_file_errors();

}  // namespace epsilog::ledger
