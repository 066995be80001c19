#include "shared_rows.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "connection.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/ledger_time.hpp"
#include "stored_bytes.hpp"

namespace epsilog::ledger {
namespace {

/// Of a history of ever new questions or names not all are kept.
constexpr std::size_t kPlansMax = 4'096;
constexpr std::size_t kOthersMax = 65'536;

constexpr const char* kName = "SELECT name FROM name WHERE number = ?1";
constexpr const char* kNumberOfName =
    "SELECT number FROM name INDEXED BY sqlite_autoindex_name_1 WHERE name = ?1";
constexpr const char* kNumberOfNameAgain = "SELECT number FROM name INDEXED BY name_again WHERE name = ?1";
constexpr const char* kInsertName = "INSERT INTO name(number, name) VALUES(?1, ?2)";
constexpr const char* kBuild = "SELECT version, revision FROM build WHERE number = ?1";
constexpr const char* kNumberOfBuild = "SELECT number FROM build WHERE version = ?1 AND revision = ?2";
constexpr const char* kInsertBuild = "INSERT INTO build(number, version, revision) VALUES(?1, ?2, ?3)";
constexpr const char* kPlan =
    "SELECT policy_version, question, release, first_at FROM plan WHERE number = ?1";
constexpr const char* kNumberOfPlan = "SELECT number FROM plan WHERE digest = ?1";
constexpr const char* kInsertPlan =
    "INSERT INTO plan(number, digest, policy_version, question, release, first_at)"
    " VALUES(?1, ?2, ?3, ?4, ?5, ?6)";
constexpr const char* kAccountName = "SELECT dataset, scope, measure FROM account WHERE id = ?1";
constexpr const char* kDataVersion = "PRAGMA data_version";

template <class Map>
void make_room(Map& map, std::size_t most) {
  if (map.size() >= most) map.clear();
}

[[noreturn]] void throw_missing_row(const char* what, std::int64_t number) {
  throw LedgerCorrupt(std::string(what) + " " + std::to_string(number) + " is not there");
}

/// Whatever has another number than its row counts as other than it is: a key that is taken, a vote that was
/// cast, a release as it was answered.
[[noreturn]] void index_differs(const char* what, std::int64_t number) {
  throw LedgerCorrupt(std::string(what) + " " + std::to_string(number) +
                      ": an index has it otherwise; the file is damaged");
}

std::optional<std::int64_t> first_number(Query& query) {
  if (!query.step()) return std::nullopt;
  return query.integer(0);
}

}  // namespace

bool is_same_post_processing(const accounting::PostProcessing& one, const accounting::PostProcessing& other) {
  const bool bare = one.kind == accounting::PostProcessing::Kind::none;
  return one.kind == other.kind &&
         (bare || (one.centre == other.centre && one.lower == other.lower && one.upper == other.upper));
}

std::size_t SharedRows::DigestHash::operator()(const Sha256& digest) const noexcept {
  std::size_t hash = 0;
  std::memcpy(&hash, digest.data(), sizeof hash);
  return hash;
}

const std::string& SharedRows::name(Connection& connection, std::int64_t no) {
  if (const auto known = names_.find(no); known != names_.end()) return known->second;
  Query row = connection.query(kName);
  row.with(no);
  if (!row.step()) throw_missing_row("name", no);
  make_room(names_, kOthersMax);
  return names_[no] = row.text(0);
}

const Build& SharedRows::build(Connection& connection, std::int64_t no) {
  if (const auto known = builds_.find(no); known != builds_.end()) return known->second;
  Query row = connection.query(kBuild);
  row.with(no);
  if (!row.step()) throw_missing_row("build", no);
  return builds_[no] = {.version = row.text(0), .revision = row.text(1)};
}

std::shared_ptr<const PlanRecord> SharedRows::plan(Connection& connection, std::int64_t no) {
  if (const auto known = plans_.find(no); known != plans_.end()) return known->second;
  Query row = connection.query(kPlan);
  row.with(no);
  if (!row.step()) throw_missing_row("plan", no);
  auto plan = std::make_shared<PlanRecord>();
  plan->number = no;
  plan->policy_version = row.integer(0);
  plan->question = row.text(1);
  const std::string release = row.text(2);
  plan->first_at = row.time(3);
  try {
    if (!release.empty()) parse_release_text(release, *plan);
  } catch (const LedgerCorrupt& error) {
    throw LedgerCorrupt("plan " + std::to_string(no) + ": " + error.what());
  }
  make_room(plans_, kPlansMax);
  return plans_[no] = std::move(plan);
}

const AccountName& SharedRows::account(Connection& connection, std::int64_t id) {
  if (const auto known = accounts_.find(id); known != accounts_.end()) return known->second;
  Query row = connection.query(kAccountName);
  row.with(id);
  if (!row.step()) throw_missing_row("account", id);
  make_room(accounts_, kOthersMax);
  return accounts_[id] = {.dataset = row.text(0), .scope = row.text(1), .measure = row.text(2)};
}

std::optional<std::int64_t> SharedRows::number_of_name(Connection& connection, const std::string& name) {
  if (const auto known = numbers_of_names_.find(name); known != numbers_of_names_.end()) return known->second;
  const auto number = [&](const char* sql) {
    Query row = connection.query(sql);
    row.with(name);
    return first_number(row);
  };
  const auto found = number(kNumberOfName);
  if (const auto again = number(kNumberOfNameAgain); again != found) {
    index_differs("name", again ? *again : *found);
  }
  if (!found) return std::nullopt;
  if (this->name(connection, *found) != name) index_differs("name", *found);
  make_room(numbers_of_names_, kOthersMax);
  numbers_of_names_[name] = *found;
  return found;
}

std::optional<std::int64_t> SharedRows::number_of_build(Connection& connection, const Build& program) {
  for (const auto& [no, known] : builds_) {
    if (known == program) return no;
  }
  Query row = connection.query(kNumberOfBuild);
  row.with(program.version, program.revision);
  const auto found = first_number(row);
  if (found && build(connection, *found) != program) index_differs("build", *found);
  return found;
}

std::optional<std::int64_t> SharedRows::number_of_plan(Connection& connection, const Sha256& digest) {
  if (const auto known = numbers_of_plans_.find(digest); known != numbers_of_plans_.end())
    return known->second;
  Query row = connection.query(kNumberOfPlan);
  row.with(digest);
  const auto found = first_number(row);
  if (!found) return std::nullopt;
  if (plan_digest(*plan(connection, *found)) != digest) index_differs("plan", *found);
  make_room(numbers_of_plans_, kOthersMax);
  numbers_of_plans_[digest] = *found;
  return found;
}

const PlanRecord* SharedRows::known_plan(const PlanRecord& plan) const {
  const auto [first, last] = known_plans_.equal_range(plan.question);
  for (auto known = first; known != last; ++known) {
    const PlanRecord& other = known->second;
    if (other.policy_version == plan.policy_version && other.release == plan.release &&
        is_same_post_processing(other.post_processing, plan.post_processing)) {
      return &other;
    }
  }
  return nullptr;
}

void SharedRows::remember_plan(PlanRecord plan) {
  make_room(known_plans_, kPlansMax);
  std::string question = plan.question;
  known_plans_.emplace(std::move(question), std::move(plan));
}

bool SharedRows::is_verified(RecordKind kind, std::int64_t number) const {
  return verified_.contains({kind, number});
}

void SharedRows::insert_name(Connection& connection, std::int64_t no, const std::string& name) {
  connection.query(kInsertName).with(no, name).run();
  numbers_of_names_[name] = no;
}

void SharedRows::insert_build(Connection& connection, std::int64_t no, const Build& program) {
  connection.query(kInsertBuild).with(no, program.version, program.revision).run();
  builds_[no] = program;
}

void SharedRows::insert_plan(Connection& connection, const PlanRecord& plan, const Sha256& digest) {
  connection.query(kInsertPlan)
      .with(plan.number, digest, plan.policy_version, plan.question, release_text(plan),
            stored_time(plan.first_at))
      .run();
  numbers_of_plans_[digest] = plan.number;
}

void SharedRows::forget() {
  names_.clear();
  numbers_of_names_.clear();
  builds_.clear();
  plans_.clear();
  known_plans_.clear();
  numbers_of_plans_.clear();
  accounts_.clear();
  verified_.clear();
}

bool SharedRows::forget_if_changed(Connection& connection) {
  Query row = connection.query(kDataVersion);
  const std::int64_t version = row.step() ? row.integer(0) : -1;
  const bool changed = version < 0 || version != version_;
  if (changed) forget();
  version_ = version;
  return changed;
}

}  // namespace epsilog::ledger
