// Tables of what is tampered with, and of the fault that the audit must find.
#pragma once

#include <regex>

#include "support/case_table.hpp"
#include "tampering.hpp"

namespace epsilog::test {

/// One way to tamper with a ledger.
struct Tampering {
  std::string what;
  std::string sql;
  std::string code;  ///< of the fault that must be found
};

/// Returns the SQL in which {plan SEQ}, {name NAME}, {with NAME}, {ms TIME} and {component SEQ MEMBER VALUE}
/// stand for what plan_of, number_of, with_name, ms_of and in_component return.
inline std::string expanded_sql(std::string sql) {
  static const std::regex kCall(R"(\{(plan|name|with|ms|component) ([^}]*)\})");
  for (std::smatch call; std::regex_search(sql, call, kCall);) {
    const std::vector<std::string> words = words_of(call[2]);
    const std::string name = call[1];
    const std::string text = name == "plan"   ? plan_of(std::stoi(words.at(0)))
                             : name == "name" ? number_of(words.at(0))
                             : name == "with" ? with_name(words.at(0))
                             : name == "ms"   ? ms_of(words.at(0))
                                            : in_component(std::stoi(words.at(0)), words.at(1), words.at(2));
    sql = call.prefix().str() + text + call.suffix().str();
  }
  return sql;
}

/// Reads a table of tests/engine/audit.
inline std::vector<Tampering> tamperings_of(const std::string& table) {
  std::vector<Tampering> result;
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/engine/audit/" + table)) {
    result.push_back({row.at(0), expanded_sql(row.at(1)), row.at(2)});
  }
  return result;
}

}  // namespace epsilog::test
