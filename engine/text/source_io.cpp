#include "epsilog/engine/source_io.hpp"

namespace epsilog::engine {
namespace {

const char* message_of(SourceIo::Cause cause) {
  switch (cause) {
    case SourceIo::Cause::unreadable:
      return "the data source could not be read to its end (a damaged file, an input error or too little "
             "memory); nothing was released";
    case SourceIo::Cause::changed:
      return "the data source was changed while it was read; nothing was released. Try again once nobody "
             "writes to it";
  }
  EPSILOG_INVARIANT(false);
}

}  // namespace

SourceIo::SourceIo(Cause cause) : Error(message_of(cause)) {}

}  // namespace epsilog::engine
