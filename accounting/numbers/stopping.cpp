#include "epsilog/accounting/stopping.hpp"

#include <utility>

namespace epsilog::accounting {
namespace {

thread_local const StopScope* innermost = nullptr;

}  // namespace

StopScope::StopScope(Ask wanted_no_more) noexcept
    : ask_(wanted_no_more), outer_(std::exchange(innermost, this)) {}

StopScope::~StopScope() {
  innermost = outer_;
}

void stop_if_asked() {
  if (innermost != nullptr && innermost->ask_()) throw Stopped();
}

}  // namespace epsilog::accounting
