#include "commit_queue.hpp"

#include <algorithm>
#include <utility>

namespace epsilog::engine {

void CommitQueue::add(QueueEntry& entry) {
  // Behind all that arrived before it, or with it.
  const auto behind = [&entry](std::list<QueueEntry*>& line) {
    auto at = line.end();
    while (at != line.begin() && (*std::prev(at))->arrived_ > entry.arrived_) --at;
    return at;
  };
  std::list<QueueEntry*> arrival{&entry};
  std::list<QueueEntry*>& queue = queues_[entry.principal_];
  try {
    entry.in_queue_ = queue.insert(behind(queue), &entry);
  } catch (...) {
    if (queue.empty()) queues_.erase(entry.principal_);
    throw;
  }
  entry.in_arrivals_ = arrival.begin();
  arrivals_.splice(behind(arrivals_), arrival);
  entry.waiting_ = true;
}

void CommitQueue::remove(QueueEntry& entry) {
  arrivals_.erase(entry.in_arrivals_);
  const auto queue = queues_.find(entry.principal_);
  queue->second.erase(entry.in_queue_);
  if (queue->second.empty()) queues_.erase(queue);
  entry.waiting_ = false;
}

void CommitQueue::send_signal(QueueEntry& entry, QueueEntry::Signal word) noexcept {
  // Told under its mutex: the place is gone as soon as whoever waits in it hears.
  const std::lock_guard lock(entry.mutex_);
  entry.signal_ = word;
  entry.signalled_.notify_one();
}

CommitQueue::WaitOutcome CommitQueue::wait_outcome(QueueEntry& entry) {
  return entry.signal_ == QueueEntry::Signal::leads ? WaitOutcome::leads : WaitOutcome::served;
}

/// The oldest that is due, whoever found that one is.
void CommitQueue::appoint_leader() {
  QueueEntry* leads = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (has_leader_) return;
    leads = next_leader();
    has_leader_ = leads != nullptr;
    if (has_leader_) remove(*leads);
  }
  if (leads != nullptr) send_signal(*leads, QueueEntry::Signal::leads);
}

CommitQueue::WaitOutcome CommitQueue::await(QueueEntry& entry, Deadline deadline,
                                            const std::stop_token& stop) {
  // Outlives every lock below: it takes the entry's own.
  const std::stop_callback wake_to_stop(stop, [&entry] {
    const std::lock_guard lock(entry.mutex_);
    entry.signalled_.notify_one();
  });
  const bool held = entry.due_ > Clock::now();
  {
    const std::lock_guard lock(mutex_);
    if (!held && !std::exchange(has_leader_, true)) return WaitOutcome::leads;
    add(entry);
  }
  const auto told = [&entry] { return entry.signal_ != QueueEntry::Signal::none; };
  const auto told_or_stopped = [&] { return told() || stop.stop_requested(); };
  if (held) {
    {
      // Another that is due may wake first, and see to it that this one leads, or is taken.
      std::unique_lock lock(entry.mutex_);
      entry.signalled_.wait_until(lock, entry.due_, told_or_stopped);
      if (told()) return wait_outcome(entry);
    }
    appoint_leader();
  }
  {
    std::unique_lock lock(entry.mutex_);
    entry.signalled_.wait_until(lock, deadline, told_or_stopped);
    if (told()) return wait_outcome(entry);
  }
  {
    const std::lock_guard lock(mutex_);
    if (entry.waiting_) {
      remove(entry);
      return WaitOutcome::late;
    }
  }
  // Taken, or made to lead, as the deadline passed or the stop came.
  std::unique_lock lock(entry.mutex_);
  entry.signalled_.wait(lock, told);
  return wait_outcome(entry);
}

