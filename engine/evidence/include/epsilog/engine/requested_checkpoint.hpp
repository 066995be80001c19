// A checkpoint that was asked for, beside those that a policy has signed by itself.
#pragma once

#include "epsilog/engine/checkpoint.hpp"

namespace epsilog::engine {

struct RequestedCheckpoint {
  Checkpoint checkpoint;
  VerifierKey by;      ///< the key that signed it
  bool fresh = false;  ///< false: the newest one had every line already, and nothing was signed
};

}  // namespace epsilog::engine
