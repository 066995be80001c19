#include "note_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "epsilog/engine/key_file.hpp"

namespace epsilog::engine {
namespace {

/// So much of a file is looked at, from its end: a note of ours has some 300 bytes, each cosignature 200.
constexpr std::size_t kEndBytes = 65'536;
/// How a signature line begins (C2SP signed-note, "Format").
constexpr std::string_view kSignature = "\xE2\x80\x94 ";

[[noreturn]] void fail(const std::string& what, const std::string& file) {
  throw KeyIo("cannot " + what + " " + file + ": " + std::strerror(errno));
}

class OpenedNotes final {
 public:
  /// Not opened if there is no such file.
  OpenedNotes(const std::string& file, int flags) : file_(file) {
    do {
      number_ = ::open(file.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK, 0644);
    } while (number_ < 0 && errno == EINTR);
    if (number_ < 0 && errno != ENOENT) fail("open", file);
    struct stat about {};
    if (number_ < 0) return;
    if (::fstat(number_, &about) != 0 || !S_ISREG(about.st_mode)) {
      ::close(number_);
      throw KeyIo(file + " is not a regular file: no checkpoint is appended to it");
    }
    size_ = static_cast<std::size_t>(about.st_size);
  }
  OpenedNotes(const OpenedNotes&) = delete;
  OpenedNotes& operator=(const OpenedNotes&) = delete;
  ~OpenedNotes() {
    if (number_ >= 0) ::close(number_);
  }

  [[nodiscard]] bool is_open() const { return number_ >= 0; }
  [[nodiscard]] std::size_t size() const { return size_; }

  [[nodiscard]] std::string read_from(std::size_t at) const {
    std::string text(size_ - at, '\0');
    for (std::size_t done = 0; done < text.size();) {
      const ssize_t some =
          ::pread(number_, text.data() + done, text.size() - done, static_cast<off_t>(at + done));
      if (some < 0 && errno == EINTR) continue;
      if (some < 0) fail("read", file_);
      if (some == 0) throw KeyIo(file_ + " became shorter while it was read");
      done += static_cast<std::size_t>(some);
    }
    return text;
  }
  void truncate(std::size_t size) const {
    if (::ftruncate(number_, static_cast<off_t>(size)) != 0) fail("cut", file_);
  }
  void cut_if_possible(std::size_t size) const noexcept {
    [[maybe_unused]] const int failed = ::ftruncate(number_, static_cast<off_t>(size));
  }
  void append(const std::string& text) const {
    for (std::size_t done = 0; done < text.size();) {
      const ssize_t some = ::write(number_, text.data() + done, text.size() - done);
      if (some < 0 && errno == EINTR) continue;
      if (some < 0) fail("write", file_);
      done += static_cast<std::size_t>(some);
    }
  }
  void sync() const {
    if (::fdatasync(number_) != 0) fail("sync", file_);
  }

 private:
  std::string file_;
  int number_ = -1;
  std::size_t size_ = 0;
};

void sync_name_of(const std::string& file) {
  const std::string folder = std::filesystem::path(file).parent_path().string();
  const int number = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = number >= 0 && ::fsync(number) == 0;
  if (number >= 0) ::close(number);
  if (!synced) fail("sync the folder of", file);
}

/// Where the last whole signature line ends; 0 without one.
std::size_t end_of_signatures(std::string_view text) {
  for (std::size_t end = text.rfind('\n'); end != std::string_view::npos;) {
    const std::size_t before = end == 0 ? std::string_view::npos : text.rfind('\n', end - 1);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    if (text.substr(begin, end - begin).starts_with(kSignature)) return end + 1;
    end = before;
  }
  return 0;
}

/// Where the note begins that ends `text`: two parts, an empty line between them and before them.
std::size_t beginning_of_note(std::string_view text) {
  std::size_t at = text.size();
  for (int part = 0; part < 2; ++part) {
    at = text.rfind("\n\n", at - 1);
    if (at == std::string_view::npos || at == 0) return 0;
  }
  return at + 2;
}

}  // namespace

NotesEnd notes_end(const std::string& file) {
  const OpenedNotes opened(file, O_RDONLY);
  if (!opened.is_open() || opened.size() == 0) return {};
  const std::size_t from = opened.size() - std::min(opened.size(), kEndBytes);
  const std::string text = opened.read_from(from);
  const std::size_t end = end_of_signatures(text);
  if (end == 0) {
    if (from > 0) throw NotVerified(file + " does not end with a checkpoint");
    return {.rest = text};
  }
  const std::size_t begin = beginning_of_note(std::string_view(text).substr(0, end));
  if (begin == 0 && from > 0) throw NotVerified(file + " ends with what is too long for a checkpoint");
  try {
    return {.last = parse_checkpoint(std::string_view(text).substr(begin, end - begin)),
            .size = from + end,
            .rest = text.substr(end)};
  } catch (const NotVerified& error) {
    throw NotVerified(file +
                      " does not end with a checkpoint: counted from where the last one should begin, " +
                      error.what());
  }
}

void append_note(const std::string& file, const NotesEnd& end, const SignedNote& note) {
  const OpenedNotes opened(file, O_WRONLY | O_APPEND | O_CREAT);
  if (!opened.is_open()) fail("make", file);
  if (opened.size() != end.size + end.rest.size()) {
    throw KeyIo(file + " changed while a checkpoint was signed: it is appended with the next one");
  }
  if (!end.rest.empty()) opened.truncate(end.size);
  try {
    opened.append((end.last ? "\n" : "") + note_text(note));
    opened.sync();
  } catch (const KeyIo&) {
    opened.cut_if_possible(end.size);
    throw;
  }
  if (end.size == 0) sync_name_of(file);
}

}  // namespace epsilog::engine
