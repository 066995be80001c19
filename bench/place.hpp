// A folder on the disk that is measured, and what times are told as.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace epsilog::bench {

using Clock = std::chrono::steady_clock;

inline double microseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

/// Of some values; 0 of none. `part` 0.5: the median.
inline double quantile(std::vector<double> values, double part) {
  if (values.empty()) return 0;
  const auto place = static_cast<std::size_t>(part * static_cast<double>(values.size()));
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::min(place, values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

inline double median(std::vector<double> values) {
  return quantile(std::move(values), 0.5);
}

/// In the current directory, gone at the end.
class Folder final {
 public:
  Folder() {
    std::string pattern = (std::filesystem::current_path() / "epsilog-bench-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary directory");
    path_ = pattern;
    raw_ = ::open(file("raw").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    static_cast<void>(raw_write());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    ::close(raw_);
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

  /// An fdatasync of 4 KiB overwritten in place, in microseconds: nothing durable is cheaper.
  double raw_write() {
    block_[0] = static_cast<char>(block_[0] + 1);
    const auto begin = Clock::now();
    if (::pwrite(raw_, block_.data(), block_.size(), 0) != static_cast<ssize_t>(block_.size()) ||
        ::fdatasync(raw_) != 0) {
      throw std::runtime_error("cannot write");
    }
    return microseconds(Clock::now() - begin);
  }

 private:
  std::filesystem::path path_;
  std::vector<char> block_ = std::vector<char>(4096, 'x');
  int raw_ = -1;
};

}  // namespace epsilog::bench
