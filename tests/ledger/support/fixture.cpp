#include "ledger/support/fixture.hpp"

#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>

#include "epsilog/ledger/digest.hpp"
#include "epsilog/ledger/files_replaced.hpp"
#include "epsilog/ledger/inspection.hpp"
#include "epsilog/ledger/ledger_time.hpp"
#include "epsilog/ledger/lines_missing.hpp"
#include "epsilog/ledger/replica.hpp"
#include "epsilog/ledger/seal.hpp"

namespace epsilog::mechanisms {

accounting::SealedRelease ReleaseSealer::seal(accounting::ChargeReceipt receipt,
                                              const accounting::ApproximateLoss& loss,
                                              std::vector<accounting::Rational> values) {
  const std::int64_t decision = receipt.consume(loss);
  return {decision, loss, std::move(values)};
}

}  // namespace epsilog::mechanisms

namespace epsilog::ledger_tests {

TemporaryDirectory::TemporaryDirectory() {
  std::string pattern = (std::filesystem::temp_directory_path() / "epsilog-ledger-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary directory");
  path_ = std::filesystem::canonical(pattern).string();
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

ledger::PolicyVersion policy(const std::string& yaml) {
  ledger::PolicyVersion version;
  version.yaml = yaml;
  version.sha256 = ledger::sha256_hex(yaml);
  version.base_dir = "/srv/clinic";
  version.applied_by = "curator";
  return version;
}

ledger::AccountState account(const std::string& dataset, const std::string& measure, std::int64_t limit,
                             const std::string& scope) {
  ledger::AccountState state;
  state.dataset = dataset;
  state.scope = scope;
  state.measure = measure;
  state.balance.limit = limit;
  return state;
}

LedgerFixture::LedgerFixture(const std::string& epsilon_budget) : path(directory.path() + "/L") {
  id = ledger::Ledger::create(path, policy(),
                              {account("clinic", "epsilon", Epsilon::parse_down(epsilon_budget).units())});
}

ledger::Ledger LedgerFixture::open(int wait_ms) const {
  return ledger::Ledger::open(path, {.wait = std::chrono::milliseconds(wait_ms)});
}

ledger::Snapshot LedgerFixture::look() const {
  return ledger::Ledger::open_read_only(path).snapshot();
}

ledger::DecisionDraft granted(const std::string& key) {
  ledger::DecisionDraft draft;
  draft.principal = "ada";
  draft.key = key;
  draft.request = R"({"statistic":"count"})";
  draft.request_digest = ledger::sha256_hex(draft.request);
  draft.dataset = "clinic";
  draft.policy_version = 1;
  draft.outcome = ledger::Outcome::granted;
  draft.reasons = "[]";
  return draft;
}

ledger::DecisionDraft refused(const std::string& key) {
  ledger::DecisionDraft draft = granted(key);
  draft.outcome = ledger::Outcome::refused;
  draft.reasons = R"([{"code":"dataset_budget_exceeded"}])";
  return draft;
}

ledger::DecisionDraft draft_of(ledger::Outcome outcome, const std::string& parent) {
  ledger::DecisionDraft draft = outcome == ledger::Outcome::refused ? refused() : granted();
  draft.outcome = outcome;
  draft.parent = parent;
  if (outcome == ledger::Outcome::reserved || outcome == ledger::Outcome::pending)
    draft.deadline = "9999-01-01T00:00:00.000Z";
  return draft;
}

std::string record_outcome(ledger::Transaction& transaction, const ledger::DecisionDraft& draft,
                           Epsilon epsilon) {
  using ledger::Outcome;
  switch (draft.outcome) {
    case Outcome::granted: {
      auto receipt = draft.parent.empty() ? transaction.charge(draft, charge_of(epsilon), epsilon)
                                          : transaction.commit_reservation(draft, epsilon);
      transaction.attach(record_of(epsilon), sealed(std::move(receipt), epsilon, {Rational(42)}), {});
      return "";
    }
    case Outcome::refused:
      return transaction.refuse(draft);
    case Outcome::reserved:
      return transaction.reserve(draft, charge_of(epsilon));
    case Outcome::voided:
    case Outcome::forfeited:
      return transaction.resolve(draft);
    default:
      return transaction.record_without_movement(draft);
  }
}

ledger::ReleaseRecord record_of(Epsilon epsilon) {
  ledger::ReleaseRecord record;
  record.mechanism = "snapping";
  record.arithmetic = "exact";
  record.requested = epsilon.rational();
  record.charged = epsilon;
  record.adjusted = epsilon.rational();
  ledger::ComponentRecord component;
  component.statistic = "count";
  component.epsilon = epsilon;
  component.sensitivity = 1;
  component.scale = 10;
  component.grid = 16;
  component.centre = 0;
  component.bound = 1024;
  component.adjusted = epsilon.rational();
  record.components = {component};
  record.unit = "row";
  record.neighbours = "add-remove";
  return record;
}

std::vector<ledger::Charge> charge_of(Epsilon epsilon, std::int64_t account) {
  return {{.account = account, .amount = epsilon.units()}};
}

std::vector<accounting::SealedRelease> sealed(accounting::ChargeReceipt receipt,
                                              const accounting::ApproximateLoss& loss,
                                              std::vector<Rational> values) {
  std::vector<accounting::SealedRelease> releases;
  releases.push_back(mechanisms::ReleaseSealer::seal(std::move(receipt), loss, std::move(values)));
  return releases;
}

void record_release(ledger::Transaction& transaction, Epsilon epsilon, const Rational& value,
                    const std::string& key) {
  auto receipt = transaction.charge(granted(key), charge_of(epsilon), epsilon);
  transaction.attach(record_of(epsilon), sealed(std::move(receipt), epsilon, {value}), {});
}

ledger::StoredDecision release(ledger::Ledger& ledger, Epsilon epsilon, const Rational& value,
                               const std::string& key) {
  auto transaction = ledger.begin();
  record_release(transaction, epsilon, value, key);
  return ledger.commit(std::move(transaction)).at(0);
}

bool release_if_it_fits(ledger::Ledger& ledger, Epsilon epsilon, const Rational& value,
                        const std::string& key) {
  auto transaction = ledger.begin();
  if (const auto before = transaction.find_by_key("ada", key))
    return before->draft.outcome == ledger::Outcome::granted;
  const auto accounts = transaction.accounts("clinic");
  if (!accounting::filter(accounts.at(0).balance, epsilon.units()).granted) return false;
  record_release(transaction, epsilon, value, key);
  return ledger.commit(std::move(transaction)).size() == 1;
}

std::string run_sql(const std::string& path, const std::string& sql) {
  sqlite3* db = nullptr;
  std::string message;
  if (sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READWRITE, nullptr) != SQLITE_OK ||
      sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    message = sqlite3_errmsg(db);
  }
  sqlite3_close(db);
  return message;
}

void tamper_with(const std::string& path, const std::string& sql, const std::vector<std::string>& indexes) {
  const std::string each =
      query_sql(path,
                "SELECT group_concat('DROP TRIGGER ' || name, ';') || char(10) || group_concat(sql, ';')"
                " FROM sqlite_master WHERE type = 'trigger'");
  const std::size_t end = each.find('\n');
  std::string drop = each.substr(0, end) + ";";
  for (const std::string& index : indexes) drop += "DROP INDEX " + index + ";";
  const std::string message = run_sql(path, "PRAGMA synchronous=OFF; PRAGMA ignore_check_constraints=ON;" +
                                                drop + sql + ";" + each.substr(end + 1) + ";");
  if (!message.empty()) throw std::runtime_error(message + ": " + sql);
}

std::string insert_row(const std::string& path, const std::string& table,
                       const std::vector<std::pair<std::string, std::string>>& columns,
                       const std::vector<std::pair<std::string, std::string>>& changes,
                       const std::string& like) {
  std::map<std::string, std::string> values;
  const std::string names =
      query_sql(path, "SELECT group_concat('\"' || name || '\"') FROM pragma_table_info('" + table + "')");
  for (std::size_t begin = 0; begin < names.size();) {
    const std::size_t end = std::min(names.find(',', begin), names.size());
    const std::string name = names.substr(begin, end - begin);
    values[name] = name;
    begin = end + 1;
  }
  for (const auto& list : {columns, changes}) {
    for (const auto& [name, value] : list) values[name.front() == '"' ? name : '"' + name + '"'] = value;
  }
  std::string into;
  std::string select;
  for (const auto& [name, value] : values) {
    into += (into.empty() ? "" : ", ") + name;
    select += (select.empty() ? "" : ", ") + value;
  }
  return run_sql(path, "PRAGMA foreign_keys=ON; INSERT INTO " + table + "(" + into + ") SELECT " + select +
                           " FROM " + table + " WHERE " + like);
}

std::string query_sql(const std::string& path, const std::string& sql) {
  sqlite3* db = nullptr;
  sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READWRITE, nullptr);
  std::string value = "no row";
  const auto keep_first = [](void* kept, int columns, char** texts, char**) {
    auto& text = *static_cast<std::string*>(kept);
    if (columns > 0 && text == "no row") text = texts[0] == nullptr ? "NULL" : texts[0];
    return 0;
  };
  if (sqlite3_exec(db, sql.c_str(), keep_first, &value, nullptr) != SQLITE_OK) value = sqlite3_errmsg(db);
  sqlite3_close(db);
  return value;
}

