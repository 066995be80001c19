// One bit of the ledger's file flips, wherever: nobody gets budget by it, no key gets a second value, and
// nothing ends the process. Whatever is refused is fine. And the audit finds it, unless no row, no table,
// index or trigger says anything else than before.
#include <sqlite3.h>
#include <unistd.h>

#include "clinic.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/clock.hpp"
#include "file_text.hpp"
#include "sql_rows.hpp"
#include "support/catch.hpp"
#include "support/replay_bits.hpp"

using namespace epsilog;
using namespace epsilog::test;
using namespace engine;

namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kBitsAPage = kPageBytes * 8;

const std::string kBefore = EPSILOG_SOURCE_DIR "/tests/engine/whole/flipped_bits_before.yaml";
const std::string kPolicy = EPSILOG_SOURCE_DIR "/tests/engine/whole/flipped_bits.yaml";

/// What was released, as whoever asked saw it.
struct Released {
  std::string id;
  std::vector<accounting::Rational> values;
  std::vector<std::vector<accounting::Rational>> components;

  explicit Released(const Answer& answer)
      : id(answer.recorded.decision_id),
        values(answer.released.values),
        components(answer.released.component_values) {}
  friend bool operator==(const Released&, const Released&) = default;
};

/// A ledger in which, of a budget of 1 each, "plain" has 0.25 left beside 0.375 reserved, "daily" and every
/// block of "parts" 0.5.
class SmallLedger {
 public:
  SmallLedger() : folder_(in_memory()), now_(ledger::system_clock_reading()) {
    folder_.write("visits.csv", kVisits);
    folder_.write("policy.yaml", file_text(kBefore));
    folder_.write("raised.yaml", file_text(kPolicy));
    (void)Engine::init(folder_.path("policy.yaml"), path(), "curator");
    now_ = ledger::system_clock_reading();
    Engine engine = open();
    (void)engine.apply_policy(folder_.path("raised.yaml"), "curator", "raise");
    keyed_ = Released(release(engine, keyed()));
    reserved_ = reserve(engine, "0.25");
    (void)reserve(engine, "0.125");
    const std::string posted = reserve(engine, "0.125");
    posted_id_ = posted;
    posted_ = Released(commit(engine, posted));
    for (const char* name : {"daily", "parts"}) CHECK(release(engine, ask(name, "0.5")).recorded.granted);
    CHECK_FALSE(release(engine, ask("plain", "2")).recorded.granted);
    CHECK_FALSE(release(engine, ask("parts", "0.75", "conflict")).recorded.granted);
    { const Engine closed = std::move(engine); }
    bytes_ = file_text(path());
    REQUIRE(bytes_.size() % kPageBytes == 0);
    columns_ = columns_of(path());
    content_ = content();
  }

  [[nodiscard]] std::size_t bits() const { return bytes_.size() * 8; }
  [[nodiscard]] std::size_t pages() const { return bytes_.size() / kPageBytes; }

