#include "batch_input.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::command {

BatchInput::BatchInput(std::string name) : name_(std::move(name)) {
  descriptor_ = name_ == "-" ? STDIN_FILENO : ::open(name_.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) fail(errno);
  struct stat status {};
  if (::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode)) {
    size_ = static_cast<double>(status.st_size);
  }
}

BatchInput::~BatchInput() {
  if (descriptor_ != STDIN_FILENO) ::close(descriptor_);
}

std::size_t BatchInput::read(char* data, std::size_t size) {
  for (;;) {
    const ssize_t got = ::read(descriptor_, data, size);
    if (got >= 0) {
      read_ += static_cast<double>(got);
      return static_cast<std::size_t>(got);
    }
    if (errno != EINTR) fail(errno);
  }
}

double BatchInput::fraction_read() const noexcept {
  return size_ > 0 ? std::min(1.0, read_ / size_) : 0;
}

void BatchInput::fail(int error) const {
  throw SourceError("--batch " + name_ + ": " + std::strerror(error));
}

}  // namespace epsilog::command
