#include "served_clinic.hpp"

#include "epsilog/engine/checkpoint.hpp"
#include "epsilog/engine/key_file.hpp"

namespace epsilog::test {

std::string served_text(const std::string& file) {
  return read_file(EPSILOG_SOURCE_DIR "/tests/serve/api/" + file);
}

void check_page_table(const std::string& begin, const std::string& end, const std::string& found) {
  const std::string page = served_text("../../../docs/api.md");
  const std::size_t at = page.find(begin);
  REQUIRE(at != std::string::npos);
  const std::size_t from = at + begin.size();
  REQUIRE(page.find(end, from) != std::string::npos);
  INFO("the table as it was found\n" << found);
  CHECK(page.substr(from, page.find(end, from) - from) == found);
}

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
