#include "accounts_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "amounts.hpp"
#include "printable.hpp"
#include "released_text.hpp"
#include "table_output.hpp"

namespace epsilog::command {
namespace {

using accounting::Rational;

constexpr unsigned kBarWidth = 24;
constexpr std::string_view kBarHeading = "spent of limit";

bool limits(const ledger::AccountState& /*account*/) {
  return true;  // a decision touches no others
}

bool limits(const engine::BudgetAccount& account) {
  return account.active;
}

template <class Account>
std::string table_of(const std::vector<Account>& accounts, const Style& style, unsigned bar_width) {
  const bool scopes =
      std::any_of(accounts.begin(), accounts.end(), [](const auto& one) { return !one.scope.empty(); });
  const bool reserved = std::any_of(accounts.begin(), accounts.end(),
                                    [](const auto& one) { return one.balance.reserved != 0; });
  std::vector<Table::Heading> headings{{"dataset"}};
  if (scopes) headings.push_back({"scope"});
  headings.insert(headings.end(),
                  {{"measure"}, {"limit", Table::Align::right}, {"spent", Table::Align::right}});
  if (reserved) headings.push_back({"reserved", Table::Align::right});
  headings.insert(headings.end(), {{"remaining", Table::Align::right},
                                   {bar_width >= kBarHeading.size() ? std::string(kBarHeading) : ""}});
  Table table(headings);
  for (const Account& account : accounts) {
    const wire::AccountTexts amounts = wire::texts(account);
    std::vector<std::string> row{account.dataset};
    if (scopes) row.push_back(account.scope);
    row.insert(row.end(), {account.measure, limits(account) ? with_digit_groups(amounts.limit) : "",
                           with_digit_groups(amounts.spent)});
    if (reserved) row.push_back(with_digit_groups(amounts.reserved));
    const auto units = [](std::int64_t count) {
      return Rational(accounting::Integer(static_cast<long>(count)));
    };
    const Rational limit = units(account.balance.limit);
    const Rational used = units(account.balance.spent) + units(account.balance.reserved);
    if (!limits(account)) {
      row.insert(row.end(), {"", "no limit any more"});
    } else {
      row.insert(row.end(),
                 {with_digit_groups(amounts.remaining), limit > 0 ? bar(used, limit, bar_width, style) : ""});
    }
    table.add(std::move(row));
  }
  return table.text(style);
}

template <class Account>
std::string table_of(const std::vector<Account>& accounts, const Style& style) {
  return with_bars([&](unsigned width, const Style& how) { return table_of(accounts, how, width); },
                   kBarWidth, style);
}

}  // namespace

std::string accounts_text(const std::vector<ledger::AccountState>& accounts, const Style& style) {
  return table_of(accounts, style);
}

std::string budget_text(const std::vector<engine::BudgetAccount>& accounts, const Style& style) {
  return table_of(accounts, style);
}

std::string scarcest_text(std::vector<ledger::AccountState> accounts, const Style& style) {
  constexpr std::size_t kMost = 20;
  if (accounts.size() <= kMost) return accounts_text(accounts, style);
  const std::size_t others = accounts.size() - kMost;
  std::stable_sort(accounts.begin(), accounts.end(), [](const auto& first, const auto& second) {
    return first.balance.remaining() < second.balance.remaining();
  });
  accounts.resize(kMost);
  return accounts_text(accounts, style) + fmt::format("and {} accounts in which more remains\n",
                                                      with_digit_groups(static_cast<std::int64_t>(others)));
}

std::string notes_text(const std::vector<std::string>& notes) {
  std::string text;
  for (const std::string& note : notes) text += "\nnote: " + printable(note) + "\n";
  return text;
}

}  // namespace epsilog::command