std::vector<CommitQueue::QueueEntry*> CommitQueue::take_group(QueueEntry& own) {
  std::vector<QueueEntry*> taken;
  taken.reserve(kMembersMax);
  taken.push_back(&own);
  if (own.movements_ > kMovementsMax) return taken;
  std::size_t movements = own.movements_;
  const std::lock_guard lock(mutex_);
  const Deadline now = Clock::now();
  // Each principal's oldest once a round; who does not fit waits, and all of the same behind it.
  struct Queue {
    std::list<QueueEntry*>::const_iterator next;
    std::list<QueueEntry*>::const_iterator end;
  };
  const auto to_due = [now](Queue& queue) {
    while (queue.next != queue.end && (*queue.next)->due_ > now) ++queue.next;
    return queue.next != queue.end;
  };
  std::vector<Queue> round;
  round.reserve(queues_.size());
  const auto join = [&](const std::list<QueueEntry*>& places) {
    Queue queue{places.begin(), places.end()};
    if (to_due(queue)) round.push_back(queue);
  };
  const auto begin = queues_.upper_bound(last_);
  for (auto at = begin; at != queues_.end(); ++at) join(at->second);
  for (auto at = queues_.begin(); at != begin; ++at) join(at->second);
  std::size_t next = 0;
  while (!round.empty() && taken.size() < kMembersMax) {
    next = next < round.size() ? next : 0;
    QueueEntry& entry = **round[next].next;
    const bool fits = entry.movements_ <= kMovementsMax - movements;
    if (fits) {
      movements += entry.movements_;
      taken.push_back(&entry);
      ++round[next].next;
    }
    // Where it is the last of its principal, that one's queue goes with it.
    const bool more = fits && to_due(round[next]);
    if (fits) remove(entry);
    if (more) {
      ++next;
    } else {
      round.erase(round.begin() + static_cast<std::ptrdiff_t>(next));
    }
  }
  if (taken.size() > 1) last_ = taken.back()->principal_;
  return taken;
}

/// Who leads next; none if nobody who waits can now. What is submitted is led by a thread that may be busy
/// with what it tells somebody: nobody who waits for themselves waits for that.
CommitQueue::QueueEntry* CommitQueue::next_leader() {
  const Deadline now = Clock::now();
  const bool free_to_lead = idle_ && served_first_ == nullptr;
  for (QueueEntry* const entry : arrivals_) {
    if (entry->due_ > now) continue;
    if (!entry->submitted_) return entry;
    if (free_to_lead) return nullptr;
  }
  return nullptr;
}

void CommitQueue::wake() noexcept {
  if (!std::exchange(idle_, false)) return;
  work_.notify_one();
}

void CommitQueue::add_served(QueueEntry& entry) noexcept {
  (served_last_ == nullptr ? served_first_ : served_last_->next_served_) = &entry;
  served_last_ = &entry;
}

void CommitQueue::end(std::vector<QueueEntry*> taken) noexcept {
  if (!taken.empty()) taken.front() = nullptr;  // the leader's own
  QueueEntry* leads = nullptr;
  {
    const std::lock_guard lock(mutex_);
    for (QueueEntry*& entry : taken) {
      if (entry != nullptr && entry->submitted_) add_served(*std::exchange(entry, nullptr));
    }
    leads = next_leader();
    has_leader_ = leads != nullptr;
    if (has_leader_) remove(*leads);
    if (served_first_ != nullptr || (!has_leader_ && !arrivals_.empty())) wake();
  }
  // The next group is begun before this one is told.
  if (leads != nullptr) send_signal(*leads, QueueEntry::Signal::leads);
  for (QueueEntry* const entry : taken) {
    if (entry != nullptr) send_signal(*entry, QueueEntry::Signal::served);
  }
}

void CommitQueue::submit(QueueEntry& entry) {
  const std::lock_guard lock(mutex_);
  entry.submitted_ = true;
  add(entry);
  if (!has_leader_) wake();
}

void CommitQueue::submit_served(QueueEntry& entry) {
  const std::lock_guard lock(mutex_);
  entry.submitted_ = true;
  add_served(entry);
  wake();
}

CommitQueue::Work CommitQueue::next() {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (served_first_ != nullptr) {
      QueueEntry* const served = served_first_;
      served_first_ = served->next_served_;
      if (served_first_ == nullptr) served_last_ = nullptr;
      return {.served = served};
    }
    // Whoever waits for themselves was given the lead when it became free, or takes it when they are due.
    const Deadline now = Clock::now();
    Deadline next_due = Deadline::max();
    QueueEntry* leads = nullptr;
    for (QueueEntry* const entry : arrivals_) {
      if (!entry->submitted_) continue;
      if (entry->due_ <= now) {
        leads = entry;
        break;
      }
      next_due = std::min(next_due, entry->due_);
    }
    if (!has_leader_ && leads != nullptr) {
      remove(*leads);
      has_leader_ = true;
      return {.leads = leads};
    }
    if (closed_) return {};
    idle_ = true;
    const auto woken = [this] { return !idle_; };
    if (next_due == Deadline::max()) {
      work_.wait(lock, woken);
    } else if (!work_.wait_until(lock, next_due, woken)) {
      idle_ = false;
    }
  }
}

void CommitQueue::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  wake();
}

}  // namespace epsilog::engine
