#include "served_clinic.hpp"

#include <map>

#include "epsilog/engine/checkpoint.hpp"
#include "epsilog/engine/key_file.hpp"

namespace epsilog::test {

void ServedClinic::map_uids() {
  const std::map<std::uint32_t, std::string> principals = {
      {kAlice, "alice"}, {kAdam, "adam"}, {kBob, "bob"},  {kSam, "sam"},
      {kCarol, "carol"}, {kDora, "dora"}, {kOtto, "otto"}};
  ledger::Ledger ledger = ledger::Ledger::open(this->ledger(), {});
  for (const auto& [uid, principal] : principals) {
    static_cast<void>(engine::add_uid(ledger, {.principal = principal, .by = "carol", .why = "a test"}, uid));
  }
}

engine::VerifierKey ServedClinic::sign_checkpoints(const std::string& policy) {
  const std::string key = folder.path("log.key");
  if (!vkey_) vkey_ = engine::generate_key(key, engine::ledger_origin(engine->ledger_id()));
  // Far apart: what is signed later is signed because it was asked for.
  const std::string text = policy + "checkpoint: {key: " + key + ", file: " + notes() + ", every: 100000}\n";
  engine::Engine beside = engine::Engine::open(ledger());
  static_cast<void>(beside.apply_policy(folder.write("signed.yaml", text), "carol", "a test"));
  return *vkey_;  // and the engine ends when it has signed
}

}  // namespace epsilog::test
