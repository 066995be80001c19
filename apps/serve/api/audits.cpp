#include "audits.hpp"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include "epsilog/ledger/digest.hpp"
#include "epsilog/ledger/ledger_time.hpp"
#include "epsilog/mechanisms/bit_source.hpp"
#include "problem.hpp"

namespace epsilog::serve {
namespace {

/// So many of those that ended are remembered.
constexpr std::size_t kKept = 16;

/// Thrown through a verification to end it. No std::exception: what is wrong with a ledger is one of those,
/// and a verification goes on over them.
struct Unwanted {};

std::string fresh_id() {
  std::array<std::byte, 16> bytes{};
  mechanisms::SystemBits().fill(bytes);
  return ledger::hex_text({reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()});
}

std::string now() {
  return ledger::time_text(ledger::wall_clock_ms());
}

/// This thread, and those that it starts, run where nobody else wants the processor.
void step_back() {
  constexpr int kLeastUrgent = 19;
  static_cast<void>(::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), kLeastUrgent));
}

}  // namespace

Audits::~Audits() {
  stop();
  if (thread_.joinable()) thread_.join();
}

Audits::Begun Audits::begin(const std::string& by, engine::StorageCheck storage) {
  std::string id = fresh_id();
  const std::scoped_lock lock(mutex_);
  if (stopping_) throw Refused(503, "stopping", "the daemon ends; nothing was begun").retry_in(5);
  if (!last_.empty() && !last_.back().ended()) return {last_.back(), false};
  if (thread_.joinable()) thread_.join();  // it has nothing more to do
  unwanted_ = false;
  last_.push_back({.id = std::move(id), .by = by, .storage = storage, .started_at = now()});
  try {
    thread_ = std::thread([this, storage] { work(storage); });
  } catch (const std::system_error&) {
    last_.pop_back();
    throw Refused(503, "overloaded", "no thread can be had for it now").retry_in(5);
  }
  if (last_.size() > kKept) last_.pop_front();
  return {last_.back(), true};
}

void Audits::work(engine::StorageCheck storage) noexcept {
  step_back();
  const auto tell = [this](double fraction) {
    if (unwanted_) throw Unwanted();
    const std::scoped_lock lock(mutex_);
    last_.back().percent = std::clamp(static_cast<int>(fraction * 100), last_.back().percent, 100);
  };
  auto state = Verification::State::failed;
  std::shared_ptr<const engine::AuditReport> report;
  std::exception_ptr failure;
  try {
    report = std::make_shared<const engine::AuditReport>(verify_(engine::Progress(tell), storage));
    state = Verification::State::done;
  } catch (const Unwanted&) {
    state = Verification::State::cancelled;
  } catch (...) {
    failure = std::current_exception();
  }
  const std::scoped_lock lock(mutex_);
  Verification& mine = last_.back();
  mine.state = state;
  mine.report = std::move(report);
  mine.failure = failure;
  if (state == Verification::State::done) mine.percent = 100;
  mine.ended_at = now();
  ended_.notify_all();
}

std::optional<Verification> Audits::find(const std::string& id) const {
  const std::scoped_lock lock(mutex_);
  const auto at = std::find_if(last_.begin(), last_.end(), [&](const auto& one) { return one.id == id; });
  return at == last_.end() ? std::nullopt : std::optional(*at);
}

std::optional<Verification> Audits::cancel(const std::string& id) {
  const std::scoped_lock lock(mutex_);
  const auto at = std::find_if(last_.begin(), last_.end(), [&](const auto& one) { return one.id == id; });
  if (at == last_.end()) return std::nullopt;
  if (!at->ended()) {
    unwanted_ = true;
    at->state = Verification::State::cancelling;
  }
  return *at;
}

void Audits::stop() noexcept {
  const std::scoped_lock lock(mutex_);
  stopping_ = true;
  unwanted_ = true;
  if (!last_.empty() && !last_.back().ended()) last_.back().state = Verification::State::cancelling;
}

bool Audits::idle(std::chrono::steady_clock::time_point until) {
  std::unique_lock lock(mutex_);
  return ended_.wait_until(lock, until, [&] { return last_.empty() || last_.back().ended(); });
}

}  // namespace epsilog::serve
