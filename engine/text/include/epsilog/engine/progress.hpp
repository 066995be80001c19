// How far long work is.
#pragma once

#include "epsilog/accounting/callback.hpp"

namespace epsilog::engine {

/// Called now and then with the fraction read, 0..1; empty: no progress.
using Progress = accounting::CallbackRef<void(double)>;

}  // namespace epsilog::engine
