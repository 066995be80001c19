#include "audit_text.hpp"

#include <fmt/format.h>

#include "printable.hpp"
#include "released_text.hpp"
#include "table_output.hpp"

namespace epsilog::command {
namespace {

std::string counted(std::int64_t count, const char* what) {
  return grouped(count) + " " + what + (count == 1 ? "" : "s");
}

/// What was examined: whoever compares two copies, or remembers a hash, finds it here.
std::string examined_text(const Examined& examined) {
  if (examined.policy_version == 0) return "";
  return fmt::format("  ledger     {}, {}\n  policy     version {} of {}\n  sha256     {}\n",
                     printable(examined.ledger_id), counted(examined.accounts, "account"),
                     examined.policy_version, examined.policy_versions, printable(examined.policy_sha256));
}

/// What nobody can check, and a reader is to know.
std::string relocations_text(const std::vector<ledger::Relocation>& relocations, const Style& style) {
  if (relocations.empty()) return "";
  Table table(
      {{"after decision", Table::Align::right}, {"at"}, {"source of"}, {"relocated to"}, {"by"}, {"why"}});
  for (const ledger::Relocation& relocation : relocations) {
    table.add({std::to_string(relocation.after_decision), relocation.at, relocation.dataset, relocation.path,
               relocation.by, relocation.why});
  }
  return "\n" + table.text(style);
}

}  // namespace

std::string audit_text(const engine::AuditReport& report, const Examined& examined, const Style& style) {
  const std::string records = counted(report.records, "decision");
  if (report.ok) {
    std::string text = style.good("verified") + ": " + records + ", nothing wrong\n" +
                       examined_text(examined) + relocations_text(report.relocations, style);
    if (report.notes.empty()) return text;
    Table table({{"record"}, {"code"}, {"what older rules allowed"}});
    for (const engine::AuditFault& note : report.notes) table.add({note.record, note.code, note.message});
    return text + "\n" + table.text(style);
  }
  Table table({{"record"}, {"code"}, {"what is wrong"}});
  for (const engine::AuditFault& fault : report.faults) table.add({fault.record, fault.code, fault.message});
  const auto count = static_cast<std::int64_t>(report.faults.size());
  return style.bad("not verified") +
         fmt::format(": {}, {}\n{}\n", records, counted(count, "fault"), examined_text(examined)) +
         table.text(style) + relocations_text(report.relocations, style);
}

}  // namespace epsilog::command
