#include "epsilog/accounting/stopping.hpp"

#include <utility>

namespace epsilog::accounting {
namespace {

thread_local const StopScope* innermost = nullptr;

}  // namespace

StopScope::StopScope(StopQuery query) noexcept : query_(query), outer_(std::exchange(innermost, this)) {}

StopScope::~StopScope() {
  innermost = outer_;
}

void stop_if_requested() {
  if (innermost != nullptr && innermost->query_()) throw Stopped();
}

}  // namespace epsilog::accounting
