#include "reading_gate.hpp"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace epsilog::ledger {
namespace {

/// A forked child has the pid of none of its parent's gates, in which the parent's readers are counted.
using GateKey = std::tuple<pid_t, dev_t, ino_t>;

struct Gates {
  std::mutex mutex;
  std::map<GateKey, ReadingGate> known;
};

/// Never destroyed, nor any gate of it: a ledger may be closed by another static object, and what threads of
/// the parent wait for cannot be destroyed in a forked child.
Gates& gates() {
  static auto& all = *new Gates;
  return all;
}

}  // namespace

ReadingGate& ReadingGate::gate_of(const FileIdentity& file) {
  Gates& all = gates();
  const std::lock_guard guard(all.mutex);
  return all.known[{::getpid(), file.device, file.inode}];
}

ReadingGate::Reader::Reader(ReadingGate& gate) : gate_(gate) {
  std::unique_lock guard(gate_.mutex_);
  if (gate_.closed_) {
    const Time begun = std::chrono::steady_clock::now();
    const Time opens = gate_.opens_;  // closed once more meanwhile: not for us
    gate_.changed_.wait_until(guard, opens, [this] { return !gate_.closed_; });
    gate_.longest_wait_ =
        std::max<std::chrono::nanoseconds>(gate_.longest_wait_, std::chrono::steady_clock::now() - begun);
  }
  ++gate_.readers_;
}

ReadingGate::Reader::~Reader() {
  const std::lock_guard guard(gate_.mutex_);
  if (--gate_.readers_ == 0 && gate_.closed_) gate_.changed_.notify_all();
}

ReadingGate::ClosedScope::ClosedScope(ReadingGate& gate)
    : gate_(gate), opens_(std::chrono::steady_clock::now() + kLongestClosing) {
  const std::lock_guard guard(gate_.mutex_);
  gate_.closed_ = true;
  gate_.opens_ = opens_;
}

ReadingGate::ClosedScope::~ClosedScope() {
  const std::lock_guard guard(gate_.mutex_);
  gate_.closed_ = false;
  gate_.changed_.notify_all();
}

bool ReadingGate::ClosedScope::await_readers(std::chrono::milliseconds wait) {
  std::unique_lock guard(gate_.mutex_);
  return gate_.changed_.wait_until(guard, std::min(opens_, std::chrono::steady_clock::now() + wait),
                                   [this] { return gate_.readers_ == 0; });
}

std::chrono::milliseconds ReadingGate::ClosedScope::left() const {
  const auto left = std::chrono::floor<std::chrono::milliseconds>(opens_ - std::chrono::steady_clock::now());
  return std::max(left, std::chrono::milliseconds(0));
}

std::chrono::nanoseconds ReadingGate::longest_wait() const {
  const std::lock_guard guard(mutex_);
  return longest_wait_;
}

}  // namespace epsilog::ledger
