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

std::string exists_message(const std::string& option, const std::string& path) {
  return option + ": '" + printable(path) + "': exists already, and nothing is overwritten";
}

}  // namespace

NewFile::NewFile(std::string option, std::string path) : option_(std::move(option)), path_(std::move(path)) {
  struct stat about {};
  if (lstat(path_.c_str(), &about) == 0) throw UsageError(exists_message(option_, path_));
  std::string name = path_ + ".XXXXXX";
  descriptor_ = path_.empty() ? -1 : mkostemp(name.data(), O_CLOEXEC);
  if (descriptor_ < 0) {
    const std::string why = path_.empty() ? "must not be empty" : std::strerror(errno);
    throw UsageError(option_ + ": '" + printable(path_) + "': " + why);
  }
  temporary_path_ = name;
}

NewFile::~NewFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!temporary_path_.empty()) unlink(temporary_path_.c_str());
}

void NewFile::write(std::string_view text) {
  buffer_ += text;
  if (buffer_.size() >= kBufferMax) write_buffer();
}

void NewFile::write_buffer() {
  for (std::size_t done = 0; done < buffer_.size();) {
    const ssize_t some = ::write(descriptor_, buffer_.data() + done, buffer_.size() - done);
    if (some < 0 && errno == EINTR) continue;
    if (some <= 0) fail("cannot write");
    done += static_cast<std::size_t>(some);
  }
  buffer_.clear();
}

void NewFile::finish() {
  write_buffer();
  if (fsync(descriptor_) != 0) fail("cannot sync");
  publish_name();
  const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
  const int opened = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = opened >= 0 && fsync(opened) == 0;
  const int error = errno;
  if (opened >= 0) close(opened);
  errno = error;
  if (!synced) fail("cannot sync the folder of");
}

void NewFile::publish_name() {
  if (renameat2(AT_FDCWD, temporary_path_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) == 0)
    return temporary_path_.clear();
  if (errno == EEXIST) throw UsageError(exists_message(option_, path_));
  // Where the file system does not know how: two names for an instant.
  if (errno != EINVAL && errno != ENOSYS) fail("cannot name");
  if (link(temporary_path_.c_str(), path_.c_str()) != 0) {
    if (errno == EEXIST) throw UsageError(exists_message(option_, path_));
    fail("cannot name");
  }
  unlink(temporary_path_.c_str());
  temporary_path_.clear();
}

void NewFile::fail(const std::string& what) const {
  throw OutputError(what + " " + printable(path_) + ": " + std::strerror(errno));
}

}  // namespace epsilog::command
