#include "commit_mark.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "mark_fields.hpp"

namespace epsilog::ledger {
namespace {

constexpr std::string_view kKind = "epsilog-lock-1";
constexpr std::size_t kReasonMax = 256;
constexpr std::array<std::string_view, 3> kStates = {"settled", "committing", "poisoned"};

/// What stays of a text within one line.
std::string one_field(std::string_view text, std::size_t most) {
  std::string field(text.substr(0, most));
  for (char& c : field) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = ' ';
  }
  return field.empty() ? "-" : field;
}

std::string unless_none(std::string_view field) {
  return field == "-" ? std::string() : std::string(field);
}

/// Separated by one blank each; the last one may have blanks itself.
std::vector<std::string_view> fields_of(std::string_view line) {
  constexpr std::size_t kFields = 6;
  std::vector<std::string_view> fields;
  for (auto blank = line.find(' '); blank != std::string_view::npos && fields.size() + 1 < kFields;
       blank = line.find(' ')) {
    fields.push_back(line.substr(0, blank));
    line.remove_prefix(blank + 1);
  }
  fields.push_back(line);
  return fields;
}

CommitMark unreadable_commit_mark() {
  return {.state = CommitMark::State::unreadable, .boot_id = ""};
}

}  // namespace

std::int64_t CommitMark::first_doubtful_seq(const std::string& this_boot) const {
  constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  switch (state) {
    case State::settled:
      return kNone;
    case State::committing:
      // Where boots cannot be told apart, a mark may be of this one.
      return boot_id == this_boot || boot_id == "unknown" || this_boot == "unknown" ? first : kNone;
    case State::poisoned:
    case State::unreadable:
      return 0;
  }
  return 0;
}

std::string commit_mark_bytes(const CommitMark& mark) {
  const auto state = static_cast<std::size_t>(mark.state);
  std::string bytes(kKind);
  bytes += " " + one_field(mark.boot_id, 64) + " " + std::string(kStates.at(state)) + " " +
           std::to_string(mark.first) + " " + one_field(mark.time, 32) + " " +
           one_field(mark.reason, kReasonMax) + "\n";
  return mark_with_digest(std::move(bytes), kCommitMarkBytes);
}

CommitMark parse_commit_mark(std::string_view bytes) {
  if (bytes.find_first_not_of('\0') == std::string_view::npos) return {};
  const auto line = line_of_mark(bytes, kCommitMarkBytes);
  if (!line) return unreadable_commit_mark();
  const std::vector<std::string_view> fields = fields_of(*line);
  if (fields.size() != 6 || fields[0] != kKind) return unreadable_commit_mark();
  const auto first = count_field(fields[3]);
  for (std::size_t i = 0; i < kStates.size() && first; ++i) {
    if (fields[2] != kStates[i]) continue;
    return {.state = static_cast<CommitMark::State>(i),
            .boot_id = unless_none(fields[1]),
            .first = *first,
            .time = unless_none(fields[4]),
            .reason = unless_none(fields[5])};
  }
  return unreadable_commit_mark();
}

CommitMark read_commit_mark(int lock_file) {
  std::array<char, kCommitMarkBytes> bytes{};
  for (;;) {
    const ssize_t count = ::pread(lock_file, bytes.data(), bytes.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return unreadable_commit_mark();
    return parse_commit_mark({bytes.data(), static_cast<std::size_t>(count)});
  }
}

CommitMark read_commit_mark(const LedgerFiles& files) {
  constexpr int kAttempts = 4;  // what was read while it was written fails its digest, and is whole next time
  // An flock belongs to an open file description: closing this one gives up no lock of ours.
  const Descriptor file(::open(files.lock().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.valid()) return errno == ENOENT ? CommitMark{} : unreadable_commit_mark();
  CommitMark mark = read_commit_mark(file.get());
  for (int i = 1; i < kAttempts && mark.state == CommitMark::State::unreadable; ++i) {
    mark = read_commit_mark(file.get());
  }
  return mark;
}

int write_commit_mark(int lock_file, const CommitMark& mark) {
  const std::string bytes = commit_mark_bytes(mark);
  for (;;) {
    const ssize_t count = ::pwrite(lock_file, bytes.data(), bytes.size(), 0);
    if (count == static_cast<ssize_t>(bytes.size())) return 0;
    if (count < 0 && errno == EINTR) continue;
    return count < 0 ? errno : ENOSPC;
  }
}

}  // namespace epsilog::ledger
