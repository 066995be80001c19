#include "group_line.hpp"

#include <algorithm>
#include <utility>

namespace epsilog::engine {

void GroupLine::add(Place& place) {
  // Behind all that arrived before it, or with it.
  const auto behind = [&place](std::list<Place*>& line) {
    auto at = line.end();
    while (at != line.begin() && (*std::prev(at))->arrived_ > place.arrived_) --at;
    return at;
  };
  std::list<Place*> arrival{&place};
  std::list<Place*>& queue = queues_[place.principal_];
  try {
    place.in_queue_ = queue.insert(behind(queue), &place);
  } catch (...) {
    if (queue.empty()) queues_.erase(place.principal_);
    throw;
  }
  place.in_arrivals_ = arrival.begin();
  arrivals_.splice(behind(arrivals_), arrival);
  place.waiting_ = true;
}

void GroupLine::remove(Place& place) {
  arrivals_.erase(place.in_arrivals_);
  const auto queue = queues_.find(place.principal_);
  queue->second.erase(place.in_queue_);
  if (queue->second.empty()) queues_.erase(queue);
  place.waiting_ = false;
}

void GroupLine::tell(Place& place, Place::Word word) noexcept {
  // Told under its mutex: the place is gone as soon as whoever waits in it hears.
  const std::lock_guard lock(place.mutex_);
  place.word_ = word;
  place.told_.notify_one();
}

GroupLine::Turn GroupLine::heard(Place& place) {
  return place.word_ == Place::Word::leads ? Turn::leads : Turn::served;
}

/// The oldest that is due, whoever found that one is.
void GroupLine::lead_if_nobody_does() {
  Place* leads = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (led_) return;
    leads = heir();
    led_ = leads != nullptr;
    if (led_) remove(*leads);
  }
  if (leads != nullptr) tell(*leads, Place::Word::leads);
}

GroupLine::Turn GroupLine::await(Place& place, Deadline deadline) {
  const bool held = place.due_ > Clock::now();
  {
    const std::lock_guard lock(mutex_);
    if (!held && !std::exchange(led_, true)) return Turn::leads;
    add(place);
  }
  const auto told = [&place] { return place.word_ != Place::Word::none; };
  if (held) {
    {
      // Another that is due may wake first, and see to it that this one leads, or is taken.
      std::unique_lock lock(place.mutex_);
      if (place.told_.wait_until(lock, place.due_, told)) return heard(place);
    }
    lead_if_nobody_does();
  }
  {
    std::unique_lock lock(place.mutex_);
    if (place.told_.wait_until(lock, deadline, told)) return heard(place);
  }
  {
    const std::lock_guard lock(mutex_);
    if (place.waiting_) {
      remove(place);
      return Turn::late;
    }
  }
  // Taken, or made to lead, as the deadline passed.
  std::unique_lock lock(place.mutex_);
  place.told_.wait(lock, told);
  return heard(place);
}

std::vector<GroupLine::Place*> GroupLine::take(Place& own) {
  std::vector<Place*> taken;
  taken.reserve(kMembersMax);
  taken.push_back(&own);
  if (own.movements_ > kMovementsMax) return taken;
  std::size_t movements = own.movements_;
  const std::lock_guard lock(mutex_);
  const Deadline now = Clock::now();
  // Each principal's oldest once a round; who does not fit waits, and all of the same behind it.
  struct Queue {
    std::list<Place*>::const_iterator next;
    std::list<Place*>::const_iterator end;
  };
  const auto to_due = [now](Queue& queue) {
    while (queue.next != queue.end && (*queue.next)->due_ > now) ++queue.next;
    return queue.next != queue.end;
  };
  std::vector<Queue> round;
  round.reserve(queues_.size());
  const auto join = [&](const std::list<Place*>& places) {
    Queue queue{places.begin(), places.end()};
    if (to_due(queue)) round.push_back(queue);
  };
  const auto begin = queues_.upper_bound(last_);
  for (auto at = begin; at != queues_.end(); ++at) join(at->second);
  for (auto at = queues_.begin(); at != begin; ++at) join(at->second);
  std::size_t next = 0;
  while (!round.empty() && taken.size() < kMembersMax) {
    next = next < round.size() ? next : 0;
    Place& place = **round[next].next;
    const bool fits = place.movements_ <= kMovementsMax - movements;
    if (fits) {
      movements += place.movements_;
      taken.push_back(&place);
      ++round[next].next;
    }
    // Where it is the last of its principal, that one's queue goes with it.
    const bool more = fits && to_due(round[next]);
    if (fits) remove(place);
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
GroupLine::Place* GroupLine::heir() {
  const Deadline now = Clock::now();
  const bool free_to_lead = idle_ && served_first_ == nullptr;
  for (Place* const place : arrivals_) {
    if (place->due_ > now) continue;
    if (!place->submitted_) return place;
    if (free_to_lead) return nullptr;
  }
  return nullptr;
}

void GroupLine::wake() noexcept {
  if (!std::exchange(idle_, false)) return;
  work_.notify_one();
}

void GroupLine::add_served(Place& place) noexcept {
  (served_last_ == nullptr ? served_first_ : served_last_->next_served_) = &place;
  served_last_ = &place;
}

void GroupLine::end(std::vector<Place*> taken) noexcept {
  if (!taken.empty()) taken.front() = nullptr;  // the leader's own
  Place* leads = nullptr;
  {
    const std::lock_guard lock(mutex_);
    for (Place*& place : taken) {
      if (place != nullptr && place->submitted_) add_served(*std::exchange(place, nullptr));
    }
    leads = heir();
    led_ = leads != nullptr;
    if (led_) remove(*leads);
    if (served_first_ != nullptr || (!led_ && !arrivals_.empty())) wake();
  }
  // The next group is begun before this one is told.
  if (leads != nullptr) tell(*leads, Place::Word::leads);
  for (Place* const place : taken) {
    if (place != nullptr) tell(*place, Place::Word::served);
  }
}

void GroupLine::submit(Place& place) {
  const std::lock_guard lock(mutex_);
  place.submitted_ = true;
  add(place);
  if (!led_) wake();
}

void GroupLine::submit_served(Place& place) {
  const std::lock_guard lock(mutex_);
  place.submitted_ = true;
  add_served(place);
  wake();
}

GroupLine::Work GroupLine::next() {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (served_first_ != nullptr) {
      Place* const served = served_first_;
      served_first_ = served->next_served_;
      if (served_first_ == nullptr) served_last_ = nullptr;
      return {.served = served};
    }
    // Whoever waits for themselves was given the lead when it became free, or takes it when they are due.
    const Deadline now = Clock::now();
    Deadline next_due = Deadline::max();
    Place* leads = nullptr;
    for (Place* const place : arrivals_) {
      if (!place->submitted_) continue;
      if (place->due_ <= now) {
        leads = place;
        break;
      }
      next_due = std::min(next_due, place->due_);
    }
    if (!led_ && leads != nullptr) {
      remove(*leads);
      led_ = true;
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

void GroupLine::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  wake();
}

}  // namespace epsilog::engine
