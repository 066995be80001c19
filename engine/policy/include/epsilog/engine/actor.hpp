// Who acts on a request.
//
// Thread-safety: values; const ones may be read by all.
#pragma once

#include <string>
#include <utility>

namespace epsilog::engine {

/// Who acts, and how that is known. Whoever hands it to an engine vouches for it: an engine looks nobody up.
struct Actor {
  // Implicit on purpose: a name alone is what somebody says of themselves.
  Actor(std::string who, std::string how = "claimed")  // NOLINT(google-explicit-constructor)
      : name(std::move(who)), via(std::move(how)) {}
  Actor(const char* who) : Actor(std::string(who)) {}  // NOLINT(google-explicit-constructor)

  std::string name;
  std::string via;  ///< "claimed", "unix:UID", "token:ID": stored with the decision
};

}  // namespace epsilog::engine
