// Notes and keys that others published.
#pragma once

#include <string>

#include "file_text.hpp"

namespace epsilog::test {

inline std::string published(const std::string& name) {
  return file_text(EPSILOG_SOURCE_DIR "/tests/engine/evidence/published/" + name + ".txt");
}

// C2SP signed-note, "Example" of "Verifier keys".
inline constexpr const char* kNoteKey =
    "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k";
inline const std::string kNote = published("note");

// C2SP signed-note, "Note".
inline const std::string kNoteWithEmptyLines = published("note_with_empty_lines");

// C2SP tlog-cosignature, its first example.
inline const std::string kCosignedCheckpoint = published("cosigned_checkpoint");

// C2SP tlog-witness, "add-checkpoint": the example of a request.
inline const std::string kAddCheckpoint = published("add_checkpoint");

// The checksum database of Go, and a tree of it as the tests of litewitness have it
// (cmd/litewitness/testdata).
inline constexpr const char* kGoKey = "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8";
inline const std::string kGoNote = published("go");

// A log of Sigsum in the same tests: its key, and its first checkpoints as bodies of add-checkpoint, each
// cosigned by the witness there.
inline constexpr const char* kSigsumKey =
    "sigsum.org/v1/tree/4d6d8825a6bb689d459628312889dfbb0bcd41b5211d9e1ce768b0ff0309e562+5202289b+Af/"
    "cLU2Y5BJNP+r3iMDC+av9eWCD0fBJVDfzAux5zxAP";
inline const std::string kSigsumFirst = published("sigsum_first");
inline const std::string kSigsumThird = published("sigsum_third");
inline const std::string kSigsumFifth = published("sigsum_fifth");

// The witness's key there; and what OpenSSL signs with it for the first checkpoint, at the second of the
// example of C2SP tlog-cosignature.
inline constexpr const char* kWitnessSecret =
    "PRIVATE+KEY+example.com/witness+10a1c019+BDH/whFuy+ADrKqACrcHV719UyBuP+vvam0HltlVMLNP\n";
inline constexpr const char* kWitnessKey =
    "example.com/witness+10a1c019+BGSEitir7W6FmBs7OHWyUrh2frtLAvcDrKOx5xu9ao5Q";
inline constexpr unsigned long long kWitnessSecond = 1'679'315'147;
inline const std::string kWitnessLine = published("witness_line");

}  // namespace epsilog::test
