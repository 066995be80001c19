#include "audit_jobs.hpp"

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
struct VerificationCancelled {};

std::string new_verification_id() {
  std::array<std::byte, 16> bytes{};
  mechanisms::SystemBits().fill(bytes);
  return ledger::hex_text({reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()});
}

std::string now() {
  return ledger::time_text(ledger::wall_clock_ms());
}

/// This thread, and those that it starts, run where nobody else wants the processor.
void lower_thread_priority() {
  constexpr int kLeastUrgent = 19;
  static_cast<void>(::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), kLeastUrgent));
}

}  // namespace

AuditJobs::~AuditJobs() {
  stop();
  if (thread_.joinable()) thread_.join();
}

AuditJobs::StartedVerification AuditJobs::start_verification(const std::string& by,
                                                             engine::StorageCheck storage) {
  std::string id = new_verification_id();
  const std::scoped_lock lock(mutex_);
  if (stopping_) throw HttpProblem(503, "stopping", "the daemon ends; nothing was begun").with_retry_after(5);
  if (!recent_.empty() && !recent_.back().ended()) return {recent_.back(), false};
  if (thread_.joinable()) thread_.join();  // it has nothing more to do
  cancel_requested_ = false;
  recent_.push_back({.id = std::move(id), .by = by, .storage = storage, .started_at = now()});
  try {
    thread_ = std::thread([this, storage] { work(storage); });
  } catch (const std::system_error&) {
    recent_.pop_back();
    throw HttpProblem(503, "overloaded", "no thread can be had for it now").with_retry_after(5);
  }
  if (recent_.size() > kKept) recent_.pop_front();
  return {recent_.back(), true};
}

void AuditJobs::work(engine::StorageCheck storage) noexcept {
  lower_thread_priority();
  const auto tell = [this](double fraction) {
    if (cancel_requested_) throw VerificationCancelled();
    const std::scoped_lock lock(mutex_);
    recent_.back().percent = std::clamp(static_cast<int>(fraction * 100), recent_.back().percent, 100);
  };
  auto state = Verification::State::failed;
  std::shared_ptr<const engine::AuditReport> report;
  std::exception_ptr failure;
  try {
    report = std::make_shared<const engine::AuditReport>(verify_(engine::Progress(tell), storage));
    state = Verification::State::done;
  } catch (const VerificationCancelled&) {
    state = Verification::State::cancelled;
  } catch (...) {
    failure = std::current_exception();
  }
  const std::scoped_lock lock(mutex_);
  Verification& mine = recent_.back();
  mine.state = state;
  mine.report = std::move(report);
  mine.failure = failure;
  if (state == Verification::State::done) mine.percent = 100;
  mine.ended_at = now();
  ended_.notify_all();
}

std::optional<Verification> AuditJobs::find(const std::string& id) const {
  const std::scoped_lock lock(mutex_);
  const auto at = std::find_if(recent_.begin(), recent_.end(), [&](const auto& one) { return one.id == id; });
  return at == recent_.end() ? std::nullopt : std::optional(*at);
}

std::optional<Verification> AuditJobs::cancel(const std::string& id) {
  const std::scoped_lock lock(mutex_);
  const auto at = std::find_if(recent_.begin(), recent_.end(), [&](const auto& one) { return one.id == id; });
  if (at == recent_.end()) return std::nullopt;
  if (!at->ended()) {
    cancel_requested_ = true;
    at->state = Verification::State::cancelling;
  }
  return *at;
}

void AuditJobs::stop() noexcept {
  const std::scoped_lock lock(mutex_);
  stopping_ = true;
  cancel_requested_ = true;
  if (!recent_.empty() && !recent_.back().ended()) recent_.back().state = Verification::State::cancelling;
}

bool AuditJobs::wait_until_idle(std::chrono::steady_clock::time_point until) {
  std::unique_lock lock(mutex_);
  return ended_.wait_until(lock, until, [&] { return recent_.empty() || recent_.back().ended(); });
}

}  // namespace epsilog::serve
