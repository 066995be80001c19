// One descriptor more than there are.
#pragma once

#include <fcntl.h>
#include <sys/socket.h>

#include <utility>

#include "descriptor.hpp"

namespace epsilog::serve {

/// A descriptor kept for the moment when there is no other, so that whoever waits can be told, and goes.
class ReserveDescriptor final {
 public:
  ReserveDescriptor() { renew(); }
  /// Returns  whether there was one.
  bool use() {
    const bool had = descriptor_.valid();
    descriptor_.close();
    return had;
  }
  /// A connection that was refused is over, but its descriptor is kept: nobody else takes it meanwhile.
  void keep(Descriptor refused) {
    ::shutdown(refused.get(), SHUT_RDWR);
    descriptor_ = std::move(refused);
  }
  void renew() {
    if (!descriptor_.valid()) descriptor_ = Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  }

 private:
  Descriptor descriptor_;
};

}  // namespace epsilog::serve
