#include "group_line.hpp"

#include <algorithm>
#include <utility>

namespace epsilog::engine {

void GroupLine::add(Place& place) {
  std::list<Place*> arrival{&place};
  std::list<Place*>& queue = queues_[place.principal_];
  try {
    queue.push_back(&place);
  } catch (...) {
    if (queue.empty()) queues_.erase(place.principal_);
    throw;
  }
  arrivals_.splice(arrivals_.end(), arrival);
  place.in_arrivals_ = std::prev(arrivals_.end());
  place.in_queue_ = std::prev(queue.end());
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

GroupLine::Turn GroupLine::await(Place& place, Deadline deadline) {
  {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(led_, true)) return Turn::leads;
    add(place);
  }
  const auto told = [&place] { return place.word_ != Place::Word::none; };
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
  // Each principal's oldest once a round; who does not fit waits, and all of the same behind it.
  std::vector<const std::list<Place*>*> round;
  round.reserve(queues_.size());
  const auto begin = queues_.upper_bound(last_);
  for (auto at = begin; at != queues_.end(); ++at) round.push_back(&at->second);
  for (auto at = queues_.begin(); at != begin; ++at) round.push_back(&at->second);
  std::size_t next = 0;
  while (!round.empty() && taken.size() < kMembersMax) {
    next = next < round.size() ? next : 0;
    Place& place = *round[next]->front();
    if (place.movements_ > kMovementsMax - movements) {
      round.erase(round.begin() + static_cast<std::ptrdiff_t>(next));
      continue;
    }
    movements += place.movements_;
    taken.push_back(&place);
    const bool last_of_its = round[next]->size() == 1;
    if (last_of_its) {
      round.erase(round.begin() + static_cast<std::ptrdiff_t>(next));
    } else {
      ++next;
    }
    remove(place);
  }
  if (taken.size() > 1) last_ = taken.back()->principal_;
  return taken;
}

/// Who leads next; none if nobody who waits can now. What is submitted is led by a thread that may be busy
/// with what it tells somebody: nobody who waits for themselves waits for that.
GroupLine::Place* GroupLine::heir() {
  const bool free_to_lead = idle_ && served_first_ == nullptr;
  if (arrivals_.empty() || (arrivals_.front()->submitted_ && free_to_lead)) return nullptr;
  const auto heir =
      std::find_if(arrivals_.begin(), arrivals_.end(), [](const Place* place) { return !place->submitted_; });
  return heir == arrivals_.end() ? nullptr : *heir;
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
    // Whoever waits for themselves was given the lead when it became free: the oldest is submitted.
    if (!led_ && !arrivals_.empty()) {
      Place* const leads = arrivals_.front();
      remove(*leads);
      led_ = true;
      return {.leads = leads};
    }
    if (closed_) return {};
    idle_ = true;
    while (idle_) work_.wait(lock);
  }
}

void GroupLine::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  wake();
}

}  // namespace epsilog::engine
