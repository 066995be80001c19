#include "epsilog/error_code.hpp"

#include "epsilog/accounting/stopping.hpp"
#include "epsilog/engine/conflict_errors.hpp"
#include "epsilog/engine/key_file.hpp"
#include "epsilog/engine/not_verified.hpp"
#include "epsilog/engine/request_state.hpp"
#include "epsilog/engine/source_io.hpp"
#include "epsilog/ledger/files_replaced.hpp"
#include "epsilog/ledger/lines_missing.hpp"
#include "epsilog/ledger/needs_feature.hpp"
#include "epsilog/ledger/network_file_system.hpp"
#include "epsilog/ledger/replica.hpp"
#include "epsilog/ledger/seal.hpp"

namespace epsilog {
namespace {

template <class Kind>
bool is(const Error& error) noexcept {
  return dynamic_cast<const Kind*>(&error) != nullptr;
}

}  // namespace

std::string_view error_code(const Error& error) noexcept {
  // A kind before the one that it derives from.
  if (is<InvalidParameter>(error)) return "invalid_parameter";
  if (is<NotFound>(error)) return "not_found";
  if (is<Underivable>(error)) return "policy_incomplete";
  if (is<PolicyError>(error)) return "policy_error";
  if (is<SourceError>(error)) return "source_error";
  if (is<EntropyUnavailable>(error)) return "entropy_unavailable";
  if (is<Stopped>(error)) return "stopped";
  if (is<engine::NotPermitted>(error)) return "not_permitted";
  if (is<engine::SourceIo>(error)) return "source_io";
  if (is<engine::PolicyConflict>(error)) return "policy_conflict";
  if (is<engine::RequestChanged>(error)) return "request_changed";
  if (is<engine::NotVerified>(error)) return "not_verified";
  if (is<engine::KeyUnusable>(error)) return "key_unusable";
  if (is<engine::KeyIo>(error)) return "key_io";
  if (is<ledger::NeedsFeature>(error)) return "needs_feature";
  if (is<ledger::LedgerSealed>(error)) return "ledger_sealed";
  if (is<ledger::NetworkFileSystem>(error)) return "network_file_system";
  if (is<LedgerUnusable>(error)) return "ledger_unusable";
  if (is<ledger::ReplicaUnavailable>(error)) return "replica_unavailable";
  if (is<ledger::FilesReplaced>(error)) return "ledger_files_replaced";
  if (is<LedgerBusy>(error)) return "ledger_busy";
  if (is<ledger::ReplicaBehind>(error)) return "replica_behind";
  if (is<LedgerIo>(error)) return "ledger_io";
  if (is<ledger::LinesMissing>(error)) return "lines_missing";
  if (is<ledger::LedgerRolledBack>(error)) return "ledger_rolled_back";
  if (is<LedgerCorrupt>(error)) return "ledger_corrupt";
  return "error";
}

}  // namespace epsilog