  /// Flips one bit and does one thing; what went wrong, "" for nothing. The file is as it was before.
  std::string after_flip(std::size_t bit, unsigned verb) {
    place(bit);
    try {
      switch (verb) {
        case 0:
          return beyond("plain", "0.251", 0);
        case 1:
          return beyond("daily", "0.501", 0);
        case 2:
          return beyond("parts", "0.501", 0);
        case 3:
          return in_two_steps();
        case 4:
          return retried();
        case 5:
          return committed();
        case 6:
          return beyond("plain", "0.626", 7'200);  // the reservations are over, and nothing more came back
        default:
          return verified();
      }
    } catch (const std::exception& error) {
      return std::string("ended with ") + error.what();
    }
  }
  /// Flips one bit and has the file audited; what it then says otherwise than before, if the audit finds
  /// nothing. "" is as it must be: found, or nothing that anybody reads.
  std::string unfound(std::size_t bit) {
    place(bit);
    try {
      if (!engine::audit_verify(path()).ok) {
        ++found;
        return "";
      }
    } catch (const LedgerUnusable&) {  // no ledger that this program knows
      ++found;
      return "";
    } catch (const std::exception& error) {
      return std::string("ended with ") + error.what();
    }
    const std::string now = content();
    if (now == content_) {
      ++(bit / 8 < kHeaderBytes ? header_counters : free_space);
      return "";
    }
    const std::string other = first_difference(bound(content_), bound(now));
    if (!other.empty()) return "a row says something else, unfound: " + other;
    ++unbound;
    return "";
  }
  /// Of the bits that no audit finds: where they lie.
  std::size_t found = 0;
  std::size_t header_counters = 0;
  std::size_t free_space = 0;
  std::size_t unbound = 0;

  /// Whether a byte lies among zeros alone, as most of a page that is not full does.
  [[nodiscard]] bool is_idle(std::size_t byte) const {
    constexpr std::size_t kAround = 8;
    const std::size_t first = byte < kAround ? 0 : byte - kAround;
    return bytes_.find_first_not_of('\0', first) >= std::min(byte + kAround, bytes_.size());
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_.size(); }

  static constexpr unsigned kVerbs = 8;
  static constexpr unsigned kVerify = 7;

  /// The unharmed ledger does what the flipped ones are held against.
  void require_sound() {
    for (unsigned verb = 0; verb < kVerbs; ++verb) {
      INFO(verb);
      place(bits());
      CHECK(after_flip(bits(), verb).empty());
    }
    place(bits());
    {
      Engine engine = open();
      CHECK(release(engine, ask("plain", "0.25")).recorded.granted);
      CHECK(Released(release(engine, keyed())) == *keyed_);
    }
    place(bits());
    CHECK(engine::audit_verify(path()).ok);
  }

 private:
  [[nodiscard]] std::string path() const { return folder_.path("ledger"); }

  /// The file as it was, but for one bit; `bits()` = none.
  void place(std::size_t bit) {
    for (const char* beside : {"-wal", "-shm", ".poisoned", ".lock"}) ::unlink((path() + beside).c_str());
    if (bit < bits()) bytes_[bit / 8] = static_cast<char>(bytes_[bit / 8] ^ (1 << bit % 8));
    std::ofstream(path(), std::ios::binary | std::ios::in).write(bytes_.data(), std::ssize(bytes_));
    std::filesystem::resize_file(path(), bytes_.size());
    if (bit < bits()) bytes_[bit / 8] = static_cast<char>(bytes_[bit / 8] ^ (1 << bit % 8));
  }

  [[nodiscard]] Engine open(std::int64_t seconds_later = 0) const {
    engine::EngineOptions options;
    options.wait_ms = 1'000;
    options.clock = [reading = now_, seconds_later] {
      ledger::ClockReading later = reading;
      later.wall_ms += seconds_later * 1000;
      later.boot_ms += seconds_later * 1000;
      return later;
    };
    return Engine::open(path(), options);
  }
  [[nodiscard]] static engine::Request ask(const std::string& name, const std::string& epsilon,
                                           const std::string& key = "") {
    engine::Request asked = name == "parts" ? request("count", epsilon, key) : supplied("3", epsilon, key);
    asked.dataset = name;
    return asked;
  }
  [[nodiscard]] static engine::Request keyed() { return ask("plain", "0.25", "k1"); }

  std::string reserve(Engine& engine, const std::string& epsilon) {
    engine::Request asked = ask("plain", epsilon);
    asked.supplied.reset();
    asked.reservation = engine::ReservationKind::reserved;
    return engine.reserve(asked, {}).recorded.decision_id;
  }
  Answer commit(Engine& engine, const std::string& id) { return engine.commit(id, "alice", "3", noise_, {}); }
  Answer release(Engine& engine, const engine::Request& request) {
    return engine.release(request, noise_, {});
  }

  /// What a call answers, if it does not refuse the ledger.
  template <class Call>
  static std::optional<Answer> tried(const Call& call) {
    try {
      return call();
    } catch (const Error&) {
      return std::nullopt;
    }
  }
  template <class Call>
  std::string with_engine(std::int64_t seconds_later, const Call& call) {
    std::optional<Engine> engine;
    try {
      engine.emplace(open(seconds_later));
    } catch (const Error&) {
      return "";
    }
    return call(*engine);
  }
  bool grants(Engine& engine, const std::string& name, const std::string& epsilon) {
    const auto answer = tried([&] { return release(engine, ask(name, epsilon)); });
    return answer && answer->recorded.granted;
  }

  std::string beyond(const std::string& name, const std::string& epsilon, std::int64_t seconds_later) {
    return with_engine(seconds_later, [&](Engine& engine) {
      return grants(engine, name, epsilon) ? epsilon + " of " + name + " was granted, which is not left" : "";
    });
  }
  std::string in_two_steps() {
    return with_engine(0, [&](Engine& engine) {
      const bool all = grants(engine, "plain", "0.25");
      return all && grants(engine, "plain", "0.001") ? std::string("more was granted than was left") : "";
    });
  }
  std::string same(const std::optional<Answer>& answer, const Released& first, const std::string& what) {
    // A release that an index has lost is not shown, which is no other value.
    if (!answer || !answer->recorded.granted || answer->released.values.empty() || Released(*answer) == first)
      return "";
    return what + " has a second value";
  }
  std::string retried() {
    return with_engine(0, [&](Engine& engine) {
      std::string wrong = same(tried([&] { return release(engine, keyed()); }), *keyed_, "a key");
      wrong += same(tried([&] { return commit(engine, posted_id_); }), *posted_, "a commit");
      return wrong + same(tried([&] { return engine.show(keyed_->id, {}); }), *keyed_, "a decision");
    });
  }
  std::string committed() {
    return with_engine(0, [&](Engine& engine) {
      const auto first = tried([&] { return commit(engine, reserved_); });
      if (!first || !first->recorded.granted) return std::string();
      std::string wrong =
          same(tried([&] { return commit(engine, reserved_); }), Released(*first), "a reservation");
      if (grants(engine, "plain", "0.251")) wrong += " more was granted than was left after a commit";
      return wrong;
    });
  }
  std::string verified() {
    try {
      (void)engine::audit_verify(path());
    } catch (const LedgerUnusable&) {  // no ledger that this program knows
    }
    return "";
  }

  /// Every row of every table, a column a line; and the schema.
  [[nodiscard]] std::string content() const {
    sqlite3* database = nullptr;
    std::string text;
    if (sqlite3_open_v2(path().c_str(), &database, SQLITE_OPEN_READONLY, nullptr) != SQLITE_OK)
      text = "unread";
    const auto lines = [](void* out, int columns, char** values, char** names) {
      for (int i = 0; i < columns; ++i) {
        static_cast<std::string*>(out)->append(names[i]).append(" ").append(values[i]).append("\n");
      }
      return 0;
    };
    const auto add = [&](const std::string& sql) {
      if (sqlite3_exec(database, sql.c_str(), lines, &text, nullptr) != SQLITE_OK) text += "unread\n";
    };
    add("SELECT type, name, tbl_name, coalesce(sql, '') AS sql FROM sqlite_master ORDER BY CAST(name AS "
        "TEXT)");
    for (const auto& [table, columns] : columns_) {
      std::string quoted;
      std::string order;
      std::istringstream in(columns);
      for (std::string column; in >> column;) {
        quoted += (quoted.empty() ? "" : ", ") + ("hex(\"" + column) + "\") AS " + table + "_" + column;
        quoted += ", typeof(\"" + column + "\") AS type";
        order += (order.empty() ? "" : ", ") + ("\"" + column) + "\"";
      }
      add("SELECT " + quoted + " FROM " + table + " ORDER BY " + order);
    }
    sqlite3_close(database);
    return text;
  }
  /// What nobody may change: without comments in the schema, the names that SQLite keeps beside them, what
  /// the clock showed and what a replica is known to hold, where who writes next looks again.
  static std::string bound(const std::string& content) {
    std::istringstream in(content);
    std::string text;
    for (std::string line; std::getline(in, line);) {
      const bool observed = line.starts_with("meta_wall_clock ") || line.starts_with("meta_boot_") ||
                            line.starts_with("meta_replica_size ");
      if (!observed && !line.starts_with("tbl_name ")) text += line.substr(0, line.find("--")) + "\n";
    }
    return text;
  }
  static std::string first_difference(const std::string& before, const std::string& now) {
    std::istringstream first(before);
    std::istringstream second(now);
    std::string then;
    for (std::string line; std::getline(second, line);) {
      if (!std::getline(first, then) || line != then) return line.substr(0, 200);
    }
    return std::getline(first, then) ? "without " + then.substr(0, 200) : "";
  }
  static std::map<std::string, std::string> columns_of(const std::string& path) {
    std::map<std::string, std::string> columns;
    for (const SqlRow& row :
         sql_rows(path,
                  "SELECT m.name, group_concat(c.name, ' ') FROM sqlite_master AS m JOIN"
                  " pragma_table_info(m.name) AS c WHERE m.type = 'table' GROUP BY m.name")) {
      columns[row.at(0)] = row.at(1);
    }
    return columns;
  }
  static constexpr std::size_t kHeaderBytes = 100;

  TemporaryFolder folder_;
  std::map<std::string, std::string> columns_;
  std::string content_;
  ledger::ClockReading now_;
  SeededBits noise_{20261122};
  std::string bytes_;
  std::optional<Released> keyed_;
  std::optional<Released> posted_;
  std::string posted_id_;
  std::string reserved_;
};

/// Every bit of every byte is flipped by `scripts/test --long`, which takes hours; a run takes a sample.
constexpr std::size_t kOneByteOf = 32;

/// Of the bytes in use one of so many, and fewer of the many that are not.
bool one_of_a_run(const SmallLedger& ledger, std::size_t byte, std::mt19937_64& random) {
  constexpr std::size_t kIdleBytes = 64 * kOneByteOf;
  return random() % (ledger.is_idle(byte) ? kIdleBytes : kOneByteOf) == 0;
}

}  // namespace

