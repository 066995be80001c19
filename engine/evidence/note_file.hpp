// A file to which checkpoints are appended as they are signed, one empty line between each two.
//
// What somebody was killed at, or a disk had no room for, is a note that was cut short at the end of the
// file: it is no note, and what is appended takes its place. Every other byte stays as it is found.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "epsilog/engine/checkpoint.hpp"

namespace epsilog::engine {

/// How such a file ends.
struct NotesEnd {
  std::optional<Checkpoint> last = {};  ///< the last whole one
  std::size_t size = 0;                 ///< of the file up to the end of that
  std::string rest = {};                ///< what follows it
};

/// Of a file that is not there, as of an empty one, nothing.
/// Throws  KeyIo: it cannot be read, or is no regular file; NotVerified: what ends it is no checkpoint.
[[nodiscard]] NotesEnd notes_end(const std::string& file);

/// Puts the note in the place of the rest, after an empty line if a note is before it. A file that is not
/// there is made, 0644 as far as the process lets others read.
///
/// Requires  `end` is what notes_end() told, and nobody else writes to the file.
/// Ensures   durable when it returns. If it throws, the file is as it was but for the rest, or ends with the
///           note cut short.
/// Throws    KeyIo.
void append_note(const std::string& file, const NotesEnd& end, const SignedNote& note);

}  // namespace epsilog::engine
