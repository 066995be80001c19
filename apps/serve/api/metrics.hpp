// What the daemon counts, in the text format of Prometheus. Nothing here names a principal, a dataset or a
// decision.
//
// Thread-safety: may be used from several threads.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "admission.hpp"

namespace epsilog::serve {

class Metrics final {
 public:
  /// A request to a route, "" where there is none of that path, was answered.
  void count_answer(std::string_view route, int status);
  /// `decisions`: how many are on record; `poisoned`: whether nobody can write; `ready`: whether a release
  /// would be recorded now.
  [[nodiscard]] std::string text(const Admission::Figures& admission, std::int64_t decisions, bool poisoned,
                                 bool ready) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, std::uint64_t, std::less<>> answer_counts_;
};

}  // namespace epsilog::serve
