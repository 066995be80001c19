#include "file_system.hpp"

#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <mutex>
#include <set>

#include "epsilog/ledger/network_file_system.hpp"

namespace epsilog::ledger {
namespace {

constexpr auto kNetwork = FileSystem::Kind::network;

// linux/magic.h, statfs(2), and the table of GNU coreutils' stat(1).
constexpr std::array kFileSystems = {
    FileSystem{kNetwork, "NFS", 0x6969},
    FileSystem{kNetwork, "SMB", 0x517B},
    FileSystem{kNetwork, "CIFS", 0xFF534D42},
    FileSystem{kNetwork, "SMB2", 0xFE534D42},
    FileSystem{kNetwork, "9p", 0x01021997},
    FileSystem{kNetwork, "AFS", 0x5346414F},
    FileSystem{kNetwork, "AFS", 0x6B414653},  // kAFS
    FileSystem{kNetwork, "Ceph", 0x00C36400},
    FileSystem{kNetwork, "Lustre", 0x0BD00BD0},
    FileSystem{kNetwork, "GPFS", 0x47504653},
    FileSystem{kNetwork, "Coda", 0x73757245},
    FileSystem{kNetwork, "NCP", 0x564C},
    FileSystem{kNetwork, "OCFS2", 0x7461636F},
    FileSystem{kNetwork, "GFS2", 0x01161970},
    FileSystem{kNetwork, "BeeGFS", 0x19830326},
    FileSystem{kNetwork, "PanFS", 0xAAD7AAEA},
    FileSystem{kNetwork, "OrangeFS", 0x20030528},
    FileSystem{kNetwork, "IBRIX", 0x013111A8},
    FileSystem{kNetwork, "ACFS", 0x61636673},
    FileSystem{kNetwork, "SNFS", 0xBEEFDEAD},
    FileSystem{kNetwork, "VMware shared folders", 0xBACBACBC},
    FileSystem{kNetwork, "VirtualBox shared folders", 0x786F4256},
    FileSystem{kNetwork, "Parallels shared folders", 0x7C7C6673},
    FileSystem{FileSystem::Kind::fuse, "FUSE", 0x65735546},
};

/// True the first time that this process says it of a folder.
bool first_warning_of(const std::string& folder) {
  static std::mutex mutex;
  static auto& warned =
      *new std::set<std::string>;  // never destroyed: another static object may open a ledger
  const std::lock_guard guard(mutex);
  return warned.insert(folder).second;
}

}  // namespace

std::span<const FileSystem> listed_file_systems() noexcept {
  return kFileSystems;
}

FileSystem file_system_of_type(std::uint32_t type) noexcept {
  const auto* const found = std::find_if(kFileSystems.begin(), kFileSystems.end(),
                                         [&](const FileSystem& one) { return one.type == type; });
  return found != kFileSystems.end() ? *found : FileSystem{.type = type};
}

FileSystem file_system_of(const std::string& path) {
  struct statfs status {};
  while (::statfs(path.c_str(), &status) != 0) {
    const int error = errno;
    if (error != EINTR) throw_refused("cannot tell which file system " + path + " lies on", error);
  }
  // f_type is signed, and wider than the types are.
  return file_system_of_type(static_cast<std::uint32_t>(status.f_type));
}

void require_no_network(const LedgerFiles& files, const Options& options) {
  const FileSystem found = file_system_of(files.directory);
  switch (found.kind) {
    case FileSystem::Kind::local:
      return;
    case FileSystem::Kind::network:
      throw NetworkFileSystem(
          "ledger " + files.database + ": its folder " + files.directory +
          " lies on a network file system (" + found.name +
          "), where two machines would not see each other's charges; nothing was done. Put the "
          "ledger on a local disk, and use it from that machine only. Copies of a backup and the replica may "
          "lie "
          "on a network file system; copy a backup to a local disk before you use it");
    case FileSystem::Kind::fuse:
      if (!options.warn || !first_warning_of(files.directory)) return;
      options.warn(
          "ledger " + files.database + ": its folder " + files.directory +
          " is served by a program (FUSE), which may keep the files on another machine. If two machines "
          "can reach this folder, neither sees the other's charges: put the ledger on a local disk");
  }
}

}  // namespace epsilog::ledger
