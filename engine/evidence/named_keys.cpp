#include "epsilog/engine/named_keys.hpp"

#include <map>

#include "epsilog/engine/checkpoint.hpp"

namespace epsilog::engine {
namespace {

/// Throws  InvalidParameter unless it is a key that signs checkpoints of that ledger.
void require_key_of(const std::string& ledger_id, const std::string& verifier_key) {
  const VerifierKey key = parse_verifier_key(verifier_key);
  if (key.type != SignatureType::ed25519) {
    throw InvalidParameter("the key of " + key.name + " is a witness's: it signs no checkpoints");
  }
  if (key.name != ledger_origin(ledger_id)) {
    throw InvalidParameter("the key is of " + key.name + ", and the ledger is " + ledger_origin(ledger_id));
  }
}

}  // namespace

KeyReport record_key_change(ledger::Ledger& ledger, const std::string& verifier_key, KeyChange change,
                            const std::string& by, const std::string& why) {
  require_key_of(ledger.ledger_id(), verifier_key);
  if (by.empty()) throw InvalidParameter("by: who says so is not named");
  if (why.empty()) throw InvalidParameter("why: a reason is needed, which is kept with it");
  const bool retired = change == KeyChange::retire;
  ledger::Transaction transaction = ledger.begin();
  const ledger::KeyStatus standing = transaction.key_status(verifier_key);
  if (retired && standing == ledger::KeyStatus::unknown) {
    throw NotFound("the ledger names no key " + verifier_key);
  }
  if ((standing == ledger::KeyStatus::added) != retired) return {};
  KeyReport report{.changed = true, .at = transaction.now()};
  transaction.record_key(verifier_key, retired, by, why);
  static_cast<void>(ledger.commit(std::move(transaction)));
  return report;
}

void each_unfounded_key(ledger::Snapshot& ledger,
                        const std::function<void(std::int64_t seq, const std::string& why)>& tell) {
  const std::string id = ledger.ledger_id();
  std::map<std::string, bool> added;
  ledger.each_key_event([&](const ledger::KeyEvent& event) {
    try {
      require_key_of(id, event.verifier_key);
    } catch (const InvalidParameter& error) {
      tell(event.seq, error.what());
    }
    bool& is_added = added[event.verifier_key];
    if (is_added != event.retired) {
      tell(event.seq, event.retired ? "retires a key that is not one of this ledger then"
                                    : "adds a key that is one of this ledger already");
    }
    is_added = !event.retired;
  });
}

}  // namespace epsilog::engine