std::string explain_sql(const std::string& path, const std::string& sql) {
  sqlite3* db = nullptr;
  sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READWRITE, nullptr);
  std::string plan;
  const auto append = [](void* kept, int columns, char** texts, char**) {
    static_cast<std::string*>(kept)->append(columns == 4 ? texts[3] : "?").append("\n");
    return 0;
  };
  if (sqlite3_exec(db, ("EXPLAIN QUERY PLAN " + sql).c_str(), append, &plan, nullptr) != SQLITE_OK)
    plan = sqlite3_errmsg(db);
  sqlite3_close(db);
  return plan;
}

bool balances_fold(ledger::Snapshot& snapshot) {
  std::map<std::int64_t, ledger::ChargeTotal> totals;
  for (const auto& total : ledger::Inspection(snapshot).charge_totals()) totals[total.account] = total;
  for (const auto& state : snapshot.accounts("")) {
    const ledger::ChargeTotal& total = totals[state.id];
    if (!state.balance.valid() || total.spent != accounting::Integer(state.balance.spent) ||
        total.reserved != accounting::Integer(state.balance.reserved)) {
      return false;
    }
  }
  return true;
}

std::vector<std::string> lines_of(ledger::Snapshot&& snapshot) {
  std::vector<std::string> lines;
  snapshot.each_line(0, [&lines](std::string_view line) { lines.emplace_back(line); });
  return lines;
}

