// How far long work is.
#pragma once

#include <functional>

namespace epsilog::engine {

/// Called now and then with the fraction read, 0..1; empty: no progress.
using Progress = std::function<void(double)>;

}  // namespace epsilog::engine
