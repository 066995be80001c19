#include "lock_holder.hpp"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

namespace epsilog::ledger {
namespace {

std::string read_virtual_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// A program names itself, with any bytes.
std::string name_of(pid_t process) {
  std::string name = read_virtual_file("/proc/" + std::to_string(process) + "/comm");
  if (!name.empty() && name.back() == '\n') name.pop_back();
  for (char& c : name) {
    if (c < ' ' || c > '~') c = '?';
  }
  return name;
}

std::optional<long> number_in(const std::string& text) {
  long number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  return read.ec == std::errc() && read.ptr == end ? std::optional(number) : std::nullopt;
}

/// The words of a line, "1: FLOCK  ADVISORY  WRITE 4711 fd:01:1234 0 EOF", proc(5); who waits has "->" after
/// the number.
using LockWords = std::vector<std::string>;

/// The process of the first lock on that file that `is_meant` accepts.
template <class Is>
std::optional<pid_t> listed_process(std::string_view locks, dev_t device, ino_t inode, const Is& is_meant) {
  std::array<char, 64> file{};
  std::snprintf(file.data(), file.size(), "%02x:%02x:%lu", major(device), minor(device),
                static_cast<unsigned long>(inode));
  std::istringstream lines{std::string(locks)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    const LockWords word{std::istream_iterator<std::string>(words), {}};
    if (word.size() < 6 || word[5] != file.data() || !is_meant(word)) continue;
    const std::optional<long> process = number_in(word[4]);
    if (process && *process > 0) return static_cast<pid_t>(*process);
  }
  return std::nullopt;
}

std::string process_text(pid_t process) {
  const std::string name = name_of(process);
  return "process " + std::to_string(process) + (name.empty() ? "" : " (" + name + ")");
}

/// Of the index of the log, which whoever writes through SQLite locks (sqlite.org/walformat.html, 2.3.1).
constexpr long kWriterByte = 120;

}  // namespace

std::optional<pid_t> listed_holder(std::string_view locks, dev_t device, ino_t inode) {
  return listed_process(locks, device, inode, [](const LockWords& word) { return word[1] == "FLOCK"; });
}

std::optional<pid_t> listed_writer(std::string_view locks, dev_t device, ino_t inode) {
  return listed_process(locks, device, inode, [](const LockWords& word) {
    if (word[1] != "POSIX" || word[3] != "WRITE" || word.size() < 8) return false;
    const std::optional<long> first = number_in(word[6]), last = number_in(word[7]);
    return first && *first <= kWriterByte && (word[7] == "EOF" || (last && *last >= kWriterByte));
  });
}

std::string lock_holder(const LedgerFiles& files) {
  struct stat status {};
  if (::lstat(files.lock().c_str(), &status) != 0) return "another process";
  const auto process = listed_holder(read_virtual_file("/proc/locks"), status.st_dev, status.st_ino);
  if (!process) return "another process";
  if (*process == ::getpid()) return "this process, through another object";
  return process_text(*process);
}

std::string foreign_writer(const LedgerFiles& files) {
  constexpr const char* kForeign = "another process holds SQLite's write lock";
  struct stat status {};
  if (::lstat(files.shm().c_str(), &status) != 0) return kForeign;
  const auto process = listed_writer(read_virtual_file("/proc/locks"), status.st_dev, status.st_ino);
  return process ? kForeign + (", " + process_text(*process)) : kForeign;
}

void report_lock_holder(const LedgerFiles& files,
                        accounting::CallbackRef<void(const std::string&)> report_wait) {
  if (report_wait)
    report_wait("waiting for " + lock_holder(files) + " to be done with ledger " + files.database);
}

}  // namespace epsilog::ledger