TEST_CASE("integrity: no bit that flips in the file gives budget or a second value", "[engine][integrity]") {
  SmallLedger ledger;
  ledger.require_sound();
  std::mt19937_64 random(9);
  std::size_t flipped = 0;
  for (std::size_t byte = 0; byte < ledger.bytes(); ++byte) {
    if (!one_of_a_run(ledger, byte, random)) continue;
    const std::size_t bit = byte * 8 + random() % 8;
    const auto verb = static_cast<unsigned>(flipped++ % SmallLedger::kVerify);
    const std::string wrong = ledger.after_flip(bit, verb);
    INFO("bit " << bit << " (page " << bit / kBitsAPage + 1 << "), verb " << verb);
    if (!wrong.empty()) FAIL_CHECK(wrong);
  }
  CHECK(flipped > ledger.bytes() / 8 / kOneByteOf);
  WARN(flipped << " bits on " << ledger.pages() << " pages");
}

TEST_CASE("integrity: no bit at all gives budget or a second value", "[.long][engine][integrity]") {
  SmallLedger ledger;
  ledger.require_sound();
  for (std::size_t bit = 0; bit < ledger.bits(); ++bit) {
    // All eight things are done to each byte, the others to its other bits in another turn.
    const auto verb = static_cast<unsigned>((bit + bit / 8) % SmallLedger::kVerbs);
    const std::string wrong = ledger.after_flip(bit, verb);
    INFO("bit " << bit << " (page " << bit / kBitsAPage + 1 << "), verb " << verb);
    if (!wrong.empty()) FAIL_CHECK(wrong);
  }
  WARN(ledger.bits() << " bits");
}

