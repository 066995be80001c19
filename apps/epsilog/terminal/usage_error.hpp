// What the command was given is wrong, or cannot be read.
#pragma once

#include <stdexcept>

namespace epsilog::command {

/// The command line itself is wrong. The message names the flag or word.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Standard input could not be read.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace epsilog::command
