#include "audit_snapshot.hpp"

#include "epsilog/engine/named_keys.hpp"

namespace epsilog::engine {
namespace {

/// When the first credential was added, "" in a ledger without one.
std::string first_credential_at(ledger::Snapshot& view) {
  if (view.credential_event_count() == 0) return "";
  std::string first;
  view.each_credential_event([&first](const ledger::CredentialEvent& event) {
    if (first.empty()) first = event.at;
  });
  return first;
}

}  // namespace

AuditSnapshot AuditSnapshot::of(ledger::Snapshot& view) {
  view.keep_open();
  AuditSnapshot beginning(view);
  view.close_between_reads();
  return beginning;
}

AuditSnapshot::AuditSnapshot(ledger::Snapshot& view)
    : clock_events([&view](const auto& row) { view.each_clock_event(row); }),
      versions([&view](const auto& row) { view.each_policy_version(row); }),
      relocations([&view](const auto& row) { view.each_relocation(row); }),
      unfounded_keys([&view](const auto& row) {
        each_unfounded_key(view, [&](std::int64_t seq, const std::string& why) { row({seq, why}); });
      }),
      first_credential([&view](const auto& row) { row(first_credential_at(view)); }),
      credentials([&view](const auto& row) {
        const CredentialBook book = CredentialBook::of(view);
        for (const Credential& credential : book.list()) row(credential);
      }),
      unfounded_credentials([&view](const auto& row) {
        each_unfounded_credential(view, [&](std::int64_t seq, const std::string& why) { row({seq, why}); });
      }),
      limit_changes([&view](const auto& row) { view.each_limit_change(row); }),
      limit_removals([&view](const auto& row) { view.each_limit_removal(row); }),
      accounts([&](const auto& row) {
        ledger::Inspection(view).each_account(
            [&](const ledger::AccountState& account) { row(account); },
            [this](const ledger::StoredFault& fault) { of_accounts.push_back(fault); });
      }),
      decisions([&view](const auto& row) { row(view.decision_count()); }),
      open([&view](const auto& row) {
        for (const std::string& id : ledger::Inspection(view).open_ids()) row(id);
      }),
      end(ledger::Inspection(view).end()) {}

}  // namespace epsilog::engine
