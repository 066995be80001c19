// The folders below which a policy may name files, where whoever runs the engine says so.
//
// A curator writes the policy, somebody else owns the machine: without folders a policy can name any file
// that the process may open. Thread-safety: values.
#pragma once

#include <string>
#include <vector>

namespace epsilog::engine {

/// Absolute paths. An empty list: no such file may be named.
struct Folders {
  std::vector<std::string> sources;
  std::vector<std::string> replicas;
  std::vector<std::string> checkpoints;  ///< of keys, what they have signed, and files of notes
};

}  // namespace epsilog::engine
