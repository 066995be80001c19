// A few visits to a clinic and a policy for tables and batches of them, under which noise can be made 0.
#pragma once

#include "workbench.hpp"

namespace epsilog::test {

inline constexpr const char* kTableVisits =
    "patient,ward,sex,cost\n"
    "p,A,f,10\n"
    "p,B,m,20\n"
    "q,A,m,30\n"
    "r,C,f,40\n"
    "s,C,x,50\n";

inline constexpr const char* kTablePolicy =
    "version: 1\n"
    "datasets:\n"
    "  clinic:\n"
    "    source: {csv: visits.csv}\n"
    "    unit: {id: patient, max_rows: 2}\n"
    "    rows: {max: 100}\n"
    "    neighbours: add-remove\n"
    "    budget: {epsilon: 100000}\n"
    "    columns:\n"
    "      cost: {type: decimal, scale: 2, bounds: [0, 100]}\n"
    "      ward: {type: string, values: [A, B, C]}\n"
    "      sex: {type: string, values: [f, m]}\n"
    "      dear: {from: cost, bins: [0, 25, 100]}\n"
    "    release: {default: {mechanism: discrete_laplace}}\n";

/// With the ledger l.epsilog beside them.
inline void make_table_ledger(const Workbench& bench) {
  bench.write("visits.csv", kTableVisits);
  bench.write("clinic.yaml", kTablePolicy);
  bench.run({"init", "--policy", "clinic.yaml", "--ledger", "l.epsilog"});
}

}  // namespace epsilog::test
