// A place in a policy file.
#pragma once

namespace epsilog::engine {

/// Where in the policy file something was declared, so that a later check can point at it. Counts
/// from 1; columns are code points.
struct Mark {
  int line = 1;
  int column = 1;
};

}  // namespace epsilog::engine
