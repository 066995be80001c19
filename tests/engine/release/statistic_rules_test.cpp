// Which statistics the rules of a dataset permit, of which columns.
#include "banded_clinic.hpp"
#include "checked_rows.hpp"
#include "epsilog/engine/checked_policy.hpp"
#include "epsilog/engine/dummy_release.hpp"

using namespace epsilog;
using namespace epsilog::test;

TEST_CASE("statistic rules: what is allowed and forbidden of each statistic is refused as the table says",
          "[engine][counted][ratio][table][quantile][negative]") {
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/engine/release/statistic_rules.tsv")) {
    CAPTURE(row);
    const engine::Policy policy = engine::checked_policy(banded("epsilon: 3", row.at(0)), "p.yaml");
    const auto part = [](const std::string& text) {
      return text.empty() ? std::nullopt : std::optional(text);
    };
    const engine::Request asked = request(row.at(1), "0.1", "", part(row.at(2)), part(row.at(3)));
    mechanisms::SystemBits bits;
    std::vector<std::string> codes;
    for (const engine::RefusalCode code :
         reason_codes(engine::dummy_release(policy, asked, bits, {}).would_be))
      codes.emplace_back(name(code));
    CHECK(joined(codes) == row.at(4));
  }
}
