// The file of a replica: checked offsets, every error counts.
//
// Its position is never the kernel's to choose: bytes are written where the protocol says they belong, after
// the size of the file was found to be that, so that a second writer is seen and not mixed with. It may lie
// on another file system, a network's too.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "ledger_files.hpp"

namespace epsilog::ledger {

/// The system calls that change a replica. Tests put others in their place.
struct ReplicaCalls {
  ssize_t (*write)(int file, const void* bytes, std::size_t count, off_t at);
  int (*sync)(int file);
  int (*cut)(int file, off_t size);
  int (*reserve)(int file, off_t at, off_t count);
};
[[nodiscard]] ReplicaCalls& replica_calls() noexcept;

/// A file that is not there has only its name to go by: as L.poisoned it would poison, as L.lock be written
/// over.
/// Throws  ReplicaUnavailable for a name of a file of the ledger.
void require_not_of_ledger(const std::string& path, const LedgerFiles& files);

/// Thread-safety: one owner.
class ReplicaFile final {
 public:
  /// Of a ledger that lies at `files`.
  /// Throws  ReplicaUnavailable naming what is wrong: it is not there, no regular file with one name, open to
  ///         others to write, of another user than the ledger, or part of a ledger.
  [[nodiscard]] static ReplicaFile open(const std::string& path, const LedgerFiles& files);
  /// A new and empty one of mode 0600, whose name is durable; overwrites nothing.
  /// Throws  ReplicaUnavailable.
  [[nodiscard]] static ReplicaFile create(const std::string& path, const LedgerFiles& files);

  /// Whether it is still what open() would open.
  [[nodiscard]] bool named() const noexcept;

  // Each throws ReplicaUnavailable naming call, file and error.

  [[nodiscard]] off_t size() const;
  /// As many bytes as there are from there on, at most `most`.
  [[nodiscard]] std::string read(off_t at, std::size_t most) const;
  /// Requires  at <= size().
  void write(off_t at, std::string_view bytes);
  void cut(off_t size);
  void sync();
  /// Room for so many bytes from there on, where the file system can keep some.
  void reserve(off_t at, off_t count);

 private:
  ReplicaFile(std::string path, Descriptor file);
  [[noreturn]] void fail(const char* doing, int error) const;

  std::string path_;
  Descriptor file_;
  FileIdentity identity_;
};

}  // namespace epsilog::ledger
