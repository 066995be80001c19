// The YAML of a policy: it is refused with faults, or read again as the stored policy that it becomes.
#include "epsilog/engine/checked_policy.hpp"

#include "epsilog/accounting/errors.hpp"
#include "fuzz_target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace epsilog;
  const std::string_view yaml = fuzz::text_of(data, size);
  try {
    const engine::Policy policy = engine::checked_policy(yaml, "policy.yaml");
    ++fuzz::accepted_count;
    fuzz::require(policy.yaml() == yaml, "a policy keeps its bytes");
    fuzz::require(
        engine::Policy::parse_stored(yaml, "policy.yaml").datasets().size() == policy.datasets().size(),
        "a checked policy is read as a stored one");
  } catch (const PolicyError& error) {
    fuzz::require(!error.faults().empty(), "a refused policy has a fault");
    for (const PolicyFault& fault : error.faults()) {
      fuzz::require(fault.line >= 1 && fault.column >= 1 && !fault.text().empty(), "a fault has its place");
    }
  }
  return 0;
}
