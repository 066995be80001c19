// Notes and keys that others published.
#pragma once

namespace epsilog::test {

// C2SP signed-note, "Example" of "Verifier keys".
inline constexpr const char* kNoteKey =
    "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k";
inline constexpr const char* kNote =
    "This is an example message.\n"
    "\n"
    "— example.com/foo "
    "Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72Ine"
    "yaQM=\n";

// C2SP signed-note, "Note".
inline constexpr const char* kNoteWithEmptyLines =
    "Ognuno sta solo sul cuor della terra\n"
    "trafitto da un raggio di sole:\n"
    "\n"
    "ed è subito sera.\n"
    "\n"
    "— quasimodo.example/salvatore "
    "NnugSzTjtVAewIS+Z/iJhUPeFDkO/5QQ2i5ddnGITLlC+EhfLW9oJKONrMouFSQU0xMcXxj99ihA"
    "QwaqP3ZekRwNtIc=\n";

// C2SP tlog-cosignature, its first example.
inline constexpr const char* kCosignedCheckpoint =
    "example.com/behind-the-sofa\n"
    "20852163\n"
    "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n"
    "\n"
    "— example.com/behind-the-sofa "
    "Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+"
    "zyWE+xeMcTOAYQ8=\n"
    "— witness.example.com/w1 "
    "jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5n"
    "No0xUe+mbIUBkBIfZ+qnA==\n";

// C2SP tlog-witness, "add-checkpoint": the example of a request.
inline constexpr const char* kAddCheckpoint =
    "old 20852014\n"
    "PlRNCrwHpqhGrupue0L7gxbjbMiKA9temvuZZDDpkaw=\n"
    "jrJZDmY8Y7SyJE0MWLpLozkIVMSMZcD5kvuKxPC3swk=\n"
    "5+pKlUdi2LeF/BcMHBn+Ku6yhPGNCswZZD1X/6QgPd8=\n"
    "/6WVhPs2CwSsb5rYBH5cjHV/wSmA79abXAwhXw3Kj/0=\n"
    "\n"
    "example.com/behind-the-sofa\n"
    "20852163\n"
    "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n"
    "\n"
    "— example.com/behind-the-sofa "
    "Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+"
    "zyWE+xeMcTOAYQ8=\n"
    "— example.com/behind-the-sofa "
    "opLqBQsREYCgu6xQkYQwJr9fo45a62DN9EdmHXnZdXNqlcVGlCum2Wks+49/V6267UEjw6QUXTS5"
    "Rovnzv++qbSzm9Q=\n";

// The checksum database of Go, and a tree of it as the tests of litewitness have it
// (cmd/litewitness/testdata).
inline constexpr const char* kGoKey = "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8";
inline constexpr const char* kGoNote =
    "go.sum database tree\n"
    "35225469\n"
    "vt5T6GaLCXvyHFl9VUvvItR43XZxfLgftEcTyO3eJCQ=\n"
    "\n"
    "— sum.golang.org "
    "Az3grpukl5AXaVfYkLiDGORx/DN2nlcS5kZHR5uYOBV2KA2HgXpD+gu9HHONebHLAyaKbbTM75QTtPydhKCExixSf"
    "wQ=\n";

// A log of Sigsum in the same tests: its key, and its first checkpoints as bodies of add-checkpoint, each
// cosigned by the witness there.
#define SIGSUM_ORIGIN "sigsum.org/v1/tree/4d6d8825a6bb689d459628312889dfbb0bcd41b5211d9e1ce768b0ff0309e562"
inline constexpr const char* kSigsumKey =
    SIGSUM_ORIGIN "+5202289b+Af/cLU2Y5BJNP+r3iMDC+av9eWCD0fBJVDfzAux5zxAP";
inline constexpr const char* kSigsumFirst =
    "old 0\n"
    "\n" SIGSUM_ORIGIN
    "\n"
    "1\n"
    "KgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"
    "\n"
    "— " SIGSUM_ORIGIN
    " UgIom7fPZTqpxWWhyjWduBvTvGVqsokMbqTArsQilegKoFBJQjUFAmQ0+YeSPM3wfUQMFSzVnnNuWRTYrajXpNUbIQY=\n";
inline constexpr const char* kSigsumThird =
    "old 1\n"
    "KgEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"
    "KgIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"
    "\n" SIGSUM_ORIGIN
    "\n"
    "3\n"
    "RcCI1Nk56ZcSmIEfIn0SleqtV7uvrlXNccFx595Iwl0=\n"
    "\n"
    "— " SIGSUM_ORIGIN
    " UgIom2VbtIcdFbwFAy1n7s6IkAxIY6J/GQOTuZF2ORV39d75cbAj2aQYwyJre36kezNobZs4SUUdrcawfAB8WVrx6go=\n";
inline constexpr const char* kSigsumFifth =
    "old 3\n"
    "KgIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"
    "KgMAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"
    "wgiIFdZfYNv6WU1OllBKsWnLYIS/DBMqt8Uh/S4OukE=\n"
    "KgQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"
    "\n" SIGSUM_ORIGIN
    "\n"
    "5\n"
    "QrtXrQZCCvpIgsSmOsah7HdICzMLLyDfxToMql9WTjY=\n"
    "\n"
    "— " SIGSUM_ORIGIN
    " UgIomw/EOJmWi0i1FQsOj+etB7F8IccFam/jgd6wzRns4QPVmyEZtdvl1U2KEmLOZ/ASRcWJi0tW90dJWAShei7sDww=\n";

// The witness's key there; and what OpenSSL signs with it for the first checkpoint, at the second of the
// example of C2SP tlog-cosignature.
inline constexpr const char* kWitnessSecret =
    "PRIVATE+KEY+example.com/witness+10a1c019+BDH/whFuy+ADrKqACrcHV719UyBuP+vvam0HltlVMLNP\n";
inline constexpr const char* kWitnessKey =
    "example.com/witness+10a1c019+BGSEitir7W6FmBs7OHWyUrh2frtLAvcDrKOx5xu9ao5Q";
inline constexpr unsigned long long kWitnessSecond = 1'679'315'147;
inline constexpr const char* kWitnessLine =
    "— example.com/witness "
    "EKHAGQAAAABkGFDL6nT3tdWsnr60QRZM37d3Muo2MeCQf6qCeVmIcJczUPW+0wqqcKXKPaU7yt6vRIaGiaTt"
    "8vwiEciBIHFemInCDA==\n";

}  // namespace epsilog::test
