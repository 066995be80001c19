// The same work in several threads at once.
#pragma once

#include <functional>
#include <thread>
#include <vector>

namespace epsilog::test {

/// Calls `work` in so many threads, with their numbers from 0 on, and waits for all of them.
inline void in_threads(int number, const std::function<void(int)>& work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < number; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace epsilog::test
