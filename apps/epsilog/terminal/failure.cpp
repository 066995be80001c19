#include "failure.hpp"

#include <gmp.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <new>
#include <tuple>

#include "console.hpp"
#include "epsilog/engine/exact_answer.hpp"
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
#include "exit_codes.hpp"
#include "usage_error.hpp"

namespace epsilog::command {
namespace {

[[noreturn]] void end_process() noexcept {
  for (const std::string_view part : {std::string_view("epsilog: "), kOutOfMemory, std::string_view("\n")}) {
    if (write(STDERR_FILENO, part.data(), part.size()) < 0) break;
  }
  _exit(static_cast<int>(ExitCode::try_again));
}

void* allocate(std::size_t size) {
  if (void* const memory = std::malloc(size)) return memory;
  end_process();
}

void* reallocate(void* memory, std::size_t, std::size_t size) {
  if (void* const moved = std::realloc(memory, size)) return moved;
  end_process();
}

[[noreturn]] void on_terminate() {
  try {
    if (const std::exception_ptr error = std::current_exception()) std::rethrow_exception(error);
  } catch (const std::bad_alloc&) {
    end_process();
  } catch (...) {
  }
  std::abort();
}

/// Only what tells callers apart what they can do about it has a code of its own.
template <class Exception>
bool is(const std::exception& error) {
  return dynamic_cast<const Exception*>(&error) != nullptr;
}

std::pair<ExitCode, const char*> classify(const std::exception& error) {
  if (is<UsageError>(error)) return {ExitCode::usage, "usage"};
  if (is<InvalidParameter>(error)) return {ExitCode::usage, "invalid_parameter"};
  if (is<engine::NotPermitted>(error)) return {ExitCode::invalid, "not_permitted"};
  if (is<NotFound>(error)) return {ExitCode::invalid, "not_found"};
  if (is<Underivable>(error)) return {ExitCode::invalid, "policy_incomplete"};
  if (is<PolicyError>(error)) return {ExitCode::invalid, "policy_error"};
  if (is<SourceError>(error)) return {ExitCode::invalid, "source_error"};
  if (is<engine::SourceIo>(error)) return {ExitCode::try_again, "source_io"};
  if (is<InputError>(error)) return {ExitCode::try_again, "input"};
  if (is<ledger::NeedsFeature>(error)) return {ExitCode::invalid, "needs_feature"};
  if (is<ledger::LedgerSealed>(error)) return {ExitCode::invalid, "ledger_sealed"};
  if (is<ledger::NetworkFileSystem>(error)) return {ExitCode::invalid, "network_file_system"};
  if (is<LedgerUnusable>(error)) return {ExitCode::invalid, "ledger_unusable"};
  if (is<ledger::ReplicaUnavailable>(error)) return {ExitCode::try_again, "replica_unavailable"};
  if (is<ledger::ReplicaBehind>(error)) return {ExitCode::try_again, "replica_behind"};
  if (is<ledger::LinesMissing>(error)) return {ExitCode::not_verified, "lines_missing"};
  if (is<ledger::LedgerRolledBack>(error)) return {ExitCode::not_verified, "ledger_rolled_back"};
  if (is<ledger::FilesReplaced>(error)) return {ExitCode::try_again, "ledger_files_replaced"};
  if (is<LedgerBusy>(error)) return {ExitCode::try_again, "ledger_busy"};
  if (is<LedgerIo>(error)) return {ExitCode::try_again, "ledger_io"};
  if (is<LedgerCorrupt>(error)) return {ExitCode::not_verified, "ledger_corrupt"};
  if (is<engine::NotVerified>(error)) return {ExitCode::not_verified, "not_verified"};
  if (is<engine::KeyUnusable>(error)) return {ExitCode::invalid, "key_unusable"};
  if (is<engine::KeyIo>(error)) return {ExitCode::try_again, "key_io"};
  if (is<EntropyUnavailable>(error)) return {ExitCode::try_again, "entropy_unavailable"};
  if (is<OutputError>(error)) return {ExitCode::internal, "output"};
  if (is<std::bad_alloc>(error)) return {ExitCode::try_again, "out_of_memory"};
  return {ExitCode::internal, "internal"};
}

}  // namespace

void end_without_memory_where_nothing_else_can() noexcept {
  mp_set_memory_functions(allocate, reallocate, nullptr);
  std::set_terminate(on_terminate);
}

Failure describe(const std::exception& error) {
  Failure failure;
  std::tie(failure.exit, failure.code) = classify(error);
  failure.message = is<std::bad_alloc>(error) ? std::string(kOutOfMemory) : error.what();
  if (failure.code == "internal") failure.message = "internal error: " + failure.message;
  if (const auto* policy = dynamic_cast<const PolicyError*>(&error)) {
    failure.faults = policy->faults();
    const std::size_t count = failure.faults.size();
    failure.message = "the policy has " + (count == 1 ? "a fault" : std::to_string(count) + " faults") +
                      ": " + failure.faults.front().text();
  }
  return failure;
}

}  // namespace epsilog::command
