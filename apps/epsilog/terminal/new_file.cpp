#include "new_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "console.hpp"
#include "printable.hpp"
#include "usage_error.hpp"

namespace epsilog::command {
namespace {

constexpr std::size_t kBufferMax = 65'536;

std::string taken(const std::string& option, const std::string& path) {
  return option + ": '" + printable(path) + "': exists already, and nothing is overwritten";
}

}  // namespace

NewFile::NewFile(std::string option, std::string path) : option_(std::move(option)), path_(std::move(path)) {
  struct stat about {};
  if (lstat(path_.c_str(), &about) == 0) throw UsageError(taken(option_, path_));
  std::string name = path_ + ".XXXXXX";
  descriptor_ = path_.empty() ? -1 : mkostemp(name.data(), O_CLOEXEC);
  if (descriptor_ < 0) {
    const std::string why = path_.empty() ? "must not be empty" : std::strerror(errno);
    throw UsageError(option_ + ": '" + printable(path_) + "': " + why);
  }
  written_ = name;
}

NewFile::~NewFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!written_.empty()) unlink(written_.c_str());
}

void NewFile::write(std::string_view text) {
  buffer_ += text;
  if (buffer_.size() >= kBufferMax) hand_on();
}

void NewFile::hand_on() {
  for (std::size_t done = 0; done < buffer_.size();) {
    const ssize_t some = ::write(descriptor_, buffer_.data() + done, buffer_.size() - done);
    if (some < 0 && errno == EINTR) continue;
    if (some <= 0) fail("cannot write");
    done += static_cast<std::size_t>(some);
  }
  buffer_.clear();
}

void NewFile::keep() {
  hand_on();
  if (fsync(descriptor_) != 0) fail("cannot sync");
  name_it();
  const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
  const int opened = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = opened >= 0 && fsync(opened) == 0;
  const int error = errno;
  if (opened >= 0) close(opened);
  errno = error;
  if (!synced) fail("cannot sync the folder of");
}

void NewFile::name_it() {
  if (renameat2(AT_FDCWD, written_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) == 0)
    return written_.clear();
  if (errno == EEXIST) throw UsageError(taken(option_, path_));
  // Where the file system does not know how: two names for an instant.
  if (errno != EINVAL && errno != ENOSYS) fail("cannot name");
  if (link(written_.c_str(), path_.c_str()) != 0) {
    if (errno == EEXIST) throw UsageError(taken(option_, path_));
    fail("cannot name");
  }
  unlink(written_.c_str());
  written_.clear();
}

void NewFile::fail(const std::string& what) const {
  throw OutputError(what + " " + printable(path_) + ": " + std::strerror(errno));
}

}  // namespace epsilog::command
