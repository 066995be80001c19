#include "connection_threads.hpp"

#include <memory>
#include <utility>

namespace epsilog::serve {
namespace {

/// Reserved, not used: what a release, a policy or a verification needs at most, many times over, sanitizers
/// included.
constexpr std::size_t kStackBytes = std::size_t{2} << 20U;

/// Attributes of the threads.
class Attributes final {
 public:
  Attributes() : valid_(::pthread_attr_init(&attributes_) == 0) {
    if (valid_) ::pthread_attr_setstacksize(&attributes_, kStackBytes);
  }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  ~Attributes() {
    if (valid_) ::pthread_attr_destroy(&attributes_);
  }
  [[nodiscard]] const pthread_attr_t* get() const { return valid_ ? &attributes_ : nullptr; }

 private:
  pthread_attr_t attributes_{};
  bool valid_;
};

}  // namespace

struct ConnectionThreads::Job {
  ConnectionThreads& threads;
  Descriptor socket;
  Peer peer;
};

ConnectionThreads::~ConnectionThreads() {
  {
    std::unique_lock lock(mutex_);
    none_left_.wait(lock, [this] { return running_ == 0; });
  }
  reap();
}

SlotOutcome ConnectionThreads::start(Descriptor& socket, const Peer& peer) {
  auto job = std::make_unique<Job>(Job{*this, Descriptor(), peer});
  {
    const std::lock_guard lock(mutex_);
    finished_.reserve(finished_.size() + running_ + 1);
    const SlotOutcome arrival = slots_.take(peer, shared_.limits.get(), std::chrono::steady_clock::now());
    if (arrival != SlotOutcome::taken) return arrival;
    ++running_;
  }
  job->socket = std::move(socket);
  const Attributes attributes;
  pthread_t thread{};
  if (::pthread_create(&thread, attributes.get(), &ConnectionThreads::run, job.get()) != 0) {
    socket = std::move(job->socket);
    const std::lock_guard lock(mutex_);
    slots_.give_back(peer);
    --running_;
    none_left_.notify_all();
    return SlotOutcome::refused;
  }
  static_cast<void>(job.release());  // the thread's
  return SlotOutcome::taken;
}

void* ConnectionThreads::run(void* given) {
  const std::unique_ptr<Job> job(static_cast<Job*>(given));
  ConnectionThreads& threads = job->threads;
  try {
    Connection(job->socket.get(), job->peer, threads.shared_).serve();
  } catch (...) {  // NOLINT(bugprone-empty-catch)
    // No memory, or a service that throws although it must not: this connection ends, without a word.
  }
  job->socket.close();
  threads.finish(job->peer);
  return nullptr;
}

void ConnectionThreads::finish(const Peer& peer) noexcept {
  const std::lock_guard lock(mutex_);
  slots_.give_back(peer);
  --running_;
  finished_.push_back(::pthread_self());  // has room
  ended_.ring();
  if (running_ == 0) none_left_.notify_all();
}

void ConnectionThreads::reap() {
  std::vector<pthread_t> finished;
  {
    const std::lock_guard lock(mutex_);
    finished.reserve(running_);  // the room of those that come
    finished.swap(finished_);
    ended_.silence();
  }
  for (const pthread_t thread : finished) ::pthread_join(thread, nullptr);
}

bool ConnectionThreads::wait_for_all(Deadline due) {
  bool all = false;
  {
    std::unique_lock lock(mutex_);
    all = none_left_.wait_until(lock, due, [this] { return running_ == 0; });
  }
  reap();
  return all;
}

}  // namespace epsilog::serve
