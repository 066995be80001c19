// The ledgers of tests/fixtures/ledgers, as an older program wrote them; README.md there says what each
// holds.
#pragma once

#include <array>

namespace epsilog::test {

/// One file, named below tests/fixtures/ledgers and without its extension.
struct OldLedger {
  const char* file;
  bool verifies;     ///< whether this program finds nothing wrong with it, once it is migrated
  const char* note;  ///< the code that verification must then list among its notes; "" = not asked for
};

inline constexpr std::array<OldLedger, 19> kOldLedgers{{{"schema2/minimal", true, ""},
                                                        {"schema2/hospital", true, ""},
                                                        {"schema2/scopes", true, ""},
                                                        {"schema2/blocks", true, ""},
                                                        {"schema2/mechanisms", true, ""},
                                                        {"schema2/renewal", true, ""},
                                                        {"schema2/periods", true, ""},
                                                        {"schema2/zcdp", true, ""},
                                                        {"schema2/external_values", true, ""},
                                                        {"schema2/requests", true, ""},
                                                        {"schema2/later_version", true, ""},
                                                        {"schema2/clock", true, ""},
                                                        {"schema2/confirmed", true, ""},
                                                        {"schema2/lifted", true, ""},
                                                        {"rules2/mechanisms", true, ""},
                                                        {"rules2/gaussians", true, ""},
                                                        {"rules2/waiting", true, ""},
                                                        {"schema3/between", true, ""},
                                                        {"schema3/fresh", true, ""}}};

/// What rules 1 wrote wrongly, or could not read or verify afterwards.
inline constexpr std::array<OldLedger, 7> kOddLedgers{{
    {"schema2/odd/unreadable_texts", true, ""},
    {"schema2/odd/unreadable_reserved", true, ""},
    {"schema2/odd/old_limit_opened", true, "older_limit"},
    {"schema2/odd/period_over", true, "period_over"},
    {"schema2/odd/confirmed_then_put_back", true, ""},
    {"schema2/odd/applied_within_the_second", true, ""},
    {"schema2/odd/limit_removed", true, "policy_changed"},
}};

}  // namespace epsilog::test