namespace {

void require_found(SmallLedger& ledger, const std::function<bool(std::size_t byte)>& chosen, bool every_bit) {
  std::mt19937_64 random(12);
  std::size_t flipped = 0;
  for (std::size_t byte = 0; byte < ledger.bytes(); ++byte) {
    if (!chosen(byte)) continue;
    const std::size_t one = random() % 8;
    for (std::size_t bit = every_bit ? 0 : one; bit <= (every_bit ? 7 : one); ++bit, ++flipped) {
      const std::string wrong = ledger.unfound(byte * 8 + bit);
      INFO("byte " << byte << " (page " << byte / kPageBytes + 1 << "), bit " << bit);
      if (!wrong.empty()) FAIL_CHECK(wrong);
    }
  }
  CHECK(ledger.found > flipped / 4);
  WARN(flipped << " bits: " << ledger.found << " found; not found: " << ledger.header_counters
               << " in counters of the header, " << ledger.free_space << " in free space, " << ledger.unbound
               << " in comments of the schema, what the clock showed and what a replica holds");
}

}  // namespace

TEST_CASE("integrity: a bit that flips is found by the audit, unless it says nothing",
          "[engine][integrity]") {
  SmallLedger ledger;
  std::mt19937_64 random(4);
  require_found(
      ledger, [&](std::size_t byte) { return one_of_a_run(ledger, byte, random); }, false);
}

TEST_CASE("integrity: every bit that flips is found by the audit, unless it says nothing",
          "[.long][engine][integrity]") {
  SmallLedger ledger;
  require_found(
      ledger, [](std::size_t) { return true; }, true);
}
