// Calls that are recorded by one group, in the order in which they were added: a test says what happens
// between their preparation and their group, and no thread decides anything.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <list>

#include "decision_call.hpp"
#include "engine_state.hpp"
#include "epsilog/accounting/errors.hpp"
#include "group.hpp"
#include "support/catch.hpp"

namespace epsilog::test {

/// Random bits after so many zeros, which a snapped draw takes for an exponent without end; then, if it is
/// told so, none. Whoever is asked while a turn is held says so.
class ZerosFirst final : public mechanisms::BitSource {
 public:
  ZerosFirst(std::string ledger, std::size_t zeros, bool fails_after = false)
      : ledger_(std::move(ledger)), zeros_(zeros), fails_after_(fails_after) {}
  void fill(std::span<std::byte> bytes) override {
    const int lock = ::open((ledger_ + ".lock").c_str(), O_RDWR | O_CLOEXEC);
    // Nobody has the turn, or nobody ever had it.
    CHECK((lock == -1 || ::flock(lock, LOCK_EX | LOCK_NB) == 0));
    ::close(lock);
    if (fails_after_ && given_ > 0) throw EntropyUnavailable("no entropy in this test");
    system_.fill(bytes);
    for (std::byte& byte : bytes) {
      if (given_++ < zeros_) byte = std::byte{0};
    }
  }
  [[nodiscard]] std::size_t given() const { return given_; }

 private:
  std::string ledger_;
  std::size_t zeros_;
  bool fails_after_;
  std::size_t given_ = 0;
  mechanisms::SystemBits system_;
};

class ConcurrentCalls final {
 public:
  struct Call {
    engine::Request request;
    std::unique_ptr<mechanisms::BitSource> bits;
    std::unique_ptr<engine::DecisionCall> deciding;
    std::unique_ptr<engine::GroupMember> member;
    std::optional<engine::Answer> answer;
    std::exception_ptr fault;
  };

  explicit ConcurrentCalls(const std::string& ledger, const engine::EngineOptions& options = {})
      : ledger_(ledger), state_(ledger, options) {}

  /// By itself: the statements are prepared then, and the question is known.
  void release(const engine::Request& request) {
    mechanisms::SystemBits bits;
    REQUIRE(engine::decide_requests(state_, {&request, 1}, &bits, {}, {}).front().recorded.granted);
  }
  /// Prepared as the ledger stands.
  Call& ask(const engine::Request& request, std::unique_ptr<mechanisms::BitSource> bits = nullptr) {
    Call& call = calls_.emplace_back();
    call.request = request;
    call.bits = std::move(bits);
    if (call.bits == nullptr) call.bits = std::make_unique<ZerosFirst>(ledger_, 0);
    call.deciding = std::make_unique<engine::DecisionCall>(
        state_, std::span(&call.request, 1), call.bits.get(), std::span<const accounting::Rational>());
    call.answer = call.deciding->prepare({});
    REQUIRE_FALSE(call.answer);
    return call;
  }

  /// All in one group, unless its leader never has one.
  void record() {
    for (Call& call : calls_) call.member = call.deciding->member();
    engine::GroupMember& first = *calls_.front().member;
    REQUIRE(state_.commit_queue().await(first, engine::CommitQueue::Deadline::max()) ==
            engine::CommitQueue::WaitOutcome::leads);
    for (Call& call : calls_) {
      if (&call != &calls_.front()) state_.commit_queue().submit(*call.member);
    }
    engine::commit_group(state_, first, engine::LockWait::full);
    for (std::size_t left = calls_.size() - 1; left > 0; --left) {
      const engine::CommitQueue::Work work = state_.commit_queue().next();
      if (work.leads != nullptr)
        engine::commit_group(state_, static_cast<engine::GroupMember&>(*work.leads), engine::LockWait::full);
    }
  }
  /// As the calls go on after their group.
  void conclude() {
    for (Call& call : calls_) {
      try {
        const bool lacks_bits = call.member->fate == engine::GroupMember::Fate::lacks_bits;
        std::optional<std::vector<engine::Answer>> answers;
        if (!lacks_bits) answers = call.deciding->take_answers(*call.member);
        if (!answers) answers = engine::resume_decision(state_, *call.deciding, lacks_bits);
        call.answer = std::move(answers->front());
      } catch (...) {
        call.fault = std::current_exception();
      }
    }
  }
  [[nodiscard]] std::list<Call>& calls() { return calls_; }

 private:
  std::string ledger_;
  engine::EngineState state_;
  std::list<Call> calls_;
};

}  // namespace epsilog::test
