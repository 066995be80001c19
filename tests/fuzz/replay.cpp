// Replays the corpus of one fuzz target, without libFuzzer.
//
//   epsilog_fuzz_replay TARGET CORPUS
//
// The corpus is a folder. Its files are called good_…, which a parser takes; bad_…, which none takes; found_…, which
// are there because they were once a fault.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <vector>

// All targets are compiled as one, each under a name of its own.
#define LLVMFuzzerTestOneInput fuzz_policy
#include "policy_fuzzer.cpp"  // NOLINT(bugprone-suspicious-include)
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_predicate
#include "predicate_fuzzer.cpp"  // NOLINT(bugprone-suspicious-include)
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_csv
#include "csv_fuzzer.cpp"  // NOLINT(bugprone-suspicious-include)
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_body
#include "body_fuzzer.cpp"  // NOLINT(bugprone-suspicious-include)
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_line
#include "line_fuzzer.cpp"  // NOLINT(bugprone-suspicious-include)
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_replica
#include "replica_fuzzer.cpp"  // NOLINT(bugprone-suspicious-include)
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_head
#include "head_fuzzer.cpp"  // NOLINT(bugprone-suspicious-include)
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_note
#include "note_fuzzer.cpp"  // NOLINT(bugprone-suspicious-include)
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_proof
#include "proof_fuzzer.cpp"  // NOLINT(bugprone-suspicious-include)
#undef LLVMFuzzerTestOneInput

namespace {

using FuzzTarget = int (*)(const std::uint8_t*, std::size_t);

const std::map<std::string, FuzzTarget, std::less<>> kFuzzTargets = {
    {"policy", fuzz_policy}, {"predicate", fuzz_predicate}, {"csv", fuzz_csv},
    {"body", fuzz_body},     {"line", fuzz_line},           {"replica", fuzz_replica},
    {"head", fuzz_head},     {"note", fuzz_note},           {"proof", fuzz_proof}};

/// Returns what is wrong with how the target takes the bytes; "" if nothing is.
std::string replay_fault(FuzzTarget target, const std::string& name, const std::string& bytes) {
  const std::size_t before = epsilog::fuzz::accepted_count;
  try {
    target(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  } catch (const std::exception& error) {
    return error.what();
  }
  const bool accepted = epsilog::fuzz::accepted_count > before;
  if (name.starts_with("good_")) return accepted ? "" : "is refused";
  if (name.starts_with("bad_")) return accepted ? "is accepted" : "";
  return name.starts_with("found_") ? "" : "is called neither good_, bad_ nor found_";
}

}  // namespace

int main(int count, char** arguments) {
  const auto target = count == 3 ? kFuzzTargets.find(arguments[1]) : kFuzzTargets.end();
  if (target == kFuzzTargets.end()) {
    std::cerr << "usage: epsilog_fuzz_replay TARGET CORPUS\n";
    return 2;
  }
  int faults = 0;
  std::size_t good = 0;
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(arguments[2])) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    const std::string name = entry.path().filename().string();
    const std::string fault = replay_fault(target->second, name, bytes);
    ++files;
    if (name.starts_with("good_")) ++good;
    if (fault.empty()) continue;
    ++faults;
    std::cerr << entry.path().string() << ": " << fault << '\n';
  }
  if (good == 0 || good == files) {
    std::cerr << arguments[2] << ": a corpus has an input that is taken, and one that is not\n";
    ++faults;
  }
  std::cout << files << " inputs, " << faults << " faults\n";
  return faults == 0 ? 0 : 1;
}
