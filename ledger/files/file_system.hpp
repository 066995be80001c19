// The file system that a ledger's folder lies on, by the type that statfs(2) gives.
//
// SQLite keeps the index of the log in memory that the processes of one machine share. Two machines that
// mount one folder have an index each: neither sees the other's charges, and both spend the whole budget.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "epsilog/ledger/ledger_options.hpp"
#include "ledger_files.hpp"

namespace epsilog::ledger {

struct FileSystem {
  enum class Kind {
    local,
    network,
    fuse,  ///< a program serves it: it may be a local disk or another machine
  };
  Kind kind = Kind::local;
  const char* name = "";   ///< "" of a local one
  std::uint32_t type = 0;  ///< f_type of statfs(2)
};

/// Lists the file systems that are not local by their types.
[[nodiscard]] std::span<const FileSystem> listed_file_systems() noexcept;

/// Judges a type. One that is not listed is local. Thread-safety: pure function.
[[nodiscard]] FileSystem file_system_of_type(std::uint32_t type) noexcept;

/// Asks the system which file system a file or folder lies on.
/// Throws  LedgerBusy, LedgerUnusable: the system does not say.
[[nodiscard]] FileSystem file_system_of(const std::string& path);

/// Refuses a network file system, and warns of FUSE once for each folder and process.
/// Throws  NetworkFileSystem; as file_system_of().
void require_no_network(const LedgerFiles& files, const Options& options);

}  // namespace epsilog::ledger
