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

}  // namespace

std::optional<pid_t> listed_holder(std::string_view locks, dev_t device, ino_t inode) {
  // "1: FLOCK  ADVISORY  WRITE 4711 fd:01:1234 0 EOF", proc(5); who waits has "->" after the number.
  std::array<char, 64> file{};
  std::snprintf(file.data(), file.size(), "%02x:%02x:%lu", major(device), minor(device),
                static_cast<unsigned long>(inode));
  std::istringstream lines{std::string(locks)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    const std::vector<std::string> word{std::istream_iterator<std::string>(words), {}};
    if (word.size() < 6 || word[1] != "FLOCK" || word[5] != file.data()) continue;
    pid_t process = 0;
    const char* const end = word[4].data() + word[4].size();
    const auto read = std::from_chars(word[4].data(), end, process);
    if (read.ec == std::errc() && read.ptr == end && process > 0) return process;
  }
  return std::nullopt;
}

std::string lock_holder(const LedgerFiles& files) {
  struct stat status {};
  if (::lstat(files.lock().c_str(), &status) != 0) return "another process";
  const auto process = listed_holder(read_virtual_file("/proc/locks"), status.st_dev, status.st_ino);
  if (!process) return "another process";
  if (*process == ::getpid()) return "this process, through another object";
  const std::string name = name_of(*process);
  return "process " + std::to_string(*process) + (name.empty() ? "" : " (" + name + ")");
}

void tell_whom_for(const LedgerFiles& files, accounting::CallbackRef<void(const std::string&)> waiting) {
  if (waiting) waiting("waiting for " + lock_holder(files) + " to be done with ledger " + files.database);
}

}  // namespace epsilog::ledger
