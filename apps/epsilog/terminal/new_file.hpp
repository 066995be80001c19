// A file that is written in parts and is there whole or not at all.
#pragma once

#include <string>
#include <string_view>

namespace epsilog::command {

/// Written beside its place under a name of its own, mode 0600, then synced and given its name, which must be
/// free then as before: nothing is overwritten. Without finish() nothing is left; a process that is killed
/// leaves
/// `<path>.XXXXXX`, six characters for the X.
class NewFile final {
 public:
  /// `option` begins the messages.
  /// Throws  UsageError: something is there already, or no file can be made there.
  NewFile(std::string option, std::string path);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  /// Throws  OutputError.
  void write(std::string_view text);
  /// Ensures  it is durable, and so is its name.
  /// Throws   OutputError; UsageError: something is there meanwhile.
  void finish();

 private:
  void write_buffer();
  void publish_name();
  [[noreturn]] void fail(const std::string& what) const;

  std::string option_;
  std::string path_;
  std::string temporary_path_;  // its name until then; "" once it is kept
  int descriptor_ = -1;
  std::string buffer_;
};

}  // namespace epsilog::command
