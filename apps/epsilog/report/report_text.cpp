#include "report_text.hpp"

#include <fmt/format.h>

#include "amounts.hpp"
#include "epsilog/engine/measure.hpp"
#include "history_text.hpp"
#include "printable.hpp"
#include "released_text.hpp"
#include "report_sheet.hpp"
#include "table_output.hpp"

namespace epsilog::command {

std::string policy_apply_text(const engine::ApplyReport& report,
                              const std::vector<engine::BudgetAccount>& accounts, const Style& style) {
  if (!report.changed)
    return fmt::format("version {} is active already: the policy is the same\n", report.policy_version);
  std::string text = fmt::format("version {} is active\n  policy     sha256 {}\n", report.policy_version,
                                 report.policy_sha256);
  Table table(
      {{"scope"}, {"measure"}, {"old limit", Table::Align::right}, {"new limit", Table::Align::right}});
  for (const ledger::LimitChange& change : report.limit_changes) {
    for (const engine::BudgetAccount& account : accounts) {
      if (account.id != change.account) continue;
      table.add({account.scope.empty() ? account.dataset : account.dataset + " " + account.scope,
                 account.measure, engine::amount_text(account.measure, change.old_limit),
                 engine::amount_text(account.measure, change.new_limit)});
    }
  }
  for (const ledger::LimitRemoval& removal : report.limit_removals) {
    for (const engine::BudgetAccount& account : accounts) {
      if (account.id == removal.account)
        text += "  no limit any more: " + printable(wire::account_subject(account)) + "\n";
    }
  }
  return table.empty() ? text : text + "\n" + table.text(style);
}

namespace {

constexpr const char* kColumnsExplained =
    "  null: empty or said to be missing\n"
    "  unreadable: not of the type, so missing\n"
    "  out of bounds: clamped when summed\n"
    "  undeclared: the row is dropped when grouped by it\n";

/// "lines 4, 17 and 23", the last of them "…" where there are more.
std::string places_text(const engine::Dataset& dataset, const std::vector<std::uint64_t>& places,
                        std::uint64_t count) {
  const bool more = places.size() < count;
  std::string text = dataset.csv ? "line" : "row";
  if (count > 1) text += 's';
  for (std::size_t i = 0; i < places.size(); ++i) {
    const bool last = i > 0 && !more && i + 1 == places.size();
    text += (i == 0 ? " " : last ? " and " : ", ") + std::to_string(places[i]);
  }
  return more ? text + ", …" : text;
}

/// What makes answers other than the curator may expect, a sentence each.
std::string advice_text(const wire::DatasetReport& report, const engine::Dataset& dataset) {
  const engine::DataReport& data = report.data;
  std::string text;
  if (data.malformed > 0) {
    text += fmt::format("  malformed: {}\n", places_text(dataset, data.malformed_at, data.malformed));
  }
  for (const auto& column : data.columns) {
    if (column.undeclared > 0) {
      const bool derived = dataset.column(column.column)->derived.has_value();
      text += fmt::format("  {}: {} in {}\n", column.column, derived ? "without a label" : "undeclared",
                          places_text(dataset, column.undeclared_at, column.undeclared));
    }
    // What a derived column is a function of says it for both.
    if (column.unreadable == 0 || dataset.column(column.column)->derived) continue;
    text +=
        fmt::format("  {}: no {} in {}\n", column.column, engine::name(dataset.column(column.column)->type),
                    places_text(dataset, column.unreadable_at, column.unreadable));
  }
  if (data.declared.exact && data.rows != data.declared.count) {
    text += fmt::format("  rows: {{exact: {}}}, but there are {}: every release ends with an error\n",
                        data.declared.count, data.rows);
  } else if (!data.declared.exact && data.beyond_rows_max > 0) {
    text += fmt::format(
        "  rows: {{max: {}}} is below the {} rows kept: answers are clamped to what {} rows can give, and "
        "large "
        "counts cut. Raise it to a number you are sure of\n",
        data.declared.count, data.kept, data.declared.count);
  }
  return text.empty() ? "" : "\n" + text;
}

/// What stands in the way of every answer, last, where it is read.
std::string problems_text(const wire::DatasetReport& report, const Style& style) {
  std::string text;
  for (const std::string& problem : report.problems)
    text += "\n  " + style.bad("not usable") + ": " + printable(problem) + "\n";
  return text;
}

}  // namespace

std::string data_check_text(const wire::DatasetReport& report, const engine::Dataset& dataset,
                            const Style& style) {
  const engine::DataReport& data = report.data;
  std::string text = fmt::format("{}: {}\n", printable(report.dataset), printable(report.source));
  const auto line = [&](std::uint64_t count, std::string_view what) {
    text += fmt::format("  {:>12}  {}\n", with_digit_groups(static_cast<std::int64_t>(count)), what);
  };
  line(data.rows, "rows read");
  line(data.units, "units");
  line(data.malformed, dataset.csv
                           ? fmt::format("malformed rows (ragged, badly quoted or not {}): their cells "
                                         "are missing",
                                         engine::name(dataset.csv->encoding))
                           : "malformed rows: their cells are missing");
  if (data.outside_blocks) line(*data.outside_blocks, "rows in no block: dropped");
  line(data.without_unit, "rows without unit id: dropped");
  line(data.over_max_rows, "rows beyond max_rows of their unit: dropped");
  line(data.kept, "rows kept");
  line(data.beyond_rows_max, dataset.rows.exact ? "rows more than rows.exact: releases fail"
                                                : "rows beyond rows.max: only the clamp meets them");
  const std::string advice = advice_text(report, dataset) + problems_text(report, style);
  if (data.columns.empty()) return text + advice;
  Table table({{"column"},
               {"null", Table::Align::right},
               {"unreadable", Table::Align::right},
               {"out of bounds", Table::Align::right},
               {"undeclared", Table::Align::right}});
  for (const auto& column : data.columns) {
    const auto shown = [](std::uint64_t count) {
      return with_digit_groups(static_cast<std::int64_t>(count));
    };
    table.add({column.column, shown(column.nulls), shown(column.unreadable), shown(column.out_of_bounds),
               shown(column.undeclared)});
  }
  return text + "\n" + table.text(style) + kColumnsExplained + advice;
}

namespace {

/// What was examined: whoever compares two copies, or remembers a hash, finds it here.
std::string verified_ledger_text(const wire::VerifiedLedger& examined) {
  if (examined.policy_version == 0) return "";
  return fmt::format("  ledger     {}, {}\n  policy     version {} of {}\n  sha256     {}\n",
                     printable(examined.ledger_id), count_text(examined.accounts, "account"),
                     examined.policy_version, examined.policy_versions, printable(examined.policy_sha256));
}

/// What was not checked because nobody asked for it.
std::string unchecked_text(engine::StorageCheck storage) {
  switch (storage) {
    case engine::StorageCheck::full:
      return "";
    case engine::StorageCheck::quick:
      return "  unchecked  whether the indices of the file have what its tables have\n";
    case engine::StorageCheck::none:
      return "  unchecked  the pages and the indices of the file\n";
  }
  EPSILOG_INVARIANT(false);
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

/// What was taken back or put together again, and what a policy version loosened.
std::string events_text(const std::vector<engine::LedgerEvent>& events, const Style& style) {
  if (events.empty()) return "";
  std::string text = "\n";
  for (const engine::LedgerEvent& event : events) text += event_lines(event, style);
  return text;
}

/// What a reader is to ask about.
std::string known_by_text(const engine::AuditReport& report) {
  std::string text;
  for (const std::string& sentence : known_by_sentences(report))
    text += "\nnote: " + printable(sentence) + "\n";
  return text;
}

std::string claimed_sentence(const engine::AuditReport& report) {
  std::string text = count_text(*report.claimed_approvals, "approval") +
                     " in a name for which no credential of the ledger vouches: ";
  for (std::size_t i = 0; i < report.claimed.size(); ++i) {
    text +=
        (i == 0 ? "" : ", ") + report.claimed[i].decision_id + " by '" + report.claimed[i].principal + "'";
  }
  if (static_cast<std::int64_t>(report.claimed.size()) < *report.claimed_approvals) text += " and others";
  return text;
}

std::string ended_sentence(const engine::AuditReport& report) {
  std::string text =
      count_text(*report.ended_credentials, "decision") +
      " by a credential that had ended when it was recorded, as may be of what was asked before: ";
  for (std::size_t i = 0; i < report.ended.size(); ++i) {
    const engine::EndedCredential& one = report.ended[i];
    text += (i == 0 ? "" : ", ") + one.decision_id + " of " + one.at + " by '" + one.principal + "' via " +
            one.via + ", which ended at " + one.ended;
  }
  if (static_cast<std::int64_t>(report.ended.size()) < *report.ended_credentials) text += " and others";
  return text;
}

/// Names the replicas that were replaced and do not say so.
std::string stale_replicas_text(const std::vector<std::string>& untold) {
  std::string text;
  for (const std::string& path : untold) {
    text += "\nnote: the policy names the replica " + printable(path) +
            " no more, and that file does not say so yet: a restore would believe it\n";
  }
  return text;
}

/// Says that the files may be on another machine; "" of a local file system.
std::string file_system_text(bool over_fuse) {
  if (!over_fuse) return "";
  return "\nnote: a program serves the ledger's folder (FUSE), and may keep the files on another machine: if "
         "two "
         "machines can reach it, neither sees the other's charges\n";
}

/// Says that nothing shows whether lines are missing at the end; "" where L.lock remembers it.
std::string end_mark_state_text(ledger::EndMarkState memory) {
  switch (memory) {
    case ledger::EndMarkState::remembered:
      return "";
    case ledger::EndMarkState::none:
      return "\nnote: nothing remembers how many lines the ledger should have: it is a copy, or its lock "
             "file was "
             "deleted\n";
    case ledger::EndMarkState::unreadable:
      return "\nnote: the lock file is damaged and does not say how many lines the ledger should have\n";
  }
  return "";
}

}  // namespace

std::vector<std::string> known_by_sentences(const engine::AuditReport& report) {
  std::vector<std::string> sentences;
  if (report.claimed_approvals.value_or(0) > 0) sentences.push_back(claimed_sentence(report));
  if (report.ended_credentials.value_or(0) > 0) sentences.push_back(ended_sentence(report));
  return sentences;
}

std::string audit_text(const engine::AuditReport& report, const wire::VerifiedLedger& examined,
                       const Style& style) {
  const std::string records = count_text(report.records, "decision");
  if (report.ok) {
    std::string text = style.good("verified") + ": " + records + ", nothing wrong\n" +
                       verified_ledger_text(examined) + unchecked_text(report.storage) +
                       relocations_text(report.relocations, style) + events_text(examined.events, style) +
                       known_by_text(report) + end_mark_state_text(report.end_mark_state) +
                       file_system_text(report.over_fuse) + stale_replicas_text(report.stale_replicas);
    if (report.notes.empty()) return text;
    Table table({{"record"}, {"code"}, {"note"}});
    for (const engine::AuditFault& note : report.notes) table.add({note.record, note.code, note.message});
    return text + "\n" + table.text(style);
  }
  Table table({{"record"}, {"code"}, {"what is wrong"}});
  for (const engine::AuditFault& fault : report.faults) table.add({fault.record, fault.code, fault.message});
  const auto count = static_cast<std::int64_t>(report.faults.size());
  return style.bad("not verified") +
         fmt::format(": {}, {}\n{}\n", records, count_text(count, "fault"),
                     verified_ledger_text(examined) + unchecked_text(report.storage)) +
         table.text(style) + relocations_text(report.relocations, style) +
         events_text(examined.events, style) + known_by_text(report);
}

}  // namespace epsilog::command
