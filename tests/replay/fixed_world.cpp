// Makes a program's clock and random bits reproducible, by standing before those of the C library (LD_PRELOAD).
//
// The command and the daemon are run as they are shipped, with this module loaded before them. Nothing else differs,
// so what is recorded is what users see. EPSILOG_REPLAY_CLOCK names a file with the wall clock in milliseconds since
// 1970, which is read at every look at the clock; EPSILOG_REPLAY_SEED is a whole number. Where EPSILOG_REPLAY_AHEAD is
// set, the wall clock is so many milliseconds ahead of the clock that nobody sets.
#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace {

constexpr std::int64_t kMillisecondsPerSecond = 1'000;
constexpr std::int64_t kNanosecondsPerMillisecond = 1'000'000;

[[noreturn]] void fail(const char* what) {
  // A recording made with real time or real bits would look like a change of behaviour.
  static_cast<void>(!::write(STDERR_FILENO, what, __builtin_strlen(what)));
  ::_exit(99);
}

std::int64_t recorded_ms() {
  static const char* const path = std::getenv("EPSILOG_REPLAY_CLOCK");
  if (path == nullptr) fail("EPSILOG_REPLAY_CLOCK is not set\n");
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) fail("the file of EPSILOG_REPLAY_CLOCK cannot be opened\n");
  char digits[32] = {};
  const ssize_t size = ::pread(file, digits, sizeof digits - 1, 0);
  ::close(file);
  if (size <= 0) fail("the file of EPSILOG_REPLAY_CLOCK is empty\n");
  return std::strtoll(digits, nullptr, 10);
}

/// SplitMix64 (Steele, Lea and Flood 2014): bits that are the same in every run, and good for nothing else.
std::uint64_t next_bits() {
  static std::atomic<std::uint64_t> state = [] {
    const char* const seed = std::getenv("EPSILOG_REPLAY_SEED");
    if (seed == nullptr) fail("EPSILOG_REPLAY_SEED is not set\n");
    return std::strtoull(seed, nullptr, 10);
  }();
  std::uint64_t bits = state.fetch_add(0x9e3779b97f4a7c15U) + 0x9e3779b97f4a7c15U;
  bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebU;
  return bits ^ (bits >> 31U);
}

void fill(void* buffer, std::size_t size) {
  auto* bytes = static_cast<unsigned char*>(buffer);
  std::uint64_t bits = 0;
  for (std::size_t at = 0; at < size; ++at, bits >>= 8U) {
    if (at % sizeof bits == 0) bits = next_bits();
    bytes[at] = static_cast<unsigned char>(bits);
  }
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  if (clock != CLOCK_REALTIME && clock != CLOCK_BOOTTIME) {
    return static_cast<int>(::syscall(SYS_clock_gettime, clock, time));
  }
  const char* const ahead = clock == CLOCK_REALTIME ? std::getenv("EPSILOG_REPLAY_AHEAD") : nullptr;
  const std::int64_t ms = recorded_ms() + (ahead == nullptr ? 0 : std::strtoll(ahead, nullptr, 10));
  time->tv_sec = static_cast<time_t>(ms / kMillisecondsPerSecond);
  time->tv_nsec = static_cast<long>(ms % kMillisecondsPerSecond * kNanosecondsPerMillisecond);
  return 0;
}

int getentropy(void* buffer, std::size_t size) noexcept {
  fill(buffer, size);
  return 0;
}

ssize_t getrandom(void* buffer, std::size_t size, unsigned int) {
  fill(buffer, size);
  return static_cast<ssize_t>(size);
}
}