std::function<std::optional<std::string>()> each_of(const std::vector<std::string>& lines) {
  return [next = lines.begin(), end = lines.end()]() mutable {
    return next == end ? std::optional<std::string>() : *next++;
  };
}

std::vector<std::string> decision_faults(ledger::Snapshot&& snapshot) {
  std::vector<std::string> faults;
  ledger::Inspection(snapshot).each_decision(
      [](const ledger::StoredDecision&) {},
      [&faults](const ledger::MalformedRecord& row) { faults.push_back(row.message); },
      [&faults](const ledger::StoredFault& fault) { faults.push_back(fault.code); });
  return faults;
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

namespace {
template <class Kind>
bool is(const std::exception& error) {
  return dynamic_cast<const Kind*>(&error) != nullptr;
}
}  // namespace

std::string outcome_of(const std::function<void()>& call, std::string* message) {
  try {
    call();
    return "done";
  } catch (const std::exception& error) {
    if (message != nullptr) *message = error.what();
    if (is<ledger::LedgerSealed>(error)) return "sealed";
    if (is<ledger::LinesMissing>(error)) return "lines missing";
    if (is<ledger::ReplicaBehind>(error)) return "replica behind";
    if (is<ledger::ReplicaUnavailable>(error)) return "replica";
    if (is<ledger::FilesReplaced>(error)) return "replaced";
    if (is<LedgerBusy>(error)) return "busy";
    if (is<LedgerIo>(error)) return "poisoned";
    if (is<LedgerUnusable>(error)) return "unusable";
    if (is<LedgerCorrupt>(error)) return "corrupt";
    if (is<InvalidParameter>(error)) return "refused";
    throw;
  }
}

bool has_part(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::set<std::string> names_in(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.insert(entry.path().filename());
  return names;
}

std::size_t descriptors_of(const struct stat& file) {
  std::size_t count = 0;
  for (int descriptor = 0; descriptor < 1'024; ++descriptor) {
    struct stat status {};
    if (::fstat(descriptor, &status) == 0 && status.st_dev == file.st_dev && status.st_ino == file.st_ino)
      ++count;
  }
  return count;
}

std::size_t descriptors_of(const std::string& path) {
  struct stat file {};
  return ::stat(path.c_str(), &file) == 0 ? descriptors_of(file) : 0;
}

int in_child(const std::function<void()>& body) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) {
    try {
      body();
      ::_exit(0);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "child: %s\n", error.what());
      ::_exit(1);
    }
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
  }
  return status;
}

}  // namespace epsilog::ledger_tests
