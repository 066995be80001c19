#include "body_room.hpp"

#include <algorithm>
#include <utility>

namespace epsilog::serve {
namespace {

/// One principal and one user hold at most one part of so many.
constexpr std::size_t kParts = 4;

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

bool BodyRoom::fits(const Claim& claim, std::size_t bytes) const {
  const std::size_t share = limits_.bytes / kParts;
  return claim.precedes_ ||
         (within(bytes_, bytes, limits_.bytes) && within(claim.of_principal_->bytes, bytes, share) &&
          within(claim.of_user_->bytes, bytes, share));
}

void BodyRoom::take(Claim& claim, std::size_t bytes) noexcept {
  bytes_ += bytes;
  claim.bytes_ += bytes;
  claim.of_principal_->bytes += bytes;
  claim.of_user_->bytes += bytes;
}

/// Hands out what is free, in the order of the line, and past those whose own share is full.
void BodyRoom::serve_line() noexcept {
  const auto serve = [this](Reader& reader) {
    take(reader.claim, reader.bytes);
    reader.has_room = true;
    reader.woken.notify_one();
  };
  std::erase_if(line_, [&](Reader* reader) {
    if (!fits(reader->claim, reader->bytes)) return false;
    serve(*reader);
    return true;
  });
  if (line_.empty() || one_precedes_) return;
  Reader& first = *line_.front();
  line_.pop_front();
  one_precedes_ = first.claim.precedes_ = true;
  serve(first);
}

bool BodyRoom::Claim::wait_for(std::size_t bytes, bool surely) {
  using std::chrono::steady_clock;
  std::unique_lock lock(room_->mutex_);
  BodyRoom& room = *room_;
  if (of_principal_ == nullptr) {
    Share& own = room.principals_[principal_];
    of_user_ = &room.users_[user_];
    of_principal_ = &own;
    ++of_principal_->claims;
    ++of_user_->claims;
  }
  Reader reader{*this, bytes};
  room.line_.push_back(&reader);
  room.serve_line();
  if (reader.has_room) return true;
  const steady_clock::time_point since = steady_clock::now();
  if (surely) {
    reader.woken.wait(lock, [&] { return reader.has_room; });
  } else {
    reader.woken.wait_until(lock, since + (room.limits_.patience - waited_),
                            [&] { return reader.has_room || room.stopping_; });
  }
  waited_ += steady_clock::now() - since;
  if (!reader.has_room) std::erase(room.line_, &reader);
  return reader.has_room;
}

bool BodyRoom::Claim::hold(std::size_t bytes) {
  return wait_for(bytes, false);
}

void BodyRoom::Claim::hold_surely(std::size_t bytes) {
  static_cast<void>(wait_for(bytes, true));
}

void BodyRoom::give_back(Claim& claim) noexcept {
  const std::scoped_lock lock(mutex_);
  bytes_ -= claim.bytes_;
  leave(principals_, claim.principal_, claim.bytes_);
  leave(users_, claim.user_, claim.bytes_);
  if (claim.precedes_) one_precedes_ = false;
  serve_line();
}

void BodyRoom::change(const Limits& limits) {
  const std::scoped_lock lock(mutex_);
  limits_ = limits;
  serve_line();
}

void BodyRoom::stop() {
  const std::scoped_lock lock(mutex_);
  stopping_ = true;
  for (Reader* reader : line_) reader->woken.notify_one();
}

std::size_t BodyRoom::bytes() const {
  const std::scoped_lock lock(mutex_);
  return bytes_;
}

std::size_t BodyRoom::waiting() const {
  const std::scoped_lock lock(mutex_);
  return line_.size();
}

BodyRoom::Claim::Claim(BodyRoom& room, std::string principal, std::uint32_t user)
    : room_(&room), principal_(std::move(principal)), user_(user) {}

// No reader refers to a claim that is moved: who waits has it in use.
BodyRoom::Claim::Claim(Claim&& other) noexcept
    : room_(std::exchange(other.room_, nullptr)),
      principal_(std::move(other.principal_)),
      user_(other.user_),
      of_principal_(std::exchange(other.of_principal_, nullptr)),
      of_user_(std::exchange(other.of_user_, nullptr)),
      bytes_(other.bytes_),
      precedes_(other.precedes_),
      waited_(other.waited_) {}

BodyRoom::Claim::~Claim() {
  if (of_principal_ != nullptr) room_->give_back(*this);
}

}  // namespace epsilog::serve
