#include "ledger/support/fuse_mount.hpp"

#include <fcntl.h>
#include <linux/fuse.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace epsilog::ledger_tests {
namespace {

template <class Body>
void answer(int device, std::uint64_t request, const Body& body) {
  fuse_out_header header{};
  header.len = static_cast<std::uint32_t>(sizeof header + sizeof body);
  header.unique = request;
  Body copy = body;
  const std::array<iovec, 2> parts = {{{&header, sizeof header}, {&copy, sizeof copy}}};
  static_cast<void>(::writev(device, parts.data(), parts.size()));
}

void refuse(int device, std::uint64_t request, int error) {
  fuse_out_header header{};
  header.len = sizeof header;
  header.error = -error;
  header.unique = request;
  static_cast<void>(::write(device, &header, sizeof header));
}

fuse_attr root() {
  fuse_attr attributes{};
  attributes.ino = FUSE_ROOT_ID;
  attributes.mode = S_IFDIR | 0700;
  attributes.nlink = 2;
  return attributes;
}

/// Until the folder is unmounted.
void serve(int device) {
  alignas(fuse_in_header) std::array<char, 1U << 17U> buffer{};
  for (;;) {
    const ssize_t got = ::read(device, buffer.data(), buffer.size());
    if (got < 0 && (errno == EINTR || errno == ENOENT || errno == EAGAIN)) continue;
    if (got < static_cast<ssize_t>(sizeof(fuse_in_header))) return;
    fuse_in_header request{};
    std::memcpy(&request, buffer.data(), sizeof request);
    if (request.opcode == FUSE_INIT) {
      fuse_init_out init{};
      init.major = FUSE_KERNEL_VERSION;
      init.minor = 31;
      init.max_write = 4'096;
      answer(device, request.unique, init);
    } else if (request.opcode == FUSE_STATFS) {
      fuse_statfs_out told{};
      told.st.bsize = told.st.frsize = 4'096;
      told.st.namelen = 255;
      answer(device, request.unique, told);
    } else if (request.opcode == FUSE_GETATTR) {
      fuse_attr_out told{};
      told.attr = root();
      answer(device, request.unique, told);
    } else if (request.opcode == FUSE_LOOKUP) {
      refuse(device, request.unique, ENOENT);
    } else if (request.opcode != FUSE_FORGET && request.opcode != FUSE_BATCH_FORGET) {
      refuse(device, request.unique, ENOSYS);
    }
  }
}

}  // namespace

FuseMount::FuseMount(std::string folder) : folder_(std::move(folder)) {
  device_ = ::open("/dev/fuse", O_RDWR | O_CLOEXEC);
  const std::string options = "fd=" + std::to_string(device_) + ",rootmode=40000,user_id=0,group_id=0";
  if (device_ < 0 ||
      ::mount("epsilog-test", folder_.c_str(), "fuse", MS_NOSUID | MS_NODEV, options.c_str()) != 0) {
    refusal_ = std::generic_category().message(errno);
    return;
  }
  server_ = std::thread(serve, device_);
}

FuseMount::~FuseMount() {
  if (refusal_.empty()) {
    static_cast<void>(::umount2(folder_.c_str(), MNT_DETACH));
    server_.join();
  }
  if (device_ >= 0) ::close(device_);
}

}  // namespace epsilog::ledger_tests
