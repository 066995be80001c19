// A thread for one piece of an audit, whose failure is a failure of who started it.
#pragma once

#include <exception>
#include <functional>
#include <thread>

namespace epsilog::engine {

class WorkerThread final {
 public:
  /// Throws  std::system_error if there can be no thread; nothing was done then.
  explicit WorkerThread(std::function<void()> work);
  WorkerThread(const WorkerThread&) = delete;
  WorkerThread& operator=(const WorkerThread&) = delete;
  /// Waits for the work, and says nothing of its failure.
  ~WorkerThread();

  /// Waits for the work.
  /// Throws  what it threw.
  void finish();

 private:
  std::exception_ptr failure_;
  std::thread thread_;
};

}  // namespace epsilog::engine
