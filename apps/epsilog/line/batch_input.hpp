// The bytes of --batch FILE|-.
#pragma once

#include <cstddef>
#include <string>

namespace epsilog::command {

class BatchInput final {
 public:
  /// "-" is standard input.
  /// Throws  SourceError when it cannot be opened or is a directory.
  explicit BatchInput(std::string name);
  BatchInput(const BatchInput&) = delete;
  BatchInput& operator=(const BatchInput&) = delete;
  ~BatchInput();

  /// Up to `size` bytes, as many as are there; 0 at the end.
  /// Throws  SourceError.
  [[nodiscard]] std::size_t read(char* data, std::size_t size);

  /// Whether the end is known beforehand, so that there is a fraction to show.
  [[nodiscard]] bool has_size() const noexcept { return size_ > 0; }
  [[nodiscard]] double fraction_read() const noexcept;
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 private:
  [[noreturn]] void fail(int error) const;

  std::string name_;
  int descriptor_ = -1;
  double size_ = 0;
  double read_ = 0;
};

}  // namespace epsilog::command
