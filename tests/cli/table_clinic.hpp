// A few visits to a clinic and a policy for tables and batches of them, under which noise can be made 0.
#pragma once

#include "cli/workbench.hpp"

namespace epsilog::test {

inline constexpr const char* kTableVisits =
    "patient,ward,sex,cost\n"
    "p,A,f,10\n"
    "p,B,m,20\n"
    "q,A,m,30\n"
    "r,C,f,40\n"
    "s,C,x,50\n";

inline const std::string kTablePolicy = policy_text("tables.yaml");

/// With the ledger l.epsilog beside them.
inline void make_table_ledger(const Workbench& bench) {
  bench.write("visits.csv", kTableVisits);
  bench.write("clinic.yaml", kTablePolicy);
  bench.run({"init", "--policy", "clinic.yaml", "--ledger", "l.epsilog"});
}

}  // namespace epsilog::test
