// What names and texts may be that are recorded.
#pragma once

#include <string>

#include "epsilog/engine/actor.hpp"

namespace epsilog::engine {

/// Names and reasons are stored and shown as they are.
/// Throws  InvalidParameter for more than 256 bytes, a control character, or what is not UTF-8.
void check_name(const std::string& text, const char* what);
/// Throws  InvalidParameter for a text that does not say how somebody is known.
void check_via(const std::string& via);
/// Throws  InvalidParameter for either.
void check_actor(const Actor& by);
/// A `why`: the same, and not of blanks alone.
void check_reason(const std::string& why);
/// The same of any length.
void check_text(const std::string& text, const char* what);

}  // namespace epsilog::engine
