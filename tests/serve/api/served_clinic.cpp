#include "served_clinic.hpp"

#include <map>

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

}  // namespace epsilog::test
