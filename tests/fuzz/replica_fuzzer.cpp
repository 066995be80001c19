// The file of a replica: where what is right ends is found again in a file that is cut there.
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/needs_feature.hpp"
#include "epsilog/ledger/replica.hpp"
#include "from_replica.hpp"
#include "fuzz_target.hpp"
#include "support/temporary_folder.hpp"

namespace {

void check_replica(const std::string& bytes, bool accept_truncated) {
  using namespace epsilog;
  static const test::TemporaryFolder folder(test::in_memory());
  static const ledger::LedgerFiles files = ledger::locate(folder.path("ledger"));
  static const std::string path = folder.path("replica");
  std::filesystem::remove(path);
  ledger::ReplicaFile file = ledger::ReplicaFile::create(path, files);
  file.write(0, bytes);
  try {
    const ledger::ReplicaContent held =
        ledger::read_replica_content(file, path, nullptr, 0, accept_truncated);
    ++fuzz::accepted_count;
    fuzz::require(held.end.size > 0 && held.end.end <= file.size(), "what is right ends in the file");
    fuzz::require(accept_truncated || !held.acknowledged,
                  "changed lines are passed over only where that is accepted");
    file.cut(held.end.end);
    const ledger::ReplicaContent again = ledger::read_replica_content(file, path, nullptr, 0, false);
    fuzz::require(again.end.size == held.end.size && again.end.end == held.end.end && again.dropped == 0,
                  "a file that is cut where what is right ends is right to its end");
  } catch (const LedgerCorrupt&) {
  } catch (const ledger::NeedsFeature&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(epsilog::fuzz::text_of(data, size));
  check_replica(bytes, false);
  check_replica(bytes, true);
  return 0;
}
