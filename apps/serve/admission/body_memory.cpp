#include "body_memory.hpp"

#include <algorithm>
#include <utility>

namespace epsilog::serve {
namespace {

/// One principal and one user hold at most one part of so many.
constexpr std::size_t kSharesOfMemory = 4;

template <class Shares, class Name>
void leave(Shares& shares, const Name& name, std::size_t bytes) noexcept {
  const auto found = shares.find(name);
  found->second.bytes -= bytes;
  if (--found->second.claims == 0) shares.erase(found);
}

/// Whether `more` fits beside what is held; a limit may have become lower than that.
bool within(std::size_t held, std::size_t more, std::size_t limit) {
  return held <= limit && more <= limit - held;
}

}  // namespace

bool BodyMemory::fits(const Claim& claim, std::size_t bytes) const {
  const std::size_t share = limits_.bytes / kSharesOfMemory;
  return claim.has_precedence_ ||
         (within(bytes_, bytes, limits_.bytes) && within(claim.principal_share_->bytes, bytes, share) &&
          within(claim.user_share_->bytes, bytes, share));
}

void BodyMemory::take(Claim& claim, std::size_t bytes) noexcept {
  bytes_ += bytes;
  claim.bytes_ += bytes;
  claim.principal_share_->bytes += bytes;
  claim.user_share_->bytes += bytes;
}

/// Hands out what is free, in the order of the line, and past those whose own share is full.
void BodyMemory::serve_queue() noexcept {
  const auto serve = [this](WaitingReader& reader) {
    take(reader.claim, reader.bytes);
    reader.has_memory = true;
    reader.woken.notify_one();
  };
  std::erase_if(queue_, [&](WaitingReader* reader) {
    if (!fits(reader->claim, reader->bytes)) return false;
    serve(*reader);
    return true;
  });
  if (queue_.empty() || has_preceding_claim_) return;
  WaitingReader& first = *queue_.front();
  queue_.pop_front();
  has_preceding_claim_ = first.claim.has_precedence_ = true;
  serve(first);
}

bool BodyMemory::Claim::wait_for(std::size_t bytes, bool surely) {
  using std::chrono::steady_clock;
  std::unique_lock lock(memory_->mutex_);
  BodyMemory& room = *memory_;
  if (principal_share_ == nullptr) {
    Share& own = room.principals_[principal_];
    user_share_ = &room.users_[user_];
    principal_share_ = &own;
    ++principal_share_->claims;
    ++user_share_->claims;
  }
  WaitingReader reader{*this, bytes};
  room.queue_.push_back(&reader);
  room.serve_queue();
  if (reader.has_memory) return true;
  const steady_clock::time_point since = steady_clock::now();
  if (surely) {
    reader.woken.wait(lock, [&] { return reader.has_memory; });
  } else {
    reader.woken.wait_until(lock, since + (room.limits_.wait_max - waited_),
                            [&] { return reader.has_memory || room.stopping_; });
  }
  waited_ += steady_clock::now() - since;
  if (!reader.has_memory) std::erase(room.queue_, &reader);
  return reader.has_memory;
}

bool BodyMemory::Claim::try_take_memory(std::size_t bytes) {
  return wait_for(bytes, false);
}

void BodyMemory::Claim::take_memory(std::size_t bytes) {
  static_cast<void>(wait_for(bytes, true));
}

void BodyMemory::give_back(Claim& claim) noexcept {
  const std::scoped_lock lock(mutex_);
  bytes_ -= claim.bytes_;
  leave(principals_, claim.principal_, claim.bytes_);
  leave(users_, claim.user_, claim.bytes_);
  if (claim.has_precedence_) has_preceding_claim_ = false;
  serve_queue();
}

void BodyMemory::change(const Limits& limits) {
  const std::scoped_lock lock(mutex_);
  limits_ = limits;
  serve_queue();
}

void BodyMemory::stop() {
  const std::scoped_lock lock(mutex_);
  stopping_ = true;
  for (WaitingReader* reader : queue_) reader->woken.notify_one();
}

std::size_t BodyMemory::bytes() const {
  const std::scoped_lock lock(mutex_);
  return bytes_;
}

std::size_t BodyMemory::waiting() const {
  const std::scoped_lock lock(mutex_);
  return queue_.size();
}

BodyMemory::Claim::Claim(BodyMemory& room, std::string principal, std::uint32_t user)
    : memory_(&room), principal_(std::move(principal)), user_(user) {}

// No reader refers to a claim that is moved: who waits has it in use.
BodyMemory::Claim::Claim(Claim&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)),
      principal_(std::move(other.principal_)),
      user_(other.user_),
      principal_share_(std::exchange(other.principal_share_, nullptr)),
      user_share_(std::exchange(other.user_share_, nullptr)),
      bytes_(other.bytes_),
      has_precedence_(other.has_precedence_),
      waited_(other.waited_) {}

BodyMemory::Claim::~Claim() {
  if (principal_share_ != nullptr) memory_->give_back(*this);
}

}  // namespace epsilog::serve
